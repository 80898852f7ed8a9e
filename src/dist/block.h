/* block.h: kernels for vectors and matrices, vectorized over lanes (draws).  They operate on slabs
   of up to SLAB lanes, so that the innermost loop is a contiguous loop over lanes with a workspace
   of fixed size.

   In a slab a matrix has element (i, j) of lane b at A[(i * n + j) * SLAB + b], a vector
   element i at y[i * SLAB + b]. */
#ifndef DIST_BLOCK_H
#define DIST_BLOCK_H

#include <string.h>

#include "dist/loops.h"

enum { SLAB = 32 };

/* Lanes first, ..., first + live - 1; m is live rounded up to LANES (see loops.h). */
struct slab {
    int first, live, m;
};
static inline struct slab slab_at(int first, int L)
{
    int live = L - first < SLAB ? L - first : SLAB;
    return (struct slab){first, live, (live + LANES - 1) / LANES * LANES};
}
#define EACH_SLAB(s, L)                                                                            \
    for (struct slab s = slab_at(0, L); s.live > 0; s = slab_at(s.first + SLAB, L))

static inline void fill(double *y, double v)
{
    for (int b = 0; b < SLAB; b++) y[b] = v;
}

/* Lane b of an element. */
static inline double lane(const struct lanes *a, int b) { return a->p[(ptrdiff_t)b * a->step]; }

/* The m lanes of an element: in place, or copied to buf[SLAB]. */
static inline const double *lanes_at(const struct lanes *a, struct slab s, double *buf)
{
    const double *p = a->p + (ptrdiff_t)s.first * a->step;
    if (a->step == 1 && s.live == s.m) return p;
    if (a->step == 0)
        fill(buf, *p);
    else
        for (int b = 0; b < s.m; b++)
            buf[b] = p[(ptrdiff_t)(b < s.live ? b : s.live - 1) * a->step];
    return buf;
}
static inline const double *lanes_of(const double *x, struct slab s, double *buf)
{
    return lanes_at(&(struct lanes){x, 1}, s, buf);
}
/* The live lanes of y: out <- y, out += y unless out is NULL */
static inline void put(struct slab s, const double *y, double *out)
{
    memcpy(out + s.first, y, sizeof(double) * (size_t)s.live);
}
static inline void add(struct slab s, const double *y, double *out)
{
    if (out)
        for (int b = 0; b < s.live; b++) out[s.first + b] += y[b];
}

/* Function head for the sampler of a scalar distribution that operates on slabs. */
#define SAMPLE_SLABS                                                                               \
    WIDE static void sample(const void *self, const struct stream *stream, int n, double *out,     \
                            const double *const *a)

/* Are all n elements constant across lanes? */
static inline bool all_constant(const struct lanes *a, int n)
{
    for (int j = 0; j < n; j++)
        if (a[j].step) return false;
    return true;
}

/* ---- gammas.c: the k-th gamma variate of each draw, rate 1; uses the substreams 3k, 3k+1, 3k+2
        of the stream ---------------------------------------------------------------- */

enum { MOST_GAMMAS = 10000 };
void draw_gammas(const struct stream *stream, int k, struct slab s, const double *shape, double *x);
void draw_log_gammas(const struct stream *stream, int k, struct slab s, const double *shape,
                     double *x);

/* ---- chol.c: symmetric positive definite matrices ----------------------------- */

int matrix_order(int size); /* n for n*n; -1 if size is not a square */

/* A <- elements a[0 ... n*n-1] */
void mat_load(int n, const struct lanes *a, struct slab s, double *A);
/* A <- its lower Cholesky factor (the upper triangle is neither read nor written);
   NaN where the matrix is not positive definite */
void chol(int n, int m, double *A);
/* A <- the Cholesky factor of elements a; computed only in the first slab if they are constant */
void chol_load(int n, const struct lanes *a, struct slab s, double *A);
/* y <- x - mu, NaN where mu is not finite */
void difference(int n, const struct lanes *x, const struct lanes *mu, struct slab s, double *y);
/* y <- L^-1 y, L^-T y, L y, L' y */
void solve_lower(int n, int m, const double *L, double *y);
void solve_upper(int n, int m, const double *L, double *y);
void times_lower(int n, int m, const double *L, double *y);
void times_upper(int n, int m, const double *L, double *y);
/* out <- sum of log L_ii */
void log_diagonal(int n, int m, const double *L, double *out);
/* M <- L^-1, lower, with zeros above */
void inverse_lower(int n, int m, const double *L, double *M);
/* P <- (L L')^-1, both triangles; M is a workspace and becomes L^-1 */
void inverse_spd(int n, int m, const double *L, double *M, double *P);

#endif
