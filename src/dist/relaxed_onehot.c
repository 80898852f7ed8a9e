/* relaxed_onehot.c: relaxed one-hot categorical distribution.
   The concrete distribution (Maddison, Mnih and Teh 2017) with temperature t and weights w:
   log p = log (n-1)! + (n-1) log t + sum_k (log w_k - (t+1) log x_k)
           - n log sum_k w_k x_k^-t,
   a density of the first n - 1 elements; w matters up to a factor. */
#include "dist/block.h"

struct sums {
    double top[SLAB], sum[SLAB], v[SLAB], X[SLAB], W[SLAB];
};

/* top + log sum = log sum_k w_k x_k^-t;  v = sum_k log w_k - (t+1) log x_k */
WIDE static void sums(int n, const struct lanes *a, const double *restrict t, struct slab s,
                      struct sums *restrict r)
{
    double xbuf[SLAB], wbuf[SLAB];
    memset(r, 0, sizeof *r);
    fill(r->top, -INFINITY);
    for (int k = 0; k < n; k++) {
        const double *restrict x = lanes_at(&a[k], s, xbuf);
        const double *restrict w = lanes_at(&a[n + 1 + k], s, wbuf);
        EACH(b, s.m)
        {
            double lw = log(w[b]), lx = log(x[b]), l = lw - t[b] * lx;
            r->top[b] = l > r->top[b] ? l : r->top[b];
            r->v[b] += lw - (t[b] + 1) * lx;
            r->X[b] += x[b] > 0 ? x[b] : x[b] - INFINITY; /* NaN stays NaN */
            r->W[b] += w[b] >= 0 ? w[b] : NAN;
        }
    }
    for (int k = 0; k < n; k++) {
        const double *restrict x = lanes_at(&a[k], s, xbuf);
        const double *restrict w = lanes_at(&a[n + 1 + k], s, wbuf);
        EACH(b, s.m) r->sum[b] += exp(log(w[b]) - t[b] * log(x[b]) - r->top[b]);
    }
}

WIDE static void logp(const void *self, const int *dim, int L, double *const *out,
                      const struct lanes *a, double *work)
{
    (void)self, (void)work;
    int n = dim[0];
    EACH_SLAB(s, L)
    {
        struct sums r;
        double tbuf[SLAB], v[SLAB] = {0};
        const double *restrict t = lanes_at(&a[n], s, tbuf);
        sums(n, a, t, s, &r);
        EACH(b, s.m)
        {
            double y = lgam(n) + (n - 1) * log(t[b]) + r.v[b] - n * (r.top[b] + log(r.sum[b]));
            bool in = fabs(r.X[b] - 1) <= 1e-6;
            v[b] = density(is_positive(t[b]) & is_positive(r.W[b]), in, r.X[b], y);
        }
        put(s, v, out[0]);
    }
}

/* With s_k the share of k in the sum:  d/dx_k = (n t s_k - t - 1)/x_k,  d/dw_k = (1 - n s_k)/w_k,
   d/dt = (n-1)/t + sum_k (n s_k - 1) log x_k */
WIDE static void grad(const void *self, const int *dim, int L, const double *const *out,
                      const double *const *dout, const struct lanes *a, double *const *da,
                      double *work)
{
    (void)self, (void)out, (void)work;
    int n = dim[0];
    EACH_SLAB(s, L)
    {
        struct sums r;
        double tbuf[SLAB], xbuf[SLAB], wbuf[SLAB], gbuf[SLAB], dt[SLAB], dx[SLAB], dw[SLAB];
        const double *restrict t = lanes_at(&a[n], s, tbuf);
        const double *restrict g = lanes_of(dout[0], s, gbuf);
        sums(n, a, t, s, &r);
        EACH(b, s.m) dt[b] = g[b] * (n - 1) / t[b];
        for (int k = 0; k < n; k++) {
            const double *restrict x = lanes_at(&a[k], s, xbuf);
            const double *restrict w = lanes_at(&a[n + 1 + k], s, wbuf);
            EACH(b, s.m)
            {
                double lx = log(x[b]), share = n * exp(log(w[b]) - t[b] * lx - r.top[b]) / r.sum[b];
                dt[b] += g[b] * (share - 1) * lx;
                dx[b] = g[b] * (t[b] * share - t[b] - 1) / x[b];
                dw[b] = g[b] * (1 - share) / w[b];
            }
            add(s, dx, da[k]);
            add(s, dw, da[n + 1 + k]);
        }
        add(s, dt, da[n]);
    }
}

/* softmax((log w + Gumbel) / t); an element that underflows becomes the smallest
   normal number, so that its density is finite */
WIDE static void sample(const void *self, const struct stream *stream, const int *dim, int L,
                        double *const *out, const struct lanes *a, double *work)
{
    (void)self, (void)work;
    int n = dim[0];
    for (int k = 0; k < n; k++) stream_uniform_part(stream, k, L, out[k]);
    EACH_SLAB(s, L)
    {
        double top[SLAB], sum[SLAB], W[SLAB], x[SLAB], tbuf[SLAB], wbuf[SLAB], ubuf[SLAB];
        const double *restrict t = lanes_at(&a[0], s, tbuf);
        fill(top, -INFINITY);
        fill(sum, 0);
        fill(W, 0);
        for (int k = 0; k < n; k++) {
            const double *restrict w = lanes_at(&a[1 + k], s, wbuf);
            const double *restrict u = lanes_of(out[k], s, ubuf);
            EACH(b, s.m)
            {
                x[b] = log(w[b]) - log(-log(u[b]));
                top[b] = x[b] > top[b] ? x[b] : top[b];
                W[b] += w[b] >= 0 ? w[b] : NAN;
            }
            put(s, x, out[k]);
        }
        for (int k = 0; k < n; k++) {
            const double *restrict l = lanes_of(out[k], s, ubuf);
            EACH(b, s.m)
            {
                double e = exp((l[b] - top[b]) / t[b]);
                x[b] = e < DBL_MIN ? DBL_MIN : e;
                sum[b] += x[b];
            }
            put(s, x, out[k]);
        }
        for (int k = 0; k < n; k++) {
            const double *restrict l = lanes_of(out[k], s, ubuf);
            EACH(b, s.m) x[b] = if_ok(is_positive(t[b]) & is_positive(W[b]), l[b] / sum[b]);
            put(s, x, out[k]);
        }
    }
}

static int size(const int *n, const char **why)
{
    if (n[1] >= 2 && n[1] < 1 << 15) return n[1]; /* as many parts as a stream has */
    *why = "p must have from 2 to 32767 elements";
    return -1;
}

const struct dist dist_relaxed_onehot = {
    "relaxed_onehot",
    "relaxed one-hot vector (concrete), by temperature and weights",
    2,
    {{"temperature", POSITIVE}, {"p", WEIGHTS}},
    SIMPLEX,
    .blogp = logp,
    .bgrad = grad,
    .bsample = sample,
    .size = size,
    .own = 1,
    .try_at = {{{1, 3}, {0.785, 0.3, 1.3, 0.9}}, {{1, 2}, {2.385, 0.2, 0.8}}},
};
