/* categorical.c: categorical distribution, by probabilities or weights.
   p(x) = theta_x / S,  S = sum theta.  Stan's theta is a simplex, so that S = 1; the
   kernels divide by S, so that JAGS's dcat, which takes weights, means the same. */
#include "dist/block.h"

/* out <- S, NaN if a weight is negative */
WIDE static void total(const struct lanes *w, int K, struct slab s, double *restrict out)
{
    double buf[SLAB];
    fill(out, 0);
    for (int j = 0; j < K; j++) {
        const double *restrict p = lanes_at(&w[j], s, buf);
        EACH(b, s.m) out[b] += p[b] >= 0 ? p[b] : NAN;
    }
}

WIDE static void logp(const void *self, const int *dim, int L, double *const *out,
                      const struct lanes *a, double *work)
{
    (void)self, (void)work;
    EACH_SLAB(s, L)
    {
        double S[SLAB], own[SLAB], xbuf[SLAB], buf[SLAB];
        const double *restrict x = lanes_at(&a[0], s, xbuf);
        total(a + 1, dim[1], s, S);
        fill(own, 0); /* theta_x */
        for (int j = 0; j < dim[1]; j++) {
            const double *restrict p = lanes_at(&a[1 + j], s, buf);
            double here = j + 1;
            EACH(b, s.m) own[b] += x[b] == here ? p[b] : 0;
        }
        EACH(b, s.m)
        {
            bool in = (x[b] >= 1) & (x[b] <= dim[1]) & is_count(x[b]);
            own[b] = density(is_positive(S[b]), in, x[b], log(own[b] / S[b]));
        }
        put(s, own, out[0]);
    }
}

/* d log p / d theta_j = [x = j] / theta_j - 1/S */
WIDE static void grad(const void *self, const int *dim, int L, const double *const *out,
                      const double *const *dout, const struct lanes *a, double *const *da,
                      double *work)
{
    (void)self, (void)out, (void)work;
    EACH_SLAB(s, L)
    {
        double S[SLAB], xbuf[SLAB], buf[SLAB], gbuf[SLAB], d[SLAB];
        const double *restrict x = lanes_at(&a[0], s, xbuf);
        const double *restrict g = lanes_of(dout[0], s, gbuf);
        total(a + 1, dim[1], s, S);
        for (int j = 0; j < dim[1]; j++) {
            const double *restrict p = lanes_at(&a[1 + j], s, buf);
            double here = j + 1;
            EACH(b, s.m) /* where p is 0, a derivative that is not wanted must not be NaN */
            {
                double own = (x[b] == here ? 1 / p[b] : 0) - 1 / S[b];
                d[b] = g[b] != 0 ? g[b] * own : 0;
            }
            add(s, d, da[1 + j]);
        }
    }
}

/* 1 + the number of partial sums that are at most u S */
WIDE static void sample(const void *self, const struct stream *stream, const int *dim, int L,
                        double *const *out, const struct lanes *a, double *work)
{
    (void)self, (void)work;
    stream_uniform(stream, L, out[0]);
    EACH_SLAB(s, L)
    {
        double S[SLAB], part[SLAB], x[SLAB], buf[SLAB];
        const double *restrict u = lanes_of(out[0], s, buf);
        total(a, dim[1], s, S);
        fill(part, 0);
        EACH(b, s.m)
        {
            x[b] = if_ok(is_positive(S[b]), 1);
            S[b] *= u[b];
        }
        for (int j = 0; j + 1 < dim[1]; j++) {
            const double *restrict p = lanes_at(&a[j], s, buf);
            EACH(b, s.m)
            {
                part[b] += p[b];
                x[b] += part[b] <= S[b] ? 1 : 0;
            }
        }
        put(s, x, out[0]);
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
    "categorical",
    "1, 2, ..., by probabilities",
    1,
    {{"theta", SIMPLEX}},
    INDEX,
    .blogp = logp,
    .bgrad = grad,
    .bsample = sample,
    .moments = moments,
    .location = 1,
    .try_at = {{{3}, {0.2385, 0.6, 0.1615}}, {{5}, {0.7, 0.0125, 0.2, 0, 0.0875}}},
};
