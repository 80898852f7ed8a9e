/* relaxed_bernoulli.c: relaxed Bernoulli distribution.
   The binary concrete distribution (Maddison, Mnih and Teh 2017): logit(x) is logistic with
   location logit(p)/t and scale 1/t, t the temperature.  With w = t logit(x) - logit(p):
   log p(x) = log t - log x - log(1 - x) - w - 2 log(1 + exp(-w)) */
#include "dist/loops.h"

INLINE bool ok(double t, double p) { return is_positive(t) & is_unit(p); }

INLINE double logit(double p) { return log(p) - log1p(-p); }

INLINE double lp(double x, double t, double p)
{
    double w = fabs(t * logit(x) - logit(p)); /* even in w */
    double v = log(t) - log(x) - log1p(-x) - w - 2 * log1p(exp(-w));
    return density(ok(t, p), (x > 0) & (x < 1), x, v);
}

INLINE void dlp(double x, double t, double p, double *g)
{
    double l = logit(x), w = t * l - logit(p), e = exp(-fabs(w)), h = (1 - e) / (1 + e);
    h = w < 0 ? -h : h; /* tanh(w/2) = -d/dw */
    g[0] = (2 * x - 1 - t * h) / (x * (1 - x));
    g[1] = 1 / t - h * l;
    g[2] = h / (p * (1 - p));
}
DENSITY(3, lp, dlp)

/* l = logit(x): -log x - log(1 - x) = |l| + 2 log(1 + exp(-|l|)) */
INLINE double lp_logit(double l, double t, double p)
{
    double w = fabs(t * l - logit(p)), m = fabs(l);
    double v = log(t) + m + 2 * log1p(exp(-m)) - w - 2 * log1p(exp(-w));
    return density(ok(t, p), is_real(l), l, v);
}

INLINE void dlp_logit(double l, double t, double p, double *g)
{
    double w = t * l - logit(p), e = exp(-fabs(w)), h = (1 - e) / (1 + e), d = exp(-fabs(l));
    h = w < 0 ? -h : h;
    d = (1 - d) / (1 + d);
    g[0] = (l < 0 ? -d : d) - t * h;
    g[1] = 1 / t - h * l;
    g[2] = h / (p * (1 - p));
}
MAP(at_logit, 3, lp_logit)
GRADIENT(at_logit_grad, 3, dlp_logit)

/* What a double cannot tell from 0 or 1 becomes its neighbour inside. */
INLINE double inside(double x)
{
    double y = x < DBL_MIN ? DBL_MIN : x;
    return y > 1 - DBL_EPSILON / 2 ? 1 - DBL_EPSILON / 2 : y;
}

INLINE double draw(double u, double t, double p)
{
    return if_ok(ok(t, p), inside(sigmoid((logit(u) + logit(p)) / t)));
}
SAMPLE_UNIFORM(3, draw)

INLINE void move(double x, double t, double p, double *g)
{
    double v = x * (1 - x) / t;
    g[1] = -v * logit(x);
    g[2] = v / (p * (1 - p));
}
PATH(3, move)

static double cdf(double x, const double *p)
{
    double u = x <= 0 ? 0 : x >= 1 ? 1 : sigmoid(p[0] * logit(x) - logit(p[1]));
    return if_ok(ok(p[0], p[1]), u);
}

static double ccdf(double x, const double *p)
{
    double u = x <= 0 ? 1 : x >= 1 ? 0 : sigmoid(logit(p[1]) - p[0] * logit(x));
    return if_ok(ok(p[0], p[1]), u);
}

static double quantile(double u, const double *p)
{
    return if_ok(ok(p[0], p[1]) & is_unit(u), sigmoid((logit(u) + logit(p[1])) / p[0]));
}

static double cquantile(double u, const double *p)
{
    return if_ok(ok(p[0], p[1]) & is_unit(u), sigmoid((logit(p[1]) - logit(u)) / p[0]));
}

const struct dist dist_relaxed_bernoulli = {
    "relaxed_bernoulli",
    "relaxed Bernoulli (binary concrete), by temperature and probability",
    2,
    {{"temperature", POSITIVE}, {"p", UNIT}},
    OPEN_UNIT,
    KERNELS,
    .logit = at_logit,
    .logit_grad = at_logit_grad,
    .path = path,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .own = 1,
    .try_at = {TRY_2(0.785, 0.3), TRY_2(2.385, 0.92)},
};
