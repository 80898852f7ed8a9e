/* op.h: macros that define the functions of the model language, for op_*.c.

   UNARY and BINARY make the two kernels of an element-wise function from formulas in x (and y); z
   is the result, d the incoming derivative. */
#ifndef TENSOR_OP_H
#define TENSOR_OP_H

#include <float.h>

#include "base/simd.h"
#include "tensor/tensor.h"

#define UNARY_MAP(id, f)                                                                           \
    WIDE static void id##_map(const void *self, int n, double *out, const double *const *a)        \
    {                                                                                              \
        (void)self;                                                                                \
        const double *px = a[0];                                                                   \
        EACH(i, n)                                                                                 \
        {                                                                                          \
            double x = px[i];                                                                      \
            out[i] = f;                                                                            \
        }                                                                                          \
    }

#define UNARY(id, f, df)                                                                           \
    UNARY_MAP(id, f)                                                                               \
    WIDE static void id##_grad(const void *self, int n, const double *out, const double *dout,     \
                               const double *const *a, double *const *da)                          \
    {                                                                                              \
        (void)self;                                                                                \
        const double *px = a[0];                                                                   \
        double *dx = da[0];                                                                        \
        if (!dx) return;                                                                           \
        EACH(i, n)                                                                                 \
        {                                                                                          \
            double x = px[i], z = out[i];                                                          \
            (void)x, (void)z;                                                                      \
            dx[i] = dout[i] * (df);                                                                \
        }                                                                                          \
    }

#define BINARY_MAP(id, f)                                                                          \
    WIDE static void id##_map(const void *self, int n, double *out, const double *const *a)        \
    {                                                                                              \
        (void)self;                                                                                \
        const double *px = a[0], *py = a[1];                                                       \
        EACH(i, n)                                                                                 \
        {                                                                                          \
            double x = px[i], y = py[i];                                                           \
            out[i] = f;                                                                            \
        }                                                                                          \
    }

#define PARTIAL(p, expr)                                                                           \
    if (p) EACH(i, n)                                                                              \
        {                                                                                          \
            double x = px[i], y = py[i], z = out[i];                                               \
            (void)x, (void)y, (void)z;                                                             \
            (p)[i] = dout[i] * (expr);                                                             \
        }

#define BINARY(id, f, dfx, dfy)                                                                    \
    BINARY_MAP(id, f)                                                                              \
    WIDE static void id##_grad(const void *self, int n, const double *out, const double *dout,     \
                               const double *const *a, double *const *da)                          \
    {                                                                                              \
        (void)self, (void)out;                                                                     \
        const double *px = a[0], *py = a[1];                                                       \
        double *dx = da[0], *dy = da[1];                                                           \
        PARTIAL(dx, dfx)                                                                           \
        PARTIAL(dy, dfy)                                                                           \
    }

/* The first members of a record. */
#define UNARY_OP(id, sign, say)                                                                    \
    .name = sign, .args = "x", .what = say, .min_arg = 1, .max_arg = 1, .map = id##_map
#define BINARY_OP(id, sign, say)                                                                   \
    .name = sign, .args = "x, y", .what = say, .min_arg = 2, .max_arg = 2, .map = id##_map

/* ---- ranges: [lo, hi]; an open end at 0 is the smallest number above it ------------- */

typedef void range_fn(int narg, const double *lo, const double *hi, double *out);

#define ABOVE_0 DBL_TRUE_MIN
#define BELOW_1 (1 - DBL_EPSILON / 2)

static inline double more(double a, double b) { return a > b ? a : b; }

static inline double less(double a, double b) { return a < b ? a : b; }

/* inf - inf: unbounded */
static inline void range_set(double *out, double lo, double hi)
{
    out[0] = lo == lo ? lo : -INFINITY;
    out[1] = hi == hi ? hi : INFINITY;
}

range_fn range_bool, range_positive, range_unit, range_all, range_hull, range_times;

/* ---- shapes: {ndim, d0, d1, ...} ----------------------------------------------------- */

int shape_reduce(int narg, const int (*shape)[SHAPE], int *out, int *dim, const char **why);
int shape_same(int narg, const int (*shape)[SHAPE], int *out, int *dim, const char **why);
int shape_fail(const char **why, const char *sentence); /* -1 */

/* ---- lanes of blocks, processed CHUNK at a time if necessary --------------------------------- */

enum { CHUNK = 8 };

static inline double lane(const struct lanes *a, int b)
{
    return a->p[(size_t)b * (size_t)a->step];
}

#endif
