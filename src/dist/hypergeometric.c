/* hypergeometric.c: hypergeometric distribution.
   p = C(a, x) C(b, N - x) / C(a + b, N): each of the three as a binomial density with the same
   probability, N/(a + b), which cancels */
#include "dist/loops.h"

INLINE bool ok(double n, double a, double b)
{
    return is_count(n) & is_count(a) & is_count(b) & (n <= a + b);
}

INLINE bool inside(double x, double n, double a, double b)
{
    return is_count(x) & (x <= n) & (x <= a) & (n - x <= b);
}

INLINE double lp(double x, double n, double a, double b)
{
    double p = n / (a + b), q = (a + b - n) / (a + b);
    double v = binomial_lp(x, a - x, p, q) + binomial_lp(n - x, b - n + x, p, q) -
               binomial_lp(n, a + b - n, p, q);
    v = v > 0 ? 0 : v; /* rounding; counts of 1e308 */
    return density(ok(n, a, b), inside(x, n, a, b), x, v);
}

INLINE void dlp(double x, double n, double a, double b, double *g)
{
    (void)x, (void)n, (void)a, (void)b;
    g[0] = g[1] = g[2] = g[3] = 0;
}
DENSITY(4, lp, dlp)

/* p(x + 1) / p(x) */
static double ratio(double x, double n, double a, double b)
{
    return (a - x) * (n - x) / ((x + 1) * (b - n + x + 1));
}

/* Inversion, the values in the order mode, mode + 1, mode - 1, mode + 2, ... */
static double draw(double u, double n, double a, double b)
{
    enum { MOST = 100000 };
    double top = floor((n + 1) * ((a + 1) / (a + b + 2)));
    if (!ok(n, a, b)) return NAN;
    if (!inside(top, n, a, b)) top = n > b ? n - b : 0; /* rounding of huge counts */
    double up = exp(lp(top, n, a, b)), down = up;
    u -= up;
    for (int i = 1; u > 0 && up + down > 1e-18 && i < MOST; i++) {
        up = inside(top + i, n, a, b) ? up * ratio(top + i - 1, n, a, b) : 0;
        if ((u -= up) <= 0) return top + i;
        down = inside(top - i, n, a, b) ? down / ratio(top - i, n, a, b) : 0;
        if ((u -= down) <= 0) return top - i;
    }
    return top;
}
SAMPLE_UNIFORM(4, draw)

static void bounds(const double *p, double *lo, double *hi)
{
    *lo = p[0] > p[2] ? p[0] - p[2] : 0;
    *hi = p[0] < p[1] ? p[0] : p[1];
    if (isnan(p[0]) || isnan(p[2])) *lo = NAN;
    if (isnan(p[0]) || isnan(p[1])) *hi = NAN;
}

static int moments(const int *size, const double *p, double *mean, double *var)
{
    (void)size;
    double n = p[1] + p[2], share = p[1] / n;
    if (n < 2) return -1;
    *mean = p[0] * share;
    *var = *mean * (1 - share) * (n - p[0]) / (n - 1);
    return 0;
}

const struct dist dist_hypergeometric = {
    "hypergeometric",
    "white balls among N drawn from a white and b black ones",
    3,
    {{"N", COUNT}, {"a", COUNT}, {"b", COUNT}},
    COUNT,
    KERNELS,
    .bounds = bounds,
    .moments = moments,
    .try_at = {TRY_3(10, 13, 8), TRY_3(90, 300, 170), TRY_3(7, 3, 5)},
};
