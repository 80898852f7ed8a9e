/* exact_at.h: dense linear algebra by elimination in long double, for tests of exact inference. */
#ifndef TESTS_EXACT_AT_H
#define TESTS_EXACT_AT_H

#include <math.h>
#include <stdlib.h>

typedef long double real;

static inline real *reals(size_t n)
{
    real *x = calloc(n + 1, sizeof *x);
    if (!x) abort();
    return x;
}

/* A X = B in place of B (n, m); A (n, n) is destroyed.  Gauss-Jordan with pivots; returns log |det
 * A|. */
static inline real solve(int n, int m, real *A, real *B)
{
    real logdet = 0;
    for (int c = 0; c < n; c++) {
        int p = c;
        for (int r = c + 1; r < n; r++)
            if (fabsl(A[r * n + c]) > fabsl(A[p * n + c])) p = r;
        for (int k = 0; k < n; k++) {
            real t = A[c * n + k];
            A[c * n + k] = A[p * n + k], A[p * n + k] = t;
        }
        for (int k = 0; k < m; k++) {
            real t = B[c * m + k];
            B[c * m + k] = B[p * m + k], B[p * m + k] = t;
        }
        real d = A[c * n + c];
        logdet += logl(fabsl(d));
        for (int k = 0; k < n; k++) A[c * n + k] /= d;
        for (int k = 0; k < m; k++) B[c * m + k] /= d;
        for (int r = 0; r < n; r++) {
            real f = A[r * n + c];
            if (r == c || f == 0) continue;
            for (int k = 0; k < n; k++) A[r * n + k] -= f * A[c * n + k];
            for (int k = 0; k < m; k++) B[r * m + k] -= f * B[c * m + k];
        }
    }
    return logdet;
}

/* x = a + B x + e, cov(e) = D: mean and covariance of x. */
static inline void joint(int n, const real *a, const real *B, const real *D, real *mean, real *cov)
{
    size_t N = (size_t)n;
    real *A = reals(N * N), *T = reals(N * N);
    for (int pass = 0; pass < 3; pass++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) A[i * n + j] = (i == j) - B[i * n + j];
        if (pass == 0) {
            for (int i = 0; i < n; i++) mean[i] = a[i];
            solve(n, 1, A, mean);
        } else if (pass == 1) {
            for (size_t k = 0; k < N * N; k++) T[k] = D[k];
            solve(n, n, A, T); /* (I - B)^-1 D */
        } else {
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) cov[i * n + j] = T[j * n + i];
            solve(n, n, A, cov);
        }
    }
    free(A);
    free(T);
}

/* Conditioning of v on p: coefficients (nv, np), covariance (nv, nv); the log determinant of p's.
 */
static inline real regress(int n, const real *cov, const int *v, int nv, const int *p, int np,
                           real *coef, real *cond)
{
    real *A = reals((size_t)np * (size_t)np), *X = reals((size_t)np * (size_t)nv);
    for (int i = 0; i < np; i++) {
        for (int j = 0; j < np; j++) A[i * np + j] = cov[p[i] * n + p[j]];
        for (int j = 0; j < nv; j++) X[i * nv + j] = cov[p[i] * n + v[j]];
    }
    real logdet = solve(np, nv, A, X);
    for (int i = 0; i < nv; i++) {
        for (int k = 0; k < np; k++) coef[i * np + k] = X[k * nv + i];
        for (int j = 0; j < nv; j++) {
            cond[i * nv + j] = cov[v[i] * n + v[j]];
            for (int k = 0; k < np; k++) cond[i * nv + j] -= X[k * nv + i] * cov[p[k] * n + v[j]];
        }
    }
    free(A);
    free(X);
    return logdet;
}

/* log N(x; mean, cov) of some scalars */
static inline real log_normal(int n, const real *mean, const real *cov, const int *v, int nv,
                              const double *x)
{
    real *A = reals((size_t)nv * (size_t)nv), *r = reals((size_t)nv), q = 0;
    for (int i = 0; i < nv; i++) {
        r[i] = x[v[i]] - mean[v[i]];
        for (int j = 0; j < nv; j++) A[i * nv + j] = cov[v[i] * n + v[j]];
    }
    real logdet = solve(nv, 1, A, r);
    for (int i = 0; i < nv; i++) q += (x[v[i]] - mean[v[i]]) * r[i];
    free(A);
    free(r);
    return -0.5L * (nv * logl(2 * 3.14159265358979323846264338L) + logdet + q);
}

#endif
