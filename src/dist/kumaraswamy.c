/* kumaraswamy.c: Kumaraswamy distribution, by two shapes.
   log p = log a + log b + (a - 1) log x + (b - 1) log(1 - x^a) */
#include "dist/loops.h"

INLINE bool ok(double a, double b) { return is_positive(a) & is_positive(b); }

INLINE double lp(double x, double a, double b)
{
    double l = log(x), v = log(a) + log(b) + (a - 1) * l + (b - 1) * log1m_exp(-a * l);
    return density(ok(a, b), (x > 0) & (x < 1), x, v);
}

INLINE void dlp(double x, double a, double b, double *g)
{
    double l = log(x), y = -expm1(a * l), odds = (1 - y) / y; /* x^a / (1 - x^a) */
    g[0] = (a - 1 - (b - 1) * a * odds) / x;
    g[1] = 1 / a + l * (1 - (b - 1) * odds);
    g[2] = 1 / b + log(y);
}
DENSITY(3, lp, dlp)

INLINE double draw(double u, double a, double b) /* P(X > x) = u */
{
    return if_ok(ok(a, b), exp(log(-expm1(log(u) / b)) / a));
}
SAMPLE_UNIFORM(3, draw)

/* With w = x^a and y = 1 - w, log(u) / b = log y: by b, dw = y log(y) / b */
INLINE void move(double x, double a, double b, double *g)
{
    double l = log(x), w = exp(a * l), y = -expm1(a * l), near = log1p(-w), far = log(y);
    double by_w = w > 1e-8 ? (w < 0.5 ? near : far) * y / w : -1;
    g[1] = -x * l / a;
    g[2] = x * by_w / (a * b);
}
PATH(3, move)

static double log_upper(double x, const double *p) /* b log(1 - x^a) */
{
    double t = p[0] * log(x); /* log(1 - exp t), to all digits at both ends */
    return p[1] * (t > -LOG_2 ? log(-expm1(t)) : log1p(-exp(t)));
}

static double cdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1]), x <= 0 ? 0 : x >= 1 ? 1 : -expm1(log_upper(x, p)));
}

static double ccdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1]), x <= 0 ? 1 : x >= 1 ? 0 : exp(log_upper(x, p)));
}

static double quantile(double u, const double *p)
{
    return if_ok(ok(p[0], p[1]), exp(log(-expm1(log1p(-u) / p[1])) / p[0]));
}

static double cquantile(double u, const double *p) { return draw(u, p[0], p[1]); }

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n; /* E x^k = b B(1 + k/a, b) */
    *mean = p[1] * exp(lbeta(1 + 1 / p[0], p[1]));
    *var = p[1] * exp(lbeta(1 + 2 / p[0], p[1])) - *mean * *mean;
    return 0;
}

const struct dist dist_kumaraswamy = {
    "kumaraswamy",
    "Kumaraswamy: like beta, with a cdf in closed form",
    2,
    {{"a", POSITIVE}, {"b", POSITIVE}},
    OPEN_UNIT,
    KERNELS,
    .path = path,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .moments = moments,
    .own = 1,
    .try_at = {TRY_2(2.385, 1.71), TRY_2(0.61, 0.72), TRY_2(13.1, 23.3)},
};
