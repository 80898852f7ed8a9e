/* family_categorical.c: categorical family.
   One of 0, 1, ..., size - 1, by log probabilities up to a constant. */
#include "net/family_impl.h"

static int outputs(const struct output_dist *h) { return h->size; }

static int work_size(const int *dim) { return dim[1] * SLAB; }

/* e_j <- exp(o_j - top) for outputs o; their sum */
static void weights(const struct lanes *o, int n, struct slab s, double *e, double *top,
                    double *sum)
{
    double buf[SLAB];
    for (int j = 0; j < n; j++)
        memcpy(e + j * SLAB, lanes_at(&o[j], s, buf), sizeof(double) * (size_t)s.m);
    exp_sum(n, s.m, e, top, sum);
}

/* -INFINITY where the value is no state */
WIDE static void logq(const void *self, const int *dim, int L, double *const *out,
                      const struct lanes *a, double *work)
{
    (void)self;
    EACH_SLAB(s, L)
    {
        double top[SLAB], sum[SLAB], own[SLAB], xbuf[SLAB], buf[SLAB];
        const double *restrict x = lanes_at(&a[0], s, xbuf);
        weights(a + 1, dim[1], s, work, top, sum);
        fill(own, -INFINITY);
        for (int j = 0; j < dim[1]; j++) {
            const double *restrict o = lanes_at(&a[1 + j], s, buf);
            EACH(b, s.m) own[b] = x[b] == j ? o[b] : own[b];
        }
        EACH(b, s.m) own[b] = own[b] - top[b] - log(sum[b]);
        put(s, own, out[0]);
    }
}

/* by output j: [x = j] - softmax_j */
WIDE static void grad(const void *self, const int *dim, int L, const double *const *out,
                      const double *const *dout, const struct lanes *a, double *const *da,
                      double *work)
{
    (void)self, (void)out;
    EACH_SLAB(s, L)
    {
        double top[SLAB], sum[SLAB], xbuf[SLAB], gbuf[SLAB], d[SLAB];
        const double *restrict x = lanes_at(&a[0], s, xbuf);
        const double *restrict g = lanes_of(dout[0], s, gbuf);
        weights(a + 1, dim[1], s, work, top, sum);
        for (int j = 0; j < dim[1]; j++) {
            const double *restrict e = work + j * SLAB;
            EACH(b, s.m) d[b] = g[b] * ((x[b] == j ? 1 : 0) - e[b] / sum[b]);
            add(s, d, da[1 + j]);
        }
    }
}

/* The number of partial sums that are at most u times the whole */
WIDE static void sample(const void *self, const struct stream *stream, const int *dim, int L,
                        double *const *out, const struct lanes *a, double *work)
{
    (void)self;
    stream_uniform(stream, L, out[0]);
    EACH_SLAB(s, L)
    {
        double top[SLAB], sum[SLAB], part[SLAB], x[SLAB], ubuf[SLAB];
        const double *restrict u = lanes_of(out[0], s, ubuf);
        weights(a, dim[1], s, work, top, sum);
        fill(part, 0);
        fill(x, 0);
        EACH(b, s.m) sum[b] *= u[b];
        for (int j = 0; j + 1 < dim[1]; j++) {
            const double *restrict e = work + j * SLAB;
            EACH(b, s.m)
            {
                part[b] += e[b];
                x[b] += part[b] <= sum[b] ? 1 : 0;
            }
        }
        put(s, x, out[0]);
    }
}

const struct family family_categorical = {
    "categorical",    "a state, by log probabilities",
    .size = 2,        .size_what = "states",
    .discrete = 1,    .outputs = outputs,
    .logq = logq,     .grad = grad,
    .sample = sample, .work = work_size,
};
