/* bernoulli.c: Bernoulli distribution, by the probability of 1: p(1) = theta, p(0) = 1 - theta */
#include "dist/loops.h"

INLINE double lp(double x, double theta)
{
    double v = log(x == 1 ? theta : 1 - theta);
    return density(is_unit(theta), (x == 0) | (x == 1), x, v);
}

INLINE void dlp(double x, double theta, double *g)
{
    g[0] = 0;
    g[1] = 1 / (x == 1 ? theta : theta - 1);
}
DENSITY(2, lp, dlp)

INLINE double draw(double u, double theta) { return if_ok(is_unit(theta), u < theta ? 1. : 0.); }
SAMPLE_UNIFORM(2, draw)

static double cdf(double x, const double *p)
{
    return if_ok(is_unit(p[0]), x < 0 ? 0 : x < 1 ? 1 - p[0] : 1);
}

static double ccdf(double x, const double *p)
{
    return if_ok(is_unit(p[0]), x < 0 ? 1 : x < 1 ? p[0] : 0);
}

static double quantile(double u, const double *p)
{
    return if_ok(is_unit(p[0]) & is_unit(u), u > 1 - p[0]);
}

static double cquantile(double u, const double *p)
{
    return if_ok(is_unit(p[0]) & is_unit(u), u < p[0]);
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    *mean = p[0];
    *var = p[0] * (1 - p[0]);
    return 0;
}

const struct dist dist_bernoulli = {
    "bernoulli",
    "0 or 1, by the probability of 1",
    1,
    {{"theta", UNIT}},
    BINARY,
    KERNELS,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .moments = moments,
    .location = 1,
    .try_at = {TRY_1(0.385), TRY_1(0.9921)},
};
