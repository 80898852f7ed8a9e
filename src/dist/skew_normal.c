/* skew_normal.c: skew normal distribution, by location, scale and shape.
   log p = log(2/omega) + log phi(z) + log Phi(alpha z),  z = (x - xi)/omega (Azzalini 1985) */
#include "dist/loops.h"

static bool ok(double xi, double omega, double alpha)
{
    return is_real(xi) && is_positive(omega) && is_real(alpha);
}

static double lp(double x, double xi, double omega, double alpha)
{
    double z = (x - xi) / omega;
    double v = LOG_2 - log(omega) - HALF_LOG_2PI - 0.5 * z * z + log_normal_p(alpha * z);
    return density(ok(xi, omega, alpha), is_real(x), x, v);
}

static void dlp(double x, double xi, double omega, double alpha, double *g)
{
    double z = (x - xi) / omega, h = normal_hazard(alpha * z), by_z = alpha * h - z;
    g[0] = by_z / omega;
    g[1] = -by_z / omega;
    g[2] = -(1 + by_z * z) / omega;
    g[3] = z * h;
}
DENSITY(4, lp, dlp)

/* (alpha |z0| + z1) / sqrt(1 + alpha^2) of two normals */
static double draw(struct rng *r, double xi, double omega, double alpha)
{
    double z0 = fabs(rng_normal(r)), z1 = rng_normal(r), root = hypot(1, alpha);
    return if_ok(ok(xi, omega, alpha), xi + omega * (alpha / root * z0 + z1 / root));
}
SAMPLE_RNG(3, draw)

/* dF/dalpha = -2 phi(z) phi(alpha z) / (1 + alpha^2) */
static void move(double x, double xi, double omega, double alpha, double *g)
{
    double z = (x - xi) / omega;
    g[1] = 1;
    g[2] = z;
    g[3] = omega * normal_hazard(alpha * z) / (1 + alpha * alpha);
}
PATH(4, move)

/* For z < 0 and alpha >= 0, from Owen's function, with a = |z|:
       P(Z <= z) = exp(-z^2/2)/pi * integral from a alpha to infinity of exp(-r^2/2) a/(a^2 + r^2),
   all of one sign, over log r. */
static double owen(double s, const double *a)
{
    double r = exp(s), t = *a / r;
    return exp(-0.5 * r * r) * t / (1 + t * t);
}

static double below_zero(double z, double alpha)
{
    double a = -z, r = a * alpha, hi = log(sqrt(r * r + 90)), lo = log(a) - 40;
    if (!(r < 40)) return 0; /* exp(-r^2/2) is 0 */
    if (r > 0 && log(r) > lo) lo = log(r);
    double sum = integral(owen, &a, lo, hi, hi - lo < 8 ? 8 : (int)ceil(hi - lo));
    return exp(-0.5 * z * z) / M_PI * sum;
}

static double below(double z, double alpha)
{
    if (fabs(z) > 39) return z > 0; /* exp(-z^2/2) is 0 */
    if (z == 0) return atan2(1, alpha) / M_PI;
    if (z > 0) return 1 - below(-z, -alpha);
    return alpha >= 0 ? below_zero(z, alpha) : 2 * normal_p(z) - below_zero(z, -alpha);
}

static double above(double z, double alpha) { return below(-z, -alpha); }

static double cdf(double x, const double *p)
{
    return ok(p[0], p[1], p[2]) && !isnan(x) ? below((x - p[0]) / p[1], p[2]) : NAN;
}

static double ccdf(double x, const double *p)
{
    return ok(p[0], p[1], p[2]) && !isnan(x) ? above((x - p[0]) / p[1], p[2]) : NAN;
}

static double quantile(double u, const double *p)
{
    return cdf_inverse(cdf, 1, u, p, -INFINITY, INFINITY);
}

static double cquantile(double u, const double *p)
{
    return cdf_inverse(ccdf, -1, u, p, -INFINITY, INFINITY);
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    double m = p[2] / hypot(1, p[2]) * sqrt(2 / M_PI);
    *mean = p[0] + p[1] * m;
    *var = p[1] * p[1] * (1 - m * m);
    return 0;
}

const struct dist dist_skew_normal = {
    "skew_normal",
    "skew normal, by location, scale and shape",
    3,
    {{"xi", REAL}, {"omega", POSITIVE}, {"alpha", REAL}},
    REAL,
    KERNELS,
    .path = path,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .moments = moments,
    .location = 1,
    .scale = 2,
    .try_at = {TRY_3(0.385, 2.385, 3.1), TRY_3(-13.1, 0.27, -0.71), TRY_3(-1.1, 1.3, -11.3)},
};
