/* f_dist.c: F distribution, by two degrees of freedom.
   Fisher's F, the ratio of chi_square(d1)/d1 and chi_square(d2)/d2.  With r = d1/d2,
   log p = d1/2 log r + (d1/2 - 1) log x - (d1 + d2)/2 log(1 + r x) - log B(d1/2, d2/2) */
#include "dist/block.h"

INLINE bool ok(double d1, double d2) { return is_positive(d1) & is_positive(d2); }

INLINE double lp(double x, double d1, double d2)
{
    /* as the density of a beta(a, b), by the odds o, their logarithm and p, q = 1 - p */
    double a = 0.5 * d1, b = 0.5 * d2, n = a + b, r = d1 / d2, o = r * x, log_o = log(r) + log(x);
    double log_1o = o > 1e15 ? log_o : log1p(o), p = 1 / (1 + 1 / o), q = 1 / (1 + o);
    double e = b * p - a * q, tx = e / a, ty = -e / b;
    double near_x = a * excess(tx, log1p(tx)), near_y = b * excess(ty, log1p(ty));
    double far_x = e - a * (log_o - log_1o + log(n) - log(a));
    double far_y = -e - b * (log(n) - log_1o - log(b));
    double v = 0.5 * (log(a) + log(b / n)) - (fabs(tx) < 0.5 ? near_x : far_x) -
               (fabs(ty) < 0.5 ? near_y : far_y) - HALF_LOG_2PI + stirling_error(n) -
               stirling_error(a) - stirling_error(b) - log(x);
    return density(ok(d1, d2), (x > 0) & (x <= DBL_MAX), x, v);
}

INLINE void dlp(double x, double d1, double d2, double *g)
{
    double a = 0.5 * d1, b = 0.5 * d2, r = d1 / d2, w = 1 / (1 + r * x);
    double both = digamma(a + b) - log1p(r * x);
    g[0] = (a - 1) / x - (a + b) * r * w;
    g[1] = 0.5 * (log(r * x) + 1 - (d1 + d2) * x / d2 * w + both - digamma(a));
    g[2] = 0.5 * ((d1 + d2) * r * x / d2 * w - r + both - digamma(b));
}
DENSITY(3, lp, dlp)

SAMPLE_SLABS
{
    (void)self;
    EACH_SLAB(s, n)
    {
        double x[SLAB], y[SLAB], ha[SLAB], hb[SLAB], buf[2][SLAB];
        const double *d1 = lanes_of(a[0], s, buf[0]), *d2 = lanes_of(a[1], s, buf[1]);
        EACH(b, s.m)
        {
            ha[b] = 0.5 * d1[b];
            hb[b] = 0.5 * d2[b];
        }
        draw_log_gammas(stream, 0, s, ha, x);
        draw_log_gammas(stream, 1, s, hb, y);
        EACH(b, s.m) x[b] = exp(x[b] - y[b] + log(d2[b]) - log(d1[b]));
        put(s, x, out);
    }
}

/* r x is the odds of a beta(d1/2, d2/2) */
INLINE void move(double x, double d1, double d2, double *g)
{
    double a = 0.5 * d1, b = 0.5 * d2, t = d1 / d2 * x, w = t / (1 + t), y = 1 / (1 + t);
    g[1] = x * (0.5 * logit_beta_slope(a, b, w, y) - 1 / d1);
    g[2] = x * (1 / d2 - 0.5 * logit_beta_slope(b, a, y, w));
}
PATH(3, move)

/* P(X <= x) = I(d1/2, d2/2; r x / (1 + r x)), P(X > x) the same with all turned round */
static double cdf(double x, const double *p)
{
    double log_o = log(p[0]) - log(p[1]) + log(x);
    return if_ok(ok(p[0], p[1]),
                 x > 0 ? beta_odds(0.5 * p[0], 0.5 * p[1], p[0] / p[1] * x, log_o) : 0);
}

static double ccdf(double x, const double *p)
{
    double log_o = log(p[1]) - log(p[0]) - log(x);
    return if_ok(ok(p[0], p[1]),
                 x > 0 ? beta_odds(0.5 * p[1], 0.5 * p[0], p[1] / p[0] / x, log_o) : 1);
}

static double quantile(double u, const double *p) { return cdf_inverse(cdf, 1, u, p, 0, INFINITY); }

static double cquantile(double u, const double *p)
{
    return cdf_inverse(ccdf, -1, u, p, 0, INFINITY);
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    double a = p[0], b = p[1];
    if (b <= 4) return -1;
    *mean = b / (b - 2);
    *var = 2 * *mean * *mean * (a + b - 2) / (a * (b - 4));
    return 0;
}

const struct dist dist_f_dist = {
    "f_dist",
    "Fisher's F, by degrees of freedom",
    2,
    {{"d1", POSITIVE}, {"d2", POSITIVE}},
    POSITIVE,
    KERNELS,
    .path = path,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .moments = moments,
    .own = 1,
    .try_at = {TRY_2(2.385, 7.3), TRY_2(0.71, 3.2), TRY_2(41.3, 119.7)},
};
