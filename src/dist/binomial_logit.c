/* binomial_logit.c: binomial distribution, by trials and the logit of the probability.
   p = C(N, x) p^x q^(N - x),  p = 1/(1 + exp(-alpha)), q = 1 - p, neither rounded to 1 */
#include "dist/loops.h"

INLINE bool ok(double n, double alpha) { return is_count(n) & is_real(alpha); }

INLINE double lp(double x, double n, double alpha)
{
    double v = binomial_lp(x, n - x, sigmoid(alpha), sigmoid(-alpha));
    return density(ok(n, alpha), is_count(x) & (x <= n), x, v);
}

INLINE void dlp(double x, double n, double alpha, double *g)
{
    g[0] = g[1] = 0;
    g[2] = x * sigmoid(-alpha) - (n - x) * sigmoid(alpha);
}
DENSITY(3, lp, dlp)

static double draw(struct rng *r, double n, double alpha)
{
    double k = draw_binomial(r, n, sigmoid(-fabs(alpha)));
    return if_ok(ok(n, alpha), alpha > 0 ? n - k : k);
}
SAMPLE_RNG(2, draw)

/* P(X <= k) = I(n - k, k + 1; q) */
static double cdf(double x, const double *p)
{
    double k = floor(x);
    if (!ok(p[0], p[1]) || isnan(x)) return NAN;
    return k < 0 ? 0 : k >= p[0] ? 1 : beta_i(p[0] - k, k + 1, sigmoid(-p[1]), sigmoid(p[1]));
}

static double ccdf(double x, const double *p)
{
    double k = floor(x);
    if (!ok(p[0], p[1]) || isnan(x)) return NAN;
    return k < 0 ? 1 : k >= p[0] ? 0 : beta_i(k + 1, p[0] - k, sigmoid(p[1]), sigmoid(-p[1]));
}

static double quantile(double u, const double *p) { return count_inverse(cdf, 1, u, p, 0, p[0]); }

static double cquantile(double u, const double *p)
{
    return count_inverse(ccdf, -1, u, p, 0, p[0]);
}

static void bounds(const double *p, double *lo, double *hi)
{
    *lo = 0;
    *hi = p[0];
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    *mean = p[0] * sigmoid(p[1]);
    *var = *mean * sigmoid(-p[1]);
    return 0;
}

const struct dist dist_binomial_logit = {
    "binomial_logit",
    "number of successes, by number of trials and log odds",
    2,
    {{"N", COUNT}, {"alpha", REAL}},
    COUNT,
    KERNELS,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .bounds = bounds,
    .moments = moments,
    .location = 2,
    .try_at = {TRY_2(13, 0.385), TRY_2(270, -3.1), TRY_2(40, 2.385)},
};
