/* block.h: lanes side by side.  Block kernels work on slabs of SLAB lanes, so that the
   innermost loop runs over lanes, is contiguous, and has scratch of a fixed size.

   A matrix of a slab has element (i, j) of lane b at A[(i * n + j) * SLAB + b], a vector
   element i at y[i * SLAB + b]. */
#ifndef DIST_BLOCK_H
#define DIST_BLOCK_H

#include <string.h>

#include "dist/loops.h"

enum { SLAB = 32 };

#define EACH_SLAB(b0, m, L) \
    for (int b0 = 0, m; m = (L) - b0 < SLAB ? (L) - b0 : SLAB, b0 < (L); b0 += SLAB)

/* Lanes b0, ..., b0 + m - 1 of an element: where they are, or copied to buf[SLAB]. */
static inline const double *lanes_at(const struct lanes *a, int b0, int m, double *buf)
{
    const double *p = a->p + (ptrdiff_t)b0 * a->step;
    if (a->step == 1) return p;
    for (int b = 0; b < m; b++) buf[b] = p[(ptrdiff_t)b * a->step];
    return buf;
}

/* Are n elements the same for all lanes? */
static inline bool all_constant(const struct lanes *a, int n)
{
    for (int j = 0; j < n; j++)
        if (a[j].step) return false;
    return true;
}

static inline void fill(double *y, double v)
{
    for (int b = 0; b < SLAB; b++) y[b] = v;
}

/* ---- chol.c: symmetric positive definite matrices ----------------------------- */

int matrix_order(int size); /* n for n*n; -1 if it is no square */

/* A <- elements a[0 ... n*n-1] */
void mat_load(int n, const struct lanes *a, int b0, int m, double *A);
/* A <- its lower Cholesky factor (the upper triangle is neither read nor written);
   NaN where the matrix is not positive definite */
void chol(int n, int m, double *A);
/* A <- the factor of elements a.  If they are constant this is done once, at b0 = 0. */
void chol_load(int n, const struct lanes *a, int b0, int m, double *A);
/* y <- L^-1 y, L^-T y, L y, L' y */
void solve_lower(int n, int m, const double *L, double *y);
void solve_upper(int n, int m, const double *L, double *y);
void times_lower(int n, int m, const double *L, double *y);
void times_upper(int n, int m, const double *L, double *y);
/* out <- sum of log L_ii */
void log_diagonal(int n, int m, const double *L, double *out);
/* M <- L^-1, lower, with zeros above */
void inverse_lower(int n, int m, const double *L, double *M);
/* P <- (L L')^-1, all of it; M is scratch and becomes L^-1 */
void inverse_spd(int n, int m, const double *L, double *M, double *P);

#endif
