/* multinomial.c: multinomial distribution.
   p = N! prod (theta_j / S)^x_j / x_j!,  sum x = N,  S = sum theta (see categorical.c) */
#include "dist/block.h"

WIDE static void logp(const void *self, const int *dim, int L, double *const *out,
                      const struct lanes *a, double *work)
{
    (void)self, (void)work;
    int K = dim[0];
    EACH_SLAB(s, L)
    {
        double S[SLAB], n[SLAB], v[SLAB], xbuf[SLAB], wbuf[SLAB];
        fill(S, 0);
        fill(n, 0);
        fill(v, 0);
        for (int j = 0; j < K; j++) {
            const double *restrict x = lanes_at(&a[j], s, xbuf);
            const double *restrict p = lanes_at(&a[K + j], s, wbuf);
            EACH(b, s.m)
            {
                double t = xlogy(x[b], p[b]) - lgam(x[b] + 1);
                S[b] += p[b] >= 0 ? p[b] : NAN;
                n[b] += x[b];
                v[b] += is_count(x[b]) ? t : -INFINITY;
            }
        }
        const double *restrict N = lanes_at(&a[2 * K], s, xbuf);
        EACH(b, s.m)
        {
            bool ok = is_positive(S[b]) & is_count(N[b]);
            v[b] = density(ok, n[b] == N[b], n[b], v[b] + lgam(N[b] + 1) - N[b] * log(S[b]));
        }
        put(s, v, out[0]);
    }
}

/* d log p / d theta_j = x_j / theta_j - N / S */
WIDE static void grad(const void *self, const int *dim, int L, const double *const *out,
                      const double *const *dout, const struct lanes *a, double *const *da,
                      double *work)
{
    (void)self, (void)out, (void)work;
    int K = dim[0];
    EACH_SLAB(s, L)
    {
        double S[SLAB], xbuf[SLAB], wbuf[SLAB], nbuf[SLAB], gbuf[SLAB], d[SLAB];
        const double *restrict n = lanes_at(&a[2 * K], s, nbuf);
        const double *restrict g = lanes_of(dout[0], s, gbuf);
        fill(S, 0);
        for (int j = 0; j < K; j++) {
            const double *restrict p = lanes_at(&a[K + j], s, wbuf);
            EACH(b, s.m) S[b] += p[b];
        }
        for (int j = 0; j < K; j++) {
            const double *restrict x = lanes_at(&a[j], s, xbuf);
            const double *restrict p = lanes_at(&a[K + j], s, wbuf);
            EACH(b, s.m)
            {
                double own = x[b] / p[b];
                d[b] = g[b] * ((x[b] > 0 ? own : 0) - n[b] / S[b]);
            }
            add(s, d, da[K + j]);
        }
    }
}

/* One binomial after the other: x_j of those left, with odds theta_j : theta_{j+1} + ... */
WIDE static void sample(const void *self, const struct stream *s, const int *dim, int L,
                        double *const *out, const struct lanes *a, double *work)
{
    (void)self, (void)work;
    int K = dim[0];
    for (int b = 0; b < L; b++) {
        double rest = 0, left = a[K].p[(ptrdiff_t)b * a[K].step];
        struct rng r;
        stream_rng(s, b, &r);
        for (int j = K; j-- > 0;) { /* out[j] holds theta_j + theta_{j+1} + ... */
            double p = lane(&a[j], b);
            out[j][b] = rest += p >= 0 ? p : NAN;
        }
        bool ok = is_positive(rest) && is_count(left);
        for (int j = 0; j < K; j++) {
            double p = lane(&a[j], b), of = out[j][b];
            double x = !ok                   ? NAN
                       : left <= 0 || p == 0 ? 0
                                             : draw_binomial(&r, left, p >= of ? 1 : p / of);
            out[j][b] = x;
            left -= x;
        }
    }
}

static int size(const int *n, const char **why)
{
    (void)why;
    return n[0];
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    double s = 0, N = p[n[0]];
    for (int j = 0; j < n[0]; j++) s += p[j];
    for (int j = 0; j < n[0]; j++) {
        mean[j] = N * p[j] / s;
        var[j] = mean[j] * (1 - p[j] / s);
    }
    return 0;
}

const struct dist dist_multinomial = {
    "multinomial",
    "counts of N categorical draws, by probabilities and N",
    2,
    {{"theta", SIMPLEX}, {"N", COUNT}},
    COUNTS,
    .blogp = logp,
    .bgrad = grad,
    .bsample = sample,
    .size = size,
    .moments = moments,
    .try_at = {{{3, 1}, {0.2385, 0.6, 0.1615, 7}}, {{4, 1}, {0.7, 0.0125, 0.2, 0.0875, 113}}},
};
