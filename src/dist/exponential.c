/* exponential.c: exponential distribution, by rate: log p = log beta - beta x */
#include "dist/loops.h"

INLINE double lp(double x, double beta)
{
    return density(is_positive(beta), (x >= 0) & (x <= DBL_MAX), x, log(beta) - beta * x);
}

INLINE void dlp(double x, double beta, double *g)
{
    g[0] = -beta;
    g[1] = 1 / beta - x;
}
DENSITY(2, lp, dlp)

INLINE double draw(double u, double beta) { return if_ok(is_positive(beta), -log(u) / beta); }
SAMPLE_UNIFORM(2, draw)

INLINE void move(double x, double beta, double *g) { g[1] = -x / beta; }
PATH(2, move)

static double cdf(double x, const double *p)
{
    return if_ok(is_positive(p[0]), x > 0 ? -expm1(-p[0] * x) : 0);
}

static double ccdf(double x, const double *p)
{
    return if_ok(is_positive(p[0]), x > 0 ? exp(-p[0] * x) : 1);
}

static double quantile(double u, const double *p)
{
    return if_ok(is_positive(p[0]), -log1p(-u) / p[0]);
}

static double cquantile(double u, const double *p) { return draw(u, p[0]); }

static void dcdf(double x, const double *p, double *g) { g[0] = x > 0 ? x * exp(-p[0] * x) : 0; }

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    *mean = 1 / p[0];
    *var = *mean * *mean;
    return 0;
}

const struct dist dist_exponential = {
    "exponential",
    "exponential, by rate",
    1,
    {{"beta", POSITIVE}},
    POSITIVE,
    KERNELS,
    .path = path,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .dcdf = dcdf,
    .moments = moments,
    .mild = "exponential(1)",
    .mild_jags = "dexp(1)",
    .location = 1,
    .try_at = {TRY_1(2.385), TRY_1(0.0137)},
};
