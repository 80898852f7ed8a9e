/* p(x) = exp(beta_x) / sum exp(beta_j) */
#include "dist/block.h"

/* top <- max beta_j, sum <- sum exp(beta_j - top); NaN if a beta is no number */
static void softmax_parts(const struct lanes *beta, int K, int b0, int m, double *top, double *sum)
{
    double buf[SLAB];
    fill(top, -INFINITY);
    fill(sum, 0);
    for (int j = 0; j < K; j++) {
        const double *restrict p = lanes_at(&beta[j], b0, m, buf);
        EACH(b, m) top[b] = p[b] > top[b] ? p[b] : top[b];
    }
    for (int j = 0; j < K; j++) {
        const double *restrict p = lanes_at(&beta[j], b0, m, buf);
        EACH(b, m) sum[b] += if_ok(is_real(p[b]), exp(p[b] - top[b]));
    }
}

static void logp(const void *self, const int *dim, int L, double *const *out, const struct lanes *a,
                 double *work)
{
    (void)self, (void)work;
    EACH_SLAB(b0, m, L)
    {
        double top[SLAB], sum[SLAB], own[SLAB], xbuf[SLAB], buf[SLAB], *restrict o = out[0] + b0;
        const double *restrict x = lanes_at(&a[0], b0, m, xbuf);
        softmax_parts(a + 1, dim[1], b0, m, top, sum);
        fill(own, -INFINITY);
        for (int j = 0; j < dim[1]; j++) {
            const double *restrict p = lanes_at(&a[1 + j], b0, m, buf);
            EACH(b, m) own[b] = x[b] == j + 1 ? p[b] : own[b];
        }
        EACH(b, m) o[b] = density(sum[b] > 0, true, x[b], own[b] - top[b] - log(sum[b]));
    }
}

/* d log p / d beta_j = [x = j] - softmax_j */
static void grad(const void *self, const int *dim, int L, const double *const *out,
                 const double *const *dout, const struct lanes *a, double *const *da, double *work)
{
    (void)self, (void)out, (void)work;
    EACH_SLAB(b0, m, L)
    {
        double top[SLAB], sum[SLAB], xbuf[SLAB], buf[SLAB];
        const double *restrict x = lanes_at(&a[0], b0, m, xbuf), *restrict g = dout[0] + b0;
        softmax_parts(a + 1, dim[1], b0, m, top, sum);
        for (int j = 0; j < dim[1]; j++) {
            if (!da[1 + j]) continue;
            const double *restrict p = lanes_at(&a[1 + j], b0, m, buf);
            double *restrict d = da[1 + j] + b0;
            EACH(b, m) d[b] += g[b] * ((x[b] == j + 1 ? 1 : 0) - exp(p[b] - top[b]) / sum[b]);
        }
    }
}

static void sample(const void *self, const struct stream *s, const int *dim, int L,
                   double *const *out, const struct lanes *a, double *work)
{
    (void)self, (void)work;
    stream_uniform(s, L, out[0]);
    EACH_SLAB(b0, m, L)
    {
        double top[SLAB], sum[SLAB], part[SLAB], buf[SLAB], *restrict o = out[0] + b0;
        softmax_parts(a, dim[1], b0, m, top, sum);
        fill(part, 0);
        EACH(b, m)
        {
            sum[b] *= o[b];
            o[b] = if_ok(sum[b] >= 0, 1);
        }
        for (int j = 0; j + 1 < dim[1]; j++) {
            const double *restrict p = lanes_at(&a[j], b0, m, buf);
            EACH(b, m)
            {
                part[b] += exp(p[b] - top[b]);
                o[b] += part[b] <= sum[b] ? 1 : 0;
            }
        }
    }
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    double s = 0, m1 = 0, m2 = 0;
    for (int j = 0; j < n[0]; j++) {
        double w = exp(p[j]);
        s += w, m1 += w * (j + 1), m2 += w * (j + 1) * (j + 1);
    }
    *mean = m1 / s;
    *var = m2 / s - *mean * *mean;
    return 0;
}

const struct dist dist_categorical_logit = {
    "categorical_logit", "1, 2, ..., by log probabilities up to a constant", 1,
    {{"beta", VECTOR}}, INDEX,
    .blogp = logp, .bgrad = grad, .bsample = sample, .moments = moments,
    .try_at = {{{3}, {0.385, 1.6, -0.7}}, {{4}, {-3.1, 0.8, 2.9, 2.385}}}};
