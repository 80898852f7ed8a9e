/* op_order.c: sort, rank, order and interp.lin, lane by lane. */
#include "tensor/op.h"

static int order_work(const int *dim) { return 2 * dim[0]; }

/* Equal ones keep their order; NaN comes last. */
static int after(const double *x, double i, double j)
{
    double a = x[(int)i], b = x[(int)j];
    if (a < b || a > b) return a > b;
    return isnan(a) == isnan(b) ? i > j : isnan(a);
}

static void sift(const double *x, double *at, int root, int n)
{
    for (int c; (c = 2 * root + 1) < n; root = c) {
        if (c + 1 < n && after(x, at[c + 1], at[c])) c++;
        if (!after(x, at[c], at[root])) return;
        double t = at[c];
        at[c] = at[root];
        at[root] = t;
    }
}

/* at[r]: which of x[0..n-1] comes r-th, from 0.  Heap sort: no memory, no bad case. */
static void order_of(const double *x, int n, double *at)
{
    for (int i = 0; i < n; i++) at[i] = i;
    for (int i = n / 2; i-- > 0;) sift(x, at, i, n);
    for (int end = n; end-- > 1;) {
        double t = at[0];
        at[0] = at[end];
        at[end] = t;
        sift(x, at, 0, end);
    }
}

/* x = work[0..n-1], its order behind it */
static const double *order_lane(const struct lanes *a, int n, int b, double *work)
{
    for (int j = 0; j < n; j++) work[j] = lane(&a[j], b);
    order_of(work, n, work + n);
    return work + n;
}

#define ORDERED(id, set)                                                                           \
    static void id##_block(const void *self, const int *dim, int L, double *const *out,            \
                           const struct lanes *a, double *work)                                    \
    {                                                                                              \
        (void)self;                                                                                \
        for (int b = 0; b < L; b++) {                                                              \
            const double *at = order_lane(a, dim[0], b, work);                                     \
            for (int r = 0; r < dim[0]; r++) set;                                                  \
        }                                                                                          \
    }
ORDERED(sort, out[r][b] = work[(int)at[r]])
ORDERED(order, out[r][b] = at[r] + 1)
ORDERED(rank, out[(int)at[r]][b] = r + 1)

static void sort_grad(const void *self, const int *dim, int L, const double *const *out,
                      const double *const *dout, const struct lanes *a, double *const *da,
                      double *work)
{
    (void)self, (void)out;
    for (int b = 0; b < L; b++) {
        const double *at = order_lane(a, dim[0], b, work);
        for (int r = 0; r < dim[0]; r++)
            if (da[(int)at[r]]) da[(int)at[r]][b] += dout[r][b];
    }
}

static int order_shape(int narg, const int (*shape)[SHAPE], int *out, int *dim, const char **why)
{
    if (shape[0][0] > 1) return shape_fail(why, "it takes one vector");
    return shape_same(narg, shape, out, dim, why);
}

static void rank_range(int narg, const double *lo, const double *hi, double *out)
{
    (void)narg, (void)lo, (void)hi;
    range_set(out, 1, INFINITY);
}

/* ---- interp.lin(e, x, y): the line through the points (x[i], y[i]), level outside --- */

/* e lies at x[i] + w (x[i+1] - x[i]) */
struct between {
    int i;
    double w;
};

static struct between place(const struct lanes *a, int n, int b)
{
    const struct lanes *x = a + 1;
    double e = lane(a, b);
    int lo = 0, hi = n - 1;
    if (!(e > lane(x, b))) return (struct between){0, 0};
    if (e >= lane(&x[hi], b)) return (struct between){n - 2, 1};
    while (hi - lo > 1) {
        int mid = (lo + hi) / 2;
        if (lane(&x[mid], b) <= e)
            lo = mid;
        else
            hi = mid;
    }
    return (struct between){lo, (e - lane(&x[lo], b)) / (lane(&x[hi], b) - lane(&x[lo], b))};
}

static void interp_block(const void *self, const int *dim, int L, double *const *out,
                         const struct lanes *a, double *work)
{
    (void)self, (void)work;
    const struct lanes *y = a + 1 + dim[0];
    for (int b = 0; b < L; b++) {
        struct between p = place(a, dim[0], b);
        double y0 = lane(&y[p.i], b), y1 = lane(&y[p.i + 1], b);
        out[0][b] = lane(a, b) == lane(a, b) ? y0 + p.w * (y1 - y0) : NAN;
    }
}

static void add_to(double *to, int b, double d)
{
    if (to) to[b] += d;
}

/* slope s = (y1 - y0) / (x1 - x0): de = s, dx0 = -s (1 - w), dx1 = -s w, dy0 = 1 - w, dy1 = w */
static void interp_grad(const void *self, const int *dim, int L, const double *const *out,
                        const double *const *dout, const struct lanes *a, double *const *da,
                        double *work)
{
    (void)self, (void)out, (void)work;
    int n = dim[0];
    for (int b = 0; b < L; b++) {
        struct between p = place(a, n, b);
        double g = dout[0][b], w = p.w;
        int x = 1 + p.i, y = 1 + n + p.i;
        add_to(da[y], b, g * (1 - w));
        add_to(da[y + 1], b, g * w);
        if (!(lane(a, b) > lane(&a[1], b)) || lane(a, b) >= lane(&a[n], b)) continue;
        double s =
            g * (lane(&a[y + 1], b) - lane(&a[y], b)) / (lane(&a[x + 1], b) - lane(&a[x], b));
        add_to(da[0], b, s);
        add_to(da[x], b, -s * (1 - w));
        add_to(da[x + 1], b, -s * w);
    }
}

static int interp_shape(int narg, const int (*shape)[SHAPE], int *out, int *dim, const char **why)
{
    (void)narg;
    dim[0] = shape_size(shape[1]);
    out[0] = 0;
    if (shape_size(shape[0]) != 1) return shape_fail(why, "the first argument must be a number");
    if (shape_size(shape[2]) != dim[0]) return shape_fail(why, "the two vectors differ in length");
    return dim[0] > 1 ? 0 : shape_fail(why, "it needs at least two points");
}

static void interp_range(int narg, const double *lo, const double *hi, double *out)
{
    range_set(out, lo[narg - 1], hi[narg - 1]);
}

const struct op op_sort = {.name = "sort",
                           .args = "x",
                           .what = "the elements in increasing order",
                           .min_arg = 1,
                           .max_arg = 1,
                           .block = sort_block,
                           .block_grad = sort_grad,
                           .work = order_work,
                           .shape = order_shape,
                           .range = range_hull,
                           .integer = 2};
const struct op op_rank = {.name = "rank",
                           .args = "x",
                           .what = "the place of each when sorted",
                           .min_arg = 1,
                           .max_arg = 1,
                           .block = rank_block,
                           .work = order_work,
                           .shape = order_shape,
                           .range = rank_range,
                           .integer = 1};
const struct op op_order = {.name = "order",
                            .args = "x",
                            .min_arg = 1,
                            .max_arg = 1,
                            .what = "which element comes first, second, ... when sorted",
                            .block = order_block,
                            .work = order_work,
                            .shape = order_shape,
                            .range = rank_range,
                            .integer = 1};
const struct op op_interp = {.name = "interp.lin",
                             .args = "e, x, y",
                             .min_arg = 3,
                             .max_arg = 3,
                             .what = "at e, the line through the points (x[i], y[i]); x increases",
                             .block = interp_block,
                             .block_grad = interp_grad,
                             .shape = interp_shape,
                             .range = interp_range};
