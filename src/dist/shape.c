/* shape.c: how draws move with the shapes of gammas and betas: as quantiles do, by derivatives of
   the incomplete gamma and beta functions.  Their series and fractions are differentiated term by
   term, each in the tail where nearly all that is summed has one sign: 9 digits and more. */
#include "dist/math.h"

enum { MAX_TERMS = 30000 }; /* they take about 6 sqrt(a) of them */

/* A number and its derivative */
struct dual {
    double v, d;
};

/* Lentz's way to a continued fraction t1/(b1 + t2/(b2 + ...)), with derivatives */
struct lentz {
    struct dual c, d;
    double h, log_h; /* the fraction so far; the derivative of its logarithm */
};

/* The next t and b; has it converged? */
static bool lentz_step(struct lentz *z, struct dual t, struct dual b)
{
    struct dual d = {t.v * z->d.v + b.v, t.d * z->d.v + t.v * z->d.d + b.d};
    struct dual c = {b.v + t.v / z->c.v, b.d + (t.d - t.v / z->c.v * z->c.d) / z->c.v};
    if (fabs(d.v) < 1e-300) d.v = 1e-300;
    if (fabs(c.v) < 1e-300) c.v = 1e-300;
    double by = c.v / d.v, log_by = c.d / c.v - d.d / d.v;
    z->d = (struct dual){1 / d.v, -d.d / d.v / d.v};
    z->c = c;
    z->h *= by;
    z->log_h += log_by;
    return fabs(by - 1) < 1e-15 && fabs(log_by) <= 1e-12 * fabs(z->log_h);
}

/* ---- gamma: with p = x^a e^-x / Gamma(a), log x moves by -(dP/da) / p = (dQ/da) / p ----- */

/* P = p / a * (1 + x/(a+1) + x^2/((a+1)(a+2)) + ...) */
static double gamma_lower(double a, double x)
{
    double term = 1, sum = 1, slope = 0, harmonic = 0;
    for (int k = 1; k < MAX_TERMS && term > sum * 1e-17; k++) {
        sum += term *= x / (a + k);
        slope -= term * (harmonic += 1 / (a + k));
    }
    return -(sum * (log(x) - digamma(a + 1)) + slope) / a;
}

/* Q = p/(x+1-a- 1(1-a)/(x+3-a- ...)) */
static double gamma_upper(double a, double x)
{
    struct dual b = {x + 1 - a, -1};
    struct lentz z = {{1e300, 0}, {1 / b.v, 1 / (b.v * b.v)}, 1 / b.v, 1 / b.v};
    for (int k = 1; k < MAX_TERMS; k++) {
        b.v += 2;
        if (lentz_step(&z, (struct dual){-k * (k - a), k}, b)) break;
    }
    return z.h * (log(x) - digamma(a) + z.log_h);
}

/* Temme (1979), with l = x/a, eta^2 / 2 = l - 1 - log l, c(eta) = 1/(l - 1) - 1/eta:
       P = Phi(sqrt(a) eta) - N(sqrt(a) eta) c / sqrt(a) + ...
   and what is left out of the derivative is about a^-2 of it.  Near eta = 0, by powers. */
static double gamma_large(double a, double x)
{
    double e = (x - a) / a, log_l = log1p(e), half = e - log_l, c, dc, ratio; /* (l - 1) / eta */
    bool close = fabs(e) < 1e-2;
    if (close) {
        half = 0;
        for (int k = 12; k >= 2; k--) half = half * e + (k % 2 ? -1. : 1.) / k;
        half *= e * e;
    }
    double eta = copysign(sqrt(2 * half), e);
    if (close) {
        c = -1. / 3 + eta * (1. / 12 + eta * (-2. / 135 + eta * (1. / 864 + eta / 2835)));
        dc = 1. / 12 + eta * (-4. / 135 + eta * (3. / 864 + eta * 4. / 2835));
        ratio = 1 / (1 + eta * c);
    } else {
        c = 1 / e - 1 / eta;
        dc = 1 / (eta * eta) - eta * (1 + e) / (e * e * e);
        ratio = e / eta;
    }
    double v = ratio - 0.5 * eta + c * log_l - (0.5 * c + ratio * dc) / a;
    return v / a * (1 + 1 / (12 * a));
}

double log_gamma_slope(double a, double x)
{
    if (!is_positive(a) || !is_positive(x)) return NAN;
    if (a > 1e4) return gamma_large(a, x);
    return x < a + 1 ? gamma_lower(a, x) : gamma_upper(a, x);
}

/* ---- beta: with p = x^a y^b / B(a, b), logit x moves by -(dI/da) / p -------------------- */

/* I_x(a, b) = p / a times this fraction (see special.c), with derivatives by a or by b */
static struct lentz beta_fraction(double a, double b, double x, bool by_a)
{
    const struct dual one = {1, 0};
    struct dual t = {-(a + b) * x / (a + 1), 0};
    struct lentz z = {one, one, 1, 0};
    t.d = t.v * (1 / (a + b) - (by_a ? 1 / (a + 1) : 0));
    lentz_step(&z, t, one);
    z = (struct lentz){one, z.d, z.d.v, z.d.d / z.d.v}; /* it is 1/(1 + t/(1 + ...)) */
    for (int k = 1; k < MAX_TERMS; k++) {
        double p = a + 2 * k, room = k * x / ((p - 1) * p);
        struct dual even = {room * (b - k), room},
                    odd = {-(a + k) * (a + b + k) * x / (p * (p + 1)), 0};
        odd.d = odd.v / (a + b + k);
        if (by_a) {
            even.d = -even.v * (1 / (p - 1) + 1 / p);
            odd.d += odd.v * (1 / (a + k) - 1 / p - 1 / (p + 1));
        }
        lentz_step(&z, even, one);
        if (lentz_step(&z, odd, one)) break;
    }
    return z;
}

double logit_beta_slope(double a, double b, double x, double y)
{
    if (!is_positive(a) || !is_positive(b) || !(x > 0 && y > 0)) return NAN;
    if (a + b > 1e8) return a < b ? log_gamma_slope(a, (a + b) * x) : 1 / a; /* a ratio of gammas */
    double log_x = x < 0.5 ? log(x) : log1p(-y), sum = digamma(a + b);
    if (x < (a + 1) / (a + b + 2)) {
        struct lentz z = beta_fraction(a, b, x, true);
        return -z.h / a * (log_x - digamma(a + 1) + sum + z.log_h);
    }
    struct lentz z = beta_fraction(b, a, y, false);
    return z.h / b * (log_x - digamma(a) + sum + z.log_h);
}
