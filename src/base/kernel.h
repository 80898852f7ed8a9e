/* kernel.h: what a vector operation looks like; tensor/ runs them, dist/ and
   tensor/ write them.

   Two kinds.  An element-wise kernel sees n independent elements, its arguments
   as plain arrays.  A block kernel sees one instance of an operation on vectors
   or matrices (row-major), for L lanes (draws, data sets) at once: its arguments
   are the elements of all arguments in a row, each with its lanes.  `self` is the
   record that the kernel belongs to.  No kernel allocates or keeps state. */
#ifndef BASE_KERNEL_H
#define BASE_KERNEL_H

#include "base/stream.h"

/* out[i] = f(a[0][i], a[1][i], ...) */
typedef void map_fn(const void *self, int n, double *out, const double *const *a);
/* da[k][i] = dout[i] * df/da[k] at i, for each k with da[k] != NULL: written, not added */
typedef void map_grad_fn(const void *self, int n, const double *out, const double *dout,
                         const double *const *a, double *const *da);

/* Both: out[i], and d[i] = df/da[k] at i.  n is a multiple of 8. */
typedef void map_both_fn(const void *self, int n, double *out, const double *const *a, int k,
                         double *d);

/* The same in single precision, by argument 1, which is u, the output of a network. */
typedef void map_float_fn(const void *self, int n, float *out, const double *const *a,
                          const float *u, float *d);

/* An element of a block's argument: lane b is p[b * step]; step is 0 for a constant. */
struct lanes {
    const double *p;
    int step;
};

/* dim: what the operation needs to know of its sizes (see each record).
   work: as many doubles as the record's work(dim) asks for. */
typedef void block_fn(const void *self, const int *dim, int L, double *const *out,
                      const struct lanes *a, double *work);
/* da[j][b] += sum over outputs of dout * d out / d a[j], for each j with da[j] != NULL */
typedef void block_grad_fn(const void *self, const int *dim, int L, const double *const *out,
                           const double *const *dout, const struct lanes *a, double *const *da,
                           double *work);

#endif
