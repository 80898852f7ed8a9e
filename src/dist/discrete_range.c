/* discrete_range.c: discrete uniform distribution.
   p = 1/(upper - lower + 1) on lower, lower + 1, ..., upper; Stan's bounds may be negative, these
   are counts */
#include "dist/loops.h"

INLINE bool ok(double lower, double upper)
{
    return is_count(lower) & is_count(upper) & (lower <= upper);
}

INLINE double lp(double x, double lower, double upper)
{
    bool in = is_count(x) & (x >= lower) & (x <= upper);
    return density(ok(lower, upper), in, x, -log1p(upper - lower));
}

INLINE void dlp(double x, double lower, double upper, double *g)
{
    (void)x, (void)lower, (void)upper;
    g[0] = g[1] = g[2] = 0;
}
DENSITY(3, lp, dlp)

static double draw(double u, double lower, double upper)
{
    double x = lower + floor(u * (upper - lower + 1));
    return if_ok(ok(lower, upper), x <= upper ? x : upper);
}
SAMPLE_UNIFORM(3, draw)

static double cdf(double x, const double *p)
{
    double k = floor(x) - p[0] + 1, n = p[1] - p[0] + 1;
    return if_ok(ok(p[0], p[1]) && !isnan(x), k <= 0 ? 0 : k >= n ? 1 : k / n);
}

static double ccdf(double x, const double *p)
{
    double k = p[1] - floor(x), n = p[1] - p[0] + 1;
    return if_ok(ok(p[0], p[1]) && !isnan(x), k <= 0 ? 0 : k >= n ? 1 : k / n);
}

static double quantile(double u, const double *p)
{
    return ok(p[0], p[1]) ? count_inverse(cdf, 1, u, p, p[0], p[1]) : NAN;
}

static double cquantile(double u, const double *p)
{
    return ok(p[0], p[1]) ? count_inverse(ccdf, -1, u, p, p[0], p[1]) : NAN;
}

static void bounds(const double *p, double *lo, double *hi)
{
    *lo = p[0];
    *hi = p[1];
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    double k = p[1] - p[0] + 1;
    *mean = (p[0] + p[1]) / 2;
    *var = (k * k - 1) / 12;
    return 0;
}

const struct dist dist_discrete_range = {
    "discrete_range",
    "uniform on the counts from lower to upper",
    2,
    {{"lower", COUNT}, {"upper", COUNT}},
    COUNT,
    KERNELS,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .bounds = bounds,
    .moments = moments,
    .try_at = {TRY_2(3, 9), TRY_2(1, 271), TRY_2(5, 5)},
};
