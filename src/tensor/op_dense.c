#include "tensor/dense.h"

#include <string.h>

#include "tensor/op.h"

WIDE static void activate(int act, int n, double *x)
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
WIDE static void activate_grad(int act, int n, const double *y, double *d)
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

/* Four results by eight lanes at a time: their sums stay in registers. */
enum { ROWS = 4 };
typedef double quad __attribute__((vector_size(32), aligned(8), may_alias));

/* The rows o .. o+ROWS-1 of W; beyond the last, the last again. */
static int rows_of(const struct dense_layer *d, int o, const double **w)
{
    for (int r = 0; r < ROWS; r++) {
        int row = o + r < d->out ? o + r : d->out - 1;
        w[r] = d->w + (size_t)row * (size_t)d->in;
    }
    return d->out - o < ROWS ? d->out - o : ROWS;
}

/* z (ROWS, CHUNK) = W x */
WIDE static void product(const double *const *w, const double *x, int in, double z[ROWS][CHUNK])
{
    const double *w0 = w[0], *w1 = w[1], *w2 = w[2], *w3 = w[3];
    quad s[ROWS] = {{0}}, t[ROWS] = {{0}};
    for (int i = 0; i < in; i++, x += CHUNK) {
        quad lo = *(const quad *)x, hi = *(const quad *)(x + 4);
        s[0] += w0[i] * lo, t[0] += w0[i] * hi;
        s[1] += w1[i] * lo, t[1] += w1[i] * hi;
        s[2] += w2[i] * lo, t[2] += w2[i] * hi;
        s[3] += w3[i] * lo, t[3] += w3[i] * hi;
    }
    for (int r = 0; r < ROWS; r++) *(quad *)z[r] = s[r], *(quad *)(z[r] + 4) = t[r];
}

static void dense_block(const void *self, const int *dim, int L, double *const *out,
                        const struct lanes *a, double *work)
{
    const struct dense_layer *d = self;
    const double *w[ROWS];
    double z[ROWS][CHUNK];
    (void)dim;
    for (int b0 = 0; b0 < L; b0 += CHUNK) {
        int lanes = L - b0 < CHUNK ? L - b0 : CHUNK;
        pack(a, d->in, b0, lanes, work);
        for (int o = 0; o < d->out; o += ROWS) {
            int rows = rows_of(d, o, w);
            product(w, work, d->in, z);
            for (int r = 0; r < rows; r++)
                for (int b = 0; b < CHUNK; b++) z[r][b] += d->bias[o + r];
            activate(d->act, rows * CHUNK, z[0]);
            for (int r = 0; r < rows; r++)
                memcpy(out[o + r] + b0, z[r], (size_t)lanes * sizeof **z);
        }
    }
}

/* dx (in, CHUNK) += W^T g */
WIDE static void back_inputs(const double *const *w, double (*g)[CHUNK], int in, double *dx)
{
    const double *w0 = w[0], *w1 = w[1], *w2 = w[2], *w3 = w[3];
    quad s[ROWS], t[ROWS];
    for (int r = 0; r < ROWS; r++) s[r] = *(quad *)g[r], t[r] = *(quad *)(g[r] + 4);
    for (int i = 0; i < in; i++, dx += CHUNK) {
        *(quad *)dx += (w0[i] * s[0] + w1[i] * s[1]) + (w2[i] * s[2] + w3[i] * s[3]);
        *(quad *)(dx + 4) += (w0[i] * t[0] + w1[i] * t[1]) + (w2[i] * t[2] + w3[i] * t[3]);
    }
}

/* dw_ri += sum over lanes of g_r x_i: four sums at once, added crosswise */
WIDE static void back_weights(double (*g)[CHUNK], const double *x, int in, int rows, double *dw)
{
    quad s[ROWS], t[ROWS], p[ROWS];
    for (int r = 0; r < ROWS; r++) s[r] = *(quad *)g[r], t[r] = *(quad *)(g[r] + 4);
    for (int i = 0; i < in; i++, x += CHUNK) {
        quad lo = *(const quad *)x, hi = *(const quad *)(x + 4);
        for (int r = 0; r < ROWS; r++) p[r] = s[r] * lo + t[r] * hi;
        quad a = __builtin_shufflevector(p[0], p[1], 0, 4, 2, 6) +
                 __builtin_shufflevector(p[0], p[1], 1, 5, 3, 7);
        quad b = __builtin_shufflevector(p[2], p[3], 0, 4, 2, 6) +
                 __builtin_shufflevector(p[2], p[3], 1, 5, 3, 7);
        quad sum =
            __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
        for (int r = 0; r < rows; r++) dw[(size_t)r * (size_t)in + (size_t)i] += sum[r];
    }
}

/* g (rows, CHUNK) = d total / d (sums of results o, ...); 0 beyond */
static void back_sums(const struct dense_layer *d, int o, int rows, int b0, int lanes,
                      const double *const *out, const double *const *dout, double (*g)[CHUNK])
{
    double y[ROWS][CHUNK] = {{0}};
    memset(g, 0, sizeof y);
    for (int r = 0; r < rows; r++) {
        memcpy(y[r], out[o + r] + b0, (size_t)lanes * sizeof **y);
        memcpy(g[r], dout[o + r] + b0, (size_t)lanes * sizeof **g);
    }
    activate_grad(d->act, ROWS * CHUNK, y[0], g[0]);
    for (int r = 0; d->dbias && r < rows; r++)
        for (int b = 0; b < lanes; b++) d->dbias[o + r] += g[r][b];
}

static void dense_grad(const void *self, const int *dim, int L, const double *const *out,
                       const double *const *dout, const struct lanes *a, double *const *da,
                       double *work)
{
    const struct dense_layer *d = self;
    const double *w[ROWS];
    size_t in = (size_t)d->in;
    double *x = work, *dx = work + in * CHUNK, g[ROWS][CHUNK];
    (void)dim;
    for (int b0 = 0; b0 < L; b0 += CHUNK) {
        int lanes = L - b0 < CHUNK ? L - b0 : CHUNK;
        pack(a, d->in, b0, lanes, x);
        memset(dx, 0, in * CHUNK * sizeof *dx);
        for (int o = 0; o < d->out; o += ROWS) {
            int rows = rows_of(d, o, w);
            back_sums(d, o, rows, b0, lanes, out, dout, g);
            back_inputs(w, g, d->in, dx);
            if (d->dw) back_weights(g, x, d->in, rows, d->dw + (size_t)o * in);
        }
        for (int i = 0; i < d->in; i++)
            if (da[i])
                for (int b = 0; b < lanes; b++) da[i][b0 + b] += dx[i * CHUNK + b];
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
