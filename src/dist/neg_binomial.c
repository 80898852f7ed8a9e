/* p = C(x + alpha - 1, x) (beta/(beta + 1))^alpha (1/(beta + 1))^x: a Poisson with a
   gamma(alpha, beta) mean */
#include "dist/loops.h"

static inline bool ok(double alpha, double beta)
{
    return is_positive(alpha) & is_positive(beta);
}

/* alpha/(x + alpha) C(x + alpha, x) = C(x + alpha - 1, x) */
static inline double lp(double x, double alpha, double beta)
{
    bool in = is_count(x);
    double y = in ? x : 0, q = 1 / (1 + beta);
    double p = beta < 1 ? beta * q : 1 - q;
    double v = binomial_lp(alpha, y, p, q) - log1p(y / alpha);
    return density(ok(alpha, beta), in, x, v);
}

static inline void dlp(double x, double alpha, double beta, double *g)
{
    g[0] = 0;
    g[1] = digamma(x + alpha) - digamma(alpha) - log1p(1 / beta);
    g[2] = (alpha / beta - x) / (1 + beta);
}
DENSITY(3, lp, dlp)

static double draw(struct rng *r, double alpha, double beta)
{
    return ok(alpha, beta) ? draw_poisson(r, draw_gamma(r, alpha) / beta) : NAN;
}
SAMPLE_RNG(2, draw)

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
    "neg_binomial", "negative binomial: Poisson with a gamma(alpha, beta) mean", 2,
    {{"alpha", POSITIVE}, {"beta", POSITIVE}}, COUNT, KERNELS,
    .cdf = cdf, .quantile = quantile, .ccdf = ccdf, .cquantile = cquantile, .moments = moments,
    .try_at = {TRY_2(2.385, 0.71), TRY_2(0.31, 2.2), TRY_2(71.3, 1.9)}};
