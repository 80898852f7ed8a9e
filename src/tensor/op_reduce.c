/* op_reduce.c: reductions of all elements of the arguments to one number (sum, mean, sd, ...), for
   all lanes at once. */
#include "tensor/op.h"

/* z[b] = f(z[b], x) for the lanes of an element */
#define FOLD(z, e, L, f)                                                                           \
    do {                                                                                           \
        const double *p_ = (e).p;                                                                  \
        if ((e).step) {                                                                            \
            EACH(b, L)                                                                             \
            {                                                                                      \
                double x = p_[b];                                                                  \
                (z)[b] = f;                                                                        \
            }                                                                                      \
        } else {                                                                                   \
            double x = *p_;                                                                        \
            EACH(b, L)(z)[b] = f;                                                                  \
        }                                                                                          \
    } while (0)

#define REDUCE(id, start, f)                                                                       \
    WIDE static void id##_block(const void *self, const int *dim, int L, double *const *out,       \
                                const struct lanes *a, double *work)                               \
    {                                                                                              \
        (void)self, (void)work;                                                                    \
        double *z = out[0];                                                                        \
        EACH(b, L) z[b] = start;                                                                   \
        for (int j = 0; j < dim[0]; j++) FOLD(z, a[j], L, f);                                      \
    }

REDUCE(sum, 0, z[b] + x)
REDUCE(prod, 1, z[b] * x)
REDUCE(max, -INFINITY, x > z[b] ? x : z[b])
REDUCE(min, INFINITY, x < z[b] ? x : z[b])

#define GRAD(id)                                                                                   \
    WIDE static void id##_grad(const void *self, const int *dim, int L, const double *const *out,  \
                               const double *const *dout, const struct lanes *a,                   \
                               double *const *da, double *work)

WIDE static void add_to_all(int n, int L, const double *d, double scale, double *const *da)
{
    for (int j = 0; j < n; j++) {
        double *to = da[j];
        if (to) EACH(b, L) to[b] += scale * d[b];
    }
}

GRAD(sum)
{
    (void)self, (void)out, (void)a, (void)work;
    add_to_all(dim[0], L, dout[0], 1, da);
}

/* d prod / d x_j: the product of those before j (kept in work) and of those after. */
GRAD(prod)
{
    (void)self, (void)out;
    double before[CHUNK], after[CHUNK];
    int n = dim[0];
    for (int b0 = 0; b0 < L; b0 += CHUNK) {
        int w = L - b0 < CHUNK ? L - b0 : CHUNK;
        for (int b = 0; b < w; b++) before[b] = after[b] = 1;
        for (int j = 0; j < n; j++)
            for (int b = 0; b < w; b++) {
                work[j * CHUNK + b] = before[b];
                before[b] *= lane(&a[j], b0 + b);
            }
        for (int j = n; j-- > 0;)
            for (int b = 0; b < w; b++) {
                if (da[j]) da[j][b0 + b] += dout[0][b0 + b] * work[j * CHUNK + b] * after[b];
                after[b] *= lane(&a[j], b0 + b);
            }
    }
}

/* To the first that is the greatest, or the least. */
GRAD(winner)
{
    (void)self, (void)work;
    for (int b = 0; b < L; b++)
        for (int j = 0; j < dim[0]; j++)
            if (lane(&a[j], b) == out[0][b]) {
                if (da[j]) da[j][b] += dout[0][b];
                break;
            }
}

WIDE static void mean_block(const void *self, const int *dim, int L, double *const *out,
                            const struct lanes *a, double *work)
{
    double *z = out[0], scale = 1.0 / dim[0];
    sum_block(self, dim, L, out, a, work);
    EACH(b, L) z[b] *= scale;
}

GRAD(mean)
{
    (void)self, (void)out, (void)a, (void)work;
    add_to_all(dim[0], L, dout[0], 1.0 / dim[0], da);
}

/* s^2 = sum (x - m)^2 / (n - 1);  ds / dx_j = (x_j - m) / ((n - 1) s) */
WIDE static void sd_block(const void *self, const int *dim, int L, double *const *out,
                          const struct lanes *a, double *work)
{
    (void)self, (void)work;
    int n = dim[0];
    double *z = out[0], m[CHUNK], s[CHUNK];
    for (int b0 = 0; b0 < L; b0 += CHUNK) {
        int w = L - b0 < CHUNK ? L - b0 : CHUNK;
        for (int b = 0; b < CHUNK; b++) m[b] = s[b] = 0;
        for (int j = 0; j < n; j++)
            for (int b = 0; b < w; b++) m[b] += lane(&a[j], b0 + b) / n;
        for (int j = 0; j < n; j++)
            for (int b = 0; b < w; b++) {
                double e = lane(&a[j], b0 + b) - m[b];
                s[b] += e * e;
            }
        for (int b = 0; b < w; b++) z[b0 + b] = sqrt(s[b] / (n - 1));
    }
}

GRAD(sd)
{
    (void)self, (void)work;
    int n = dim[0];
    for (int b = 0; b < L; b++) {
        double m = 0, scale = out[0][b] > 0 ? dout[0][b] / ((n - 1) * out[0][b]) : 0;
        for (int j = 0; j < n; j++) m += lane(&a[j], b) / n;
        for (int j = 0; j < n; j++)
            if (da[j]) da[j][b] += scale * (lane(&a[j], b) - m);
    }
}

static int prod_work(const int *dim) { return dim[0] * CHUNK; }

static int sd_shape(int narg, const int (*shape)[SHAPE], int *out, int *dim, const char **why)
{
    if (shape_reduce(narg, shape, out, dim, why)) return -1;
    return dim[0] > 1 ? 0 : shape_fail(why, "a standard deviation needs at least two elements");
}

/* ---- where they lie: each argument may stand for any number of elements ------------- */

static void sum_range(int narg, const double *lo, const double *hi, double *out)
{
    double least = INFINITY, greatest = -INFINITY;
    for (int k = 0; k < narg; k++) {
        least = less(least, lo[k]);
        greatest = more(greatest, hi[k]);
    }
    range_set(out, least >= 0 ? least : -INFINITY, greatest <= 0 ? greatest : INFINITY);
}

static void prod_range(int narg, const double *lo, const double *hi, double *out)
{
    range_hull(narg, lo, hi, out);
    double least = out[0], greatest = out[1];
    range_set(out,
              least > 0    ? (least >= 1 ? least : ABOVE_0)
              : least >= 0 ? 0
                           : -INFINITY,
              least >= 0 && greatest <= 1 ? greatest : INFINITY);
}

static void max_range(int narg, const double *lo, const double *hi, double *out)
{
    range_set(out, lo[0], hi[0]);
    for (int k = 1; k < narg; k++) range_set(out, more(out[0], lo[k]), more(out[1], hi[k]));
}

static void min_range(int narg, const double *lo, const double *hi, double *out)
{
    range_set(out, lo[0], hi[0]);
    for (int k = 1; k < narg; k++) range_set(out, less(out[0], lo[k]), less(out[1], hi[k]));
}

static void sd_range(int narg, const double *lo, const double *hi, double *out)
{
    (void)narg, (void)lo, (void)hi;
    range_set(out, 0, INFINITY);
}

#define REDUCTION(id, most, arguments, say, ...)                                                   \
    const struct op op_##id = {.name = #id,                                                        \
                               .args = arguments,                                                  \
                               .what = say,                                                        \
                               .min_arg = 1,                                                       \
                               .max_arg = most,                                                    \
                               .block = id##_block,                                                \
                               .shape = shape_reduce,                                              \
                               .range = id##_range,                                                \
                               .integer = 2,                                                       \
                               __VA_ARGS__}

REDUCTION(sum, -1, "x, ...", "sum of all elements", .block_grad = sum_grad);
REDUCTION(prod, -1, "x, ...", "product of all elements", .block_grad = prod_grad,
          .work = prod_work);
REDUCTION(max, -1, "x, ...", "greatest of all elements", .block_grad = winner_grad);
REDUCTION(min, -1, "x, ...", "least of all elements", .block_grad = winner_grad);
const struct op op_mean = {.name = "mean",
                           .args = "x",
                           .what = "mean of the elements",
                           .min_arg = 1,
                           .max_arg = 1,
                           .block = mean_block,
                           .block_grad = mean_grad,
                           .shape = shape_reduce,
                           .range = range_hull};
const struct op op_sd = {.name = "sd",
                         .args = "x",
                         .min_arg = 1,
                         .max_arg = 1,
                         .what = "standard deviation of the elements, with n - 1",
                         .block = sd_block,
                         .block_grad = sd_grad,
                         .shape = sd_shape,
                         .range = sd_range};
