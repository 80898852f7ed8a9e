/* beta_neg_binomial.c: beta negative binomial distribution.
   Failures before success r with a beta(alpha, beta) probability of success:
   p = B(x + r, alpha + beta) / B(r, alpha) * Gamma(x + beta) / (x! Gamma(beta)),
   r/(x + r) times a beta-binomial density of r successes and x failures */
#include "dist/block.h"

INLINE bool ok(double r, double alpha, double beta)
{
    return is_positive(r) & is_positive(alpha) & is_positive(beta);
}

INLINE double lp(double x, double r, double alpha, double beta)
{
    double v = beta_binomial_lp(r, x, alpha, beta) - log1p(x / r);
    v = v > 0 ? 0 : v; /* rounding */
    return density(ok(r, alpha, beta), is_count(x), x, v);
}

INLINE void dlp(double x, double r, double alpha, double beta, double *g)
{
    double all = digamma(x + r + alpha + beta), both = digamma(alpha + beta) - all;
    double of_alpha = digamma(r + alpha);
    g[0] = 0;
    g[1] = digamma(x + r) - all - digamma(r) + of_alpha;
    g[2] = both - digamma(alpha) + of_alpha;
    g[3] = both + digamma(x + beta) - digamma(beta);
}
DENSITY(4, lp, dlp)

/* A Poisson number with mean gamma(r) (1 - p)/p, where (1 - p)/p is a ratio of gammas */
SAMPLE_SLABS
{
    (void)self;
    EACH_SLAB(s, n)
    {
        double x[SLAB], y[SLAB], z[SLAB], buf[3][SLAB];
        const double *r = lanes_of(a[0], s, buf[0]);
        const double *alpha = lanes_of(a[1], s, buf[1]), *beta = lanes_of(a[2], s, buf[2]);
        draw_log_gammas(stream, 0, s, r, x);
        draw_log_gammas(stream, 1, s, alpha, y);
        draw_log_gammas(stream, 2, s, beta, z);
        EACH(b, s.m) x[b] = exp(x[b] + z[b] - y[b]);
        for (int b = 0; b < s.live; b++) {
            struct rng g;
            draw_rng(stream, s.first + b, 3, &g);
            x[b] = draw_poisson(&g, x[b] <= DBL_MAX ? x[b] : DBL_MAX); /* NaN stays */
            if (!ok(r[b], alpha[b], beta[b])) x[b] = NAN;
        }
        put(s, x, out);
    }
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    double c = p[1] - 1;
    if (c <= 1) return -1;
    *mean = p[0] * p[2] / c;
    *var = *mean * (p[0] + c) * (p[2] + c) / ((c - 1) * c);
    return 0;
}

const struct dist dist_beta_neg_binomial = {
    "beta_neg_binomial",
    "negative binomial with a beta(alpha, beta) probability of success",
    3,
    {{"r", POSITIVE}, {"alpha", POSITIVE}, {"beta", POSITIVE}},
    COUNT,
    KERNELS,
    .moments = moments,
    .try_at = {TRY_3(2.385, 6.71, 0.7), TRY_3(7.3, 9.1, 4.7)},
};
