/* math.h: special functions.  The inline functions have no branches, so that loops over them are
   vectorized; none of them traps or has state. */
#ifndef DIST_MATH_H
#define DIST_MATH_H

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "base/normal.h"
#include "base/simd.h"

#define LOG_2PI      1.83787706640934548356
#define HALF_LOG_2PI 0.91893853320467274178
#define LOG_2        0.69314718055994530942
#define LOG_PI       1.14472988584940017414

#ifdef __clang__ /* & of booleans is intended: && would be a branch */
#pragma clang diagnostic ignored "-Wbitwise-instead-of-logical"
#endif

/* Is x finite and in this domain? (NaN is not.) */
INLINE bool is_real(double x) { return fabs(x) <= DBL_MAX; }
INLINE bool is_positive(double x) { return (x > 0) & (x <= DBL_MAX); }
INLINE bool is_unit(double x) { return (x >= 0) & (x <= 1); }
INLINE bool is_count(double x) /* floor() would need SSE4 */
{
    return (x >= 0) & (x <= DBL_MAX) & ((x >= 0x1p52) | ((x + 0x1p52) - 0x1p52 == x));
}

/* v in the support, -INFINITY outside; NaN if the arguments are not ok or x is NaN. */
INLINE double density(bool ok, bool inside, double x, double v)
{
    double y = inside ? v : -INFINITY;
    return (ok & (x == x)) ? y : NAN;
}
/* v, or NaN */
INLINE double if_ok(bool ok, double v) { return ok ? v : NAN; }

INLINE double sigmoid(double t) { return 1 / (1 + exp(-t)); }
/* log(1 + exp t) */
INLINE double softplus(double t) { return (t > 0 ? t : 0) + log1p(exp(-fabs(t))); }
/* x log y, 0 if x is 0 */
INLINE double xlogy(double x, double y)
{
    double v = x * log(y);
    return x == 0 ? 0 : v;
}

/* Stirling's remainder: log Gamma(x) = (x - 1/2) log x - x + log(2 pi)/2 + stirling(x),
   for x >= 8 to the last digit. */
INLINE double stirling(double x)
{
    double r = 1 / x, q = r * r;
    return r *
           (1. / 12 -
            q * (1. / 360 -
                 q * (1. / 1260 -
                      q * (1. / 1680 - q * (1. / 1188 - q * (691. / 360360 - q * (1. / 156)))))));
}
/* log Gamma(x), x > 0: by the recurrence from x + 8 if x < 8.  The absolute error is about 1e-15
   for small x, which is sufficient for a log density. */
INLINE double lgam(double x)
{
    bool big = x >= 8;
    double y = big ? x : x + 8;
    double p = x * (x + 1) * (x + 2) * (x + 3) * (x + 4) * (x + 5) * (x + 6) * (x + 7);
    double v = (y - 0.5) * log(y) - y + HALF_LOG_2PI + stirling(y) - log(big ? 1 : p);
    return x <= DBL_MAX ? v : x; /* not inf - inf */
}
/* log Gamma(x + 1) - (x + 1/2) log x + x - log(2 pi)/2, x > 0 */
INLINE double stirling_error(double x)
{
    double small = lgam(x) + (0.5 - x) * log(x) + x - HALF_LOG_2PI, large = stirling(x);
    return x >= 8 ? large : small;
}
/* psi(x) = d log Gamma(x) / dx, x > 0, by the same recurrence. */
INLINE double digamma(double x)
{
    double s = 0, y = x < 8 ? x + 8 : x, q = 1 / (y * y);
    for (int i = 0; i < 8; i++) s += x < 8 ? 1 / (x + i) : 0;
    return log(y) - 0.5 / y - s -
           q * (1. / 12 -
                q * (1. / 120 -
                     q * (1. / 252 -
                          q * (1. / 240 - q * (1. / 132 - q * (691. / 32760 - q * (1. / 12)))))));
}
/* log B(a, b), also where one is much larger than the other */
INLINE double lbeta(double a, double b)
{
    double s = a < b ? a : b, t = a < b ? b : a;
    double small = lgam(t) - lgam(s + t),
           large = (0.5 - t) * log1p(s / t) - s * log(s + t) + s + stirling(t) - stirling(s + t);
    return lgam(s) + (t >= 8 ? large : small);
}
/* t - log(1 + t); log_1t = log(1 + t) is used if t is not small */
INLINE double excess(double t, double log_1t)
{
    double p = 1. / 12;
    for (int k = 11; k >= 2; k--) p = 1. / k - t * p;
    return fabs(t) < 0.01 ? t * t * p : t - log_1t;
}
/* x log(x / m) + m - x without cancellation (Loader 2000), x > 0: the saddle-point term of the
   density of a count. */
INLINE double deviance(double x, double m)
{
    double t = (m - x) / x, r = m / x;
    double near = x * excess(t, log1p(t)), far = (m - x) - x * log(r <= DBL_MAX ? r : DBL_MAX);
    return fabs(t) < 0.5 ? near : far;
}
/* log of exp(-m) m^x / x!, also for noninteger x */
INLINE double poisson_lp(double x, double m)
{
    double y = x > 0 ? x : 1;
    double v = -stirling_error(y) - deviance(y, m) - HALF_LOG_2PI - 0.5 * log(y);
    double zero = x > 0 ? -INFINITY : 0; /* m = 0 */
    return m > 0 ? (x > 0 ? v : -m) : zero;
}
/* log of C(x + y, x) p^x q^y, q = 1 - p, also for noninteger x, y >= 0 */
INLINE double binomial_lp(double x, double y, double p, double q)
{
    double n = x + y, a = x > 0 ? x : 1, b = y > 0 ? y : 1, m = n > 0 ? n : 1;
    double v = stirling_error(m) - stirling_error(a) - stirling_error(b) - deviance(a, m * p) -
               deviance(b, m * q) + 0.5 * (log(m / a) - log(b)) - HALF_LOG_2PI;
    double log_p = log(p), log_q = log(q), near_p = log1p(-q), near_q = log1p(-p); /* no branch */
    double none = y * (q > 0.5 ? near_q : log_q),
           all = x * (p > 0.5 ? near_p : log_p); /* x = 0; y = 0 */
    double outer = x > 0 ? all : none, inner = x > 0 ? v : none;
    v = y > 0 ? inner : outer;
    return n > 0 ? v : 0;
}
/* deviance(x, m), if d = m - x is known more accurately than by subtraction */
INLINE double deviance_by(double x, double m, double d)
{
    double t = d / x, near = x * excess(t, log1p(t)), far = d - x * (log(m) - log(x));
    return fabs(t) < 0.5 ? near : far;
}
/* log of C(x + y, x) B(a, b) / B(alpha, beta), a = x + alpha, b = y + beta, also for noninteger
   x, y >= 0: binomial densities of x, y and of alpha, beta over that of a, b, with any probability
   that they share; with a/(a + b) nothing cancels. */
INLINE double beta_binomial_lp(double x, double y, double alpha, double beta)
{
    double a = x + alpha, b = y + beta, m = a + b, p = a / m, q = b / m;
    return binomial_lp(x, y, p, q) + binomial_lp(alpha, beta, p, q) + stirling_error(a) +
           stirling_error(b) - stirling_error(m) + HALF_LOG_2PI + log(alpha) +
           log(beta / (alpha + beta)) - 0.5 * (log(a) + log(b / m));
}
/* log of m^a exp(-m) / Gamma(a): what the gamma distributions share; m may underflow, log_m not */
INLINE double gamma_lp(double a, double m, double log_m)
{
    double t = (m - a) / a, near = a * excess(t, log1p(t)), far = (m - a) - a * (log_m - log(a));
    return 0.5 * log(a) - HALF_LOG_2PI - stirling_error(a) - (fabs(t) < 0.5 ? near : far);
}
/* log(x / m), x, m > 0, without cancellation where they are close, and also where x / m overflows
 */
INLINE double log_ratio(double x, double m)
{
    double t = (x - m) / m, near = log1p(t), far = log(x) - log(m);
    return (t > -0.5) & (t < 1) ? near : far;
}
/* log(1 + z^2), also where z^2 overflows */
INLINE double log1p_square(double z)
{
    double near = log1p(z * z), far = 2 * log(fabs(z));
    return fabs(z) < 1e8 ? near : far;
}
/* log(1 - exp(-t)), t > 0 */
INLINE double log1m_exp(double t)
{
    double small = log(-expm1(-t)), large = log1p(-exp(-t));
    return t < LOG_2 ? small : large;
}
/* log Gamma(a + 1/2) - log Gamma(a), also for large a */
INLINE double lgam_half(double a)
{
    double large = a * log1p(0.5 / a) + 0.5 * log(a) - 0.5 + stirling(a + 0.5) - stirling(a);
    double small = lgam(a + 0.5) - lgam(a);
    return a >= 8 ? large : small;
}

/* ---- incomplete.c, special.c ------------------------------------------------- */

/* Regularized incomplete gamma P(a, x), and Q = 1 - P without cancellation. */
double gamma_p(double a, double x);
double gamma_q(double a, double x);
/* The same at x = exp(log_x), which may be too small for a double. */
double gamma_p_log(double a, double log_x);
double gamma_q_log(double a, double log_x);
/* Regularized incomplete beta I_x(a, b); y = 1 - x is an argument as well, to avoid cancellation at
   either end.  The complement is beta_i(b, a, y, x). */
double beta_i(double a, double b, double x, double y);
/* The same by the odds o = x / y and their logarithm; o itself may be too large or small. */
double beta_odds(double a, double b, double o, double log_o);
/* Derivatives of quantiles with respect to a shape parameter (shape.c): d log x / da at fixed
   P(a, x); d logit x / da at fixed I_x(a, b).  For b it is -logit_beta_slope(b, a, y, x). */
__attribute__((const)) double log_gamma_slope(double a, double x);
__attribute__((const)) double logit_beta_slope(double a, double b, double x, double y);
/* Phi(z); its inverse is in base/normal.h */
double normal_p(double z);
/* log Phi(z), and its derivative phi(z) / Phi(z), also where Phi(z) underflows */
__attribute__((const)) double log_normal_p(double z);
__attribute__((const)) double normal_hazard(double z);
/* The integral of f(x, p) from a to b by 16-point Gauss-Legendre quadrature on each panel */
double integral(double (*f)(double, const double *), const double *p, double a, double b,
                int panels);

/* The x between lo and hi (may be infinite) with f(x, p) = u: rising is +1 for a
   cdf, -1 for its complement. */
double cdf_inverse(double (*f)(double, const double *), int rising, double u, const double *p,
                   double lo, double hi);
/* The smallest integer x >= lo with cdf(x) >= u (or complement <= u). */
double count_inverse(double (*f)(double, const double *), int rising, double u, const double *p,
                     double lo, double hi);

/* The sum of the probabilities of the counts from `from` to `to` (downward if to < from): `first`
   is the probability of `from`, ratio(x, p) that of x + 1 divided by that of x.  NaN if more than a
   million terms are needed. */
double count_tail(double (*ratio)(double, const double *), const double *p, double first,
                  double from, double to);

#endif
