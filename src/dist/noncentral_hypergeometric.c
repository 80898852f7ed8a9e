/* noncentral_hypergeometric.c: noncentral hypergeometric distribution.
   Fisher's noncentral hypergeometric: x of m1 drawn from n1 white and n2 black balls are
   white, the odds being psi to 1:  p(x) = C(n1, x) C(n2, m1 - x) psi^x / sum of the same */
#include "dist/loops.h"

enum { MOST_TERMS = 100000 }; /* on either side of the mode: enough for 10^8 balls */

struct urn {
    double n1, n2, m1, psi, lo, hi; /* x is from lo to hi */
    bool ok;
};

static struct urn urn(double n1, double n2, double m1, double psi)
{
    struct urn u = {n1, n2, m1, psi, fmax(0, m1 - n2), fmin(m1, n1), false};
    u.ok = is_count(n1) && is_count(n2) && is_count(m1) && is_positive(psi) && m1 <= n1 + n2;
    return u;
}

/* p(x + 1) / p(x) */
static double ratio(const struct urn *u, double x)
{
    return (u->n1 - x) * (u->m1 - x) / ((x + 1) * (u->n2 - u->m1 + x + 1)) * u->psi;
}

/* The mode (Liao and Rosen 2001): the floor of the root of ratio(x - 1) = 1. */
static double mode(const struct urn *u)
{
    double a = u->psi - 1, b = -((u->m1 + u->n1 + 2) * u->psi + u->n2 - u->m1);
    double c = u->psi * (u->n1 + 1) * (u->m1 + 1);
    double q = -0.5 * (b + copysign(sqrt(b * b - 4 * a * c), b)), x = floor(c / q);
    return x >= u->lo ? x <= u->hi ? x : u->hi : u->lo;
}

/* Sums f = p(x)/p(mode) and x f outwards from the mode, until f is negligible. */
static void total(const struct urn *u, double *sum, double *first)
{
    double top = mode(u), f = 1;
    *sum = 1;
    *first = top;
    for (int i = 0; top + i < u->hi && f > 1e-18 && i < MOST_TERMS; i++) {
        *sum += f *= ratio(u, top + i);
        *first += f * (top + i + 1);
    }
    f = 1;
    for (int i = 1; top - i >= u->lo && f > 1e-18 && i < MOST_TERMS; i++) {
        *sum += f /= ratio(u, top - i);
        *first += f * (top - i);
    }
}

/* log C(n1, x) C(n2, m1 - x) psi^x up to a constant: binomial numbers of white and of black balls,
   with probabilities whose odds differ by psi, and which fit to the mode. */
static double log_weight(const struct urn *u, double x)
{
    double white = (mode(u) + 0.5) / (u->n1 + 1), odds = white / (1 - white) / u->psi;
    return binomial_lp(x, u->n1 - x, white, 1 - white) +
           binomial_lp(u->m1 - x, u->n2 - (u->m1 - x), 1 / (1 + 1 / odds), 1 / (1 + odds));
}

static double lp(double x, double n1, double n2, double m1, double psi)
{
    struct urn u = urn(n1, n2, m1, psi);
    double sum, first;
    if (!u.ok || isnan(x)) return NAN;
    if (!is_count(x) || x < u.lo || x > u.hi) return -INFINITY;
    total(&u, &sum, &first);
    return log_weight(&u, x) - log_weight(&u, mode(&u)) - log(sum);
}

/* d log p / d psi = (x - E x) / psi */
static void dlp(double x, double n1, double n2, double m1, double psi, double *g)
{
    struct urn u = urn(n1, n2, m1, psi);
    double sum = 1, first = NAN;
    if (u.ok) total(&u, &sum, &first);
    g[0] = g[1] = g[2] = g[3] = 0;
    g[4] = (x - first / sum) / psi;
}
DENSITY(5, lp, dlp)

/* Inversion, the values in the order mode, mode + 1, mode - 1, mode + 2, ... */
static double draw(double u, double n1, double n2, double m1, double psi)
{
    struct urn w = urn(n1, n2, m1, psi);
    double sum, first, up = 1, down = 1, top;
    if (!w.ok) return NAN;
    total(&w, &sum, &first);
    top = mode(&w);
    u = u * sum - 1;
    for (int i = 1; u > 0 && up + down > 1e-18 && i < MOST_TERMS; i++) {
        up = top + i <= w.hi ? up * ratio(&w, top + i - 1) : 0;
        if ((u -= up) <= 0) return top + i;
        down = top - i >= w.lo ? down / ratio(&w, top - i) : 0;
        if ((u -= down) <= 0) return top - i;
    }
    return top;
}
SAMPLE_UNIFORM(5, draw)

static double ratio_at(double x, const double *p)
{
    struct urn u = urn(p[0], p[1], p[2], p[3]);
    return ratio(&u, x);
}

/* Summed on the side of the mode where x is. */
static double tail(double x, const double *p, int upper)
{
    struct urn u = urn(p[0], p[1], p[2], p[3]);
    double k = floor(x), v;
    if (!u.ok || isnan(x)) return NAN;
    if (k < u.lo || k >= u.hi) return (k < u.lo) == upper;
    int above = k >= mode(&u);
    v = above ? count_tail(ratio_at, p, exp(lp(k + 1, p[0], p[1], p[2], p[3])), k + 1, u.hi)
              : count_tail(ratio_at, p, exp(lp(k, p[0], p[1], p[2], p[3])), k, u.lo);
    return above == upper ? v : 1 - v;
}

static double cdf(double x, const double *p) { return tail(x, p, 0); }

static double ccdf(double x, const double *p) { return tail(x, p, 1); }

static double quantile(double u, const double *p)
{
    struct urn of = urn(p[0], p[1], p[2], p[3]);
    return count_inverse(cdf, 1, u, p, of.lo, of.hi);
}

static double cquantile(double u, const double *p)
{
    struct urn of = urn(p[0], p[1], p[2], p[3]);
    return count_inverse(ccdf, -1, u, p, of.lo, of.hi);
}

static void bounds(const double *p, double *lo, double *hi)
{
    struct urn u = urn(p[0], p[1], p[2], p[3]);
    *lo = u.lo;
    *hi = u.hi;
}

const struct dist dist_noncentral_hypergeometric = {
    "noncentral_hypergeometric",
    "white balls of m1 drawn from n1 white and n2 black, with odds psi",
    4,
    {{"n1", COUNT}, {"n2", COUNT}, {"m1", COUNT}, {"psi", POSITIVE}},
    COUNT,
    KERNELS,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .bounds = bounds,
    .own = 1,
    .try_at = {TRY_4(13, 8, 10, 2.385), TRY_4(300, 170, 90, 0.31)},
};
