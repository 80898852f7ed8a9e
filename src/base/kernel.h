/* kernel.h: function types of vectorized operations, which dist/ and tensor/ define and tensor/
   runs.

   There are two kinds.  An element-wise kernel processes n independent elements; its arguments are
   plain arrays.  A block kernel processes one instance of an operation on vectors or matrices
   (row-major), for L lanes (draws, data sets) at once: `a` lists the elements of all arguments,
   each with its lanes.  `self` is the record that the kernel belongs to.  Kernels do not allocate
   and have no state. */
#ifndef BASE_KERNEL_H
#define BASE_KERNEL_H

#include "base/stream.h"

/* out[i] = f(a[0][i], a[1][i], ...) */
typedef void map_fn(const void *self, int n, double *out, const double *const *a);
/* da[k][i] = dout[i] * df/da[k] at i, for each k with da[k] != NULL; overwrites da */
typedef void map_grad_fn(const void *self, int n, const double *out, const double *dout,
                         const double *const *a, double *const *da);

/* Value and derivative: out[i], and d[i] = df/da[k] at i.  n is a multiple of 8. */
typedef void map_both_fn(const void *self, int n, double *out, const double *const *a, int k,
                         double *d);

/* The same in single precision, with respect to argument 1, which is the network output u. */
typedef void map_float_fn(const void *self, int n, float *out, const double *const *a,
                          const float *u, float *d);

/* An element of an argument of a block kernel: lane b is p[b * step]; step is 0 for a constant. */
struct lanes {
    const double *p;
    int step;
};

/* dim: sizes that the operation needs (see each record).
   work: workspace of as many doubles as work(dim) of the record returns. */
typedef void block_fn(const void *self, const int *dim, int L, double *const *out,
                      const struct lanes *a, double *work);
/* da[j][b] += sum over outputs of dout * d out / d a[j], for each j with da[j] != NULL */
typedef void block_grad_fn(const void *self, const int *dim, int L, const double *const *out,
                           const double *const *dout, const struct lanes *a, double *const *da,
                           double *work);

#endif
