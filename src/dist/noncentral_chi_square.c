/* noncentral_chi_square.c: noncentral chi-square distribution.
   A chi_square(nu + 2 j) with a Poisson number j of mean delta/2: the density is a sum over j,
   taken outwards from its largest term. */
#include "dist/loops.h"

enum { MOST_TERMS = 2000 }; /* on either side; they fall off within a few dozen */

static bool ok(double nu, double delta)
{
    return is_positive(nu) && delta >= 0 && delta <= DBL_MAX;
}

/* The largest term: where the next is as large */
static double largest(double x, double nu, double delta)
{
    double h = 0.5 * nu - 1, j = 0.5 * (sqrt(h * h + delta * x) - 0.5 * nu - 1);
    return j > 0 ? ceil(j) : 0;
}

/* Terms are nearly a normal density over j, with an sd of sqrt(top/2) or more: 0.4 sqrt(top) apart
   they give the same sum to all digits, as the trapezoidal rule does. */
static double stride(double top) { return top < 9 ? 1 : floor(0.4 * sqrt(top)); }

/* log of the Poisson probability of j times the chi-square density: that is a gamma(nu/2 + j, 1/2),
   or poisson_lp of a number that is no integer */
static double log_term(double j, double x, double nu, double delta)
{
    double a = 0.5 * nu + j;
    return poisson_lp(j, 0.5 * delta) + poisson_lp(a, 0.5 * x) + log(a) - log(x);
}

/* The sum of terms divided by the largest, and sums of functions of j with the same weights */
enum wanted { SUM, GRAD, MOVE };

struct terms {
    double top, sum, j, psi, by_delta, slope;
};

static void add(struct terms *t, double f, double j, double x, double nu, enum wanted wanted)
{
    double a = 0.5 * nu + j;
    t->sum += f;
    if (wanted == GRAD) {
        t->j += f * j;
        t->psi += f * digamma(a);
    } else if (wanted == MOVE) {
        t->by_delta += f * 0.5 * x / a;
        t->slope += f * log_gamma_slope(a, 0.5 * x);
    }
}

static struct terms terms(double x, double nu, double delta, enum wanted wanted)
{
    struct terms t = {.top = largest(x, nu, delta)};
    double step = stride(t.top), best = log_term(t.top, x, nu, delta);
    if (best < -1e5) { /* where exp() is 0 and logarithms have no digits left: a normal density */
        double sd = 1 / sqrt(1 / (t.top + 1) + 1 / (t.top + 0.5 * nu));
        add(&t, fmax(1, sd * sqrt(2 * M_PI)), t.top, x, nu, wanted);
        return t;
    }
    add(&t, step, t.top, x, nu, wanted);
    for (int sign = -1; sign <= 1; sign += 2) {
        double f = 1, j = t.top + sign * step;
        for (int i = 0; i < MOST_TERMS && f > 1e-18 && j >= 0; i++, j += sign * step) {
            f = exp(log_term(j, x, nu, delta) - best);
            add(&t, step * f, j, x, nu, wanted);
        }
    }
    return t;
}

static double lp(double x, double nu, double delta)
{
    if (!ok(nu, delta) || isnan(x)) return NAN;
    if (!is_positive(x)) return -INFINITY;
    struct terms t = terms(x, nu, delta, SUM);
    if (!(t.sum <= DBL_MAX)) return -INFINITY;
    return log_term(t.top, x, nu, delta) + log(t.sum);
}

static void dlp(double x, double nu, double delta, double *g)
{
    struct terms t = terms(x, nu, delta, GRAD);
    double j = t.j / t.sum;
    g[0] = (0.5 * nu - 1 + j) / x - 0.5;
    g[1] = 0.5 * (log(0.5 * x) - t.psi / t.sum);
    g[2] = (delta > 0 ? j / delta : 0.5 * x / nu) - 0.5;
}
DENSITY(3, lp, dlp)

static double draw(struct rng *r, double nu, double delta)
{
    if (!ok(nu, delta)) return NAN;
    double j = draw_poisson(r, 0.5 * delta);
    return 2 * draw_gamma(r, 0.5 * nu + j);
}
SAMPLE_RNG(2, draw)

/* dF/ddelta = -p(x; nu + 2, delta);  dF/dnu term by term (shape.c) */
static void move(double x, double nu, double delta, double *g)
{
    struct terms t = terms(x, nu, delta, MOVE);
    g[1] = 0.5 * x * t.slope / t.sum;
    g[2] = t.by_delta / t.sum;
}
PATH(3, move)

/* A tail: the sum of Poisson probabilities times gamma's, from the density's largest term on */
static double tail(double x, double nu, double delta, double (*of)(double, double))
{
    double top = largest(x, nu, delta), step = stride(top), sum = 0;
    for (int sign = -1; sign <= 1; sign += 2) {
        double f = 1, j = sign < 0 ? top : top + step;
        for (int i = 0; i < MOST_TERMS && f > sum * 1e-17 && j >= 0; i++, j += sign * step)
            sum += f = step * exp(poisson_lp(j, 0.5 * delta)) * of(0.5 * nu + j, 0.5 * x);
    }
    return sum;
}

static double cdf(double x, const double *p)
{
    if (!ok(p[0], p[1]) || isnan(x)) return NAN;
    if (!is_positive(x)) return x > 0;
    return x < p[0] + p[1] ? tail(x, p[0], p[1], gamma_p) : 1 - tail(x, p[0], p[1], gamma_q);
}

static double ccdf(double x, const double *p)
{
    if (!ok(p[0], p[1]) || isnan(x)) return NAN;
    if (!is_positive(x)) return !(x > 0);
    return x < p[0] + p[1] ? 1 - tail(x, p[0], p[1], gamma_p) : tail(x, p[0], p[1], gamma_q);
}

static double quantile(double u, const double *p) { return cdf_inverse(cdf, 1, u, p, 0, INFINITY); }

static double cquantile(double u, const double *p)
{
    return cdf_inverse(ccdf, -1, u, p, 0, INFINITY);
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    *mean = p[0] + p[1];
    *var = 2 * (p[0] + 2 * p[1]);
    return 0;
}

const struct dist dist_noncentral_chi_square = {
    "noncentral_chi_square",
    "noncentral chi-square, by degrees of freedom and noncentrality",
    2,
    {{"nu", POSITIVE}, {"delta", NONNEGATIVE}},
    POSITIVE,
    KERNELS,
    .path = path,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .moments = moments,
    .own = 1,
    .try_at = {TRY_2(2.385, 0.71), TRY_2(0.31, 34.2)},
};
