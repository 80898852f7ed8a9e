/* gumbel.c: Gumbel distribution, by location and scale.
   log p = -log beta - z - exp(-z),  z = (x - mu)/beta */
#include "dist/loops.h"

INLINE bool ok(double mu, double beta) { return is_real(mu) & is_positive(beta); }

INLINE double lp(double x, double mu, double beta)
{
    double z = (x - mu) / beta;
    return density(ok(mu, beta), is_real(x) & (z > -DBL_MAX), x, -log(beta) - z - exp(-z));
}

INLINE void dlp(double x, double mu, double beta, double *g)
{
    double z = (x - mu) / beta, w = -expm1(-z); /* 1 - exp(-z) */
    g[0] = -w / beta;
    g[1] = w / beta;
    g[2] = (z * w - 1) / beta;
}
DENSITY(3, lp, dlp)

INLINE double draw(double u, double mu, double beta)
{
    return if_ok(ok(mu, beta), mu - beta * log(-log(u)));
}
SAMPLE_UNIFORM(3, draw)

PATH(3, move_location_scale)

static double cdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1]), exp(-exp((p[0] - x) / p[1])));
}

static double ccdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1]), -expm1(-exp((p[0] - x) / p[1])));
}

static double quantile(double u, const double *p)
{
    return if_ok(ok(p[0], p[1]) & is_unit(u), p[0] - p[1] * log(-log(u)));
}

static double cquantile(double u, const double *p)
{
    return if_ok(ok(p[0], p[1]) & is_unit(u), p[0] - p[1] * log(-log1p(-u)));
}

DCDF_LOCATION_SCALE(lp)

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    *mean = p[0] + 0.57721566490153286 * p[1];
    *var = M_PI * M_PI / 6 * p[1] * p[1];
    return 0;
}

const struct dist dist_gumbel = {
    "gumbel",
    "Gumbel (extreme values), by mode and scale",
    2,
    {{"mu", REAL}, {"beta", POSITIVE}},
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
