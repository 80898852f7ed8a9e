/* parallel.h: runs a function in several threads. */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

/* The number of threads to use: n if positive, else the number of processors. */
int parallel_threads(int n);
/* Calls work(arg, 0), ..., work(arg, n - 1), each in a separate thread (0 in the caller's), and
   waits for all.  If a thread cannot be created, the caller does its work. */
void parallel_run(int n, void (*work)(void *arg, int worker), void *arg);

#endif
