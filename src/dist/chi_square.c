/* gamma(nu/2, 1/2): log p = (nu/2 - 1) log x - x/2 - log Gamma(nu/2) - nu/2 log 2 */
#include "dist/loops.h"

static inline double lp(double x, double nu)
{
    double h = 0.5 * nu, v = (h - 1) * log(x) - 0.5 * x - lgam(h) - h * LOG_2;
    return density(is_positive(nu), (x > 0) & (x <= DBL_MAX), x, v);
}

static inline void dlp(double x, double nu, double *g)
{
    g[0] = (0.5 * nu - 1) / x - 0.5;
    g[1] = 0.5 * (log(x) - digamma(0.5 * nu) - LOG_2);
}
DENSITY(2, lp, dlp)

static double draw(struct rng *r, double nu)
{
    return 2 * draw_gamma(r, 0.5 * nu);
}
SAMPLE_RNG(1, draw)

static double cdf(double x, const double *p)
{
    return if_ok(is_positive(p[0]), x > 0 ? gamma_p(0.5 * p[0], 0.5 * x) : 0);
}

static double ccdf(double x, const double *p)
{
    return if_ok(is_positive(p[0]), x > 0 ? gamma_q(0.5 * p[0], 0.5 * x) : 1);
}

static double quantile(double u, const double *p)
{
    return cdf_inverse(cdf, 1, u, p, 0, INFINITY);
}

static double cquantile(double u, const double *p)
{
    return cdf_inverse(ccdf, -1, u, p, 0, INFINITY);
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    *mean = p[0];
    *var = 2 * p[0];
    return 0;
}

const struct dist dist_chi_square = {
    "chi_square", "chi-square, by degrees of freedom", 1, {{"nu", POSITIVE}}, POSITIVE, KERNELS,
    .cdf = cdf, .quantile = quantile, .ccdf = ccdf, .cquantile = cquantile, .moments = moments,
    .try_at = {TRY_1(2.385), TRY_1(0.61), TRY_1(217.3)}};
