/* op_elementary.c: elementary functions: exponentials, logarithms, trigonometric and hyperbolic
   functions, log-gamma. */
#include "tensor/op.h"

UNARY(exp, exp(x), z)
UNARY(expm1, expm1(x), z + 1)
UNARY(log, log(x), 1 / x)
UNARY(log1p, log1p(x), 1 / (1 + x))
UNARY(sqrt, sqrt(x), 0.5 / z)
UNARY(abs, fabs(x), x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0)
UNARY(sin, sin(x), cos(x))
UNARY(cos, cos(x), -sin(x))
UNARY(tan, tan(x), 1 + z * z)
UNARY(sinh, sinh(x), cosh(x))
UNARY(cosh, cosh(x), sinh(x))
UNARY(tanh, tanh(x), 1 - z * z)
UNARY(arcsin, asin(x), 1 / sqrt(1 - x * x))
UNARY(arccos, acos(x), -1 / sqrt(1 - x * x))
UNARY(arctan, atan(x), 1 / (1 + x * x))
UNARY(arcsinh, asinh(x), 1 / sqrt(x * x + 1))
UNARY(arccosh, acosh(x), 1 / sqrt(x * x - 1))
UNARY(arctanh, atanh(x), 1 / (1 - x * x))

/* d log Gamma(x) / dx.  Up to x >= 8 by psi(x) = psi(x+1) - 1/x, there by the asymptotic
   series (Abramowitz and Stegun 6.3.18); below 0 by reflection (6.3.7). */
static double digamma(double x)
{
    double y = x > 0 ? x : 1 - x, sum = 0;
    while (y < 8) {
        sum -= 1 / y;
        y += 1;
    }
    double v = 1 / (y * y);
    sum +=
        log(y) - 0.5 / y -
        v * (1. / 12 -
             v * (1. / 120 - v * (1. / 252 - v * (1. / 240 - v * (1. / 132 - v * 691. / 32760)))));
    return x > 0 ? sum : sum - M_PI / tan(M_PI * x);
}

static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign); /* lgamma() keeps the sign in a global */
}

UNARY(loggam, log_gamma(x), digamma(x))
UNARY(logfact, log_gamma(x + 1), digamma(x + 1))

/* Increasing functions: the ends, in the domain. */
#define INCREASING(id, f, least, greatest)                                                         \
    static void id##_range(int narg, const double *lo, const double *hi, double *out)              \
    {                                                                                              \
        (void)narg;                                                                                \
        double a = more(lo[0], least), b = less(hi[0], greatest);                                  \
        range_set(out, f(a), f(b));                                                                \
    }
INCREASING(expm1, expm1, -INFINITY, INFINITY)
INCREASING(log, log, 0, INFINITY)
INCREASING(log1p, log1p, -1, INFINITY)
INCREASING(sqrt, sqrt, 0, INFINITY)
INCREASING(sinh, sinh, -INFINITY, INFINITY)
INCREASING(tanh, tanh, -INFINITY, INFINITY)
INCREASING(arcsin, asin, -1, 1)
INCREASING(arctan, atan, -INFINITY, INFINITY)
INCREASING(arcsinh, asinh, -INFINITY, INFINITY)
INCREASING(arccosh, acosh, 1, INFINITY)
INCREASING(arctanh, atanh, -1, 1)

static void exp_range(int narg, const double *lo, const double *hi, double *out)
{
    (void)narg;
    range_set(out, more(exp(lo[0]), ABOVE_0), exp(hi[0]));
}

static void abs_range(int narg, const double *lo, const double *hi, double *out)
{
    (void)narg;
    int across = lo[0] <= 0 && hi[0] >= 0;
    range_set(out, across ? 0 : less(fabs(lo[0]), fabs(hi[0])), more(fabs(lo[0]), fabs(hi[0])));
}

static void wave_range(int narg, const double *lo, const double *hi, double *out)
{
    (void)narg, (void)lo, (void)hi;
    range_set(out, -1, 1);
}

static void cosh_range(int narg, const double *lo, const double *hi, double *out)
{
    abs_range(narg, lo, hi, out);
    range_set(out, cosh(out[0]), cosh(out[1]));
}

static void arccos_range(int narg, const double *lo, const double *hi, double *out)
{
    (void)narg;
    range_set(out, acos(less(hi[0], 1)), acos(more(lo[0], -1)));
}

/* The least value of log Gamma is at 1.4616321. */
static void loggam_range(int narg, const double *lo, const double *hi, double *out)
{
    (void)narg;
    double low = 1.4616321449683622, a = lo[0], b = hi[0];
    if (a < 0) {
        range_set(out, -INFINITY, INFINITY);
        return;
    }
    double least = b < low ? log_gamma(b) : a > low ? log_gamma(a) : log_gamma(low);
    range_set(out, least, more(log_gamma(a), log_gamma(b)));
}

static void logfact_range(int narg, const double *lo, const double *hi, double *out)
{
    double l = lo[0] + 1, h = hi[0] + 1;
    loggam_range(narg, &l, &h, out);
}

#define ANYWHERE                                                                                   \
    {                                                                                              \
        {0.37}, {-1.4}, {1.83}, { -0.071 }                                                         \
    }
#define POSITIVE                                                                                   \
    {                                                                                              \
        {0.37}, {1.4}, {7.83}, { 0.071 }                                                           \
    }
#define INSIDE                                                                                     \
    {                                                                                              \
        {0.37}, {-0.64}, {0.883}, { -0.071 }                                                       \
    }
#define FUNCTION(id, sign, say, ...)                                                               \
    const struct op op_##id = {UNARY_OP(id, sign, say), .map_grad = id##_grad, __VA_ARGS__}

FUNCTION(exp, "exp", "e to the power x", .range = exp_range, .try_at = ANYWHERE);
FUNCTION(expm1, "expm1", "exp(x) - 1, exact near 0", .range = expm1_range, .jags = "exp(x) - 1",
         .try_at = ANYWHERE);
FUNCTION(log, "log", "natural logarithm", .range = log_range, .try_at = POSITIVE);
FUNCTION(log1p, "log1p", "log(1 + x), exact near 0", .range = log1p_range, .jags = "log(1 + x)",
         .try_at = INSIDE);
FUNCTION(sqrt, "sqrt", "square root", .range = sqrt_range, .try_at = POSITIVE);
FUNCTION(abs, "abs", "absolute value", .range = abs_range, .integer = 2, .try_at = ANYWHERE);
FUNCTION(sin, "sin", "sine", .range = wave_range, .try_at = ANYWHERE);
FUNCTION(cos, "cos", "cosine", .range = wave_range, .try_at = ANYWHERE);
FUNCTION(tan, "tan", "tangent", .try_at = ANYWHERE);
FUNCTION(sinh, "sinh", "hyperbolic sine", .range = sinh_range, .try_at = ANYWHERE);
FUNCTION(cosh, "cosh", "hyperbolic cosine", .range = cosh_range, .try_at = ANYWHERE);
FUNCTION(tanh, "tanh", "hyperbolic tangent", .range = tanh_range, .try_at = ANYWHERE);
FUNCTION(arcsin, "arcsin", "inverse of the sine", .range = arcsin_range, .try_at = INSIDE);
FUNCTION(arccos, "arccos", "inverse of the cosine", .range = arccos_range, .try_at = INSIDE);
FUNCTION(arctan, "arctan", "inverse of the tangent", .range = arctan_range, .try_at = ANYWHERE);
FUNCTION(arcsinh, "arcsinh", "inverse of the hyperbolic sine", .range = arcsinh_range,
         .try_at = ANYWHERE);
FUNCTION(arccosh, "arccosh", "inverse of the hyperbolic cosine", .range = arccosh_range,
         .try_at = {{1.37}, {4.2}});
FUNCTION(arctanh, "arctanh", "inverse of the hyperbolic tangent", .range = arctanh_range,
         .try_at = INSIDE);
FUNCTION(loggam, "loggam", "logarithm of the gamma function", .range = loggam_range,
         .try_at = {{0.37}, {1.4}, {7.83}, {23.1}});
FUNCTION(logfact, "logfact", "logarithm of the factorial", .range = logfact_range,
         .try_at = {{0.37}, {1.4}, {7.83}, {23.1}});
