/* uniform.c: exact simultaneous bands and tests of uniformity by the empirical distribution
   function; binomial tests and intervals. */
#include "infer/uniform.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "dist/math.h"

enum { CELLS = 200, STEPS = 40 };

double binomial_lower(int n, double p, double q, int x)
{
    return x < 0 ? 0 : x >= n ? 1 : beta_i(n - x, x + 1.0, q, p);
}

double binomial_upper(int n, double p, double q, int x)
{
    return x <= 0 ? 1 : x > n ? 0 : beta_i(x, n - x + 1.0, p, q);
}

double binomial_test(int n, double p, int x)
{
    return fmin(1, 2 * fmin(binomial_lower(n, p, 1 - p, x), binomial_upper(n, p, 1 - p, x)));
}

static double beta_cdf(double x, const double *ab) { return beta_i(ab[0], ab[1], x, 1 - x); }

void binomial_interval(int n, int x, double alpha, double *lo, double *hi)
{
    double a[2] = {x, n - x + 1.0}, b[2] = {x + 1.0, n - x};
    *lo = x <= 0 ? 0 : cdf_inverse(beta_cdf, 1, alpha / 2, a, 0, 1);
    *hi = x >= n ? 1 : cdf_inverse(beta_cdf, 1, 1 - alpha / 2, b, 0, 1);
}

int uniform_cells(int cells) { return cells < 2 ? 2 : cells < CELLS ? cells : CELLS; }

/* The smallest count >= from that P(X <= count) > tail: exponential search, then bisection. */
static int quantile(int n, double p, double q, double tail, int from)
{
    int below = from - 1, ok = n;
    for (int step = 1; below + step<n; step = step> n / 2 ? n : 2 * step) {
        if (binomial_lower(n, p, q, below + step) > tail) {
            ok = below + step;
            break;
        }
        below += step;
    }
    while (ok - below > 1) {
        int x = below + (ok - below) / 2;
        *(binomial_lower(n, p, q, x) > tail ? &ok : &below) = x;
    }
    return ok;
}

/* Counts whose tails are both more probable than gamma/2.  i/k and (k-i)/k are symmetric. */
static void bounds(const struct uniform_band *b, double gamma, int *lo, int *hi)
{
    int n = b->n, k = b->k, from = 0; /* the bounds grow with i */
    for (int i = 1; i < k; i++) {
        from = quantile(n, (double)i / k, (double)(k - i) / k, gamma / 2, from);
        lo[i - 1] = from;
        hi[k - 1 - i] = n - from;
    }
}

/* P(lo <= count <= hi everywhere): f[x] is the probability that a Poisson process of rate n has
   stayed inside so far and equals x. */
static double stays_inside(const struct uniform_band *b, const int *lo, const int *hi)
{
    int n = b->n, k = b->k, first = 0, last = n, from = 0, to = 0;
    double *f = b->work, *g = f + n + 1, *jump = g + n + 1, rate = (double)n / k;
    for (int j = 0; j <= n; j++) jump[j] = exp(poisson_lp(j, rate));
    while (first < rate && jump[first] < 1e-20) first++; /* what counts */
    while (last > rate && jump[last] < 1e-20) last--;
    f[0] = 1;
    for (int i = 0; i < k; i++) {
        int a = i < k - 1 ? lo[i] : n, z = i < k - 1 ? hi[i] : n;
        for (int x = a; x <= z; x++) {
            int y = x - last > from ? x - last : from, end = x - first < to ? x - first : to;
            double sum = 0;
            for (; y <= end; y++) sum += f[y] * jump[x - y];
            g[x] = sum;
        }
        from = a, to = z;
        double *swap = f;
        f = g, g = swap;
    }
    return f[n] / exp(poisson_lp(n, n));
}

static double joint(const struct uniform_band *b, double gamma)
{
    bounds(b, gamma, b->try, b->try + b->k);
    return stays_inside(b, b->try, b->try + b->k);
}

int uniform_band(int n, int k, double alpha, struct uniform_band *out, nami_err *err)
{
    *out = (struct uniform_band){.n = n, .k = k, .alpha = alpha};
    if (n < 1 || k < 2 || !(alpha > 0 && alpha < 1))
        return err_set(err, NAMI_EUSAGE, "a band needs n > 0, k > 1 and 0 < alpha < 1");
    out->lo = new_array(int, k);
    out->hi = new_array(int, k);
    out->try = new_array(int, 2 * (size_t)k);
    out->work = new_array(double, 3 * ((size_t)n + 1));
    if (!out->lo || !out->hi || !out->try || !out->work) {
        uniform_band_free(out);
        return err_nomem(err);
    }
    double good = log(alpha / k), bad = log(alpha), top = bad; /* good: Bonferroni */
    for (int i = 0; i < STEPS && bad - good > 1e-7; i++) {
        double mid = i ? (good + bad) / 2 : top;
        *(joint(out, exp(mid)) >= 1 - alpha ? &good : &bad) = mid;
    }
    out->gamma = exp(good);
    bounds(out, out->gamma, out->lo, out->hi);
    return 0;
}

void uniform_band_free(struct uniform_band *b)
{
    free(b->lo);
    free(b->hi);
    free(b->try);
    free(b->work);
    *b = (struct uniform_band){0};
}

void uniform_count(const double *u, int n, int k, int *below)
{
    memset(below, 0, ((size_t)k - 1) * sizeof *below);
    for (int i = 0; i < n; i++) {
        int cell = (int)(u[i] * k);
        if (cell < k - 1) below[cell < 0 ? 0 : cell]++;
    }
    for (int i = 1; i < k - 1; i++) below[i] += below[i - 1];
}

struct uniform_test uniform_test(const struct uniform_band *b, const int *below)
{
    struct uniform_test t = {.inside = 1, .at = 0.5};
    double gamma = INFINITY;
    for (int i = 1; i < b->k; i++) {
        double p = (double)i / b->k, q = (double)(b->k - i) / b->k;
        int x = below[i - 1];
        double dev = (double)x / b->n - p;
        if (fabs(dev) > fabs(t.dev)) t.dev = dev, t.at = p;
        gamma = fmin(gamma, 2 * fmin(binomial_lower(b->n, p, q, x), binomial_upper(b->n, p, q, x)));
        t.inside &= x >= b->lo[i - 1] && x <= b->hi[i - 1];
    }
    t.p = fmin(1, fmax(0, 1 - joint(b, gamma)));
    return t;
}
