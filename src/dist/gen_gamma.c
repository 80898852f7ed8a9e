/* gen_gamma.c: generalized gamma distribution.
   (lambda x)^b is gamma(r, 1):
   log p = log b + b r log lambda + (b r - 1) log x - (lambda x)^b - log Gamma(r) */
#include "dist/block.h"

INLINE bool ok(double r, double lambda, double b)
{
    return is_positive(r) & is_positive(lambda) & is_positive(b);
}

INLINE double lp(double x, double r, double lambda, double b)
{
    double l = b * (log(lambda) + log(x)), v = log(b) + gamma_lp(r, exp(l), l) - log(x);
    return density(ok(r, lambda, b), (x > 0) & (x <= DBL_MAX), x, v);
}

INLINE void dlp(double x, double r, double lambda, double b, double *g)
{
    double l = log(lambda) + log(x), w = r - exp(b * l);
    g[0] = (b * w - 1) / x;
    g[1] = b * l - digamma(r);
    g[2] = b * w / lambda;
    g[3] = 1 / b + l * w;
}
DENSITY(4, lp, dlp)

SAMPLE_SLABS
{
    (void)self;
    EACH_SLAB(s, n)
    {
        double x[SLAB], buf[3][SLAB];
        const double *r = lanes_of(a[0], s, buf[0]), *lambda = lanes_of(a[1], s, buf[1]);
        const double *b_ = lanes_of(a[2], s, buf[2]);
        draw_log_gammas(stream, 0, s, r, x);
        EACH(b, s.m)
        {
            double y = exp(x[b] / b_[b] - log(lambda[b]));
            x[b] = if_ok(ok(r[b], lambda[b], b_[b]), y);
        }
        put(s, x, out);
    }
}

INLINE void move(double x, double r, double lambda, double b, double *g)
{
    double l = log(lambda) + log(x);
    g[1] = x / b * log_gamma_slope(r, exp(b * l));
    g[2] = -x / lambda;
    g[3] = -x * l / b;
}
PATH(4, move)

static double cdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1], p[2]), x > 0 ? gamma_p_log(p[0], p[2] * (log(p[1]) + log(x))) : 0);
}

static double ccdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1], p[2]), x > 0 ? gamma_q_log(p[0], p[2] * (log(p[1]) + log(x))) : 1);
}

static double quantile(double u, const double *p) { return cdf_inverse(cdf, 1, u, p, 0, INFINITY); }

static double cquantile(double u, const double *p)
{
    return cdf_inverse(ccdf, -1, u, p, 0, INFINITY);
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n; /* E x^k = Gamma(r + k/b) / Gamma(r) / lambda^k */
    double m1 = exp(lgam(p[0] + 1 / p[2]) - lgam(p[0])),
           m2 = exp(lgam(p[0] + 2 / p[2]) - lgam(p[0]));
    *mean = m1 / p[1];
    *var = (m2 - m1 * m1) / (p[1] * p[1]);
    return 0;
}

const struct dist dist_gen_gamma = {
    "gen_gamma",
    "generalised gamma: (lambda x)^b is gamma(r, 1)",
    3,
    {{"r", POSITIVE}, {"lambda", POSITIVE}, {"b", POSITIVE}},
    POSITIVE,
    KERNELS,
    .path = path,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .moments = moments,
    .own = 1,
    .try_at = {TRY_3(2.385, 0.7, 1.3), TRY_3(0.71, 3.1, 0.83), TRY_3(13.1, 0.21, 2.9)},
};
