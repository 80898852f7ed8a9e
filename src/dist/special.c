/* special.c: the special functions that cdfs need; incomplete gammas and betas are in incomplete.c.
 */
#include <stdint.h>
#include <string.h>

#include "dist/math.h"

double normal_p(double z) { return erfc(-z * M_SQRT1_2) / 2; }

/* Phi(z) -z / phi(z) = 1 - 1/z^2 + 3/z^4 - 15/z^6 + ..., for z < -30 to the last digit */
static double mills(double z)
{
    double q = 1 / (z * z);
    return 1 - q * (1 - 3 * q * (1 - 5 * q * (1 - 7 * q * (1 - 9 * q * (1 - 11 * q)))));
}

double log_normal_p(double z)
{
    if (z > 0) return log1p(-erfc(z * M_SQRT1_2) / 2);
    if (z > -30 || isnan(z)) return log(normal_p(z));
    return log(mills(z)) - 0.5 * z * z - log(-z) - HALF_LOG_2PI;
}

double normal_hazard(double z)
{
    return z > -30 || isnan(z) ? exp(-0.5 * z * z - HALF_LOG_2PI) / normal_p(z) : -z / mills(z);
}

double integral(double (*f)(double, const double *), const double *p, double a, double b,
                int panels)
{
    static const double at[8] = {0.095012509837637454, 0.28160355077925892, 0.45801677765722737,
                                 0.61787624440264377,  0.755404408355003,   0.86563120238783176,
                                 0.9445750230732326,   0.98940093499164994};
    static const double weight[8] = {
        0.18945061045506859, 0.18260341504492361,  0.16915651939500262,  0.14959598881657676,
        0.12462897125553403, 0.095158511682492591, 0.062253523938647706, 0.027152459411754037};
    double half = (b - a) / (2 * panels), sum = 0;
    for (int i = 0; i < panels; i++)
        for (int k = 0; k < 8; k++) {
            double mid = a + (2 * i + 1) * half, d = half * at[k];
            sum += weight[k] * (f(mid - d, p) + f(mid + d, p));
        }
    return half * sum;
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

/* Chandrupatla's method (1997) for log f = log u over the places of doubles, which are
   logarithms of x, piecewise: both tails are nearly straight.  It bisects where log f is
   infinite, and stops when f equals u but for rounding. */
double cdf_inverse(double (*f)(double, const double *), int rising, double u, const double *p,
                   double lo, double hi)
{
    double ends = f(lo, p), logu = log(u), t = 0.5;
    if (!(u >= 0 && u <= 1) || isnan(ends)) return NAN;
    if (u == (rising < 0)) return lo;
    if (u == (rising > 0)) return hi;
    /* the root lies between a and b; a is the latest, c the one before b */
    int64_t a = place(hi), b = place(lo), c;
    double fa = log(f(hi, p)) - logu, fb = log(ends) - logu, fc;
    for (int i = 0; i < 200 && (a > b ? b < a - 1 : a < b - 1); i++) {
        double width = (double)a - (double)b;
        int64_t x = isfinite(fa) && isfinite(fb) && t != 0.5 ? a - (int64_t)(t * width)
                                                             : (a & b) + ((a ^ b) >> 1);
        if (x == a) x += a > b ? -1 : 1;
        double v = f(at_place(x), p), fx = log(v) - logu;
        if (fabs(v - u) <= 4e-16 * u) return at_place(x);
        if ((fx > 0) == (fa > 0)) {
            c = a, fc = fa;
        } else {
            c = b, fc = fb;
            b = a, fb = fa;
        }
        a = x, fa = fx;
        /* inverse quadratic interpolation where it is safe, otherwise halving */
        double xi = ((double)a - (double)b) / ((double)c - (double)b);
        double phi = (fa - fb) / (fc - fb);
        t = 0.5;
        if (phi * phi < xi && (1 - phi) * (1 - phi) < 1 - xi) {
            double al = ((double)c - (double)a) / ((double)b - (double)a);
            double s = fa / (fb - fa) * fc / (fb - fc) + al * fa / (fc - fa) * fb / (fc - fb);
            t = s > 1e-6 ? s < 1 - 1e-6 ? s : 1 - 1e-6 : 1e-6;
        }
    }
    return at_place(a > b ? a : b); /* the smallest x with f(x) >= u, or <= u */
}

/* Rounding may leave [0, 1]. */
static double probability(double p) { return p < 0 ? 0 : p > 1 ? 1 : p; }

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

double count_tail(double (*ratio)(double, const double *), const double *p, double first,
                  double from, double to)
{
    enum { MOST = 1000000 }; /* about 10 ms */
    double sum = first, f = first, x = from;
    for (int i = 0; i < MOST; i++) {
        if (x == to || !(f > 1e-25 * sum)) return probability(sum);
        f = to > from ? f * ratio(x, p) : f / ratio(x - 1, p);
        sum += f;
        x += to > from ? 1 : -1;
    }
    return NAN;
}
