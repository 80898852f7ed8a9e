/* beta.c: beta distribution, by two shapes.
   log p = (alpha - 1) log x + (beta - 1) log(1 - x) - log B(alpha, beta), by Stirling's formula and
   the deviances of alpha and beta from their expectations: large shapes would cancel all digits */
#include "dist/block.h"

INLINE bool ok(double alpha, double beta) { return is_positive(alpha) & is_positive(beta); }

INLINE double lp(double x, double alpha, double beta)
{
    double n = alpha + beta, y = 1 - x, log_y = log1p(-x);
    double e = x <= 0.5 ? n * x - alpha : beta - n * y; /* from the end that loses nothing */
    double tx = e / alpha, ty = -e / beta;
    double near_x = alpha * excess(tx, log1p(tx)), near_y = beta * excess(ty, log1p(ty));
    double far_x = e - alpha * (log(x) + log(n) - log(alpha));
    double far_y = -e - beta * (log_y + log(n) - log(beta));
    double v = 0.5 * (log(alpha) + log(beta / n)) - (fabs(tx) < 0.5 ? near_x : far_x) -
               (fabs(ty) < 0.5 ? near_y : far_y) - HALF_LOG_2PI + stirling_error(n) -
               stirling_error(alpha) - stirling_error(beta) - log(x) - log_y;
    return density(ok(alpha, beta), (x > 0) & (x < 1), x, v);
}

INLINE void dlp(double x, double alpha, double beta, double *g)
{
    g[0] = (alpha - 1) / x - (beta - 1) / (1 - x);
    g[1] = log(x) + digamma(alpha + beta) - digamma(alpha);
    g[2] = log1p(-x) + digamma(alpha + beta) - digamma(beta);
}
DENSITY(3, lp, dlp)

/* Two gammas, x/(x + y), in logs.  If even these are infinite (shapes of 1e-308), it is 0 or 1. */
SAMPLE_SLABS
{
    (void)self;
    EACH_SLAB(s, n)
    {
        double x[SLAB], y[SLAB], buf[2][SLAB];
        const double *alpha = lanes_of(a[0], s, buf[0]), *beta = lanes_of(a[1], s, buf[1]);
        draw_log_gammas(stream, 0, s, alpha, x);
        draw_log_gammas(stream, 1, s, beta, y);
        EACH(b, s.m)
        {
            double edge = alpha[b] >= beta[b] ? 1 : 0, v = sigmoid(x[b] - y[b]);
            x[b] = ((x[b] == y[b]) & (x[b] == -INFINITY)) ? edge : v;
        }
        put(s, x, out);
    }
}

INLINE void move(double x, double alpha, double beta, double *g)
{
    double y = 1 - x;
    g[1] = x * y * logit_beta_slope(alpha, beta, x, y);
    g[2] = -x * y * logit_beta_slope(beta, alpha, y, x);
}
PATH(3, move)

static double cdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1]), x <= 0 ? 0 : x >= 1 ? 1 : beta_i(p[0], p[1], x, 1 - x));
}

static double ccdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1]), x <= 0 ? 1 : x >= 1 ? 0 : beta_i(p[1], p[0], 1 - x, x));
}

static double quantile(double u, const double *p) { return cdf_inverse(cdf, 1, u, p, 0, 1); }

static double cquantile(double u, const double *p) { return cdf_inverse(ccdf, -1, u, p, 0, 1); }

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    double s = p[0] + p[1];
    *mean = p[0] / s;
    *var = *mean * (p[1] / s) / (s + 1);
    return 0;
}

const struct dist dist_beta = {
    "beta",
    "beta, by two shapes",
    2,
    {{"alpha", POSITIVE}, {"beta", POSITIVE}},
    OPEN_UNIT,
    KERNELS,
    .path = path,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .moments = moments,
    .mild = "beta(2, 2)",
    .mild_jags = "dbeta(2, 2)",
    .try_at = {TRY_2(2.385, 0.71), TRY_2(0.31, 0.42), TRY_2(137.1, 23.3)},
};
