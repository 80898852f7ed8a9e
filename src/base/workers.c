/* workers.c: creates workspaces for threads, distributes chunks of items over them, keeps the first
   error. */
#include "base/workers.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/parallel.h"
#include "base/vec.h"

/* The error of a thread, in the chunk that begins at `first`. */
struct failure {
    int rc;
    size_t first;
    nami_err err;
};

struct run {
    struct workers *w;
    size_t num_items, chunk_size;
    chunk_fn *run;
    atomic_size_t next; /* the first unassigned item */
    atomic_int failed;
};

static void *workspace_of(const struct workers *w, int i)
{
    return w->workspace + (size_t)i * w->size;
}

static size_t chunks_of(size_t num_items, size_t chunk_size)
{
    return num_items / chunk_size + (num_items % chunk_size != 0);
}

/* Chunks are started in order: the first one that would fail is always among those that run. */
static void work(void *arg, int worker)
{
    struct run *r = arg;
    struct failure *f = &r->w->failure[worker];
    f->rc = 0;
    while (!f->rc && !atomic_load(&r->failed)) {
        size_t i = atomic_fetch_add(&r->next, r->chunk_size), left;
        if (i >= r->num_items) return;
        left = r->num_items - i;
        f->first = i;
        f->rc = r->run(r->w->job, workspace_of(r->w, worker), i,
                       left < r->chunk_size ? left : r->chunk_size, &f->err);
    }
    if (f->rc) atomic_store(&r->failed, 1);
}

int workers_start(struct workers *w, int threads, size_t num_chunks, nami_err *err)
{
    int rc = 0;
    if ((size_t)threads > num_chunks) threads = num_chunks ? (int)num_chunks : 1;
    w->num_workers = 0;
    w->workspace = mem_zero((size_t)threads, w->size ? w->size : 1);
    w->failure = new_array(struct failure, threads);
    if (!w->workspace || !w->failure) return err_nomem(err);
    for (; w->num_workers < threads && !rc; w->num_workers++)
        if (w->init) rc = w->init(w->job, workspace_of(w, w->num_workers), err);
    return rc;
}

int workers_run(struct workers *w, size_t num_items, size_t chunk_size, chunk_fn *run,
                nami_err *err)
{
    struct run r = {.w = w, .num_items = num_items, .chunk_size = chunk_size, .run = run};
    size_t chunks = chunks_of(num_items, chunk_size);
    int n = chunks < (size_t)w->num_workers ? (int)chunks : w->num_workers;
    atomic_init(&r.next, 0);
    atomic_init(&r.failed, 0);
    if (!n) return 0;
    parallel_run(n, work, &r);
    const struct failure *first = NULL;
    for (const struct failure *f = w->failure; f < w->failure + n; f++)
        if (f->rc && (!first || f->first < first->first)) first = f;
    if (first && err) *err = first->err;
    return first ? first->rc : 0;
}

void workers_stop(struct workers *w)
{
    for (int i = 0; i < w->num_workers && w->fini; i++) w->fini(workspace_of(w, i));
    free(w->workspace);
    free(w->failure);
    w->num_workers = 0;
    w->workspace = NULL;
    w->failure = NULL;
}

int workers_once(struct workers *w, int threads, size_t num_items, size_t chunk_size, chunk_fn *run,
                 nami_err *err)
{
    int rc = workers_start(w, threads, chunks_of(num_items, chunk_size), err);
    if (!rc) rc = workers_run(w, num_items, chunk_size, run, err);
    workers_stop(w);
    return rc;
}
