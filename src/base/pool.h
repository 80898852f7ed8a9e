/* pool.h: thread pool for many short tasks.

   Waiting threads spin briefly and then sleep, so that an idle pool occupies no processor. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include "nami.h"

struct pool;

/* n threads in total, including the caller's (n >= 1); fewer if threads cannot be created. */
int pool_new(int n, struct pool **out, nami_err *err);
void pool_free(struct pool *p); /* accepts NULL */
int pool_size(const struct pool *p);

/* Calls task(arg, 0) ... task(arg, ntask - 1), each once, shared among the threads as they
   become free, and returns when all are done.  The assignment to threads is arbitrary: results must
   not depend on it.  Must not be called from within a task. */
void pool_run(struct pool *p, int ntask, void (*task)(void *arg, int i), void *arg);

#endif
