/* pool.h: threads that wait for work, for many short tasks in a row.

   Waiting spins briefly, then sleeps: a pool does not hold a processor that others need. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include "nami.h"

struct pool;

/* n threads in all, the caller's among them (n >= 1).  Threads that cannot be made are done
   without. */
int pool_new(int n, struct pool **out, nami_err *err);
void pool_free(struct pool *p); /* accepts NULL */
int pool_size(const struct pool *p);

/* Calls task(arg, 0) ... task(arg, ntask - 1), each once, shared among the threads as they
   become free, and returns when all are done.  Which thread does which is left to chance: tasks
   must not depend on it.  Not from within a task. */
void pool_run(struct pool *p, int ntask, void (*task)(void *arg, int i), void *arg);

#endif
