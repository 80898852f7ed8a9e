/* study_test.c: one-sided paired tests over runs (sign flips and Student's t), and an exact test
   for a decreasing trend. */
#include "study/study_test.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "base/vec.h"
#include "dist/dist.h"

enum { EXACT_MOST = 20, FLIPS = 100000 };
enum { FALLS_MOST = 40, FALLS_PAIRS = FALLS_MOST * (FALLS_MOST - 1) / 2 };

/* ---- signs that are random ------------------------------------------------------------ */

/* Enumerates sign patterns in Gray code order: one sign changes at a time. */
static double flip_all(int n, const double *d, double most)
{
    long below = 0, all = 1L << n;
    double sum = 0, sign[EXACT_MOST];
    for (int i = 0; i < n; i++) sign[i] = 1, sum += d[i];
    for (long k = 1; k <= all; k++) {
        below += sum <= most;
        int i = __builtin_ctzl((unsigned long)k);
        if (i >= n) break;
        sum -= 2 * sign[i] * d[i];
        sign[i] = -sign[i];
    }
    return (double)below / (double)all;
}

static double flip_some(int n, const double *d, double most)
{
    struct rng r;
    int below = 1; /* includes the observed signs */
    rng_init(&r, 0x666c6970, (uint64_t)n);
    for (int k = 0; k < FLIPS; k++) {
        double sum = 0;
        for (int i = 0; i < n; i++) sum += rng_below(&r, 2) ? d[i] : -d[i];
        below += sum <= most;
    }
    return below / (FLIPS + 1.0);
}

/* ---- all -------------------------------------------------------------------------------- */

void paired_test(int n, const double *d, struct paired *out)
{
    double sum = 0, size = 0, ss = 0;
    *out = (struct paired){n, 0, NAN, NAN, NAN, NAN, NAN, NAN};
    if (n < 1) return;
    for (int i = 0; i < n; i++) {
        sum += d[i];
        size += fabs(d[i]);
        out->wins += d[i] < 0;
    }
    out->mean = sum / n;
    for (int i = 0; i < n; i++) ss += (d[i] - out->mean) * (d[i] - out->mean);
    double most = sum + 1e-12 * size; /* tolerance for rounding */
    out->p_flip = n <= EXACT_MOST ? flip_all(n, d, most) : flip_some(n, d, most);
    if (n < 2) return;
    out->sd = sqrt(ss / (n - 1));
    const double standard[] = {n - 1, 0, 1}; /* degrees of freedom, location, scale */
    double se = out->sd / sqrt(n), half = dist_student_t.cquantile(0.025, standard) * se;
    out->lo = out->mean - half;
    out->hi = out->mean + half;
    out->p_t = se > 0          ? dist_student_t.cdf(out->mean / se, standard)
               : out->mean < 0 ? 0
               : out->mean > 0 ? 1
                               : 0.5;
}

/* The number of permutations of n with k inversions, by the position of the last: c(n, k) = c(n-1,
   k) + ... + c(n-1, k-n+1). */
double falls_test(int n, const double *x)
{
    double c[FALLS_PAIRS + 1] = {1}, to[FALLS_PAIRS + 1], p = 0;
    int pairs = n * (n - 1) / 2, rises = 0;
    if (n < 2 || n > FALLS_MOST) return NAN;
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) rises += x[j] >= x[i];
    for (int m = 2; m <= n; m++) {
        for (int k = 0; k <= pairs; k++) {
            to[k] = 0;
            for (int i = 0; i < m && i <= k; i++) to[k] += c[k - i] / m;
        }
        memcpy(c, to, sizeof *c * (size_t)(pairs + 1));
    }
    for (int k = 0; k <= rises; k++) p += c[k];
    return p;
}

double median_of(int n, double *x)
{
    if (n < 1) return NAN;
    sort_doubles(x, (size_t)n);
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}
