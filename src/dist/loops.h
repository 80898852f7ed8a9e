/* loops.h: generates kernels from formulas.  A distribution defines its density once, as inline
   functions of scalars, and these macros generate the loops `logp`, `grad`, `sample`. */
#ifndef DIST_LOOPS_H
#define DIST_LOOPS_H

#include "dist/dist.h"
#include "dist/draw.h"
#include "dist/math.h"

/* Values are always computed LANES at a time, with padding at the end: vector and scalar functions
   round differently, and a value must not depend on how draws are divided into chunks. */
enum { LANES = 8 };
void map_tail(map_fn *f, const void *self, int nargs, int n, double *out, const double *const *a);
void grad_tail(map_grad_fn *f, const void *self, int nargs, int n, const double *dout,
               const double *const *a, double *const *da);

/* a[0][i], a[1][i], ...: 1 to 5 of them */
#define ARGS_1(a) (a)[0][i]
#define ARGS_2(a) ARGS_1(a), (a)[1][i]
#define ARGS_3(a) ARGS_2(a), (a)[2][i]
#define ARGS_4(a) ARGS_3(a), (a)[3][i]
#define ARGS_5(a) ARGS_4(a), (a)[4][i]

/* A kernel `name` that computes out[i] = f(a[0][i], ...) of nargs arguments. */
#define MAP(name, nargs, f)                                                                        \
    WIDE static void name(const void *self, int n, double *out, const double *const *a)            \
    {                                                                                              \
        int whole = n / LANES * LANES;                                                             \
        EACH(i, whole) out[i] = f(ARGS_##nargs(a));                                                \
        if (whole < n) map_tail(name, self, nargs, n, out, a);                                     \
    }

/* One loop for each requested derivative; the compiler removes unused computations. */
#define GRAD_LOOP(k, nargs, dlp)                                                                   \
    if (k < nargs && da[k]) {                                                                      \
        double *d = da[k];                                                                         \
        EACH(i, whole)                                                                             \
        {                                                                                          \
            double g[5];                                                                           \
            dlp(ARGS_##nargs(a), g);                                                               \
            d[i] = dout[i] * g[k];                                                                 \
        }                                                                                          \
    }

/* Kernels logp and grad.  lp(x, arguments...) is the log density of nargs - 1 arguments;
   dlp(x, arguments..., g) writes its derivatives with respect to x and each argument to g[0],
   g[1], ... */
#define DENSITY(nargs, lp, dlp)                                                                    \
    MAP(logp, nargs, lp)                                                                           \
    GRADIENT(grad, nargs, dlp)
#define GRADIENT(name, nargs, dlp)                                                                 \
    WIDE static void name(const void *self, int n, const double *out, const double *dout,          \
                          const double *const *a, double *const *da)                               \
    {                                                                                              \
        int whole = n / LANES * LANES;                                                             \
        (void)out;                                                                                 \
        GRAD_LOOP(0, nargs, dlp)                                                                   \
        GRAD_LOOP(1, nargs, dlp)                                                                   \
        GRAD_LOOP(2, nargs, dlp)                                                                   \
        GRAD_LOOP(3, nargs, dlp)                                                                   \
        GRAD_LOOP(4, nargs, dlp)                                                                   \
        if (whole < n) grad_tail(name, self, nargs, n, dout, a, da);                               \
    }

/* Kernel both: log density and its derivative with respect to argument k. */
#define BOTH_LOOP(K, nargs, lp, dlp)                                                               \
    if (K < nargs && k == K) {                                                                     \
        EACH(i, n)                                                                                 \
        {                                                                                          \
            double g[5];                                                                           \
            out[i] = lp(ARGS_##nargs(a));                                                          \
            dlp(ARGS_##nargs(a), g);                                                               \
            d[i] = g[K];                                                                           \
        }                                                                                          \
    }
#define BOTH(nargs, lp, dlp)                                                                       \
    WIDE static void both(const void *self, int n, double *out, const double *const *a, int k,     \
                          double *d)                                                               \
    {                                                                                              \
        (void)self;                                                                                \
        BOTH_LOOP(0, nargs, lp, dlp)                                                               \
        BOTH_LOOP(1, nargs, lp, dlp)                                                               \
        BOTH_LOOP(2, nargs, lp, dlp)                                                               \
        BOTH_LOOP(3, nargs, lp, dlp)                                                               \
        BOTH_LOOP(4, nargs, lp, dlp)                                                               \
    }

/* Kernel path.  dx(x, arguments..., g) writes pathwise derivatives of the draw x with respect to
   each argument to g[1], g[2], ...; a derivative that is not finite belongs to a draw on the
   boundary of the domain and is set to 0. */
#define PATH_LOOP(k, nargs, dx)                                                                    \
    if (k < nargs && da[k]) {                                                                      \
        double *d = da[k];                                                                         \
        EACH(i, whole)                                                                             \
        {                                                                                          \
            double g[5];                                                                           \
            dx(ARGS_##nargs(a), g);                                                                \
            d[i] = dout[i] * ((is_real(g[k]) | (a[0][i] != a[0][i])) ? g[k] : 0);                  \
        }                                                                                          \
    }
#define PATH(nargs, dx)                                                                            \
    WIDE static void path_all(const void *self, int n, const double *out, const double *dout,      \
                              const double *const *a, double *const *da) /* a[0]: the draw */      \
    {                                                                                              \
        int whole = n / LANES * LANES;                                                             \
        (void)out;                                                                                 \
        PATH_LOOP(1, nargs, dx)                                                                    \
        PATH_LOOP(2, nargs, dx)                                                                    \
        PATH_LOOP(3, nargs, dx)                                                                    \
        if (whole < n) grad_tail(path_all, self, nargs, n, dout, a, da);                           \
    }                                                                                              \
    static void path(const void *self, int n, const double *out, const double *dout,               \
                     const double *const *a, double *const *da)                                    \
    {                                                                                              \
        const double *b[nargs] = {out};                                                            \
        double *db[nargs] = {NULL};                                                                \
        for (int k = 1; k < nargs; k++) b[k] = a[k - 1], db[k] = da[k - 1];                        \
        path_all(self, n, out, dout, b, db);                                                       \
    }

/* Location and scale: x = mu + sigma z */
INLINE void move_location_scale(double x, double mu, double sigma, double *g)
{
    g[1] = 1;
    g[2] = (x - mu) / sigma;
}
/* Scale only: x = sigma z */
INLINE void move_scale(double x, double sigma, double *g) { g[1] = x / sigma; }

/* Kernel sample.  draw(u, arguments...) transforms one uniform or normal random number */
#define SAMPLE_MAP(source, nargs, draw)                                                            \
    MAP(transform, nargs, draw)                                                                    \
    static void sample(const void *self, const struct stream *s, int n, double *out,               \
                       const double *const *a)                                                     \
    {                                                                                              \
        const double *b[nargs] = {out};                                                            \
        for (int k = 1; k < nargs; k++) b[k] = a[k - 1];                                           \
        source(s, n, out);                                                                         \
        transform(self, n, out, b);                                                                \
    }
#define SAMPLE_UNIFORM(nargs, draw) SAMPLE_MAP(stream_uniform, nargs, draw)
#define SAMPLE_NORMAL(nargs, draw)  SAMPLE_MAP(stream_normal, nargs, draw)
/* draw(r, arguments...) may use any number of random numbers */
#define SAMPLE_RNG(nargs, draw)                                                                    \
    static void sample(const void *self, const struct stream *s, int n, double *out,               \
                       const double *const *a)                                                     \
    {                                                                                              \
        (void)self;                                                                                \
        for (int i = 0; i < n; i++) {                                                              \
            struct rng r;                                                                          \
            stream_rng(s, i, &r);                                                                  \
            out[i] = draw(&r, ARGS_##nargs(a));                                                    \
        }                                                                                          \
    }

/* dcdf of a location-scale family: F depends only on z = (x - p[0]) / p[1] */
#define DCDF_LOCATION_SCALE(lp)                                                                    \
    static void dcdf(double x, const double *p, double *g)                                         \
    {                                                                                              \
        double z = (x - p[0]) / p[1], f = exp(lp(x, p[0], p[1]));                                  \
        g[0] = -f;                                                                                 \
        g[1] = f > 0 ? -f * z : 0;                                                                 \
    }

/* For use in records. */
#define KERNELS .logp = logp, .grad = grad, .sample = sample
#define TRY_1(a)                                                                                   \
    {                                                                                              \
        {1}, { a }                                                                                 \
    }
#define TRY_2(a, b)                                                                                \
    {                                                                                              \
        {1, 1}, { a, b }                                                                           \
    }
#define TRY_3(a, b, c)                                                                             \
    {                                                                                              \
        {1, 1, 1}, { a, b, c }                                                                     \
    }
#define TRY_4(a, b, c, d)                                                                          \
    {                                                                                              \
        {1, 1, 1, 1}, { a, b, c, d }                                                               \
    }

#endif
