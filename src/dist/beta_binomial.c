/* beta_binomial.c: beta-binomial distribution.
   binomial(N, p) with p of a beta(alpha, beta):
   log p = log C(N, x) + log B(x + alpha, N - x + beta) - log B(alpha, beta) */
#include "dist/block.h"

INLINE bool ok(double n, double alpha, double beta)
{
    return is_count(n) & is_positive(alpha) & is_positive(beta);
}

INLINE double lp(double x, double n, double alpha, double beta)
{
    double v = beta_binomial_lp(x, n - x, alpha, beta);
    v = v > 0 ? 0 : v; /* rounding; N of 1e308 */
    return density(ok(n, alpha, beta), is_count(x) & (x <= n), x, v);
}

INLINE void dlp(double x, double n, double alpha, double beta, double *g)
{
    double both = digamma(alpha + beta) - digamma(n + alpha + beta);
    g[0] = g[1] = 0;
    g[2] = digamma(x + alpha) - digamma(alpha) + both;
    g[3] = digamma(n - x + beta) - digamma(beta) + both;
}
DENSITY(4, lp, dlp)

SAMPLE_SLABS
{
    (void)self;
    EACH_SLAB(s, n)
    {
        double x[SLAB], y[SLAB], buf[3][SLAB];
        const double *N = lanes_of(a[0], s, buf[0]);
        const double *alpha = lanes_of(a[1], s, buf[1]), *beta = lanes_of(a[2], s, buf[2]);
        draw_log_gammas(stream, 0, s, alpha, x);
        draw_log_gammas(stream, 1, s, beta, y);
        EACH(b, s.m) x[b] = sigmoid(x[b] - y[b]);
        for (int b = 0; b < s.live; b++) {
            struct rng r;
            draw_rng(stream, s.first + b, 2, &r);
            x[b] = draw_binomial(&r, N[b], x[b]); /* NaN if a parameter is invalid */
        }
        put(s, x, out);
    }
}

static double ratio(double x, const double *p)
{
    return (p[0] - x) * (x + p[1]) / ((x + 1) * (p[0] - x - 1 + p[2]));
}

/* Summed on the side of the mean where x is, or on the other one if most is there. */
static double tail(double x, const double *p, int upper)
{
    double k = floor(x), n = p[0], v;
    if (!ok(p[0], p[1], p[2]) || isnan(x)) return NAN;
    if (k < 0 || k >= n) return (k < 0) == upper;
    int above = k >= n * p[1] / (p[1] + p[2]);
    for (int turn = 0; turn < 2; turn++, above = !above) {
        v = above ? count_tail(ratio, p, exp(lp(k + 1, n, p[1], p[2])), k + 1, n)
                  : count_tail(ratio, p, exp(lp(k, n, p[1], p[2])), k, 0);
        if (above == upper) return v;
        if (!(v > 0.5)) return 1 - v;
    }
    return NAN;
}

static double cdf(double x, const double *p) { return tail(x, p, 0); }

static double ccdf(double x, const double *p) { return tail(x, p, 1); }

static double quantile(double u, const double *p) { return count_inverse(cdf, 1, u, p, 0, p[0]); }

static double cquantile(double u, const double *p)
{
    return count_inverse(ccdf, -1, u, p, 0, p[0]);
}

static void bounds(const double *p, double *lo, double *hi)
{
    *lo = 0;
    *hi = p[0];
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    double s = p[1] + p[2];
    *mean = p[0] * p[1] / s;
    *var = *mean * p[2] / s * (s + p[0]) / (s + 1);
    return 0;
}

const struct dist dist_beta_binomial = {
    "beta_binomial",
    "binomial with a beta(alpha, beta) probability",
    3,
    {{"N", COUNT}, {"alpha", POSITIVE}, {"beta", POSITIVE}},
    COUNT,
    KERNELS,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .bounds = bounds,
    .moments = moments,
    .try_at = {TRY_3(13, 2.385, 0.71), TRY_3(270, 0.31, 0.47), TRY_3(40, 31.7, 12.1)},
};
