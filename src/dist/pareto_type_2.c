/* pareto_type_2.c: Pareto distribution of type 2 (Lomax), by location, scale and shape.
   log p = log alpha - log lambda - (alpha + 1) log(1 + y),  y = (x - mu)/lambda >= 0 */
#include "dist/loops.h"

INLINE bool ok(double mu, double lambda, double alpha)
{
    return is_real(mu) & is_positive(lambda) & is_positive(alpha);
}

INLINE double lp(double x, double mu, double lambda, double alpha)
{
    double v = log(alpha) - log(lambda) - (alpha + 1) * log1p((x - mu) / lambda);
    return density(ok(mu, lambda, alpha), (x >= mu) & (x <= DBL_MAX), x, v);
}

INLINE void dlp(double x, double mu, double lambda, double alpha, double *g)
{
    double y = (x - mu) / lambda, w = (alpha + 1) / (1 + y);
    g[0] = -w / lambda;
    g[1] = w / lambda;
    g[2] = (w * y - 1) / lambda;
    g[3] = 1 / alpha - log1p(y);
}
DENSITY(4, lp, dlp)

INLINE double draw(double u, double mu, double lambda, double alpha)
{
    return if_ok(ok(mu, lambda, alpha), mu + lambda * expm1(-log(u) / alpha));
}
SAMPLE_UNIFORM(4, draw)

INLINE void move(double x, double mu, double lambda, double alpha, double *g)
{
    double y = (x - mu) / lambda;
    g[1] = 1;
    g[2] = y;
    g[3] = -lambda * (1 + y) * log1p(y) / alpha;
}
PATH(4, move)

static double cdf(double x, const double *p)
{
    double l = x > p[0] ? log1p((x - p[0]) / p[1]) : 0;
    return if_ok(ok(p[0], p[1], p[2]), -expm1(-p[2] * l));
}

static double ccdf(double x, const double *p)
{
    double l = x > p[0] ? log1p((x - p[0]) / p[1]) : 0;
    return if_ok(ok(p[0], p[1], p[2]), exp(-p[2] * l));
}

static double quantile(double u, const double *p)
{
    double l = -log1p(-u) / p[2];
    return if_ok(ok(p[0], p[1], p[2]) & is_unit(u), p[0] + p[1] * expm1(l));
}

static double cquantile(double u, const double *p)
{
    double l = -log(u) / p[2];
    return if_ok(ok(p[0], p[1], p[2]) & is_unit(u), p[0] + p[1] * expm1(l));
}

static void bounds(const double *p, double *lo, double *hi)
{
    *lo = p[0];
    *hi = INFINITY;
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    double a = p[2] - 1;
    if (a <= 1) return -1;
    *mean = p[0] + p[1] / a;
    *var = p[1] / a * p[1] / a * p[2] / (a - 1);
    return 0;
}

const struct dist dist_pareto_type_2 = {
    "pareto_type_2",
    "Pareto type 2 (Lomax), by minimum, scale and shape",
    3,
    {{"mu", REAL}, {"lambda", POSITIVE}, {"alpha", POSITIVE}},
    REAL,
    KERNELS,
    .path = path,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .bounds = bounds,
    .moments = moments,
    .try_at = {TRY_3(0.385, 2.385, 6.3), TRY_3(-13.1, 0.07, 1.4)},
};
