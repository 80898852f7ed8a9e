/* op_matmul.c: sums of products: inprod and %*%. */
#include "tensor/op.h"

/* z[b] += x[b] * y[b]; either may be a constant */
INLINE void add_product(double *z, struct lanes x, struct lanes y, int L)
{
    const double *p = x.p, *q = y.p;
    if (!x.step) {
        p = y.p, q = x.p;
        int t = x.step;
        x.step = y.step, y.step = t;
    }
    if (y.step) {
        EACH(b, L) z[b] += p[b] * q[b];
    } else if (x.step) {
        double s = *q;
        EACH(b, L) z[b] += s * p[b];
    } else {
        double s = *p * *q;
        EACH(b, L) z[b] += s;
    }
}

/* A (n, k), B (k, m): out_ij = sum_l A_il B_lj.  dim = {n, k, m} */
WIDE static void matmul_block(const void *self, const int *dim, int L, double *const *out,
                              const struct lanes *a, double *work)
{
    (void)self, (void)work;
    int n = dim[0], k = dim[1], m = dim[2];
    const struct lanes *B = a + (size_t)n * (size_t)k;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double *z = out[i * m + j];
            EACH(b, L) z[b] = 0;
            for (int l = 0; l < k; l++) add_product(z, a[i * k + l], B[l * m + j], L);
        }
}

/* dA = G B^T, dB = A^T G */
WIDE static void matmul_grad(const void *self, const int *dim, int L, const double *const *out,
                             const double *const *dout, const struct lanes *a, double *const *da,
                             double *work)
{
    (void)self, (void)out, (void)work;
    int n = dim[0], k = dim[1], m = dim[2];
    const struct lanes *B = a + (size_t)n * (size_t)k;
    double *const *dB = da + (size_t)n * (size_t)k;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            struct lanes g = {dout[i * m + j], 1};
            for (int l = 0; l < k; l++) {
                if (da[i * k + l]) add_product(da[i * k + l], g, B[l * m + j], L);
                if (dB[l * m + j]) add_product(dB[l * m + j], g, a[i * k + l], L);
            }
        }
}

static int inprod_shape(int narg, const int (*shape)[SHAPE], int *out, int *dim, const char **why)
{
    (void)narg;
    dim[0] = dim[2] = 1;
    dim[1] = shape_size(shape[0]);
    out[0] = 0;
    return dim[1] == shape_size(shape[1]) ? 0 : shape_fail(why, "the two differ in length");
}

/* A vector on the left is a row, on the right a column (or a row, if only that fits). */
static int matmul_shape(int narg, const int (*shape)[SHAPE], int *out, int *dim, const char **why)
{
    (void)narg;
    const int *x = shape[0], *y = shape[1];
    if (x[0] > 2 || y[0] > 2) return shape_fail(why, "it multiplies vectors and matrices only");
    int nx = shape_size(x), ny = shape_size(y), column = y[0] == 2 && y[1] == 1 && nx != 1;
    int n = x[0] == 2 ? x[1] : column ? nx : 1, k = nx / (n ? n : 1);
    int rows = y[0] == 2 ? y[1] : k == 1 && x[0] == 2 ? 1 : ny, m = ny / (rows ? rows : 1);
    if (k != rows)
        return shape_fail(why, "the columns on the left do not match the rows on the right");
    dim[0] = n, dim[1] = k, dim[2] = m;
    int keep_n = x[0] == 2 || column, keep_m = y[0] == 2 || (y[0] == 1 && m > 1);
    out[0] = 0;
    if (keep_n) out[++out[0]] = n;
    if (keep_m) out[++out[0]] = m;
    return 0;
}

/* Sums of any number of products. */
static void matmul_range(int narg, const double *lo, const double *hi, double *out)
{
    range_times(narg, lo, hi, out);
    range_set(out, out[0] >= 0 ? out[0] : -INFINITY, out[1] <= 0 ? out[1] : INFINITY);
}

const struct op op_inprod = {.name = "inprod",
                             .args = "x, y",
                             .what = "sum of x[i] * y[i]",
                             .min_arg = 2,
                             .max_arg = 2,
                             .block = matmul_block,
                             .block_grad = matmul_grad,
                             .shape = inprod_shape,
                             .range = matmul_range,
                             .integer = 2};
const struct op op_matmul = {.name = "%*%",
                             .args = "A, B",
                             .what = "matrix product",
                             .min_arg = 2,
                             .max_arg = 2,
                             .block = matmul_block,
                             .block_grad = matmul_grad,
                             .shape = matmul_shape,
                             .range = matmul_range,
                             .integer = 2};
