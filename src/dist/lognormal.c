/* lognormal.c: lognormal distribution, by mean and standard deviation of log x.
   log p = -z^2/2 - log sigma - log(2 pi)/2 - log x,  z = (log x - mu)/sigma */
#include "dist/loops.h"

INLINE bool ok(double mu, double sigma) { return is_real(mu) & is_positive(sigma); }

INLINE double lp(double x, double mu, double sigma)
{
    double l = log(x), z = (l - mu) / sigma;
    double v = -0.5 * z * z - log(sigma) - HALF_LOG_2PI - l;
    return density(ok(mu, sigma), (x > 0) & (x <= DBL_MAX), x, v);
}

INLINE void dlp(double x, double mu, double sigma, double *g)
{
    double z = (log(x) - mu) / sigma;
    g[0] = -(1 + z / sigma) / x;
    g[1] = z / sigma;
    g[2] = (z * z - 1) / sigma;
}
DENSITY(3, lp, dlp)

INLINE double draw(double z, double mu, double sigma)
{
    return if_ok(ok(mu, sigma), exp(mu + sigma * z));
}
SAMPLE_NORMAL(3, draw)

INLINE void move(double x, double mu, double sigma, double *g)
{
    g[1] = x;
    g[2] = x * (log(x) - mu) / sigma;
}
PATH(3, move)

static double cdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1]), x > 0 ? normal_p((log(x) - p[0]) / p[1]) : 0);
}

static double ccdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1]), x > 0 ? normal_p((p[0] - log(x)) / p[1]) : 1);
}

static double quantile(double u, const double *p) { return draw(normal_quantile(u), p[0], p[1]); }

static double cquantile(double u, const double *p) { return draw(-normal_quantile(u), p[0], p[1]); }

static void dcdf(double x, const double *p, double *g)
{
    double z = x > 0 ? (log(x) - p[0]) / p[1] : 0, f = x > 0 ? x * exp(lp(x, p[0], p[1])) : 0;
    g[0] = -f;
    g[1] = f > 0 ? -f * z : 0;
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    double v = p[1] * p[1];
    *mean = exp(p[0] + 0.5 * v);
    *var = expm1(v) * *mean * *mean;
    return 0;
}

const struct dist dist_lognormal = {
    "lognormal",
    "exp of a normal, by mean and standard deviation of the logarithm",
    2,
    {{"mu", REAL}, {"sigma", POSITIVE}},
    POSITIVE,
    KERNELS,
    .path = path,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .dcdf = dcdf,
    .moments = moments,
    .mild = "lognormal(0, 1)",
    .mild_jags = "dlnorm(0, 1)",
    .location = 1,
    .scale = 2,
    .try_at = {TRY_2(0.385, 0.61), TRY_2(-2.3, 0.087)},
};
