/* lkj_corr.c: LKJ distribution of correlation matrices.
   log p = (eta - 1) log|R| + lkj_norm: a density of the elements below the diagonal.  Of R the
   lower triangle is read. */
#include "dist/lkj.h"

/* doubles: the factor, its inverse, R^-1 */
static int work_size(const int *dim) { return 3 * dim[0] * SLAB; }

static void logp(const void *self, const int *dim, int L, double *const *out, const struct lanes *a,
                 double *work)
{
    (void)self;
    int n = matrix_order(dim[0]), nn = n * n;
    EACH_SLAB(s, L)
    {
        double v[SLAB], known[SLAB], kbuf[SLAB], ebuf[SLAB];
        const double *k = lanes_at(&a[nn], s, kbuf), *eta = lanes_at(&a[nn + 1], s, ebuf);
        bool unit[SLAB];
        mat_load(n, a, s, work);
        fill(known, 0);
        for (int b = 0; b < s.m; b++) unit[b] = true;
        for (int e = 0; e < nn; e++)
            for (int b = 0; b < s.m; b++) {
                double x = work[e * SLAB + b];
                known[b] += isnan(x) ? NAN : 0;
                if (e % n == e / n) unit[b] &= fabs(x - 1) <= 1e-8;
            }
        chol(n, s.m, work);
        log_diagonal(n, s.m, work, v);
        for (int b = 0; b < s.m; b++) {
            double t = 2 * (eta[b] - 1) * v[b] + lkj_norm(n, eta[b]);
            v[b] = density(lkj_ok(n, k[b], eta[b]), unit[b] && !isnan(v[b]), known[b], t);
        }
        put(s, v, out[0]);
    }
}

/* d/dR = (eta - 1) R^-1: the symmetric G with d log p = sum_ij G_ij dR_ij for symmetric dR */
static void grad(const void *self, const int *dim, int L, const double *const *out,
                 const double *const *dout, const struct lanes *a, double *const *da, double *work)
{
    (void)self, (void)out;
    int n = matrix_order(dim[0]), nn = n * n;
    double *F = work, *inv = F + nn * SLAB, *P = inv + nn * SLAB;
    EACH_SLAB(s, L)
    {
        double log_det[SLAB], d[SLAB], ebuf[SLAB], gbuf[SLAB];
        const double *eta = lanes_at(&a[nn + 1], s, ebuf), *g = lanes_of(dout[0], s, gbuf);
        mat_load(n, a, s, F);
        chol(n, s.m, F);
        log_diagonal(n, s.m, F, log_det);
        inverse_spd(n, s.m, F, inv, P);
        for (int e = 0; e < nn; e++) {
            for (int b = 0; b < s.m; b++) d[b] = g[b] * (eta[b] - 1) * P[e * SLAB + b];
            add(s, d, da[e]);
        }
        for (int b = 0; b < s.m; b++) d[b] = g[b] * (2 * log_det[b] + lkj_dnorm(n, eta[b]));
        add(s, d, da[nn + 1]);
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
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++)
                for (int b = 0; b < s.live; b++) {
                    double t = i == j ? if_ok(work[b] == work[b], 1) : 0;
                    for (int m = 0; m <= j && i != j; m++)
                        t += work[(i * n + m) * SLAB + b] * work[(j * n + m) * SLAB + b];
                    out[i * n + j][s.first + b] = out[j * n + i][s.first + b] = t;
                }
    }
}

/* Each correlation is (1 + r)/2 ~ beta(c, c), c = eta + n/2 - 1 */
static int moments(const int *size, const double *p, double *mean, double *var)
{
    (void)size;
    int n = (int)p[0];
    for (int e = 0; e < n * n; e++) {
        mean[e] = e % n == e / n;
        var[e] = e % n == e / n ? 0 : 1 / (2 * p[1] + n - 1);
    }
    return 0;
}

const struct dist dist_lkj_corr = {
    "lkj_corr",
    "LKJ: a random K x K correlation matrix, by K and shape",
    2,
    {{"K", COUNT}, {"eta", POSITIVE}},
    CORR,
    .blogp = logp,
    .bgrad = grad,
    .bsample = sample,
    .work = work_size,
    .size = lkj_size,
    .size_arg = 1,
    .moments = moments,
    .try_at = {{{1, 1}, {2, 2.385}}, {{1, 1}, {3, 0.83}}, {{1, 1}, {4, 1.7}}},
};
