/* skew_double_exponential.c: asymmetric Laplace (skew double exponential) distribution.
   log p = log(2 tau (1 - tau)/sigma) - 2 s z,  z = (x - mu)/sigma, s = tau above mu, tau - 1 below;
   P(X < mu) = tau */
#include "dist/loops.h"

INLINE bool ok(double mu, double sigma, double tau)
{
    return is_real(mu) & is_positive(sigma) & (tau > 0) & (tau < 1);
}

INLINE double lp(double x, double mu, double sigma, double tau)
{
    double z = (x - mu) / sigma, s = z < 0 ? tau - 1 : tau;
    double v = LOG_2 + log(tau) + log1p(-tau) - log(sigma) - 2 * s * z;
    return density(ok(mu, sigma, tau), is_real(x), x, v);
}

INLINE void dlp(double x, double mu, double sigma, double tau, double *g)
{
    double z = (x - mu) / sigma, s = z < 0 ? tau - 1 : tau;
    g[0] = -2 * s / sigma;
    g[1] = 2 * s / sigma;
    g[2] = (2 * s * z - 1) / sigma;
    g[3] = 1 / tau - 1 / (1 - tau) - 2 * z;
}
DENSITY(4, lp, dlp)

/* The z with P(Z <= z) = u or, if `upper`, P(Z > z) = u */
INLINE double standard(double u, double tau, bool upper)
{
    double below = upper ? 1 - u : u, above = upper ? u : 1 - u;
    double left = log(below / tau) / (2 * (1 - tau));
    double right = -log(above / (1 - tau)) / (2 * tau);
    return below < tau ? left : right;
}

INLINE double draw(double u, double mu, double sigma, double tau)
{
    return if_ok(ok(mu, sigma, tau), mu + sigma * standard(u, tau, false));
}
SAMPLE_UNIFORM(4, draw)

INLINE void move(double x, double mu, double sigma, double tau, double *g)
{
    double z = (x - mu) / sigma;
    double left = (2 * z - 1 / tau) / (2 * (1 - tau));
    double right = -(2 * z + 1 / (1 - tau)) / (2 * tau);
    g[1] = 1;
    g[2] = z;
    g[3] = sigma * (z < 0 ? left : right);
}
PATH(4, move)

/* The tail beyond z, on the side of mu where z lies */
static double tail(double z, double tau)
{
    return z < 0 ? tau * exp(2 * (1 - tau) * z) : (1 - tau) * exp(-2 * tau * z);
}

static double cdf(double x, const double *p)
{
    double z = (x - p[0]) / p[1], t = tail(z, p[2]);
    return if_ok(ok(p[0], p[1], p[2]), z < 0 ? t : 1 - t);
}

static double ccdf(double x, const double *p)
{
    double z = (x - p[0]) / p[1], t = tail(z, p[2]);
    return if_ok(ok(p[0], p[1], p[2]), z < 0 ? 1 - t : t);
}

static double quantile(double u, const double *p)
{
    return if_ok(ok(p[0], p[1], p[2]) & is_unit(u), p[0] + p[1] * standard(u, p[2], false));
}

static double cquantile(double u, const double *p)
{
    return if_ok(ok(p[0], p[1], p[2]) & is_unit(u), p[0] + p[1] * standard(u, p[2], true));
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    double a = 0.5 / (1 - p[2]), b = 0.5 / p[2]; /* the means of both sides */
    double m = (1 - p[2]) * b - p[2] * a;
    *mean = p[0] + p[1] * m;
    *var = p[1] * p[1] * (2 * (p[2] * a * a + (1 - p[2]) * b * b) - m * m);
    return 0;
}

const struct dist dist_skew_double_exponential = {
    "skew_double_exponential",
    "asymmetric Laplace, by its tau-quantile mu, scale and tau",
    3,
    {{"mu", REAL}, {"sigma", POSITIVE}, {"tau", OPEN_UNIT}},
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
    .try_at = {TRY_3(0.385, 2.385, 0.31), TRY_3(-3.1, 0.27, 0.83)},
};
