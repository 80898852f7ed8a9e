/* weibull.c: Weibull distribution, by shape and scale.
   log p = log(alpha/sigma) + (alpha - 1) log z - z^alpha,  z = x/sigma */
#include "dist/loops.h"

INLINE bool ok(double alpha, double sigma) { return is_positive(alpha) & is_positive(sigma); }

INLINE double lp(double x, double alpha, double sigma)
{
    double s = log(sigma), l = log_ratio(x, sigma);
    double v = log(alpha) - s + (alpha - 1) * l - exp(alpha * l);
    return density(ok(alpha, sigma), (x > 0) & (x <= DBL_MAX), x, v);
}

INLINE void dlp(double x, double alpha, double sigma, double *g)
{
    double l = log_ratio(x, sigma), w = exp(alpha * l);
    g[0] = (alpha - 1 - alpha * w) / x;
    g[1] = 1 / alpha + l * (1 - w);
    g[2] = alpha * (w - 1) / sigma;
}
DENSITY(3, lp, dlp)

INLINE double draw(double u, double alpha, double sigma)
{
    return if_ok(ok(alpha, sigma), sigma * exp(log(-log(u)) / alpha));
}
SAMPLE_UNIFORM(3, draw)

INLINE void move(double x, double alpha, double sigma, double *g)
{
    g[1] = -x * (log(x) - log(sigma)) / alpha;
    g[2] = x / sigma;
}
PATH(3, move)

static double cdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1]), x > 0 ? -expm1(-pow(x / p[1], p[0])) : 0);
}

static double ccdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1]), x > 0 ? exp(-pow(x / p[1], p[0])) : 1);
}

static double quantile(double u, const double *p)
{
    return if_ok(ok(p[0], p[1]), p[1] * pow(-log1p(-u), 1 / p[0]));
}

static double cquantile(double u, const double *p) { return draw(u, p[0], p[1]); }

static void dcdf(double x, const double *p, double *g)
{
    double l = x > 0 ? log(x / p[1]) : 0, w = x > 0 ? exp(p[0] * l) : 0, s = w * exp(-w);
    g[0] = s > 0 ? s * l : 0;
    g[1] = s > 0 ? -s * p[0] / p[1] : 0;
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    double m1 = exp(lgam(1 + 1 / p[0])), m2 = exp(lgam(1 + 2 / p[0]));
    *mean = p[1] * m1;
    *var = p[1] * p[1] * (m2 - m1 * m1);
    return 0;
}

const struct dist dist_weibull = {
    "weibull",
    "Weibull, by shape and scale",
    2,
    {{"alpha", POSITIVE}, {"sigma", POSITIVE}},
    POSITIVE,
    KERNELS,
    .path = path,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .dcdf = dcdf,
    .moments = moments,
    .mild = "weibull(2, 1)",
    .mild_jags = "dweib(2, 1)",
    .location = 2,
    .try_at = {TRY_2(2.385, 0.7), TRY_2(0.71, 14.2)},
};
