/* log p = -n/2 log(2 pi) + log|L| - |y|^2/2,  Omega = L L',  y = L'(x - mu).  Of Omega the
   lower triangle is read. */
#include "dist/block.h"

/* doubles: L, its inverse, Omega^-1, the residual and Omega times it */
static int work_size(const int *dim)
{
    return (3 * dim[2] + 2 * dim[1]) * SLAB;
}

/* y <- x - mu */
static void residual(int n, const struct lanes *x, const struct lanes *mu, int b0, int m, double *y)
{
    double xbuf[SLAB], mbuf[SLAB];
    for (int i = 0; i < n; i++) {
        const double *restrict p = lanes_at(&x[i], b0, m, xbuf);
        const double *restrict q = lanes_at(&mu[i], b0, m, mbuf);
        double *restrict yi = y + i * SLAB;
        EACH(b, m) yi[b] = p[b] - if_ok(is_real(q[b]), q[b]);
    }
}

static void logp(const void *self, const int *dim, int L, double *const *out, const struct lanes *a,
                 double *work)
{
    (void)self;
    int n = dim[0];
    double *chol_ = work, *y = work + n * n * SLAB;
    EACH_SLAB(b0, m, L)
    {
        double *restrict o = out[0] + b0, ld[SLAB];
        chol_load(n, a + 2 * n, b0, m, chol_);
        log_diagonal(n, m, chol_, ld);
        residual(n, a, a + n, b0, m, y);
        times_upper(n, m, chol_, y);
        EACH(b, m) o[b] = -n * HALF_LOG_2PI + ld[b];
        for (int i = 0; i < n; i++) {
            const double *restrict yi = y + i * SLAB;
            EACH(b, m) o[b] -= 0.5 * yi[b] * yi[b];
        }
    }
}

/* With d = x - mu, v = Omega d: d/dx = -v, d/dmu = v, d/dOmega = (Omega^-1 - d d')/2, the
   symmetric G with d log p = sum_ij G_ij dOmega_ij for symmetric dOmega. */
static void grad(const void *self, const int *dim, int L, const double *const *out,
                 const double *const *dout, const struct lanes *a, double *const *da, double *work)
{
    (void)self, (void)out;
    int n = dim[0], nn = n * n, want = 0;
    double *chol_ = work, *inv = work + nn * SLAB, *P = inv + nn * SLAB, *v = P + nn * SLAB;
    double *res = v + n * SLAB;
    for (int e = 0; e < nn; e++) want |= da[2 * n + e] != NULL;
    EACH_SLAB(b0, m, L)
    {
        const double *restrict g = dout[0] + b0;
        chol_load(n, a + 2 * n, b0, m, chol_);
        residual(n, a, a + n, b0, m, res);
        memcpy(v, res, sizeof(double) * (size_t)(n * SLAB));
        times_upper(n, m, chol_, v);
        times_lower(n, m, chol_, v);
        if (want) inverse_spd(n, m, chol_, inv, P);
        for (int i = 0; i < n; i++) {
            const double *vi = v + i * SLAB;
            for (int b = 0; b < m && da[i]; b++) da[i][b0 + b] -= g[b] * vi[b];
            for (int b = 0; b < m && da[n + i]; b++) da[n + i][b0 + b] += g[b] * vi[b];
        }
        for (int e = 0; e < nn; e++) {
            const double *ri = res + e / n * SLAB, *rj = res + e % n * SLAB, *p = P + e * SLAB;
            double *d = da[2 * n + e];
            for (int b = 0; b < m && d; b++) d[b0 + b] += 0.5 * g[b] * (p[b] - ri[b] * rj[b]);
        }
    }
}

/* mu + L^-T z */
static void sample(const void *self, const struct stream *s, const int *dim, int L,
                   double *const *out, const struct lanes *a, double *work)
{
    (void)self;
    int n = dim[0];
    double *chol_ = work, *y = work + n * n * SLAB, mbuf[SLAB];
    for (int i = 0; i < n; i++) stream_normal_part(s, i, L, out[i]);
    EACH_SLAB(b0, m, L)
    {
        chol_load(n, a + n, b0, m, chol_);
        for (int i = 0; i < n; i++) memcpy(y + i * SLAB, out[i] + b0, sizeof(double) * (size_t)m);
        solve_upper(n, m, chol_, y);
        for (int i = 0; i < n; i++) {
            const double *restrict mu = lanes_at(&a[i], b0, m, mbuf), *restrict yi = y + i * SLAB;
            double *restrict o = out[i] + b0;
            EACH(b, m) o[b] = if_ok(is_real(mu[b]), mu[b] + yi[b]);
        }
    }
}

static int size(const int *n, const char **why)
{
    if (n[1] == n[0] * n[0]) return n[0];
    *why = "Omega must have as many rows and columns as mu has elements";
    return -1;
}

/* The variances are the diagonal of Omega^-1. */
static int moments(const int *n, const double *p, double *mean, double *var)
{
    enum { MOST = 4 };
    int k = n[0];
    double A[MOST * MOST * SLAB], M[MOST * MOST * SLAB], P[MOST * MOST * SLAB];
    if (k > MOST) return -1;
    for (int e = 0; e < k * k; e++) A[e * SLAB] = p[k + e];
    chol(k, 1, A);
    inverse_spd(k, 1, A, M, P);
    for (int i = 0; i < k; i++) {
        mean[i] = p[i];
        var[i] = P[(i * k + i) * SLAB];
    }
    return 0;
}

const struct dist dist_multi_normal_prec = {
    "multi_normal_prec", "multivariate normal, by mean and precision", 2,
    {{"mu", VECTOR}, {"Omega", SPD}}, VECTOR, .blogp = logp, .bgrad = grad, .bsample = sample,
    .work = work_size, .size = size, .moments = moments,
    .try_at = {{{2, 4}, {0.385, -1.7, 2.385, 0.61, 0.61, 0.47}},
               {{3, 9}, {3.1, 0, -0.2, 1.3, 0.2, -0.71, 0.2, 0.31, 0.05, -0.71, 0.05, 4.2}},
               {{1, 1}, {0.7, 2.385}}}};
