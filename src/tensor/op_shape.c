/* op_shape.c: rearrangements of elements: c, rep, t, diag.  Each result is one element or 0. */
#include "tensor/op.h"

/* out = x, or 0 where there is none */
WIDE static void put(const struct lanes *x, double *out, int L)
{
    const double *p = x ? x->p : NULL;
    if (x && x->step) {
        EACH(b, L) out[b] = p[b];
    } else {
        double v = x ? *p : 0;
        EACH(b, L) out[b] = v;
    }
}

WIDE static void add(double *to, const double *d, int L)
{
    if (to) EACH(b, L) to[b] += d[b];
}

/* Result j is element from(dim, j) of the arguments, or 0 if that is -1. */
#define MOVE(id, nout)                                                                             \
    static void id##_block(const void *self, const int *dim, int L, double *const *out,            \
                           const struct lanes *a, double *work)                                    \
    {                                                                                              \
        (void)self, (void)work;                                                                    \
        for (int j = 0; j < (nout); j++) {                                                         \
            int from = id##_from(dim, j);                                                          \
            put(from < 0 ? NULL : &a[from], out[j], L);                                            \
        }                                                                                          \
    }                                                                                              \
    static void id##_grad(const void *self, const int *dim, int L, const double *const *out,       \
                          const double *const *dout, const struct lanes *a, double *const *da,     \
                          double *work)                                                            \
    {                                                                                              \
        (void)self, (void)out, (void)a, (void)work;                                                \
        for (int j = 0; j < (nout); j++) {                                                         \
            int from = id##_from(dim, j);                                                          \
            if (from >= 0) add(da[from], dout[j], L);                                              \
        }                                                                                          \
    }

/* dim = {elements, times}: over and over */
static int rep_from(const int *dim, int j) { return j % dim[0]; }
MOVE(rep, dim[0] * dim[1])

/* dim = {rows, columns} of the argument */
static int t_from(const int *dim, int j) { return j % dim[0] * dim[1] + j / dim[0]; }
MOVE(t, dim[0] * dim[1])

/* dim = {n, 1}: n elements to the diagonal of a matrix;  {n, 0}: the diagonal of a matrix */
static int diag_from(const int *dim, int j)
{
    int n = dim[0];
    if (!dim[1]) return j * n + j;
    return j % n == j / n ? j / n : -1;
}
MOVE(diag, dim[1] ? dim[0] * dim[0] : dim[0])

static int c_shape(int narg, const int (*shape)[SHAPE], int *out, int *dim, const char **why)
{
    if (shape_reduce(narg, shape, out, dim, why)) return -1;
    dim[1] = 1;
    out[0] = 1, out[1] = dim[0];
    return 0;
}

static int rep_shape(int narg, const int (*shape)[SHAPE], int *out, int *dim, const char **why)
{
    (void)narg;
    if (shape[1][0] != SHAPE_VALUE || shape[1][1] < 1)
        return shape_fail(why, "how often to repeat must be a constant, 1 or more");
    dim[0] = shape_size(shape[0]), dim[1] = shape[1][1];
    out[0] = 1, out[1] = dim[0] * dim[1];
    return dim[0] ? 0 : shape_fail(why, "it has no elements");
}

static int t_shape(int narg, const int (*shape)[SHAPE], int *out, int *dim, const char **why)
{
    (void)narg;
    const int *x = shape[0];
    if (x[0] > 2) return shape_fail(why, "only a vector or a matrix can be transposed");
    dim[0] = x[0] == 2 ? x[1] : shape_size(x), dim[1] = x[0] == 2 ? x[2] : 1; /* a column */
    out[0] = 2, out[1] = dim[1], out[2] = dim[0];
    return 0;
}

static int diag_shape(int narg, const int (*shape)[SHAPE], int *out, int *dim, const char **why)
{
    if (narg == 1 && shape[0][0] == 2) {
        if (shape[0][1] != shape[0][2]) return shape_fail(why, "the matrix is not square");
        dim[0] = shape[0][1], dim[1] = 0;
        out[0] = 1, out[1] = dim[0];
        return 0;
    }
    for (int k = 0; k < narg; k++)
        if (shape[k][0] > (narg > 1 ? 0 : 1))
            return shape_fail(why, "it takes numbers, one vector, or one square matrix");
    if (shape_reduce(narg, shape, out, dim, why)) return -1;
    dim[1] = 1;
    out[0] = 2, out[1] = out[2] = dim[0];
    return 0;
}

static void rep_range(int narg, const double *lo, const double *hi, double *out)
{
    (void)narg;
    range_set(out, lo[0], hi[0]);
}

/* Includes the zeros off the diagonal; conservative for the diagonal of a matrix. */
static void diag_range(int narg, const double *lo, const double *hi, double *out)
{
    range_hull(narg, lo, hi, out);
    range_set(out, less(out[0], 0), more(out[1], 0));
}

const struct op op_c = {.name = "c",
                        .args = "x, ...",
                        .what = "a vector of all elements",
                        .min_arg = 1,
                        .max_arg = -1,
                        .block = rep_block,
                        .block_grad = rep_grad,
                        .shape = c_shape,
                        .range = range_hull,
                        .integer = 2};
const struct op op_rep = {.name = "rep",
                          .args = "x, times",
                          .what = "x, so many times",
                          .min_arg = 2,
                          .max_arg = 2,
                          .sizes = 1 << 1,
                          .block = rep_block,
                          .block_grad = rep_grad,
                          .shape = rep_shape,
                          .range = rep_range,
                          .integer = 2};
const struct op op_t = {.name = "t",
                        .args = "A",
                        .what = "transposed matrix",
                        .min_arg = 1,
                        .max_arg = 1,
                        .block = t_block,
                        .block_grad = t_grad,
                        .shape = t_shape,
                        .range = range_hull,
                        .integer = 2};
const struct op op_diag = {.name = "diag",
                           .args = "x, ...",
                           .min_arg = 1,
                           .max_arg = -1,
                           .what = "diagonal matrix of the elements; diagonal of a matrix",
                           .block = diag_block,
                           .block_grad = diag_grad,
                           .shape = diag_shape,
                           .range = diag_range,
                           .integer = 2,
                           .jags = ""};
