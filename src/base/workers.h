/* workers.h: items in chunks, shared out to threads that have a workspace each.

       struct workers w = {.size = sizeof(struct space), .init = init, .fini = fini, .job = &job};
       int rc = workers_once(&w, threads, num_items, chunk_size, run, err);

   Which thread runs a chunk is chance: results must depend on the job and the chunk alone. */
#ifndef BASE_WORKERS_H
#define BASE_WORKERS_H

#include <stddef.h>

#include "nami.h"

struct workers {
    void *job;
    size_t size; /* of a workspace, which begins as zeros */
    int (*init)(void *job, void *workspace, nami_err *err); /* or NULL */
    void (*fini)(void *workspace);                          /* or NULL; also if init has failed */
    int num_workers;                                        /* private, as what follows */
    char *workspace;                                        /* (num_workers, size) */
    struct failure *failure;                                /* (num_workers) */
};

/* Items first .. first+n-1: a chunk, or what is left of one.  0, or an error, with err filled. */
typedef int chunk_fn(void *job, void *workspace, size_t first, size_t n, nami_err *err);

/* Makes the workspaces: as many as threads, but not more than the chunks that a run will have. */
int workers_start(struct workers *w, int threads, size_t num_chunks, nami_err *err);
/* Runs all chunks, and waits for them.  If some fail, the error is that of the first of these, and
   chunks that were not begun are left out.  May be called several times. */
int workers_run(struct workers *w, size_t num_items, size_t chunk_size, chunk_fn *run,
                nami_err *err);
void workers_stop(struct workers *w); /* frees what workers_start has made, also if it failed */
/* All three. */
int workers_once(struct workers *w, int threads, size_t num_items, size_t chunk_size, chunk_fn *run,
                 nami_err *err);

#endif
