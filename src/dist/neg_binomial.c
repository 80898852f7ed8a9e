/* neg_binomial.c: negative binomial distribution, by shape and inverse scale.
   p = C(x + alpha - 1, x) (beta/(beta + 1))^alpha (1/(beta + 1))^x: a Poisson with a
   gamma(alpha, beta) mean */
#include "dist/block.h"

INLINE bool ok(double alpha, double beta) { return is_positive(alpha) & is_positive(beta); }

/* alpha/(x + alpha) C(x + alpha, x) = C(x + alpha - 1, x) */
INLINE double lp(double x, double alpha, double beta)
{
    double q = 1 / (1 + beta), p = beta * q;
    double v = binomial_lp(alpha, x, p, q) - log1p(x / alpha);
    return density(ok(alpha, beta), is_count(x), x, v);
}

INLINE void dlp(double x, double alpha, double beta, double *g)
{
    g[0] = 0;
    g[1] = digamma(x + alpha) - digamma(alpha) - log1p(1 / beta);
    g[2] = (alpha / beta - x) / (1 + beta);
}
DENSITY(3, lp, dlp)

SAMPLE_SLABS
{
    (void)self;
    EACH_SLAB(s, n)
    {
        double x[SLAB], buf[2][SLAB];
        const double *alpha = lanes_of(a[0], s, buf[0]), *beta = lanes_of(a[1], s, buf[1]);
        draw_gammas(stream, 0, s, alpha, x);
        for (int b = 0; b < s.live; b++) {
            struct rng r;
            draw_rng(stream, s.first + b, 1, &r);
            x[b] = ok(alpha[b], beta[b]) ? draw_poisson(&r, x[b] / beta[b]) : NAN;
        }
        put(s, x, out);
    }
}

/* P(X <= k) = I(alpha, k + 1; beta/(beta + 1)) */
static double cdf(double x, const double *p)
{
    double k = floor(x), q = 1 / (1 + p[1]);
    if (!ok(p[0], p[1]) || isnan(x)) return NAN;
    return k < 0 ? 0 : isinf(k) ? 1 : beta_i(p[0], k + 1, p[1] * q, q);
}

static double ccdf(double x, const double *p)
{
    double k = floor(x), q = 1 / (1 + p[1]);
    if (!ok(p[0], p[1]) || isnan(x)) return NAN;
    return k < 0 ? 1 : isinf(k) ? 0 : beta_i(k + 1, p[0], q, p[1] * q);
}

static double quantile(double u, const double *p)
{
    return count_inverse(cdf, 1, u, p, 0, INFINITY);
}

static double cquantile(double u, const double *p)
{
    return count_inverse(ccdf, -1, u, p, 0, INFINITY);
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    *mean = p[0] / p[1];
    *var = *mean * (1 + 1 / p[1]);
    return 0;
}

const struct dist dist_neg_binomial = {
    "neg_binomial",
    "negative binomial: Poisson with a gamma(alpha, beta) mean",
    2,
    {{"alpha", POSITIVE}, {"beta", POSITIVE}},
    COUNT,
    KERNELS,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .moments = moments,
    .location = 2,
    .try_at = {TRY_2(2.385, 0.71), TRY_2(0.31, 2.2), TRY_2(71.3, 1.9)},
};
