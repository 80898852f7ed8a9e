/* op_select.c: x[k] with a random index k. */
#include "tensor/op.h"

enum { FEW = 8 }; /* up to this many candidates, all lanes compare with each of them */

static int width(const int *dim) { return dim[1] > 0 ? dim[1] : 1; }

/* The candidate of m that the lane selects, from 0; -1: none. */
static inline int wanted(const struct lanes *k, int b, int m)
{
    double x = rint(lane(k, b));
    return x >= 1 && x <= m ? (int)x - 1 : -1;
}

/* out[b] = x[b] where k[b] rounds to `which` */
INLINE void choose(double *out, const struct lanes *x, const struct lanes *k, double which, int L)
{
    const double *p = x->p, *q = k->p;
    if (x->step) {
        EACH(b, L)
        {
            double v = p[b], old = out[b];
            out[b] = rint(q[b]) == which ? v : old;
        }
    } else {
        double v = *p;
        EACH(b, L)
        {
            double old = out[b];
            out[b] = rint(q[b]) == which ? v : old;
        }
    }
}

/* Three in one pass: mixtures of two or three are common. */
INLINE void choose_3(double *out, const double *x, const double *y, const double *z,
                     const double *k, int L)
{
    EACH(b, L)
    {
        double i = rint(k[b]), u = x[b], v = y[b], w = z[b];
        out[b] = i == 1 ? u : i == 2 ? v : i == 3 ? w : NAN;
    }
}

INLINE void choose_2(double *out, const double *x, const double *y, const double *k, int L)
{
    EACH(b, L)
    {
        double i = rint(k[b]), u = x[b], v = y[b];
        out[b] = i == 1 ? u : i == 2 ? v : NAN;
    }
}

/* The first of m candidates for element j, w apart: do all have a value for each lane? */
static int all_lanes(const struct lanes *a, int m, int w)
{
    for (int c = 0; c < m; c++)
        if (!a[(size_t)c * (size_t)w].step) return 0;
    return 1;
}

WIDE static void select_block(const void *self, const int *dim, int L, double *const *out,
                              const struct lanes *a, double *work)
{
    (void)self, (void)work;
    int m = dim[0], w = width(dim);
    const struct lanes *k = a + (size_t)m * w;
    for (int j = 0; j < w; j++) {
        double *z = out[j];
        if (m == 3 && k->step && all_lanes(a + j, 3, w)) {
            choose_3(z, a[j].p, a[w + j].p, a[2 * w + j].p, k->p, L);
            continue;
        }
        if (m == 2 && k->step && all_lanes(a + j, 2, w)) {
            choose_2(z, a[j].p, a[w + j].p, k->p, L);
            continue;
        }
        EACH(b, L) z[b] = NAN;
        if (m <= FEW && k->step) {
            for (int c = 0; c < m; c++) choose(z, &a[c * w + j], k, c + 1, L);
            continue;
        }
        for (int b = 0; b < L; b++) {
            int c = wanted(k, b, m);
            if (c >= 0) z[b] = lane(&a[c * w + j], b);
        }
    }
}

WIDE static void select_grad(const void *self, const int *dim, int L, const double *const *out,
                             const double *const *dout, const struct lanes *a, double *const *da,
                             double *work)
{
    (void)self, (void)out, (void)work;
    int m = dim[0], w = width(dim);
    const struct lanes *k = a + (size_t)m * w;
    for (int j = 0; j < w; j++)
        for (int b = 0; b < L; b++) {
            int c = wanted(k, b, m);
            if (c >= 0 && da[c * w + j]) da[c * w + j][b] += dout[j][b];
        }
}

static void select_range(int narg, const double *lo, const double *hi, double *out)
{
    range_hull(narg - 1, lo, hi, out); /* the last is the subscript */
}

const struct op op_select = {.name = "select",
                             .args = "candidates, k",
                             .what = "the k-th of the candidates",
                             .min_arg = 2,
                             .max_arg = -1,
                             .block = select_block,
                             .block_grad = select_grad,
                             .range = select_range,
                             .jags = ""};
