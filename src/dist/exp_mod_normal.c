/* exp_mod_normal.c: exponentially modified normal distribution.
   A normal(mu, sigma) plus an exponential(lambda).  With z = (x - mu)/sigma, v = lambda sigma,
   w = z - v:   log p = log lambda + v^2/2 - v z + log Phi(w) */
#include "dist/loops.h"

static bool ok(double mu, double sigma, double lambda)
{
    return is_real(mu) && is_positive(sigma) && is_positive(lambda);
}

/* log of exp(v^2/2 - v z) Phi(w), which is phi(z) Phi(w)/phi(w) */
static double log_tilted(double z, double v)
{
    double w = z - v;
    if (w < 0) return -0.5 * z * z - HALF_LOG_2PI - log(normal_hazard(w));
    return v * (0.5 * v - z) + log_normal_p(w);
}

static double lp(double x, double mu, double sigma, double lambda)
{
    double v = log(lambda) + log_tilted((x - mu) / sigma, lambda * sigma);
    return density(ok(mu, sigma, lambda), is_real(x), x, v);
}

static void dlp(double x, double mu, double sigma, double lambda, double *g)
{
    double z = (x - mu) / sigma, v = lambda * sigma, w = z - v, h = normal_hazard(w);
    g[0] = (h - v) / sigma;
    g[1] = -g[0];
    g[2] = -lambda * (w + h) - g[0] * z;
    g[3] = 1 / lambda - sigma * (w + h);
}
DENSITY(4, lp, dlp)

static double draw(struct rng *r, double mu, double sigma, double lambda)
{
    double z = rng_normal(r), u = rng_open(r);
    return if_ok(ok(mu, sigma, lambda), mu + sigma * z - log(u) / lambda);
}
SAMPLE_RNG(3, draw)

/* Of sigma = 1: dz/dv = -(w + phi(w)/Phi(w)) / v at a fixed probability */
static void move(double x, double mu, double sigma, double lambda, double *g)
{
    double z = (x - mu) / sigma, v = lambda * sigma, w = z - v, turn = -(w + normal_hazard(w)) / v;
    g[1] = 1;
    g[2] = z + v * turn;
    g[3] = sigma * sigma * turn;
}
PATH(4, move)

/* 1 + w Phi(w)/phi(w), the derivative of Mills' ratio, at w = z - s */
static double mills_slope(double s, const double *z)
{
    return 1 + (*z - s) / normal_hazard(*z - s);
}

/* P(Z <= z) = Phi(z) - exp(v^2/2 - v z) Phi(w), from the tail that keeps its digits; for a small v
   the two are nearly the same, and their difference is an integral over Mills' ratios */
static double below(double z, double v)
{
    double phi = exp(-0.5 * z * z - HALF_LOG_2PI);
    if (isinf(z)) return z > 0;
    if (v < 1 && z < 8) return phi * integral(mills_slope, &z, 0, v, 1);
    if (z < 0) return phi * (1 / normal_hazard(z) - 1 / normal_hazard(z - v));
    return -expm1(log_tilted(z, v)) - normal_p(-z);
}

static double above(double z, double v)
{
    if (isinf(z)) return z < 0;
    return z < 0 ? 1 - below(z, v) : normal_p(-z) + exp(log_tilted(z, v));
}

static double cdf(double x, const double *p)
{
    double u = below((x - p[0]) / p[1], p[1] * p[2]);
    return if_ok(ok(p[0], p[1], p[2]), u < 0 ? 0 : u);
}

static double ccdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1], p[2]), above((x - p[0]) / p[1], p[1] * p[2]));
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
    *mean = p[0] + 1 / p[2];
    *var = p[1] * p[1] + 1 / (p[2] * p[2]);
    return 0;
}

const struct dist dist_exp_mod_normal = {
    "exp_mod_normal",
    "normal(mu, sigma) plus exponential(lambda)",
    3,
    {{"mu", REAL}, {"sigma", POSITIVE}, {"lambda", POSITIVE}},
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
    .try_at = {TRY_3(0.385, 2.385, 0.7), TRY_3(-13.1, 0.27, 0.41), TRY_3(3.1, 0.7, 5.3)},
};
