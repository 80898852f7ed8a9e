/* categorical_logit.c: categorical distribution, by log weights.
   p(x) = exp(beta_x) / sum exp(beta_j) */
#include "dist/block.h"

/* top <- max beta_j, sum <- sum exp(beta_j - top); NaN if a beta is no number */
WIDE static void softmax_parts(const struct lanes *beta, int K, struct slab s, double *restrict top,
                               double *restrict sum)
{
    double buf[SLAB];
    fill(top, -INFINITY);
    fill(sum, 0);
    for (int j = 0; j < K; j++) {
        const double *restrict p = lanes_at(&beta[j], s, buf);
        EACH(b, s.m) top[b] = p[b] > top[b] ? p[b] : top[b];
    }
    for (int j = 0; j < K; j++) {
        const double *restrict p = lanes_at(&beta[j], s, buf);
        EACH(b, s.m) sum[b] += if_ok(is_real(p[b]), exp(p[b] - top[b]));
    }
}

WIDE static void logp(const void *self, const int *dim, int L, double *const *out,
                      const struct lanes *a, double *work)
{
    (void)self, (void)work;
    EACH_SLAB(s, L)
    {
        double top[SLAB], sum[SLAB], own[SLAB], xbuf[SLAB], buf[SLAB];
        const double *restrict x = lanes_at(&a[0], s, xbuf);
        softmax_parts(a + 1, dim[1], s, top, sum);
        fill(own, 0);
        for (int j = 0; j < dim[1]; j++) {
            const double *restrict p = lanes_at(&a[1 + j], s, buf);
            double here = j + 1;
            EACH(b, s.m) own[b] += x[b] == here ? p[b] : 0;
        }
        EACH(b, s.m)
        {
            bool in = (x[b] >= 1) & (x[b] <= dim[1]) & is_count(x[b]);
            own[b] = density(sum[b] > 0, in, x[b], own[b] - top[b] - log(sum[b]));
        }
        put(s, own, out[0]);
    }
}

/* d log p / d beta_j = [x = j] - softmax_j */
WIDE static void grad(const void *self, const int *dim, int L, const double *const *out,
                      const double *const *dout, const struct lanes *a, double *const *da,
                      double *work)
{
    (void)self, (void)out, (void)work;
    EACH_SLAB(s, L)
    {
        double top[SLAB], sum[SLAB], xbuf[SLAB], buf[SLAB], gbuf[SLAB], d[SLAB];
        const double *restrict x = lanes_at(&a[0], s, xbuf);
        const double *restrict g = lanes_of(dout[0], s, gbuf);
        softmax_parts(a + 1, dim[1], s, top, sum);
        for (int j = 0; j < dim[1]; j++) {
            const double *restrict p = lanes_at(&a[1 + j], s, buf);
            double here = j + 1;
            EACH(b, s.m) d[b] = g[b] * ((x[b] == here ? 1 : 0) - exp(p[b] - top[b]) / sum[b]);
            add(s, d, da[1 + j]);
        }
    }
}

/* 1 + the number of partial sums that are at most u times the whole */
WIDE static void sample(const void *self, const struct stream *stream, const int *dim, int L,
                        double *const *out, const struct lanes *a, double *work)
{
    (void)self, (void)work;
    stream_uniform(stream, L, out[0]);
    EACH_SLAB(s, L)
    {
        double top[SLAB], sum[SLAB], part[SLAB], x[SLAB], buf[SLAB], ubuf[SLAB];
        const double *restrict u = lanes_of(out[0], s, ubuf);
        softmax_parts(a, dim[1], s, top, sum);
        fill(part, 0);
        EACH(b, s.m)
        {
            sum[b] *= u[b];
            x[b] = if_ok(sum[b] >= 0, 1);
        }
        for (int j = 0; j + 1 < dim[1]; j++) {
            const double *restrict p = lanes_at(&a[j], s, buf);
            EACH(b, s.m)
            {
                part[b] += exp(p[b] - top[b]);
                x[b] += part[b] <= sum[b] ? 1 : 0;
            }
        }
        put(s, x, out[0]);
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
    "categorical_logit",
    "1, 2, ..., by log probabilities up to a constant",
    1,
    {{"beta", VECTOR}},
    INDEX,
    .blogp = logp,
    .bgrad = grad,
    .bsample = sample,
    .moments = moments,
    .try_at = {{{3}, {0.385, 1.6, -0.7}}, {{4}, {-3.1, 0.8, 2.9, 2.385}}},
};
