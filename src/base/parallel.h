/* parallel.h: the same work in several threads. */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

/* How many threads to use: n if positive, else the processors there are. */
int parallel_threads(int n);
/* Calls work(arg, 0), ..., work(arg, n - 1), each in a thread of its own (0 in the caller's), and
   waits for all.  Where a thread cannot be made, its share is done by the caller. */
void parallel_run(int n, void (*work)(void *arg, int worker), void *arg);

#endif
