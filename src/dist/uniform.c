/* uniform.c: uniform distribution on an interval: p = 1/(beta - alpha) on [alpha, beta] */
#include "dist/loops.h"

INLINE bool ok(double alpha, double beta)
{
    return is_real(alpha) & is_real(beta) & is_positive(beta - alpha);
}

INLINE double lp(double x, double alpha, double beta)
{
    return density(ok(alpha, beta), (x >= alpha) & (x <= beta), x, -log(beta - alpha));
}

INLINE void dlp(double x, double alpha, double beta, double *g)
{
    (void)x;
    g[0] = 0;
    g[1] = 1 / (beta - alpha);
    g[2] = -g[1];
}
DENSITY(3, lp, dlp)

INLINE double draw(double u, double alpha, double beta)
{
    return if_ok(ok(alpha, beta), alpha + (beta - alpha) * u);
}
SAMPLE_UNIFORM(3, draw)

INLINE void move(double x, double alpha, double beta, double *g)
{
    g[1] = (beta - x) / (beta - alpha);
    g[2] = (x - alpha) / (beta - alpha);
}
PATH(3, move)

static double cdf(double x, const double *p)
{
    double u = (x - p[0]) / (p[1] - p[0]);
    return if_ok(ok(p[0], p[1]), x <= p[0] ? 0 : x >= p[1] ? 1 : u);
}

static double ccdf(double x, const double *p)
{
    double u = (p[1] - x) / (p[1] - p[0]);
    return if_ok(ok(p[0], p[1]), x <= p[0] ? 1 : x >= p[1] ? 0 : u);
}

static double quantile(double u, const double *p) { return if_ok(is_unit(u), draw(u, p[0], p[1])); }

static double cquantile(double u, const double *p)
{
    return if_ok(ok(p[0], p[1]) & is_unit(u), p[1] - (p[1] - p[0]) * u);
}

static void dcdf(double x, const double *p, double *g)
{
    double w = p[1] - p[0], in = x > p[0] && x < p[1];
    g[0] = in ? (x - p[1]) / (w * w) : 0;
    g[1] = in ? (p[0] - x) / (w * w) : 0;
}

static void bounds(const double *p, double *lo, double *hi)
{
    *lo = p[0];
    *hi = p[1];
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    *mean = p[0] + 0.5 * (p[1] - p[0]);
    *var = (p[1] - p[0]) * (p[1] - p[0]) / 12;
    return 0;
}

const struct dist dist_uniform = {
    "uniform",
    "uniform between two numbers",
    2,
    {{"alpha", REAL}, {"beta", REAL}},
    REAL,
    KERNELS,
    .path = path,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .dcdf = dcdf,
    .bounds = bounds,
    .moments = moments,
    .mild = "uniform(0, 5)",
    .mild_jags = "dunif(0, 5)",
    .try_at = {TRY_2(-0.385, 2.385), TRY_2(17.1, 17.137)},
};
