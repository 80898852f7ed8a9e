/* double_exponential.c: Laplace (double exponential) distribution, by location and scale.
   p = exp(-|z|) / (2 sigma),  z = (x - mu)/sigma */
#include "dist/loops.h"

INLINE bool ok(double mu, double sigma) { return is_real(mu) & is_positive(sigma); }

INLINE double lp(double x, double mu, double sigma)
{
    double z = (x - mu) / sigma;
    return density(ok(mu, sigma), true, x, -LOG_2 - log(sigma) - fabs(z));
}

INLINE void dlp(double x, double mu, double sigma, double *g)
{
    double z = (x - mu) / sigma, sign = (x > mu ? 1. : 0.) - (x < mu ? 1. : 0.);
    g[0] = -sign / sigma;
    g[1] = sign / sigma;
    g[2] = (fabs(z) - 1) / sigma;
}
DENSITY(3, lp, dlp)

INLINE double draw(double u, double mu, double sigma)
{
    double e = -log(2 * (u < 0.5 ? u : 1 - u));
    return if_ok(ok(mu, sigma), mu + sigma * (u < 0.5 ? -e : e));
}
SAMPLE_UNIFORM(3, draw)

PATH(3, move_location_scale)

static double lower(double z) { return z < 0 ? 0.5 * exp(z) : 1 - 0.5 * exp(-z); }

static double cdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1]), lower((x - p[0]) / p[1]));
}

static double ccdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1]), lower((p[0] - x) / p[1]));
}

static double quantile(double u, const double *p) { return if_ok(is_unit(u), draw(u, p[0], p[1])); }

static double cquantile(double u, const double *p)
{
    return if_ok(is_unit(u), 2 * p[0] - draw(u, p[0], p[1]));
}

DCDF_LOCATION_SCALE(lp)

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    *mean = p[0];
    *var = 2 * p[1] * p[1];
    return 0;
}

const struct dist dist_double_exponential = {
    "double_exponential",
    "double exponential (Laplace), by mean and scale",
    2,
    {{"mu", REAL}, {"sigma", POSITIVE}},
    REAL,
    KERNELS,
    .path = path,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .dcdf = dcdf,
    .moments = moments,
    .mild = "double_exponential(0, 2)",
    .mild_jags = "ddexp(0, 0.5)",
    .location = 1,
    .scale = 2,
    .try_at = {TRY_2(0.385, 2.385), TRY_2(-13.1, 0.07)},
};
