/* half_normal.c: half-normal distribution, by scale.
   |z| of a normal(0, sigma): log p = log 2 - z^2/2 - log sigma - log(2 pi)/2,  z = x/sigma */
#include "dist/loops.h"

INLINE double lp(double x, double sigma)
{
    double z = x / sigma, v = LOG_2 - 0.5 * z * z - log(sigma) - HALF_LOG_2PI;
    return density(is_positive(sigma), x >= 0, x, v);
}

INLINE void dlp(double x, double sigma, double *g)
{
    double z = x / sigma;
    g[0] = -z / sigma;
    g[1] = (z * z - 1) / sigma;
}
DENSITY(2, lp, dlp)

INLINE double draw(double z, double sigma) { return if_ok(is_positive(sigma), sigma * fabs(z)); }
SAMPLE_NORMAL(2, draw)

PATH(2, move_scale)

static double cdf(double x, const double *p)
{
    return if_ok(is_positive(p[0]), x > 0 ? erf(x / p[0] * M_SQRT1_2) : 0);
}

static double ccdf(double x, const double *p)
{
    return if_ok(is_positive(p[0]), x > 0 ? erfc(x / p[0] * M_SQRT1_2) : 1);
}

/* For small u the median's neighbourhood would cancel: z is then u sqrt(pi/2) (1 + ...). */
static double quantile(double u, const double *p)
{
    double z = u * 1.25331413731550025121;
    return draw(u < 1e-5 ? z * (1 + z * z / 6) : normal_quantile(0.5 + 0.5 * u), p[0]);
}

static double cquantile(double u, const double *p) { return draw(normal_quantile(0.5 * u), p[0]); }

static void dcdf(double x, const double *p, double *g)
{
    double f = exp(lp(x, p[0]));
    g[0] = f > 0 ? -f * x / p[0] : 0;
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    *mean = p[0] * sqrt(2 / M_PI);
    *var = p[0] * p[0] * (1 - 2 / M_PI);
    return 0;
}

const struct dist dist_half_normal = {
    "half_normal",
    "absolute value of a normal(0, sigma)",
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
    .moments = moments,
    .own = 1,
    .scale = 1,
    .try_at = {TRY_1(2.385), TRY_1(0.0137)},
};
