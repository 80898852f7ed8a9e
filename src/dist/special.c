/* special.c: the special functions that cdfs need.  GSL has them too, but calls its
   error handler, which aborts, for mere underflows. */
#include <stdint.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "dist/math.h"

enum { MAX_TERMS = 200000 };

/* P(a, x) = x^a e^-x / Gamma(a + 1) * (1 + x/(a+1) + x^2/((a+1)(a+2)) + ...) */
static double gamma_series(double a, double x)
{
    double term = 1, sum = 1;
    for (int k = 1; k < MAX_TERMS && term > sum * 1e-17; k++) sum += term *= x / (a + k);
    return sum * exp(poisson_lp(a, x));
}

/* Q(a, x) by Lentz's continued fraction, 1/(x+1-a- 1(1-a)/(x+3-a- ...)). */
static double gamma_fraction(double a, double x)
{
    double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
    for (int k = 1; k < MAX_TERMS; k++) {
        double an = -k * (k - a), del;
        b += 2;
        d = an * d + b;
        if (fabs(d) < 1e-300) d = 1e-300;
        c = b + an / c;
        if (fabs(c) < 1e-300) c = 1e-300;
        d = 1 / d;
        h *= del = d * c;
        if (fabs(del - 1) < 1e-16) break;
    }
    return h * a * exp(poisson_lp(a, x)); /* x^a e^-x / Gamma(a) = a * x^a e^-x / Gamma(a + 1) */
}

/* Q(a, x) for large a (Temme 1979, the first term; relative error 1/a). */
static double gamma_temme(double a, double x, int upper)
{
    double l = x / a, e = (x - a) / a, half = e - log1p(e); /* eta^2 / 2 */
    double eta = copysign(sqrt(2 * (half > 0 ? half : 0)), e);
    double c0 = fabs(eta) < 1e-3 ? -1. / 3 + eta / 12 : 1 / (l - 1) - 1 / eta;
    double rest = exp(-a * half) / sqrt(2 * M_PI * a) * c0;
    return upper ? erfc(eta * sqrt(a / 2)) / 2 + rest : erfc(-eta * sqrt(a / 2)) / 2 - rest;
}

static double gamma_tail(double a, double x, int upper)
{
    if (!(a > 0) || !(x >= 0) || a > DBL_MAX) return NAN;
    if (x == 0) return upper;
    if (x > DBL_MAX) return !upper;
    if (a > 1e9) return gamma_temme(a, x, upper);
    if (x < a + 1) {
        double p = gamma_series(a, x);
        return upper ? 1 - p : p;
    }
    double q = gamma_fraction(a, x);
    return upper ? q : 1 - q;
}

double gamma_p(double a, double x)
{
    return gamma_tail(a, x, 0);
}

double gamma_q(double a, double x)
{
    return gamma_tail(a, x, 1);
}

/* Lentz's continued fraction of I_x(a, b), good for x < (a + 1)/(a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 - (a + b) * x / (a + 1), h;
    if (fabs(d) < 1e-300) d = 1e-300;
    h = d = 1 / d;
    for (int k = 1; k < MAX_TERMS; k++) {
        double even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k));
        double odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1)), del = 1;
        for (int i = 0; i < 2; i++) {
            double t = i ? odd : even;
            d = 1 + t * d;
            if (fabs(d) < 1e-300) d = 1e-300;
            c = 1 + t / c;
            if (fabs(c) < 1e-300) c = 1e-300;
            d = 1 / d;
            h *= del = d * c;
        }
        if (fabs(del - 1) < 1e-16) break;
    }
    return h;
}

double beta_i(double a, double b, double x, double y)
{
    if (!is_positive(a) || !is_positive(b) || !(x >= 0 && y >= 0)) return NAN;
    if (x == 0) return 0;
    if (y == 0) return 1;
    /* x^a y^b / B(a, b) = binomial density times a b / (a + b) */
    double front = exp(binomial_lp(a, b, x, y)) * (a / (a + b) * b);
    if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, y) / b;
}

double normal_p(double z)
{
    return erfc(-z * M_SQRT1_2) / 2;
}

double normal_quantile(double u)
{
    return u >= 0 && u <= 1 ? gsl_cdf_ugaussian_Pinv(u) : NAN;
}

/* Doubles in their order, as integers. */
static int64_t place(double x)
{
    int64_t i;
    memcpy(&i, &x, sizeof i);
    return i < 0 ? INT64_MIN - i : i;
}

static double at_place(int64_t i)
{
    double x;
    if (i < 0) i = INT64_MIN - i;
    memcpy(&x, &i, sizeof x);
    return x;
}

double cdf_inverse(double (*f)(double, const double *), int rising, double u, const double *p, double lo,
              double hi)
{
    if (!(u >= 0 && u <= 1) || isnan(f(lo, p))) return NAN;
    if (u == (rising < 0)) return lo;
    if (u == (rising > 0)) return hi;
    int64_t l = place(lo), h = place(hi); /* f(l) < u <= f(h) */
    while (l < h - 1) {
        int64_t m = (l & h) + ((l ^ h) >> 1); /* their mean, without overflow */
        double v = f(at_place(m), p);
        if (rising > 0 ? v >= u : v <= u)
            h = m;
        else
            l = m;
    }
    return at_place(h);
}

double count_inverse(double (*f)(double, const double *), int rising, double u, const double *p,
                    double lo, double hi)
{
    double step = 1, l = lo - 1, h = lo;
    if (!(u >= 0 && u <= 1) || isnan(f(lo, p))) return NAN;
    if (u == (rising > 0)) return hi;
    for (; h < hi; l = h, h += step, step *= 2) {
        double v = f(h, p);
        if (rising > 0 ? v >= u : v <= u) break;
    }
    if (h > hi) h = hi;
    while (h - l > 1) { /* beyond 2^53 h - l may never be 1; then the mean is one of them */
        double m = floor(l + (h - l) / 2), v = f(m, p);
        if (m <= l || m >= h) break;
        if (rising > 0 ? v >= u : v <= u)
            h = m;
        else
            l = m;
    }
    return h;
}
