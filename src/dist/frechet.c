/* frechet.c: Frechet distribution, by shape and scale.
   log p = log alpha - log sigma - (1 + alpha) l - w,  l = log(x/sigma), w = exp(-alpha l): the
   inverse of a Weibull variable */
#include "dist/loops.h"

INLINE bool ok(double alpha, double sigma) { return is_positive(alpha) & is_positive(sigma); }

INLINE double lp(double x, double alpha, double sigma)
{
    double l = log_ratio(x, sigma), w = exp(-alpha * l);
    double v = log(alpha) - log(sigma) - (1 + alpha) * l - w;
    return density(ok(alpha, sigma), is_positive(x), x, v);
}

INLINE void dlp(double x, double alpha, double sigma, double *g)
{
    double l = log_ratio(x, sigma), w = exp(-alpha * l);
    g[0] = (alpha * w - alpha - 1) / x;
    g[1] = 1 / alpha + l * (w - 1);
    g[2] = alpha * (1 - w) / sigma;
}
DENSITY(3, lp, dlp)

INLINE double draw(double u, double alpha, double sigma)
{
    return if_ok(ok(alpha, sigma), sigma * exp(-log(-log(u)) / alpha));
}
SAMPLE_UNIFORM(3, draw)

INLINE void move(double x, double alpha, double sigma, double *g)
{
    g[1] = -x * (log(x) - log(sigma)) / alpha;
    g[2] = x / sigma;
}
PATH(3, move)

/* (x/sigma)^-alpha */
static double hazard(double x, const double *p) { return pow(x / p[1], -p[0]); }

static double cdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1]), x > 0 ? exp(-hazard(x, p)) : 0);
}

static double ccdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1]), x > 0 ? -expm1(-hazard(x, p)) : 1);
}

static double quantile(double u, const double *p)
{
    return if_ok(ok(p[0], p[1]) & is_unit(u), p[1] * pow(-log(u), -1 / p[0]));
}

static double cquantile(double u, const double *p)
{
    return if_ok(ok(p[0], p[1]) & is_unit(u), p[1] * pow(-log1p(-u), -1 / p[0]));
}

static void dcdf(double x, const double *p, double *g)
{
    double f = x > 0 ? x * exp(lp(x, p[0], p[1])) : 0; /* x p(x) */
    g[0] = f > 0 ? f * log(x / p[1]) / p[0] : 0;
    g[1] = -f / p[1];
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    if (p[0] <= 2) return -1;
    double m = tgamma(1 - 1 / p[0]);
    *mean = p[1] * m;
    *var = p[1] * p[1] * (tgamma(1 - 2 / p[0]) - m * m);
    return 0;
}

const struct dist dist_frechet = {
    "frechet",
    "Frechet (extreme values), by shape and scale",
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
    .try_at = {TRY_2(4.385, 0.71), TRY_2(0.83, 3.1), TRY_2(23.7, 12.1)},
};
