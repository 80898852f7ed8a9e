/* clock.h: monotonic time. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <time.h>

/* Seconds since an arbitrary point in the past, fixed for the whole program. */
static inline double clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
