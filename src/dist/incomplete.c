/* incomplete.c: incomplete gamma and beta functions.
   By series and continued fractions; for large shapes, where these take too many terms, by
   quadrature of the tail; and for the complement of a small shape, which is nearly 0, without
   subtracting from 1. */
#include "dist/math.h"

enum { MAX_TERMS = 30000 };      /* series and fractions take about 6 sqrt(a) of them */
static const double large = 1e4; /* a shape from which on tails are integrated */

/* Rounding may leave [0, 1]. */
static double probability(double p) { return p < 0 ? 0 : p > 1 ? 1 : p; }

/* log Gamma(1 + a) for 0 <= a <= 1/2, also the digits of its small values:
   -log(1 + a) + (1 - gamma) a + sum over k > 1 of (zeta(k) - 1) (-a)^k / k */
static double lgam_1p(double a)
{
    static const double zeta_less_1[] = {
        0.64493406684822643647,    0.20205690315959428540,    0.082323233711138191516,
        0.036927755143369926331,   0.017343061984449139714,   0.0083492773819228268398,
        0.0040773561979443393787,  0.0020083928260822144179,  0.00099457512781808533715,
        0.00049418860411946455870, 0.00024608655330804829863, 0.00012271334757848914675,
        6.1248135058704829258e-5,  3.0588236307020493552e-5,  1.5282259408651871733e-5,
        7.6371976378997622737e-6,  3.8172932649998398565e-6,  1.9082127165539389257e-6,
        9.5396203387279611315e-7,  4.7693298678780646312e-7,  2.3845050272773299000e-7,
        1.1921992596531107306e-7,  5.9608189051259479612e-8,  2.9803503514652280186e-8};
    double sum = 0;
    for (int k = (int)(sizeof zeta_less_1 / sizeof *zeta_less_1) - 1; k >= 0; k--)
        sum = zeta_less_1[k] / (k + 2) - a * sum;
    return a * (a * sum + 0.42278433509846713939) - log1p(a);
}

/* ---- tails by quadrature -------------------------------------------------------------------- */

/* A density beside the point x at which its tail begins: its logarithm there, less that at x, is
   -slope d - pull[0] excess(d/side[0]) - pull[1] excess(-d/side[1]) at a distance of d outwards;
   no term is positive, so nothing cancels. */
struct flank {
    double slope, pull[2], side[2];
};

static double flank_at(double d, const double *p)
{
    double t = d / p[3], v = -p[0] * d - p[1] * excess(t, log1p(t));
    if (p[2] > 0) {
        t = -d / p[4];
        v -= p[2] * excess(t, log1p(t));
    }
    return exp(v);
}

/* The integral of that, up to where it is exp(-45). */
static double flank_integral(const struct flank *f)
{
    double p[] = {f->slope, f->pull[0], f->pull[1], f->side[0], f->side[1]}, bend = 0;
    for (int i = 0; i < 2; i++) bend += f->pull[i] / (f->side[i] * f->side[i]) / 2;
    double far = 90 / (f->slope + sqrt(f->slope * f->slope + 180 * bend));
    return integral(flank_at, p, 0, far, 5);
}

/* P(a, x), or Q(a, x) if upper, for a large a: the density is a/x times a Poisson probability.
   Integrated away from the mode. */
static double gamma_flank(double a, double x, int upper)
{
    double e = x - (a - 1), sign = e >= 0 ? 1 : -1, front = exp(poisson_lp(a, x));
    struct flank f = {fabs(e / x), {a - 1, 0}, {sign * x, 1}};
    double tail = front > 0 ? probability(a / x * front * flank_integral(&f)) : 0;
    return (e >= 0) == upper ? tail : 1 - tail;
}

/* I_x(a, b) for large a and b: the density is a b / ((a + b) x y) times a binomial probability. */
static double beta_flank(double a, double b, double x, double y)
{
    double e = fma(a - 1, y, -(b - 1) * x), sign = e < 0 ? 1 : -1;
    double front = exp(binomial_lp(a, b, x, y));
    struct flank f = {fabs(e / x / y), {a - 1, b - 1}, {sign * x, sign * y}};
    double tail = front > 0 ? probability(a / (a + b) * b / x / y * front * flank_integral(&f)) : 0;
    return e < 0 ? 1 - tail : tail;
}

/* ---- gamma ---------------------------------------------------------------------------------- */

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

/* Q(a, x) = 1 - x^a / Gamma(a + 1) * (1 + sum over k > 0 of a (-x)^k / ((a + k) k!)) for a < 1/2
   and x < 1.5, where P may be nearly 1 */
static double gamma_rest(double a, double x, double log_x)
{
    double log_front = a * log_x - lgam_1p(a), term = 1, sum = 0;
    for (int k = 1; k < 60 && fabs(term) > 1e-18; k++) {
        term *= -x / k;
        sum += term / (a + k);
    }
    return -expm1(log_front) - exp(log_front) * a * sum;
}

static double gamma_tail(double a, double x, double log_x, int upper)
{
    double p, q;
    if (!(a > 0) || !(x >= 0) || a > DBL_MAX) return NAN;
    if (log_x == -INFINITY) return upper;
    if (x > DBL_MAX) return !upper;
    if (a > large) return gamma_flank(a, x, upper);
    if (x < a + 1) {
        if (upper && a < 0.5) return probability(gamma_rest(a, x, log_x));
        p = probability(x < DBL_MIN ? exp(a * log_x - lgam(a + 1)) : gamma_series(a, x));
        return upper ? 1 - p : p;
    }
    q = probability(gamma_fraction(a, x));
    return upper ? q : 1 - q;
}

double gamma_p(double a, double x) { return gamma_tail(a, x, log(x), 0); }

double gamma_q(double a, double x) { return gamma_tail(a, x, log(x), 1); }

double gamma_p_log(double a, double log_x) { return gamma_tail(a, exp(log_x), log_x, 0); }

double gamma_q_log(double a, double log_x) { return gamma_tail(a, exp(log_x), log_x, 1); }

/* ---- beta ----------------------------------------------------------------------------------- */

/* The fraction in I_x(a, b) = x^a y^b / B(a, b) / (b_0 + a_1/(b_1 + a_2/(b_2 + ...))), by Lentz's
   method, good for x below the mean.  Of x and y = 1 - x one may be tiny and the other rounded: of
   their difference only a y - b x is needed, which is not small in its terms. */
static double beta_fraction(double a, double b, double x, double y)
{
    double gap = fma(a, y, -b * x), h = a * (gap + 1) / (a + 1), c = h, d = 0;
    for (int m = 1; m < MAX_TERMS; m++) {
        double u = a + (2 * m - 1), v = m * (b - m) / u * x, del;
        double am = (a + (m - 1)) / u * (a + b + (m - 1)) * x * v;
        double bm = m + v + (a + m) / (u + 2) * (gap + 1 + m * (1 + y));
        d = bm + am * d;
        if (fabs(d) < 1e-300) d = 1e-300;
        c = bm + am / c;
        if (fabs(c) < 1e-300) c = 1e-300;
        d = 1 / d;
        h *= del = d * c;
        if (fabs(del - 1) < 1e-16) break;
    }
    return 1 / h;
}

static double digamma_at(double s, const double *b) { return digamma(*b + s); }

/* log(a B(a, b)) for 0 < a < 1/2: 0 in the limit, with all digits */
static double log_a_beta(double a, double b)
{
    double c = b < 1 ? b + 1 : b, step = b < 1 ? log1p(a / b) : 0;
    if (b < 0.5 - a) return lgam_1p(a) + lgam_1p(b) - lgam_1p(a + b) + step;
    return lgam_1p(a) + step - integral(digamma_at, &c, 0, a, 1);
}

/* 1 - I_x(a, b) = 1 - x^a / (a B(a, b)) * (1 + sum over k > 0 of a (1-b)...(k-b) x^k / ((a + k)
   k!)) for a < 1/2 and x below the mean, or not far above */
static double beta_rest(double a, double b, double x)
{
    double log_front = a * log(x) - log_a_beta(a, b), term = 1, sum = 0;
    for (int k = 1; k < MAX_TERMS && fabs(term) > 1e-18 * (1 + fabs(sum)); k++) {
        term *= (k - b) / k * x;
        sum += term / (a + k);
    }
    return -expm1(log_front) - exp(log_front) * a * sum;
}

double beta_i(double a, double b, double x, double y)
{
    if (!is_positive(a) || !is_positive(b) || !(x >= 0 && y >= 0)) return NAN;
    if (x == 0) return 0;
    if (y == 0) return 1;
    double n = a + b;
    if (a > large && b > large) return beta_flank(a, b, x, y);
    /* x^a y^b / B(a, b) = binomial density times a b / (a + b) */
    double front = exp(binomial_lp(a, b, x, y)) * (a / n * b);
    if (x < (a + 1) / (n + 2)) return probability(front * beta_fraction(a, b, x, y));
    if (b < 0.5) return probability(beta_rest(b, a, y));
    return probability(1 - front * beta_fraction(b, a, y, x));
}

/* log(a B(a, b)): x^a divided by it is I_x(a, b) for the smallest x */
static double log_front(double a, double b)
{
    return a < 0.5 ? log_a_beta(a, b) : log(a) + lbeta(a, b);
}

double beta_odds(double a, double b, double o, double log_o)
{
    if (!is_positive(a) || !is_positive(b) || isnan(log_o)) return NAN;
    if (fabs(log_o) < 660) return beta_i(a, b, 1 / (1 + 1 / o), 1 / (1 + o));
    if (!(log(a + b) - fabs(log_o) < -36)) return NAN; /* more than the first term matters */
    return log_o < 0 ? exp(a * log_o - log_front(a, b)) : -expm1(-b * log_o - log_front(b, a));
}
