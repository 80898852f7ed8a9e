/* rayleigh.c: Rayleigh distribution, by scale: log p = log x - 2 log sigma - x^2 / (2 sigma^2) */
#include "dist/loops.h"

INLINE double lp(double x, double sigma)
{
    double z = x / sigma;
    return density(is_positive(sigma), is_positive(x), x, log(x) - 2 * log(sigma) - 0.5 * z * z);
}

INLINE void dlp(double x, double sigma, double *g)
{
    double z = x / sigma;
    g[0] = 1 / x - z / sigma;   /* d/dx */
    g[1] = (z * z - 2) / sigma; /* d/dsigma */
}
DENSITY(2, lp, dlp)

INLINE double draw(double u, double sigma) /* u: uniform on (0, 1) */
{
    return if_ok(is_positive(sigma), sigma * sqrt(-2 * log(u)));
}
SAMPLE_UNIFORM(2, draw)
PATH(2, move_scale) /* pathwise derivative of a draw: dx/dsigma = x / sigma */

static double cdf(double x, const double *p)
{
    double z = x / p[0];
    return if_ok(is_positive(p[0]), x > 0 ? -expm1(-0.5 * z * z) : 0);
}

static double ccdf(double x, const double *p)
{
    double z = x / p[0];
    return if_ok(is_positive(p[0]), x > 0 ? exp(-0.5 * z * z) : 1);
}

static double quantile(double u, const double *p)
{
    return if_ok(is_positive(p[0]) & is_unit(u), p[0] * sqrt(-2 * log1p(-u)));
}

static double cquantile(double u, const double *p)
{
    return if_ok(is_positive(p[0]) & is_unit(u), p[0] * sqrt(-2 * log(u)));
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    *mean = p[0] * sqrt(M_PI_2);
    *var = p[0] * p[0] * (2 - M_PI_2);
    return 0;
}

const struct dist dist_rayleigh = {
    "rayleigh",
    "Rayleigh, by scale",
    1,
    {{"sigma", POSITIVE}},
    POSITIVE,
    KERNELS,
    .path = path,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .moments = moments,
    .try_at = {TRY_1(2.385), TRY_1(0.0137)},
};
