/* p(x) = theta_x / S,  S = sum theta.  Stan's theta is a simplex, so that S = 1; the
   kernels divide by S, so that JAGS's dcat, which takes weights, means the same. */
#include "dist/block.h"

/* out <- S, NaN if a weight is negative */
static void total(const struct lanes *w, int K, int b0, int m, double *out)
{
    double buf[SLAB];
    fill(out, 0);
    for (int j = 0; j < K; j++) {
        const double *restrict p = lanes_at(&w[j], b0, m, buf);
        EACH(b, m) out[b] += p[b] >= 0 ? p[b] : NAN;
    }
}

static void logp(const void *self, const int *dim, int L, double *const *out, const struct lanes *a,
                 double *work)
{
    (void)self, (void)work;
    EACH_SLAB(b0, m, L)
    {
        double sum[SLAB], own[SLAB], xbuf[SLAB], buf[SLAB], *restrict o = out[0] + b0;
        const double *restrict x = lanes_at(&a[0], b0, m, xbuf);
        total(a + 1, dim[1], b0, m, sum);
        fill(own, -1); /* theta_x; stays -1 outside */
        for (int j = 0; j < dim[1]; j++) {
            const double *restrict p = lanes_at(&a[1 + j], b0, m, buf);
            EACH(b, m) own[b] = x[b] == j + 1 ? p[b] : own[b];
        }
        EACH(b, m) o[b] = density(is_positive(sum[b]), own[b] >= 0, x[b], log(own[b] / sum[b]));
    }
}

/* d log p / d theta_j = [x = j] / theta_j - 1/S */
static void grad(const void *self, const int *dim, int L, const double *const *out,
                 const double *const *dout, const struct lanes *a, double *const *da, double *work)
{
    (void)self, (void)out, (void)work;
    EACH_SLAB(b0, m, L)
    {
        double sum[SLAB], xbuf[SLAB], buf[SLAB];
        const double *restrict x = lanes_at(&a[0], b0, m, xbuf), *restrict g = dout[0] + b0;
        total(a + 1, dim[1], b0, m, sum);
        for (int j = 0; j < dim[1]; j++) {
            if (!da[1 + j]) continue;
            const double *restrict p = lanes_at(&a[1 + j], b0, m, buf);
            double *restrict d = da[1 + j] + b0;
            EACH(b, m) d[b] += g[b] * ((x[b] == j + 1 ? 1 / p[b] : 0) - 1 / sum[b]);
        }
    }
}

/* 1 + the number of partial sums that are at most u S */
static void sample(const void *self, const struct stream *s, const int *dim, int L,
                   double *const *out, const struct lanes *a, double *work)
{
    (void)self, (void)work;
    stream_uniform(s, L, out[0]);
    EACH_SLAB(b0, m, L)
    {
        double sum[SLAB], part[SLAB], buf[SLAB], *restrict o = out[0] + b0;
        total(a, dim[1], b0, m, sum);
        fill(part, 0);
        double at[SLAB];
        EACH(b, m)
        {
            at[b] = o[b] * sum[b];
            o[b] = if_ok(is_positive(sum[b]), 1);
        }
        for (int j = 0; j + 1 < dim[1]; j++) {
            const double *restrict p = lanes_at(&a[j], b0, m, buf);
            EACH(b, m)
            {
                part[b] += p[b];
                o[b] += part[b] <= at[b] ? 1 : 0;
            }
        }
    }
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    double s = 0, m1 = 0, m2 = 0;
    for (int j = 0; j < n[0]; j++) s += p[j], m1 += p[j] * (j + 1), m2 += p[j] * (j + 1) * (j + 1);
    *mean = m1 / s;
    *var = m2 / s - *mean * *mean;
    return 0;
}

const struct dist dist_categorical = {
    "categorical", "1, 2, ..., by probabilities", 1, {{"theta", SIMPLEX}}, INDEX,
    .blogp = logp, .bgrad = grad, .bsample = sample, .moments = moments,
    .try_at = {{{3}, {0.2385, 0.6, 0.1615}}, {{5}, {0.7, 0.0125, 0.2, 0, 0.0875}}}};
