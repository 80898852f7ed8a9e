/* density.c: kernel density estimates of draws, for figures. */
#include "report/density.h"

#include <math.h>
#include <stdlib.h>

static int increasing(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

size_t finite_sorted(const double *x, size_t n, double *out)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i])) out[k++] = x[i];
    if (k) qsort(out, k, sizeof *out, increasing);
    return k;
}

double sorted_quantile(const double *x, size_t n, double p)
{
    double at = p * (double)(n - 1), low = floor(at);
    size_t i = (size_t)low;
    if (i + 1 >= n) return x[n - 1];
    return x[i] + (at - low) * (x[i + 1] - x[i]);
}

static double bandwidth(const double *x, size_t n)
{
    double mean = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        double from = x[i] - mean;
        mean += from / (double)(i + 1);
        square += from * (x[i] - mean);
    }
    double sd = n > 1 ? sqrt(square / (double)(n - 1)) : 0;
    double middle = (sorted_quantile(x, n, 0.75) - sorted_quantile(x, n, 0.25)) / 1.34;
    double spread = middle > 0 && !(sd <= middle) ? middle : sd;
    return 0.9 * spread * pow((double)n, -0.2);
}

/* The first of sorted x[n] that is at least v. */
static size_t first_from(const double *x, size_t n, double v)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (x[mid] < v)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static double kernels_at(const double *x, size_t n, double h, double at)
{
    double sum = 0;
    for (size_t i = first_from(x, n, at - 5 * h); i < n && x[i] <= at + 5 * h; i++) {
        double u = (at - x[i]) / h;
        sum += exp(-0.5 * u * u);
    }
    return sum;
}

int density_of(const double *x, size_t n, double lo, double hi, int m, const double *grid,
               double *y)
{
    double h = bandwidth(x, n);
    if (!(h > 0) || !isfinite(h)) return 0;
    double unit = 1 / (2.5066282746310002 * h * (double)n);
    for (int i = 0; i < m; i++) {
        double at = grid[i], sum = 0;
        if (at >= lo && at <= hi) {
            sum = kernels_at(x, n, h, at);
            if (isfinite(lo)) sum += kernels_at(x, n, h, 2 * lo - at);
            if (isfinite(hi)) sum += kernels_at(x, n, h, 2 * hi - at);
        }
        y[i] = sum * unit;
    }
    return 1;
}
