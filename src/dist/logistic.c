/* logistic.c: logistic distribution, by location and scale.
   p = exp(-z) / (sigma (1 + exp(-z))^2),  z = (x - mu)/sigma; even in z */
#include "dist/loops.h"

INLINE bool ok(double mu, double sigma) { return is_real(mu) & is_positive(sigma); }

INLINE double lp(double x, double mu, double sigma)
{
    double z = fabs((x - mu) / sigma);
    return density(ok(mu, sigma), true, x, -z - log(sigma) - 2 * log1p(exp(-z)));
}

INLINE void dlp(double x, double mu, double sigma, double *g)
{
    double z = (x - mu) / sigma, e = exp(-fabs(z)), t = (1 - e) / (1 + e);
    t = z < 0 ? -t : t; /* tanh(z/2) */
    g[0] = -t / sigma;
    g[1] = t / sigma;
    g[2] = (z * t - 1) / sigma;
}
DENSITY(3, lp, dlp)

INLINE double draw(double u, double mu, double sigma)
{
    return if_ok(ok(mu, sigma), mu + sigma * log(u / (1 - u)));
}
SAMPLE_UNIFORM(3, draw)

PATH(3, move_location_scale)

static double cdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1]), sigmoid((x - p[0]) / p[1]));
}

static double ccdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1]), sigmoid((p[0] - x) / p[1]));
}

static double quantile(double u, const double *p)
{
    return if_ok(ok(p[0], p[1]), p[0] + p[1] * (log(u) - log1p(-u)));
}

static double cquantile(double u, const double *p)
{
    return if_ok(ok(p[0], p[1]), p[0] - p[1] * (log(u) - log1p(-u)));
}

DCDF_LOCATION_SCALE(lp)

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    *mean = p[0];
    *var = p[1] * p[1] * (M_PI * M_PI / 3);
    return 0;
}

const struct dist dist_logistic = {
    "logistic",
    "logistic, by mean and scale",
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
    .location = 1,
    .scale = 2,
    .try_at = {TRY_2(0.385, 2.385), TRY_2(-13.1, 0.07)},
};
