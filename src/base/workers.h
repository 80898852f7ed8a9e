/* workers.h: distributes chunks of items over threads with one workspace each.

       struct workers w = {.size = sizeof(struct space), .init = init, .fini = fini, .job = &job};
       int rc = workers_once(&w, threads, num_items, chunk_size, run, err);

   The assignment of chunks to threads is arbitrary: results must depend only on the job and the
   chunk. */
#ifndef BASE_WORKERS_H
#define BASE_WORKERS_H

#include <stddef.h>

#include "nami.h"

struct workers {
    void *job;
    size_t size;                                            /* of a workspace, which is zeroed */
    int (*init)(void *job, void *workspace, nami_err *err); /* or NULL */
    void (*fini)(void *workspace); /* or NULL; also called if init has failed */
    int num_workers;               /* private, as are the following */
    char *workspace;                                        /* (num_workers, size) */
    struct failure *failure;                                /* (num_workers) */
};

/* Items first .. first+n-1: a chunk; the last one may be shorter. 0, or an error, with err
   filled. */
typedef int chunk_fn(void *job, void *workspace, size_t first, size_t n, nami_err *err);

/* Creates the workspaces: one for each thread, but at most one for each chunk of a run. */
int workers_start(struct workers *w, int threads, size_t num_chunks, nami_err *err);
/* Runs all chunks and waits for them. If some fail, returns the error of the first of these, and
   chunks that have not been started are skipped. May be called several times. */
int workers_run(struct workers *w, size_t num_items, size_t chunk_size, chunk_fn *run,
                nami_err *err);
void workers_stop(struct workers *w); /* frees the workspaces, also if workers_start failed */
/* All three steps. */
int workers_once(struct workers *w, int threads, size_t num_items, size_t chunk_size, chunk_fn *run,
                 nami_err *err);

#endif
