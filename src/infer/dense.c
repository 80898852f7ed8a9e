/* dense.c: Cholesky factorization, triangular solves, log determinants and inverses of dense
   matrices. */
#include "infer/dense.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"

WIDE double dense_dot(size_t n, const double *x, const double *y)
{
    double s[8] = {0}, rest = 0;
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++) s[k] += x[i + (size_t)k] * y[i + (size_t)k];
    for (; i < n; i++) rest += x[i] * y[i];
    return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7])) + rest;
}

/* y -= c x */
WIDE static void take(int n, double c, const double *restrict x, double *restrict y)
{
    EACH(i, n) y[i] -= c * x[i];
}

/* The first nonzero column of row i: the envelope, which the factor preserves. */
static size_t lead(int i, const double *row)
{
    int j = 0;
    while (j < i && row[j] == 0) j++;
    return (size_t)j;
}

int dense_chol(int n, double *A)
{
    size_t N = (size_t)n;
    for (size_t i = 0; i < N; i++) {
        double *a = A + i * N;
        size_t from = lead((int)i, a);
        for (size_t j = from; j < i; j++) {
            const double *l = A + j * N;
            a[j] = (a[j] - dense_dot(j - from, a + from, l + from)) / l[j];
        }
        double d = a[i] - dense_dot(i - from, a + from, a + from);
        if (!(d > 0) || isinf(d)) return -1;
        a[i] = sqrt(d);
    }
    return 0;
}

double dense_logdet(int n, const double *L)
{
    double s = 0;
    for (size_t i = 0; i < (size_t)n; i++) s += log(L[i * (size_t)n + i]);
    return 2 * s;
}

void dense_lower(int n, const double *L, double *x)
{
    for (size_t i = 0; i < (size_t)n; i++) {
        const double *l = L + i * (size_t)n;
        x[i] = (x[i] - dense_dot(i, l, x)) / l[i];
    }
}

void dense_upper(int n, const double *L, double *x)
{
    for (int i = n - 1; i >= 0; i--) {
        const double *l = L + (size_t)i * (size_t)n;
        x[i] /= l[i];
        take(i, x[i], l, x);
    }
}

/* work = M = L^-1 row by row: m_i = (e_i - sum_k l_ik m_k) / l_ii.  Then M' M. */
void dense_inverse(int n, const double *L, double *work, double *out)
{
    size_t N = (size_t)n;
    memset(work, 0, N * N * sizeof *work);
    memset(out, 0, N * N * sizeof *out);
    for (size_t i = 0; i < N; i++) {
        double *m = work + i * N;
        const double *l = L + i * N;
        for (size_t k = 0; k < i; k++)
            if (l[k] != 0) take((int)k + 1, l[k], work + k * N, m);
        for (size_t j = 0; j < i; j++) m[j] /= l[i];
        m[i] = 1 / l[i];
    }
    for (size_t k = 0; k < N; k++)
        for (size_t i = 0; i <= k; i++) {
            double c = work[k * N + i];
            if (c != 0) take((int)i + 1, -c, work + k * N, out + i * N);
        }
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < i; j++) out[j * N + i] = out[i * N + j];
}
