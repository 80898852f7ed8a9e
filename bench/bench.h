/* bench.h: what the benchmarks share. */
#ifndef BENCH_H
#define BENCH_H

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

/* Seconds of a clock: CLOCK_MONOTONIC, or CLOCK_THREAD_CPUTIME_ID where one thread works. */
static inline double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The largest memory of the process so far, in MB. */
static inline long peak_mb(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss / 1024;
}

static inline int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts t. */
static inline double median(double *t, int n)
{
    qsort(t, (size_t)n, sizeof *t, by_value);
    return t[n / 2];
}

#endif
