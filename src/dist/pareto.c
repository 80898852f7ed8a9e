/* pareto.c: Pareto distribution, by minimum and shape.
   log p = log alpha + alpha log y_min - (alpha + 1) log x,  x >= y_min */
#include "dist/loops.h"

INLINE bool ok(double y_min, double alpha) { return is_positive(y_min) & is_positive(alpha); }

INLINE double lp(double x, double y_min, double alpha)
{
    double v = log(alpha) - alpha * log_ratio(x, y_min) - log(x);
    return density(ok(y_min, alpha), (x >= y_min) & (x <= DBL_MAX), x, v);
}

INLINE void dlp(double x, double y_min, double alpha, double *g)
{
    g[0] = -(alpha + 1) / x;
    g[1] = alpha / y_min;
    g[2] = 1 / alpha + log(y_min) - log(x);
}
DENSITY(3, lp, dlp)

INLINE double draw(double u, double y_min, double alpha)
{
    return if_ok(ok(y_min, alpha), y_min * exp(-log(u) / alpha));
}
SAMPLE_UNIFORM(3, draw)

INLINE void move(double x, double y_min, double alpha, double *g)
{
    g[1] = x / y_min;
    g[2] = -x * (log(x) - log(y_min)) / alpha;
}
PATH(3, move)

static double cdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1]), x > p[0] ? -expm1(-p[1] * log_ratio(x, p[0])) : 0);
}

static double ccdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1]), x > p[0] ? exp(-p[1] * log_ratio(x, p[0])) : 1);
}

static double quantile(double u, const double *p)
{
    return if_ok(ok(p[0], p[1]), p[0] * exp(-log1p(-u) / p[1]));
}

static double cquantile(double u, const double *p) { return draw(u, p[0], p[1]); }

static void dcdf(double x, const double *p, double *g)
{
    double l = x > p[0] ? log(p[0] / x) : 0, q = exp(p[1] * l);
    g[0] = x > p[0] ? -q * p[1] / p[0] : 0;
    g[1] = -q * l;
}

static void bounds(const double *p, double *lo, double *hi)
{
    *lo = p[0];
    *hi = INFINITY;
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    double a = p[1];
    if (a <= 2) return -1;
    *mean = a * p[0] / (a - 1);
    *var = p[0] * p[0] * a / ((a - 1) * (a - 1) * (a - 2));
    return 0;
}

const struct dist dist_pareto = {
    "pareto",
    "Pareto, by minimum and shape",
    2,
    {{"y_min", POSITIVE}, {"alpha", POSITIVE}},
    POSITIVE,
    KERNELS,
    .path = path,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .dcdf = dcdf,
    .bounds = bounds,
    .moments = moments,
    .mild = "gamma(2, 1)",
    .mild_jags = "dgamma(2, 1)",
    .try_at = {TRY_2(2.385, 4.7), TRY_2(0.031, 0.81)},
};
