/* normal.c: normal distribution, by mean and standard deviation.
   log p = -z^2/2 - log sigma - log(2 pi)/2,  z = (x - mu)/sigma */
#include "dist/loops.h"

INLINE bool ok(double mu, double sigma) { return is_real(mu) & is_positive(sigma); }

INLINE double lp(double x, double mu, double sigma)
{
    double z = (x - mu) / sigma;
    return density(ok(mu, sigma), true, x, -0.5 * z * z - log(sigma) - HALF_LOG_2PI);
}

INLINE void dlp(double x, double mu, double sigma, double *g)
{
    double z = (x - mu) / sigma;
    g[0] = -z / sigma;
    g[1] = z / sigma;
    g[2] = (z * z - 1) / sigma;
}
DENSITY(3, lp, dlp)

INLINE double draw(double z, double mu, double sigma)
{
    return if_ok(ok(mu, sigma), mu + sigma * z);
}
SAMPLE_NORMAL(3, draw)

PATH(3, move_location_scale)

static double cdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1]), normal_p((x - p[0]) / p[1]));
}

static double ccdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1]), normal_p((p[0] - x) / p[1]));
}

static double quantile(double u, const double *p) { return draw(normal_quantile(u), p[0], p[1]); }

static double cquantile(double u, const double *p) { return draw(-normal_quantile(u), p[0], p[1]); }

DCDF_LOCATION_SCALE(lp)

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    *mean = p[0];
    *var = p[1] * p[1];
    return 0;
}

const struct dist dist_normal = {
    "normal",
    "normal, by mean and standard deviation",
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
    .mild = "normal(0, 2.5)",
    .mild_jags = "dnorm(0, 0.16)",
    .location = 1,
    .scale = 2,
    .try_at = {TRY_2(0.385, 2.385), TRY_2(-31.7, 0.013)},
};
