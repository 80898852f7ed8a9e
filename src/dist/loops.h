/* loops.h: from formulas to kernels.  A file writes its density once, as inline
   functions of numbers, and these macros make the loops `logp`, `grad`, `sample`. */
#ifndef DIST_LOOPS_H
#define DIST_LOOPS_H

#include "dist/dist.h"
#include "dist/draw.h"
#include "dist/math.h"

/* Iterations are independent, even if the kernel works in place. */
#define EACH(i, n) _Pragma("GCC ivdep") for (int i = 0; i < (n); i++)

/* The argument lists for 1, 2, 3 and 4 arguments that begin at a[k]. */
#define ARGS_1(a, k) (a)[k][i]
#define ARGS_2(a, k) (a)[k][i], (a)[(k) + 1][i]
#define ARGS_3(a, k) (a)[k][i], (a)[(k) + 1][i], (a)[(k) + 2][i]
#define ARGS_4(a, k) (a)[k][i], (a)[(k) + 1][i], (a)[(k) + 2][i], (a)[(k) + 3][i]

/* One loop for each derivative that is wanted; the compiler drops what it does not use. */
#define GRAD_LOOP(k, nargs, dlp)             \
    if (da[k]) {                             \
        double *d = da[k];                   \
        EACH(i, n)                           \
        {                                    \
            double g[5];                     \
            dlp(a[0][i], ARGS_##nargs(a, 1), g); \
            d[i] = dout[i] * g[k];           \
        }                                    \
    }
#define GRAD_LOOPS_1(dlp) GRAD_LOOP(0, 1, dlp) GRAD_LOOP(1, 1, dlp)
#define GRAD_LOOPS_2(dlp) GRAD_LOOP(0, 2, dlp) GRAD_LOOP(1, 2, dlp) GRAD_LOOP(2, 2, dlp)
#define GRAD_LOOPS_3(dlp) \
    GRAD_LOOP(0, 3, dlp) GRAD_LOOP(1, 3, dlp) GRAD_LOOP(2, 3, dlp) GRAD_LOOP(3, 3, dlp)
#define GRAD_LOOPS_4(dlp)                                                    \
    GRAD_LOOP(0, 4, dlp) GRAD_LOOP(1, 4, dlp) GRAD_LOOP(2, 4, dlp) GRAD_LOOP(3, 4, dlp) \
    GRAD_LOOP(4, 4, dlp)

/* lp(x, arguments...) is the log density; dlp(x, arguments..., g) writes its derivatives
   by x and by each argument to g[0], g[1], ... */
#define DENSITY(nargs, lp, dlp)                                                                  \
    static void logp(const void *self, int n, double *restrict out, const double *const *a)               \
    {                                                                                            \
        (void)self;                                                                              \
        EACH(i, n) out[i] = lp(a[0][i], ARGS_##nargs(a, 1));                                     \
    }                                                                                            \
    static void grad(const void *self, int n, const double *out, const double *dout,             \
                     const double *const *a, double *const *da)                                  \
    {                                                                                            \
        (void)self, (void)out;                                                                   \
        GRAD_LOOPS_##nargs(dlp)                                                                  \
    }

#define SAMPLE_HEAD                                                                  \
    static void sample(const void *self, const struct stream *s, int n, double *out, \
                       const double *const *a)
/* draw(u, arguments...): a transform of one uniform number, or of one normal */
#define SAMPLE_UNIFORM(nargs, draw)                             \
    SAMPLE_HEAD                                                 \
    {                                                           \
        (void)self;                                             \
        stream_uniform(s, n, out);                              \
        EACH(i, n) out[i] = draw(out[i], ARGS_##nargs(a, 0));   \
    }
#define SAMPLE_NORMAL(nargs, draw)                              \
    SAMPLE_HEAD                                                 \
    {                                                           \
        (void)self;                                             \
        stream_normal(s, n, out);                               \
        EACH(i, n) out[i] = draw(out[i], ARGS_##nargs(a, 0));   \
    }
/* draw(r, arguments...): from as many numbers as it takes */
#define SAMPLE_RNG(nargs, draw)                                 \
    SAMPLE_HEAD                                                 \
    {                                                           \
        (void)self;                                             \
        for (int i = 0; i < n; i++) {                           \
            struct rng r;                                       \
            stream_rng(s, i, &r);                               \
            out[i] = draw(&r, ARGS_##nargs(a, 0));              \
        }                                                       \
    }

/* For the records. */
#define KERNELS      .logp = logp, .grad = grad, .sample = sample
#define TRY_1(a)       {{1}, {a}}
#define TRY_2(a, b)    {{1, 1}, {a, b}}
#define TRY_3(a, b, c) {{1, 1, 1}, {a, b, c}}
#define TRY_4(a, b, c, d) {{1, 1, 1, 1}, {a, b, c, d}}

#endif
