#include "tensor/dense.h"

#include <string.h>

#include "tensor/op.h"

const char *const act_names[] = {"linear", "tanh", "relu", "sigmoid", "softplus", NULL};

int act_find(const char *name, size_t len)
{
    for (int k = 0; act_names[k]; k++)
        if (strlen(act_names[k]) == len && memcmp(act_names[k], name, len) == 0) return k;
    return -1;
}

VECTOR static void activate(int act, int n, double *x)
{
    switch (act) {
    case ACT_TANH: EACH(i, n) x[i] = tanh(x[i]); break;
    case ACT_RELU: EACH(i, n) x[i] = x[i] > 0 ? x[i] : 0; break;
    case ACT_SIGMOID: EACH(i, n) x[i] = 1 / (1 + exp(-x[i])); break;
    case ACT_SOFTPLUS: EACH(i, n) x[i] = (x[i] > 0 ? x[i] : 0) + log1p(exp(-fabs(x[i]))); break;
    default: break;
    }
}

/* d[i] *= act'(x), from y = act(x) */
VECTOR static void activate_grad(int act, int n, const double *y, double *d)
{
    switch (act) {
    case ACT_TANH: EACH(i, n) d[i] *= 1 - y[i] * y[i]; break;
    case ACT_RELU: EACH(i, n) d[i] = y[i] > 0 ? d[i] : 0; break;
    case ACT_SIGMOID: EACH(i, n) d[i] *= y[i] * (1 - y[i]); break;
    case ACT_SOFTPLUS: EACH(i, n) d[i] *= -expm1(-y[i]); break;
    default: break;
    }
}

static int dense_work(const int *dim) { return 2 * dim[0] * CHUNK; }

/* x (in, CHUNK) = CHUNK lanes of the inputs; lanes beyond the last are 0 */
static void pack(const struct lanes *a, int in, int b0, int w, double *x)
{
    if (w < CHUNK) memset(x, 0, (size_t)in * CHUNK * sizeof *x);
    for (int i = 0; i < in; i++, x += CHUNK)
        for (int b = 0; b < w; b++) x[b] = lane(&a[i], b0 + b);
}

enum { ROWS = 4 }; /* results at a time: their sums stay in registers */

/* z (rows, CHUNK) = W x + bias; W (rows, in) */
INLINE void product(const double *w, const double *bias, const double *x, int in, int rows,
                    double z[ROWS][CHUNK])
{
    for (int r = 0; r < rows; r++)
        for (int b = 0; b < CHUNK; b++) z[r][b] = bias[r];
    for (int i = 0; i < in; i++, x += CHUNK)
        for (int r = 0; r < rows; r++)
            for (int b = 0; b < CHUNK; b++) z[r][b] += w[(size_t)r * (size_t)in + (size_t)i] * x[b];
}

VECTOR static void products(const struct dense *d, int o, const double *x, double z[ROWS][CHUNK])
{
    const double *w = d->w + (size_t)o * (size_t)d->in;
    if (d->out - o >= ROWS)
        product(w, d->bias + o, x, d->in, ROWS, z);
    else
        product(w, d->bias + o, x, d->in, d->out - o, z);
}

static void dense_block(const void *self, const int *dim, int L, double *const *out,
                        const struct lanes *a, double *work)
{
    const struct dense *d = self;
    double z[ROWS][CHUNK];
    (void)dim;
    for (int b0 = 0; b0 < L; b0 += CHUNK) {
        int w = L - b0 < CHUNK ? L - b0 : CHUNK;
        pack(a, d->in, b0, w, work);
        for (int o = 0; o < d->out; o += ROWS) {
            int rows = d->out - o < ROWS ? d->out - o : ROWS;
            products(d, o, work, z);
            activate(d->act, rows * CHUNK, z[0]);
            for (int r = 0; r < rows; r++) memcpy(out[o + r] + b0, z[r], (size_t)w * sizeof **z);
        }
    }
}

/* One result with g[b] = d total / d (sum): dx_i += w_i g, dw_i += sum_b g x_i, dbias += sum_b g */
VECTOR static void dense_row(const double *w, const double *g, const double *x, int in, double *dx,
                             double *dw)
{
    for (int i = 0; i < in; i++, x += CHUNK, dx += CHUNK) {
        double wi = w[i];
        for (int b = 0; b < CHUNK; b++) dx[b] += wi * g[b];
        if (dw) {
            double t[CHUNK];
            for (int b = 0; b < CHUNK; b++) t[b] = g[b] * x[b];
            dw[i] += ((t[0] + t[4]) + (t[1] + t[5])) + ((t[2] + t[6]) + (t[3] + t[7]));
        }
    }
}

static void dense_grad(const void *self, const int *dim, int L, const double *const *out,
                       const double *const *dout, const struct lanes *a, double *const *da,
                       double *work)
{
    const struct dense *d = self;
    size_t in = (size_t)d->in;
    double *x = work, *dx = work + in * CHUNK, y[CHUNK], g[CHUNK];
    (void)dim;
    for (int b0 = 0; b0 < L; b0 += CHUNK) {
        int w = L - b0 < CHUNK ? L - b0 : CHUNK;
        pack(a, d->in, b0, w, x);
        memset(dx, 0, in * CHUNK * sizeof *dx);
        for (int o = 0; o < d->out; o++) {
            for (int b = 0; b < CHUNK; b++) y[b] = g[b] = 0;
            memcpy(y, out[o] + b0, (size_t)w * sizeof *y);
            memcpy(g, dout[o] + b0, (size_t)w * sizeof *g);
            activate_grad(d->act, CHUNK, y, g);
            dense_row(d->w + (size_t)o * in, g, x, d->in, dx,
                      d->dw ? d->dw + (size_t)o * in : NULL);
            if (d->dbias)
                for (int b = 0; b < w; b++) d->dbias[o] += g[b];
        }
        for (int i = 0; i < d->in; i++)
            if (da[i])
                for (int b = 0; b < w; b++) da[i][b0 + b] += dx[i * CHUNK + b];
    }
}

static int dense_shape(int narg, const int (*shape)[4], int *out, int *dim, const char **why)
{
    if (shape_reduce(narg, shape, out, dim, why)) return -1;
    out[0] = 1, out[1] = dim[1]; /* the caller knows how many */
    return 0;
}

const struct op op_dense = {.name = "dense",
                            .args = "x, ...",
                            .what = "a layer of a network",
                            .min_arg = 1,
                            .max_arg = -1,
                            .block = dense_block,
                            .block_grad = dense_grad,
                            .work = dense_work,
                            .shape = dense_shape,
                            .jags = ""};
