/* chi_square.c: chi-square distribution, by degrees of freedom.
   gamma(nu/2, 1/2): log p = (nu/2 - 1) log x - x/2 - log Gamma(nu/2) - nu/2 log 2 */
#include "dist/block.h"

INLINE double lp(double x, double nu)
{
    double v = gamma_lp(0.5 * nu, 0.5 * x, log(x) - LOG_2) - log(x);
    return density(is_positive(nu), (x > 0) & (x <= DBL_MAX), x, v);
}

INLINE void dlp(double x, double nu, double *g)
{
    g[0] = (0.5 * nu - 1) / x - 0.5;
    g[1] = 0.5 * (log(x) - digamma(0.5 * nu) - LOG_2);
}
DENSITY(2, lp, dlp)

SAMPLE_SLABS
{
    (void)self;
    EACH_SLAB(s, n)
    {
        double x[SLAB], half[SLAB], buf[SLAB];
        const double *nu = lanes_of(a[0], s, buf);
        EACH(b, s.m) half[b] = 0.5 * nu[b];
        draw_gammas(stream, 0, s, half, x);
        EACH(b, s.m) x[b] *= 2;
        put(s, x, out);
    }
}

INLINE void move(double x, double nu, double *g)
{
    g[1] = 0.5 * x * log_gamma_slope(0.5 * nu, 0.5 * x);
}
PATH(2, move)

static double cdf(double x, const double *p)
{
    return if_ok(is_positive(p[0]), x > 0 ? gamma_p(0.5 * p[0], 0.5 * x) : 0);
}

static double ccdf(double x, const double *p)
{
    return if_ok(is_positive(p[0]), x > 0 ? gamma_q(0.5 * p[0], 0.5 * x) : 1);
}

static double quantile(double u, const double *p) { return cdf_inverse(cdf, 1, u, p, 0, INFINITY); }

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
    "chi_square",
    "chi-square, by degrees of freedom",
    1,
    {{"nu", POSITIVE}},
    POSITIVE,
    KERNELS,
    .path = path,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .moments = moments,
    .mild = "chi_square(3)",
    .mild_jags = "dchisqr(3)",
    .try_at = {TRY_1(2.385), TRY_1(0.61), TRY_1(217.3)},
};
