/* density.h: kernel density estimates and quantiles of draws, for figures. */
#ifndef REPORT_DENSITY_H
#define REPORT_DENSITY_H

#include <stddef.h>

/* The finite ones of x[n], increasing, to `out`; how many. */
size_t finite_sorted(const double *x, size_t n, double *out);
/* The quantile of n >= 1 sorted numbers, interpolated (R's type 7). */
double sorted_quantile(const double *sorted, size_t n, double probability);
/* Gaussian kernels with Silverman's bandwidth (1986), reflected at the bounds of the support, which
   may be infinite.  sorted: n >= 1 numbers; y[i]: the density at grid[i].  0 if all numbers are
   equal, and there is no density. */
int density_of(const double *sorted, size_t n, double lo, double hi, int num_grid,
               const double *grid, double *y);

#endif
