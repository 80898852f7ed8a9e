/* chol.c: Cholesky factors, triangular solves and inverses of small matrices, for many lanes at
   once. */
#include "dist/block.h"

#define AT(A, i, j) ((A) + ((i)*n + (j)) * SLAB)
#define ROW(y, i)   ((y) + (i)*SLAB)

int matrix_order(int size)
{
    int n = 0;
    while (n < 46340 && (n + 1) * (n + 1) <= size) n++;
    return n > 0 && n * n == size ? n : -1;
}

WIDE void mat_load(int n, const struct lanes *a, struct slab s, double *A)
{
    double buf[SLAB];
    for (int e = 0; e < n * n; e++)
        memcpy(ROW(A, e), lanes_at(&a[e], s, buf), sizeof(double) * (size_t)s.m);
}

WIDE void difference(int n, const struct lanes *x, const struct lanes *mu, struct slab s, double *y)
{
    double xbuf[SLAB], mbuf[SLAB];
    for (int i = 0; i < n; i++) {
        const double *restrict p = lanes_at(&x[i], s, xbuf);
        const double *restrict q = lanes_at(&mu[i], s, mbuf);
        double *restrict yi = ROW(y, i);
        EACH(b, s.m) yi[b] = p[b] - if_ok(is_real(q[b]), q[b]);
    }
}

/* y += c x z over the lanes */
INLINE void add_product(int m, double *restrict y, double c, const double *restrict x,
                        const double *restrict z)
{
    EACH(b, m) y[b] += c * x[b] * z[b];
}

/* L_ij = (A_ij - sum_k L_ik L_jk) / L_jj, column by column */
WIDE void chol(int n, int m, double *A)
{
    double r[SLAB];
    for (int j = 0; j < n; j++) {
        double *d = AT(A, j, j);
        for (int k = 0; k < j; k++) add_product(m, d, -1, AT(A, j, k), AT(A, j, k));
        EACH(b, m)
        {
            double s = sqrt(d[b]);
            d[b] = is_positive(d[b]) ? s : NAN;
            r[b] = 1 / d[b];
        }
        for (int i = j + 1; i < n; i++) {
            double *l = AT(A, i, j);
            for (int k = 0; k < j; k++) add_product(m, l, -1, AT(A, i, k), AT(A, j, k));
            EACH(b, m) l[b] *= r[b];
        }
    }
}

WIDE void chol_load(int n, const struct lanes *a, struct slab s, double *A)
{
    if (!all_constant(a, n * n)) {
        mat_load(n, a, s, A);
        chol(n, s.m, A);
    } else if (s.first == 0) {
        mat_load(n, a, slab_at(0, 1), A);
        chol(n, LANES, A);
        for (int e = 0; e < n * n; e++) fill(ROW(A, e), *ROW(A, e));
    }
}

WIDE void solve_lower(int n, int m, const double *L, double *y)
{
    for (int i = 0; i < n; i++) {
        double *restrict yi = ROW(y, i);
        const double *restrict d = AT(L, i, i);
        for (int k = 0; k < i; k++) add_product(m, yi, -1, AT(L, i, k), ROW(y, k));
        EACH(b, m) yi[b] /= d[b];
    }
}

WIDE void solve_upper(int n, int m, const double *L, double *y)
{
    for (int i = n - 1; i >= 0; i--) {
        double *restrict yi = ROW(y, i);
        const double *restrict d = AT(L, i, i);
        for (int k = i + 1; k < n; k++) add_product(m, yi, -1, AT(L, k, i), ROW(y, k));
        EACH(b, m) yi[b] /= d[b];
    }
}

WIDE void times_lower(int n, int m, const double *L, double *y)
{
    for (int i = n - 1; i >= 0; i--) { /* the last row first: it alone needs y_i no more */
        double *restrict yi = ROW(y, i);
        const double *restrict d = AT(L, i, i);
        EACH(b, m) yi[b] *= d[b];
        for (int k = 0; k < i; k++) add_product(m, yi, 1, AT(L, i, k), ROW(y, k));
    }
}

WIDE void times_upper(int n, int m, const double *L, double *y)
{
    for (int i = 0; i < n; i++) {
        double *restrict yi = ROW(y, i);
        const double *restrict d = AT(L, i, i);
        EACH(b, m) yi[b] *= d[b];
        for (int k = i + 1; k < n; k++) add_product(m, yi, 1, AT(L, k, i), ROW(y, k));
    }
}

WIDE void log_diagonal(int n, int m, const double *L, double *out)
{
    fill(out, 0);
    for (int i = 0; i < n; i++) {
        const double *restrict d = AT(L, i, i);
        EACH(b, m) out[b] += log(d[b]);
    }
}

WIDE void inverse_lower(int n, int m, const double *L, double *M)
{
    for (int e = 0; e < n * n; e++) fill(ROW(M, e), 0);
    for (int j = 0; j < n; j++) {
        double *restrict mj = AT(M, j, j);
        const double *restrict d = AT(L, j, j);
        EACH(b, m) mj[b] = 1 / d[b];
        for (int i = j + 1; i < n; i++) { /* L_ii M_ij = -sum_{j <= k < i} L_ik M_kj */
            double *restrict mi = AT(M, i, j);
            const double *restrict di = AT(L, i, i);
            for (int k = j; k < i; k++) add_product(m, mi, -1, AT(L, i, k), AT(M, k, j));
            EACH(b, m) mi[b] /= di[b];
        }
    }
}

WIDE void inverse_spd(int n, int m, const double *L, double *M, double *P)
{
    inverse_lower(n, m, L, M);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double *p = AT(P, i, j);
            fill(p, 0);
            for (int k = i; k < n; k++) add_product(m, p, 1, AT(M, k, i), AT(M, k, j));
            if (j < i) memcpy(AT(P, j, i), p, sizeof(double) * SLAB);
        }
}
