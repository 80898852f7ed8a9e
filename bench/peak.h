/* peak.h: what the machine could do: fused multiply-adds in registers, on one thread. */
#ifndef BENCH_PEAK_H
#define BENCH_PEAK_H

#include <string.h>

#include "bench.h"
#include "tensor/product.h"

enum { CHAINS = 12, LINKS = 20000 };
static volatile double sink;

#define PEAK(name, real, bytes, arch)                                                              \
    typedef real name##_vec __attribute__((vector_size(bytes)));                                   \
    arch static double name(void)                                                                  \
    {                                                                                              \
        name##_vec a = (name##_vec){0} + (real)sink, b = a + 1, s[CHAINS];                         \
        for (int i = 0; i < CHAINS; i++) s[i] = a + (real)i;                                       \
        for (int k = 0; k < LINKS; k++)                                                            \
            _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++) s[i] = s[i] * b + a;         \
        for (int i = 1; i < CHAINS; i++) s[0] += s[i];                                             \
        sink = (double)s[0][0] * 0;                                                                \
        return 2.0 * CHAINS * LINKS * bytes / sizeof(real);                                        \
    }
#ifdef __x86_64__
PEAK(avx512_float, float, 64, __attribute__((target("avx512f"))))
PEAK(avx512_double, double, 64, __attribute__((target("avx512f"))))
PEAK(avx2_float, float, 32, __attribute__((target("avx2,fma"))))
PEAK(avx2_double, double, 32, __attribute__((target("avx2,fma"))))
#endif
PEAK(any_float, float, 16, )
PEAK(any_double, double, 16, )

static double peak(int is_float)
{
    const char *best = product_best(is_float)->name;
#ifdef __x86_64__
    if (strcmp(best, "avx512") == 0) return is_float ? avx512_float() : avx512_double();
    if (strcmp(best, "avx2") == 0) return is_float ? avx2_float() : avx2_double();
#endif
    (void)best;
    return is_float ? any_float() : any_double();
}

/* The best of many short runs, in GFLOP/s of float. */
static inline double fma_peak(void)
{
    double best = 0;
    for (int i = 0; i < 300; i++) {
        double t = now(CLOCK_MONOTONIC), done = peak(1), rate = done / (now(CLOCK_MONOTONIC) - t);
        if (rate > best) best = rate;
    }
    return best / 1e9;
}

#endif
