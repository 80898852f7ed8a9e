/* half_cauchy.c: half-Cauchy distribution, by scale.
   p = 2 / (pi sigma (1 + z^2)),  z = x/sigma >= 0 */
#include "dist/loops.h"

INLINE double lp(double x, double sigma)
{
    double z = x / sigma, v = LOG_2 - LOG_PI - log(sigma) - log1p_square(z);
    return density(is_positive(sigma), x >= 0, x, v);
}

INLINE void dlp(double x, double sigma, double *g)
{
    double z = x / sigma, w = 2 / (z + 1 / z);
    g[0] = -w / sigma;
    g[1] = (w * z - 1) / sigma;
}
DENSITY(2, lp, dlp)

INLINE double draw(double u, double sigma)
{
    return if_ok(is_positive(sigma), sigma * tan(M_PI_2 * u));
}
SAMPLE_UNIFORM(2, draw)

PATH(2, move_scale)

static double cdf(double x, const double *p)
{
    return if_ok(is_positive(p[0]), x > 0 ? atan(x / p[0]) / M_PI_2 : 0);
}

static double ccdf(double x, const double *p)
{
    return if_ok(is_positive(p[0]), x > 0 ? atan2(1, x / p[0]) / M_PI_2 : 1);
}

static double quantile(double u, const double *p)
{
    double z = u < 0.5 ? tan(M_PI_2 * u) : 1 / tan(M_PI_2 * (1 - u));
    return if_ok(is_positive(p[0]) & is_unit(u), p[0] * z);
}

static double cquantile(double u, const double *p)
{
    double z = u < 0.5 ? 1 / tan(M_PI_2 * u) : tan(M_PI_2 * (1 - u));
    return if_ok(is_positive(p[0]) & is_unit(u), p[0] * z);
}

static void dcdf(double x, const double *p, double *g)
{
    double f = exp(lp(x, p[0]));
    g[0] = f > 0 ? -f * x / p[0] : 0;
}

const struct dist dist_half_cauchy = {
    "half_cauchy",
    "absolute value of a cauchy(0, sigma)",
    1,
    {{"sigma", POSITIVE}},
    POSITIVE,
    KERNELS,
    .path = path,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .dcdf = dcdf,
    .own = 1,
    .mild = "half_normal(1)",
    .scale = 1,
    .try_at = {TRY_1(2.385), TRY_1(0.0137)},
};
