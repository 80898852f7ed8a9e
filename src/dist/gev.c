/* gev.c: generalized extreme value distribution, by location, scale and shape.
   log p = -log sigma - (1 + xi) t - exp(-t),  t = log(1 + xi z)/xi,  z = (x - mu)/sigma,
   where 1 + xi z > 0; xi = 0: t = z, the Gumbel distribution */
#include "dist/loops.h"

INLINE bool ok(double mu, double sigma, double xi)
{
    return is_real(mu) & is_positive(sigma) & is_real(xi);
}

/* log(1 + xi z)/xi */
INLINE double gumbel_scale(double z, double xi)
{
    double w = xi * z, far = log1p(w) / xi, near = z * (1 - 0.5 * w);
    return fabs(w) < 1e-9 ? near : far;
}

/* its derivative with respect to xi, z^2 (w/(1 + w) - log(1 + w))/w^2 with w = xi z */
INLINE double turn(double z, double xi)
{
    double w = xi * z, far = (w / (1 + w) - log1p(w)) / (xi * xi);
    double near = w * (4. / 5 - w * (5. / 6 - w * (6. / 7 - w * (7. / 8 - w * (8. / 9)))));
    near = z * z * (-1. / 2 + w * (2. / 3 - w * (3. / 4 - near)));
    return fabs(w) < 0.01 ? near : far;
}

INLINE double lp(double x, double mu, double sigma, double xi)
{
    double z = (x - mu) / sigma, w = xi * z, t = gumbel_scale(z, xi);
    bool in = is_real(z) & (w > -1) & (w <= DBL_MAX) & (t > -DBL_MAX);
    return density(ok(mu, sigma, xi), in, x, -log(sigma) - (1 + xi) * t - exp(-t));
}

INLINE void dlp(double x, double mu, double sigma, double xi, double *g)
{
    double z = (x - mu) / sigma, t = gumbel_scale(z, xi), e = exp(-t) - (1 + xi);
    double by_z = e / (1 + xi * z);
    g[0] = by_z / sigma;
    g[1] = -g[0];
    g[2] = -(1 + by_z * z) / sigma;
    g[3] = e * turn(z, xi) - t;
}
DENSITY(4, lp, dlp)

/* of t, which is distributed by Gumbel */
INLINE double place(double t, double mu, double sigma, double xi)
{
    double v = xi * t, far = expm1(v) / xi, near = t * (1 + 0.5 * v);
    return if_ok(ok(mu, sigma, xi), mu + sigma * (fabs(v) < 1e-9 ? near : far));
}

INLINE double draw(double u, double mu, double sigma, double xi)
{
    return place(-log(-log(u)), mu, sigma, xi);
}
SAMPLE_UNIFORM(4, draw)

INLINE void move(double x, double mu, double sigma, double xi, double *g)
{
    double z = (x - mu) / sigma;
    g[1] = 1;
    g[2] = z;
    g[3] = -sigma * turn(z, xi) * (1 + xi * z);
}
PATH(4, move)

/* exp(-t): 0 above the support, infinite below it */
static double hazard(double x, const double *p)
{
    double z = (x - p[0]) / p[1];
    if (p[2] * z <= -1) return p[2] < 0 ? 0 : INFINITY;
    return exp(-gumbel_scale(z, p[2]));
}

static double cdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1], p[2]), exp(-hazard(x, p)));
}

static double ccdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1], p[2]), -expm1(-hazard(x, p)));
}

static double quantile(double u, const double *p)
{
    return if_ok(is_unit(u), draw(u, p[0], p[1], p[2]));
}

static double cquantile(double u, const double *p)
{
    return if_ok(is_unit(u), place(-log(-log1p(-u)), p[0], p[1], p[2]));
}

static void dcdf(double x, const double *p, double *g)
{
    double z = (x - p[0]) / p[1], h = hazard(x, p);
    double f = h > 0 && h <= DBL_MAX ? exp(-h) * h : 0; /* d cdf / dt */
    double by_z = f > 0 ? f / ((1 + p[2] * z) * p[1]) : 0;
    g[0] = -by_z;
    g[1] = f > 0 ? -by_z * z : 0;
    g[2] = f > 0 ? f * turn(z, p[2]) : 0;
}

static void bounds(const double *p, double *lo, double *hi)
{
    double end = p[0] - p[1] / p[2];
    *lo = p[2] > 0 ? end : -INFINITY;
    *hi = p[2] < 0 ? end : INFINITY;
}

/* Near xi = 0, to first order: by the cumulants of a Gumbel variable. */
static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    const double k1 = 0.57721566490153286, k2 = M_PI * M_PI / 6, k3 = 2 * 1.2020569031595943;
    double xi = p[2];
    if (xi >= 0.5) return -1;
    double g = tgamma(1 - xi), g2 = tgamma(1 - 2 * xi);
    int small = fabs(xi) < 1e-4;
    *mean = p[0] + p[1] * (small ? k1 + 0.5 * xi * (k1 * k1 + k2) : (g - 1) / xi);
    *var = p[1] * p[1] * (small ? k2 + xi * (k3 + 2 * k1 * k2) : (g2 - g * g) / (xi * xi));
    return 0;
}

const struct dist dist_gev = {
    "gev",
    "generalized extreme value, by location, scale and shape",
    3,
    {{"mu", REAL}, {"sigma", POSITIVE}, {"xi", REAL}},
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
    .location = 1,
    .scale = 2,
    .own = 1,
    .try_at = {TRY_3(0.385, 2.385, 0.213), TRY_3(-13.1, 0.07, -0.31), TRY_3(3.7, 0.21, 0.0013)},
};
