/* poisson.c: Poisson distribution, by mean.
   p = exp(-lambda) lambda^x / x!, by its saddle point (Loader 2000) */
#include "dist/loops.h"

INLINE bool ok(double lambda) { return (lambda >= 0) & (lambda <= DBL_MAX); }

INLINE double lp(double x, double lambda)
{
    return density(ok(lambda), is_count(x), x, poisson_lp(x, lambda));
}

INLINE void dlp(double x, double lambda, double *g)
{
    g[0] = 0;
    g[1] = (x > 0 ? x / lambda : 0) - 1;
}
DENSITY(2, lp, dlp)

SAMPLE_RNG(1, draw_poisson)

static double cdf(double x, const double *p)
{
    double k = floor(x);
    if (!ok(p[0]) || isnan(x)) return NAN;
    return k < 0 ? 0 : isinf(k) ? 1 : gamma_q(k + 1, p[0]);
}

static double ccdf(double x, const double *p)
{
    double k = floor(x);
    if (!ok(p[0]) || isnan(x)) return NAN;
    return k < 0 ? 1 : isinf(k) ? 0 : gamma_p(k + 1, p[0]);
}

static double quantile(double u, const double *p)
{
    return count_inverse(cdf, 1, u, p, 0, INFINITY);
}

static double cquantile(double u, const double *p)
{
    return count_inverse(ccdf, -1, u, p, 0, INFINITY);
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    *mean = *var = p[0];
    return 0;
}

const struct dist dist_poisson = {
    "poisson",
    "Poisson, by mean",
    1,
    {{"lambda", NONNEGATIVE}},
    COUNT,
    KERNELS,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .moments = moments,
    .location = 1,
    .try_at = {TRY_1(2.385), TRY_1(0.071), TRY_1(237.1)},
};
