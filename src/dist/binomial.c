/* binomial.c: binomial distribution, by trials and probability.
   p = C(N, x) theta^x (1 - theta)^(N - x), by its saddle point (Loader 2000) */
#include "dist/loops.h"

INLINE bool ok(double n, double theta) { return is_count(n) & is_unit(theta); }

INLINE double lp(double x, double n, double theta)
{
    double v = binomial_lp(x, n - x, theta, 1 - theta);
    return density(ok(n, theta), is_count(x) & (x <= n), x, v);
}

INLINE void dlp(double x, double n, double theta, double *g)
{
    double up = x / theta, down = (n - x) / (1 - theta);
    g[0] = g[1] = 0;
    g[2] = (x > 0 ? up : 0) - (x < n ? down : 0);
}
DENSITY(3, lp, dlp)

SAMPLE_RNG(2, draw_binomial)

/* P(X <= k) = I(N - k, k + 1; 1 - theta) */
static double cdf(double x, const double *p)
{
    double k = floor(x), v;
    if (!ok(p[0], p[1]) || isnan(x)) return NAN;
    v = k < 0 ? 0 : k >= p[0] ? 1 : beta_i(p[0] - k, k + 1, 1 - p[1], p[1]);
    return v;
}

static double ccdf(double x, const double *p)
{
    double k = floor(x);
    if (!ok(p[0], p[1]) || isnan(x)) return NAN;
    return k < 0 ? 1 : k >= p[0] ? 0 : beta_i(k + 1, p[0] - k, p[1], 1 - p[1]);
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
    *mean = p[0] * p[1];
    *var = *mean * (1 - p[1]);
    return 0;
}

const struct dist dist_binomial = {
    "binomial",
    "number of successes, by number of trials and probability",
    2,
    {{"N", COUNT}, {"theta", UNIT}},
    COUNT,
    KERNELS,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .bounds = bounds,
    .moments = moments,
    .location = 2,
    .try_at = {TRY_2(13, 0.2385), TRY_2(270, 0.71), TRY_2(1, 0.3)},
};
