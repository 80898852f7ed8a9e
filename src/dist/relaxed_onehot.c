/* The concrete distribution (Maddison, Mnih and Teh 2017) with temperature t and weights w:
   log p = log (n-1)! + (n-1) log t + sum_k (log w_k - (t+1) log x_k)
           - n log sum_k w_k x_k^-t,
   a density of the first n - 1 elements; w matters up to a factor. */
#include "dist/block.h"

struct sums {
    double top[SLAB], sum[SLAB], v[SLAB], X[SLAB], W[SLAB];
};

/* top + log sum = log sum_k w_k x_k^-t;  v = sum_k log w_k - (t+1) log x_k */
static void sums(int n, const struct lanes *a, const double *t, int b0, int m, struct sums *s)
{
    double xbuf[SLAB], wbuf[SLAB];
    fill(s->top, -INFINITY);
    fill(s->sum, 0);
    fill(s->v, 0);
    fill(s->X, 0);
    fill(s->W, 0);
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < n; k++) {
            const double *restrict x = lanes_at(&a[k], b0, m, xbuf);
            const double *restrict w = lanes_at(&a[n + 1 + k], b0, m, wbuf);
            EACH(b, m)
            {
                double lw = log(w[b]), lx = log(x[b]), l = lw - t[b] * lx;
                double up = l > s->top[b] ? l : s->top[b], e = exp(l - s->top[b]);
                s->top[b] = pass ? s->top[b] : up;
                s->sum[b] += pass ? e : 0;
                s->v[b] += pass ? lw - (t[b] + 1) * lx : 0;
                s->X[b] += pass ? (x[b] > 0 ? x[b] : x[b] - INFINITY) : 0;
                s->W[b] += pass ? (w[b] >= 0 ? w[b] : NAN) : 0;
            }
        }
}

static void logp(const void *self, const int *dim, int L, double *const *out, const struct lanes *a,
                 double *work)
{
    (void)self, (void)work;
    int n = dim[0];
    EACH_SLAB(b0, m, L)
    {
        struct sums s;
        double tbuf[SLAB], *restrict o = out[0] + b0;
        const double *restrict t = lanes_at(&a[n], b0, m, tbuf);
        sums(n, a, t, b0, m, &s);
        EACH(b, m)
        {
            double v = lgam(n) + (n - 1) * log(t[b]) + s.v[b] - n * (s.top[b] + log(s.sum[b]));
            bool in = fabs(s.X[b] - 1) <= 1e-6;
            o[b] = density(is_positive(t[b]) & is_positive(s.W[b]), in, s.X[b], v);
        }
    }
}

/* With s_k the share of k in the sum:  d/dx_k = (n t s_k - t - 1)/x_k,  d/dw_k = (1 - n s_k)/w_k,
   d/dt = (n-1)/t + sum_k (n s_k - 1) log x_k */
static void grad(const void *self, const int *dim, int L, const double *const *out,
                 const double *const *dout, const struct lanes *a, double *const *da, double *work)
{
    (void)self, (void)out, (void)work;
    int n = dim[0];
    EACH_SLAB(b0, m, L)
    {
        struct sums s;
        double tbuf[SLAB], xbuf[SLAB], wbuf[SLAB], none[SLAB];
        const double *restrict t = lanes_at(&a[n], b0, m, tbuf), *restrict g = dout[0] + b0;
        double *restrict dt = da[n] ? da[n] + b0 : none;
        sums(n, a, t, b0, m, &s);
        if (dt == none) fill(none, 0);
        EACH(b, m) dt[b] += g[b] * (n - 1) / t[b];
        for (int k = 0; k < n; k++) {
            const double *restrict x = lanes_at(&a[k], b0, m, xbuf);
            const double *restrict w = lanes_at(&a[n + 1 + k], b0, m, wbuf);
            double share[SLAB];
            EACH(b, m)
            {
                share[b] = n * exp(log(w[b]) - t[b] * log(x[b]) - s.top[b]) / s.sum[b];
                dt[b] += g[b] * (share[b] - 1) * log(x[b]);
            }
            for (int b = 0; b < m && da[k]; b++)
                da[k][b0 + b] += g[b] * (t[b] * share[b] - t[b] - 1) / x[b];
            for (int b = 0; b < m && da[n + 1 + k]; b++)
                da[n + 1 + k][b0 + b] += g[b] * (1 - share[b]) / w[b];
        }
    }
}

/* softmax((log w + Gumbel) / t); an element that underflows becomes the smallest
   normal number, so that its density is finite */
static void sample(const void *self, const struct stream *s, const int *dim, int L,
                   double *const *out, const struct lanes *a, double *work)
{
    (void)self, (void)work;
    int n = dim[0];
    for (int k = 0; k < n; k++) stream_uniform_part(s, k, L, out[k]);
    EACH_SLAB(b0, m, L)
    {
        double top[SLAB], sum[SLAB], W[SLAB], tbuf[SLAB], wbuf[SLAB];
        const double *restrict t = lanes_at(&a[0], b0, m, tbuf);
        fill(top, -INFINITY);
        fill(sum, 0);
        fill(W, 0);
        for (int k = 0; k < n; k++) {
            const double *restrict w = lanes_at(&a[1 + k], b0, m, wbuf);
            double *restrict x = out[k] + b0;
            EACH(b, m)
            {
                x[b] = log(w[b]) - log(-log(x[b]));
                top[b] = x[b] > top[b] ? x[b] : top[b];
                W[b] += w[b] >= 0 ? w[b] : NAN;
            }
        }
        for (int k = 0; k < n; k++) {
            double *restrict x = out[k] + b0;
            EACH(b, m)
            {
                double e = exp((x[b] - top[b]) / t[b]);
                sum[b] += x[b] = e < DBL_MIN ? DBL_MIN : e;
            }
        }
        for (int k = 0; k < n; k++) {
            double *restrict x = out[k] + b0;
            EACH(b, m) x[b] = if_ok(is_positive(t[b]) & is_positive(W[b]), x[b] / sum[b]);
        }
    }
}

static int size(const int *n, const char **why)
{
    if (n[1] >= 2) return n[1];
    *why = "p needs two elements or more";
    return -1;
}

const struct dist dist_relaxed_onehot = {
    "relaxed_onehot", "relaxed one-hot vector (concrete), by temperature and weights", 2,
    {{"temperature", POSITIVE}, {"p", WEIGHTS}}, SIMPLEX,
    .blogp = logp, .bgrad = grad, .bsample = sample, .size = size,
    .own = 1, .try_at = {{{1, 3}, {0.785, 0.3, 1.3, 0.9}}, {{1, 2}, {2.385, 0.2, 0.8}}}};
