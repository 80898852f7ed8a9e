/* gamma.c: gamma distribution, by shape and rate.
   log p = alpha log beta - log Gamma(alpha) + (alpha - 1) log x - beta x, by Stirling's formula and
   the deviance of alpha from beta x: large shapes would cancel all digits */
#include "dist/block.h"

INLINE bool ok(double alpha, double beta) { return is_positive(alpha) & is_positive(beta); }

INLINE double lp(double x, double alpha, double beta)
{
    double m = beta * x, t = (m - alpha) / alpha, near = alpha * excess(t, log1p(t));
    double far = (m - alpha) - alpha * (log(beta) + log(x) - log(alpha)); /* beta x may be 0 */
    double v = 0.5 * log(alpha) - HALF_LOG_2PI - stirling_error(alpha) - log(x) -
               (fabs(t) < 0.5 ? near : far);
    return density(ok(alpha, beta), (x > 0) & (x <= DBL_MAX), x, v);
}

INLINE void dlp(double x, double alpha, double beta, double *g)
{
    g[0] = (alpha - 1) / x - beta;
    g[1] = log(beta) - digamma(alpha) + log(x);
    g[2] = alpha / beta - x;
}
DENSITY(3, lp, dlp)

SAMPLE_SLABS
{
    (void)self;
    EACH_SLAB(s, n)
    {
        double x[SLAB], buf[2][SLAB];
        const double *alpha = lanes_of(a[0], s, buf[0]), *beta = lanes_of(a[1], s, buf[1]);
        draw_gammas(stream, 0, s, alpha, x);
        EACH(b, s.m) x[b] = if_ok(ok(alpha[b], beta[b]), x[b] / beta[b]);
        put(s, x, out);
    }
}

INLINE void move(double x, double alpha, double beta, double *g)
{
    g[1] = x * log_gamma_slope(alpha, beta * x);
    g[2] = -x / beta;
}
PATH(3, move)

/* P or Q of beta x, which may be too small for a double */
static double tail(double x, const double *p, int q)
{
    double m = p[1] * x;
    if (m < DBL_MIN) {
        double log_m = log(p[1]) + log(x);
        return q ? gamma_q_log(p[0], log_m) : gamma_p_log(p[0], log_m);
    }
    return q ? gamma_q(p[0], m) : gamma_p(p[0], m);
}

static double cdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1]), x > 0 ? tail(x, p, 0) : 0);
}

static double ccdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1]), x > 0 ? tail(x, p, 1) : 1);
}

static double quantile(double u, const double *p) { return cdf_inverse(cdf, 1, u, p, 0, INFINITY); }

static double cquantile(double u, const double *p)
{
    return cdf_inverse(ccdf, -1, u, p, 0, INFINITY);
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    *mean = p[0] / p[1];
    *var = *mean / p[1];
    return 0;
}

const struct dist dist_gamma = {
    "gamma",
    "gamma, by shape and rate",
    2,
    {{"alpha", POSITIVE}, {"beta", POSITIVE}},
    POSITIVE,
    KERNELS,
    .path = path,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .moments = moments,
    .mild = "gamma(2, 1)",
    .mild_jags = "dgamma(2, 1)",
    .location = 2,
    .try_at = {TRY_2(2.385, 0.7), TRY_2(0.31, 4.2), TRY_2(1375.1, 13.3)},
};
