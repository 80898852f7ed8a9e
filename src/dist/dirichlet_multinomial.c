/* dirichlet_multinomial.c: Dirichlet-multinomial distribution.
   multinomial(theta, N) with theta of a dirichlet(alpha), S = sum alpha:
   log p = log Gamma(S) N! / Gamma(N + S)
           + sum_j log Gamma(x_j + alpha_j) / (x_j! Gamma(alpha_j))
   Computed as a ratio, in which large arguments do not cancel: the x_j are independent negative
   binomial counts, with any probability that they share, given their sum, which is one too. */
#include "dist/block.h"

/* log Gamma(x + r) / (x! Gamma(r)) p^r q^x, q = 1 - p */
INLINE double count_lp(double x, double r, double p, double q)
{
    return binomial_lp(r, x, p, q) + log(r / (r + x));
}

WIDE static void logp(const void *self, const int *dim, int L, double *const *out,
                      const struct lanes *a, double *work)
{
    (void)self, (void)work;
    int K = dim[0];
    EACH_SLAB(s, L)
    {
        double S[SLAB], n[SLAB], v[SLAB], xbuf[SLAB], abuf[SLAB], nbuf[SLAB];
        const double *restrict N = lanes_at(&a[2 * K], s, nbuf);
        fill(S, 0);
        fill(n, 0);
        fill(v, 0);
        for (int j = 0; j < K; j++) {
            const double *restrict al = lanes_at(&a[K + j], s, abuf);
            EACH(b, s.m) S[b] += al[b] > 0 ? al[b] : NAN;
        }
        for (int j = 0; j < K; j++) {
            const double *restrict x = lanes_at(&a[j], s, xbuf);
            const double *restrict al = lanes_at(&a[K + j], s, abuf);
            EACH(b, s.m)
            {
                double both = S[b] + N[b], t = count_lp(x[b], al[b], S[b] / both, N[b] / both);
                n[b] += x[b];
                v[b] += is_count(x[b]) ? t : -INFINITY;
            }
        }
        EACH(b, s.m)
        {
            double both = S[b] + N[b], t = v[b] - count_lp(N[b], S[b], S[b] / both, N[b] / both);
            t = t > 0 ? 0 : t; /* rounding */
            v[b] = density(is_positive(S[b]) & is_count(N[b]), n[b] == N[b], n[b], t);
        }
        put(s, v, out[0]);
    }
}

WIDE static void grad(const void *self, const int *dim, int L, const double *const *out,
                      const double *const *dout, const struct lanes *a, double *const *da,
                      double *work)
{
    (void)self, (void)out, (void)work;
    int K = dim[0];
    EACH_SLAB(s, L)
    {
        double S[SLAB], xbuf[SLAB], abuf[SLAB], gbuf[SLAB], d[SLAB];
        const double *restrict g = lanes_of(dout[0], s, gbuf);
        fill(S, 0);
        for (int j = 0; j < K; j++) {
            const double *restrict al = lanes_at(&a[K + j], s, abuf);
            EACH(b, s.m) S[b] += al[b];
        }
        const double *restrict N = lanes_at(&a[2 * K], s, xbuf);
        EACH(b, s.m) S[b] = digamma(S[b]) - digamma(N[b] + S[b]);
        for (int j = 0; j < K; j++) {
            const double *restrict x = lanes_at(&a[j], s, xbuf);
            const double *restrict al = lanes_at(&a[K + j], s, abuf);
            EACH(b, s.m) d[b] = g[b] * (S[b] + digamma(x[b] + al[b]) - digamma(al[b]));
            add(s, d, da[K + j]);
        }
    }
}

/* Gammas, in logs, then one binomial after the other, as in multinomial.c */
static void sample(const void *self, const struct stream *s, const int *dim, int L,
                   double *const *out, const struct lanes *a, double *work)
{
    (void)self, (void)work;
    int K = dim[0];
    for (int b = 0; b < L; b++) {
        double top = -INFINITY, rest = 0, left = a[K].p[(ptrdiff_t)b * a[K].step];
        bool ok = is_count(left);
        struct rng r;
        stream_rng(s, b, &r);
        for (int j = 0; j < K; j++) {
            double alpha = a[j].p[(ptrdiff_t)b * a[j].step];
            ok = ok && is_positive(alpha);
            out[j][b] = ok ? draw_log_gamma(&r, alpha) : NAN;
            if (out[j][b] > top) top = out[j][b];
        }
        for (int j = K; j-- > 0;) { /* the share of j in j, j + 1, ... */
            double w = exp(out[j][b] - top);
            out[j][b] = w / (rest += w);
        }
        for (int j = 0; j < K; j++) {
            double p = j == K - 1 ? 1 : out[j][b], x = NAN;
            if (ok) x = left > 0 && p > 0 ? draw_binomial(&r, left, p < 1 ? p : 1) : 0;
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
        var[j] = mean[j] * (1 - p[j] / s) * (N + s) / (1 + s);
    }
    return 0;
}

const struct dist dist_dirichlet_multinomial = {
    "dirichlet_multinomial",
    "counts of N categorical draws with dirichlet(alpha) probabilities",
    2,
    {{"alpha", POSITIVES}, {"N", COUNT}},
    COUNTS,
    .blogp = logp,
    .bgrad = grad,
    .bsample = sample,
    .size = size,
    .moments = moments,
    .try_at = {{{3, 1}, {2.385, 0.6, 1.615, 7}}, {{4, 1}, {7.1, 0.125, 2.3, 0.875, 113}}},
};
