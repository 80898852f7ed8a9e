/* bernoulli_logit.c: Bernoulli distribution, by the logit of the probability of 1.
   p(1) = 1/(1 + exp(-alpha)) */
#include "dist/floats.h"
#include "dist/loops.h"

INLINE double lp(double x, double alpha)
{
    double v = -softplus(x == 1 ? -alpha : alpha);
    return density(is_real(alpha), (x == 0) | (x == 1), x, v);
}

INLINE void dlp(double x, double alpha, double *g)
{
    double t = x == 1 ? -alpha : alpha, e = exp(-fabs(t)), q = (t > 0 ? 1 : e) / (1 + e);
    g[0] = 0;
    g[1] = x == 1 ? q : -q;
}
DENSITY(2, lp, dlp)
BOTH(2, lp, dlp)

/* log p = -(max(t, 0) + log(1 + e)), e = exp(-|t|), t = -alpha for 1; its slope is the sigmoid. */
WIDE static void both_float(const void *self, int n, float *out, const double *const *a,
                            const float *u, float *d)
{
    const double *x = a[0];
    (void)self;
    EACH(i, n)
    {
        float one = x[i] == 1 ? 1 : 0, t = x[i] == 1 ? -u[i] : u[i];
        float e = exp_f(-fabsf(t)), inverse = 1 / ((1 + e) * (2 + e));
        float v = (t > 0 ? t : 0) + log1p_f(e * (1 + e) * inverse) + (t - t); /* NaN stays */
        float q = (t > 0 ? 1 : e) * (2 + e) * inverse;
        float y = ((x[i] == 0) | (x[i] == 1)) ? -v : -INFINITY;
        out[i] = x[i] == x[i] ? y : NAN;
        d[i] = one * 2 * q - q;
    }
}

INLINE double draw(double u, double alpha)
{
    return if_ok(is_real(alpha), u * (1 + exp(-alpha)) < 1 ? 1. : 0.);
}
SAMPLE_UNIFORM(2, draw)

static double cdf(double x, const double *p)
{
    return if_ok(is_real(p[0]), x < 0 ? 0 : x < 1 ? sigmoid(-p[0]) : 1);
}

static double ccdf(double x, const double *p)
{
    return if_ok(is_real(p[0]), x < 0 ? 1 : x < 1 ? sigmoid(p[0]) : 0);
}

static double quantile(double u, const double *p)
{
    return if_ok(is_real(p[0]) & is_unit(u), u > sigmoid(-p[0]));
}

static double cquantile(double u, const double *p)
{
    return if_ok(is_real(p[0]) & is_unit(u), u < sigmoid(p[0]));
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    *mean = sigmoid(p[0]);
    *var = *mean * sigmoid(-p[0]);
    return 0;
}

const struct dist dist_bernoulli_logit = {
    "bernoulli_logit",
    "0 or 1, by the log odds of 1",
    1,
    {{"alpha", REAL}},
    BINARY,
    KERNELS,
    .both = both,
    .both_float = both_float,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .moments = moments,
    .location = 1,
    .try_at = {TRY_1(0.385), TRY_1(-5.17)},
};
