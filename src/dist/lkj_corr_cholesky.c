/* lkj_corr_cholesky.c: LKJ distribution of Cholesky factors of correlation matrices.
   The Cholesky factor L of an lkj_corr(K, eta) matrix:
   log p = sum_{i>1} (K - i + 2 eta - 2) log L_ii + lkj_norm, a density of the elements below the
   diagonal, which give those on it */
#include "dist/lkj.h"

/* doubles: L */
static int work_size(const int *dim) { return dim[0] * SLAB; }

/* 0 if these are the elements of such a factor, -INFINITY if not, NaN if one is */
static double inside(int n, const double *A)
{
    double known = 0, norm = 0;
    bool in = true;
    for (int e = 0; e < n * n; e++) {
        double x = A[e * SLAB];
        int i = e / n, j = e % n;
        known += isnan(x) ? NAN : 0;
        norm = j ? norm + x * x : x * x;
        if (j > i) in &= x == 0;
        if (j == i) in &= x > 0;
        if (j == n - 1) in &= fabs(norm - 1) <= 1e-8;
    }
    return density(true, in, known, 0);
}

static void logp(const void *self, const int *dim, int L, double *const *out, const struct lanes *a,
                 double *work)
{
    (void)self;
    int n = matrix_order(dim[0]), nn = n * n;
    EACH_SLAB(s, L)
    {
        double v[SLAB], kbuf[SLAB], ebuf[SLAB];
        const double *k = lanes_at(&a[nn], s, kbuf), *eta = lanes_at(&a[nn + 1], s, ebuf);
        mat_load(n, a, s, work);
        for (int b = 0; b < s.m; b++) {
            v[b] = inside(n, work + b) + lkj_norm(n, eta[b]);
            for (int i = 1; i < n && is_real(v[b]); i++)
                v[b] += (n - 3 - i + 2 * eta[b]) * log(work[(i * n + i) * SLAB + b]);
            v[b] = if_ok(lkj_ok(n, k[b], eta[b]), v[b]);
        }
        put(s, v, out[0]);
    }
}

static void grad(const void *self, const int *dim, int L, const double *const *out,
                 const double *const *dout, const struct lanes *a, double *const *da, double *work)
{
    (void)self, (void)out;
    int n = matrix_order(dim[0]), nn = n * n;
    EACH_SLAB(s, L)
    {
        double d[SLAB], by_eta[SLAB], ebuf[SLAB], gbuf[SLAB];
        const double *eta = lanes_at(&a[nn + 1], s, ebuf), *g = lanes_of(dout[0], s, gbuf);
        mat_load(n, a, s, work);
        for (int b = 0; b < s.m; b++) by_eta[b] = lkj_dnorm(n, eta[b]);
        for (int i = 1; i < n; i++) {
            const double *x = work + (i * n + i) * SLAB;
            for (int b = 0; b < s.m; b++) {
                d[b] = g[b] * (n - 3 - i + 2 * eta[b]) / x[b];
                by_eta[b] += 2 * log(x[b]);
            }
            add(s, d, da[i * n + i]);
        }
        for (int b = 0; b < s.m; b++) by_eta[b] *= g[b];
        add(s, by_eta, da[nn + 1]);
    }
}

static void sample(const void *self, const struct stream *stream, const int *dim, int L,
                   double *const *out, const struct lanes *a, double *work)
{
    (void)self;
    int n = matrix_order(dim[0]);
    EACH_SLAB(s, L)
    {
        lkj_factor(stream, n, s, a, work);
        for (int e = 0; e < n * n; e++) put(s, work + e * SLAB, out[e]);
    }
}

const struct dist dist_lkj_corr_cholesky = {
    "lkj_corr_cholesky",
    "Cholesky factor of an lkj_corr(K, eta) matrix",
    2,
    {{"K", COUNT}, {"eta", POSITIVE}},
    CHOL_CORR,
    .blogp = logp,
    .bgrad = grad,
    .bsample = sample,
    .work = work_size,
    .size = lkj_size,
    .size_arg = 1,
    .try_at = {{{1, 1}, {2, 2.385}}, {{1, 1}, {3, 0.83}}, {{1, 1}, {4, 1.7}}},
};
