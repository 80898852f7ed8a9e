/* op_matrix.c: matrix inverse and logdet, lane by lane: each has its own pivots. */
#include "tensor/op.h"

static int square_shape(int narg, const int (*shape)[SHAPE], int *out, int *dim, const char **why)
{
    (void)narg;
    if (shape[0][0] == 0) {
        dim[0] = 1, out[0] = 0;
        return 0;
    }
    if (shape[0][0] != 2 || shape[0][1] != shape[0][2])
        return shape_fail(why, "it needs a square matrix");
    dim[0] = shape[0][1];
    out[0] = 2, out[1] = out[2] = dim[0];
    return 0;
}

static int logdet_shape(int narg, const int (*shape)[SHAPE], int *out, int *dim, const char **why)
{
    int rc = square_shape(narg, shape, out, dim, why);
    out[0] = 0;
    return rc;
}

static void load(const struct lanes *a, int n, int b, double *x)
{
    for (int j = 0; j < n; j++) x[j] = lane(&a[j], b);
}

static void swap_rows(double *x, int n, int i, int k)
{
    for (int j = 0; j < n; j++) {
        double t = x[i * n + j];
        x[i * n + j] = x[k * n + j];
        x[k * n + j] = t;
    }
}

/* Gauss and Jordan with row pivots: A (n, n) becomes I, and V its inverse.  Returns the
   determinant's logarithm: NaN if it is negative, and V is NaN or infinite if it is 0. */
static double invert(double *A, double *V, int n)
{
    double logdet = 0, sign = 1;
    for (int i = 0; i < n * n; i++) V[i] = i % (n + 1) == 0;
    for (int i = 0; i < n; i++) {
        int p = i;
        for (int r = i + 1; r < n; r++)
            if (fabs(A[r * n + i]) > fabs(A[p * n + i])) p = r;
        if (p != i) {
            swap_rows(A, n, i, p);
            swap_rows(V, n, i, p);
            sign = -sign;
        }
        double d = A[i * n + i];
        logdet += log(fabs(d));
        sign = d < 0 ? -sign : sign;
        for (int j = 0; j < n; j++) A[i * n + j] /= d, V[i * n + j] /= d;
        for (int r = 0; r < n; r++) {
            double f = A[r * n + i];
            if (r == i || f == 0) continue;
            for (int j = 0; j < n; j++) {
                A[r * n + j] -= f * A[i * n + j];
                V[r * n + j] -= f * V[i * n + j];
            }
        }
    }
    return sign < 0 ? NAN : logdet;
}

static int matrix_work(const int *dim) { return 2 * dim[0] * dim[0]; }

static void inverse_block(const void *self, const int *dim, int L, double *const *out,
                          const struct lanes *a, double *work)
{
    (void)self;
    int n = dim[0], nn = n * n;
    for (int b = 0; b < L; b++) {
        load(a, nn, b, work);
        invert(work, work + nn, n);
        for (int j = 0; j < nn; j++) out[j][b] = work[nn + j];
    }
}

/* dA = -V^T G V^T with V the inverse: first T = G V^T */
static void inverse_grad(const void *self, const int *dim, int L, const double *const *out,
                         const double *const *dout, const struct lanes *a, double *const *da,
                         double *work)
{
    (void)self, (void)a;
    int n = dim[0], nn = n * n;
    double *V = work, *T = work + nn;
    for (int b = 0; b < L; b++) {
        for (int j = 0; j < nn; j++) V[j] = out[j][b];
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double t = 0;
                for (int k = 0; k < n; k++) t += dout[i * n + k][b] * V[j * n + k];
                T[i * n + j] = t;
            }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double g = 0;
                for (int k = 0; k < n; k++) g += V[k * n + i] * T[k * n + j];
                if (da[i * n + j]) da[i * n + j][b] -= g;
            }
    }
}

static void logdet_block(const void *self, const int *dim, int L, double *const *out,
                         const struct lanes *a, double *work)
{
    (void)self;
    int n = dim[0], nn = n * n;
    for (int b = 0; b < L; b++) {
        load(a, nn, b, work);
        out[0][b] = invert(work, work + nn, n);
    }
}

/* dA = g V^T */
static void logdet_grad(const void *self, const int *dim, int L, const double *const *out,
                        const double *const *dout, const struct lanes *a, double *const *da,
                        double *work)
{
    (void)self, (void)out;
    int n = dim[0], nn = n * n;
    for (int b = 0; b < L; b++) {
        if (dout[0][b] == 0) continue;
        load(a, nn, b, work);
        invert(work, work + nn, n);
        for (int i = 0; i < nn; i++)
            if (da[i]) da[i][b] += dout[0][b] * work[nn + i % n * n + i / n];
    }
}

const struct op op_inverse = {.name = "inverse",
                              .args = "A",
                              .what = "inverse of a matrix",
                              .min_arg = 1,
                              .max_arg = 1,
                              .block = inverse_block,
                              .block_grad = inverse_grad,
                              .work = matrix_work,
                              .shape = square_shape};
const struct op op_logdet = {.name = "logdet",
                             .args = "A",
                             .min_arg = 1,
                             .max_arg = 1,
                             .what = "logarithm of the determinant of a matrix",
                             .block = logdet_block,
                             .block_grad = logdet_grad,
                             .work = matrix_work,
                             .shape = logdet_shape};
