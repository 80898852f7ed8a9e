/* cauchy.c: Cauchy distribution, by location and scale.
   p = 1 / (pi sigma (1 + z^2)),  z = (x - mu)/sigma */
#include "dist/loops.h"

INLINE bool ok(double mu, double sigma) { return is_real(mu) & is_positive(sigma); }

INLINE double lp(double x, double mu, double sigma)
{
    double z = (x - mu) / sigma;
    return density(ok(mu, sigma), true, x, -LOG_PI - log(sigma) - log1p_square(z));
}

INLINE void dlp(double x, double mu, double sigma, double *g)
{
    double z = (x - mu) / sigma, w = 2 / (z + 1 / z);
    g[0] = -w / sigma;
    g[1] = w / sigma;
    g[2] = (w * z - 1) / sigma;
}
DENSITY(3, lp, dlp)

INLINE double draw(double u, double mu, double sigma)
{
    return if_ok(ok(mu, sigma), mu + sigma * tan(M_PI * (u - 0.5)));
}
SAMPLE_UNIFORM(3, draw)

PATH(3, move_location_scale)

/* atan2 keeps the digits of both tails. */
static double cdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1]), atan2(1, (p[0] - x) / p[1]) / M_PI);
}

static double ccdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1]), atan2(1, (x - p[0]) / p[1]) / M_PI);
}

/* z with P(Z > z) = u: cot(pi u) */
static double upper(double u)
{
    if (u == 1) return -INFINITY;
    return u <= 0.5 ? 1 / tan(M_PI * u) : -1 / tan(M_PI * (1 - u));
}

static double quantile(double u, const double *p)
{
    return if_ok(ok(p[0], p[1]) & is_unit(u), p[0] - p[1] * upper(u));
}

static double cquantile(double u, const double *p)
{
    return if_ok(ok(p[0], p[1]) & is_unit(u), p[0] + p[1] * upper(u));
}

DCDF_LOCATION_SCALE(lp)

const struct dist dist_cauchy = {
    "cauchy",
    "Cauchy, by median and scale",
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
    .mild = "normal(0, 2.5)",
    .location = 1,
    .scale = 2,
    .try_at = {TRY_2(0.385, 2.385), TRY_2(-13.1, 0.07)},
};
