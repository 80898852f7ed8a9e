/* family_logistic.c: logistic family, for relaxed Bernoulli variables on the logit scale: a
   logistic variate through an affine function.

       t = (x - shift) exp(-log_sd(r)),  z = t / s,  log q = -z - 2 log(1 + exp(-z)) - log s -
   log_sd(r)

   Outputs: shift, r.  At zeros, 68 % lie within 1 of the middle, as of N(0, 1): with the
   standardised coordinates of encoding.c that is a logistic prior itself. */
#include "net/family_impl.h"

static const double S = 0.599424121502862,
                    LOG_S = -0.511785882161775; /* 1 / logit(Phi(1)), and its logarithm */

static int outputs(const struct output_dist *h)
{
    (void)h;
    return FLOW;
}

WIDE static void logq(const void *self, const int *dim, int L, double *const *out,
                      const struct lanes *a, double *work)
{
    (void)self, (void)dim, (void)work;
    EACH_SLAB(s, L)
    {
        double t[SLAB], ls[SLAB], lq[SLAB];
        flow_in(a, a + 1, s, t, ls);
        EACH(b, s.m)
        {
            double z = fabs(t[b] / S); /* even in z */
            lq[b] = -z - 2 * log1p(exp(-z)) - LOG_S - ls[b];
        }
        put(s, lq, out[0]);
    }
}

WIDE static void grad(const void *self, const int *dim, int L, const double *const *out,
                      const double *const *dout, const struct lanes *a, double *const *da,
                      double *work)
{
    (void)self, (void)dim, (void)out, (void)work;
    EACH_SLAB(s, L)
    {
        double t[SLAB], ls[SLAB], gbuf[SLAB], dt[SLAB];
        const double *restrict g = lanes_of(dout[0], s, gbuf);
        flow_in(a, a + 1, s, t, ls);
        EACH(b, s.m)
        {
            double e = exp(-fabs(t[b] / S)), h = (1 - e) / (1 + e); /* tanh(|z| / 2) */
            dt[b] = g[b] * (t[b] < 0 ? h : -h) / S;
        }
        flow_grad(a, s, t, g, dt, da);
    }
}

WIDE static void sample(const void *self, const struct stream *stream, const int *dim, int L,
                        double *const *out, const struct lanes *a, double *work)
{
    (void)self, (void)dim, (void)work;
    stream_uniform(stream, L, out[0]);
    EACH_SLAB(s, L)
    {
        double t[SLAB], x[SLAB], ubuf[SLAB];
        const double *restrict u = lanes_of(out[0], s, ubuf);
        EACH(b, s.m) t[b] = S * log(u[b] / (1 - u[b]));
        flow_out(a, s, t, x);
        put(s, x, out[0]);
    }
}

static void path(const void *self, const int *dim, int L, const double *const *out,
                 const double *const *dout, const struct lanes *a, double *const *da, double *work)
{
    (void)self, (void)dim, (void)work;
    struct lanes x = {out[0], 1};
    EACH_SLAB(s, L)
    {
        double t[SLAB], ls[SLAB], gbuf[SLAB];
        flow_in(&x, a, s, t, ls);
        flow_path(a, s, t, lanes_of(dout[0], s, gbuf), da);
    }
}

const struct family family_logistic = {
    "logistic",         "a logistic: what a relaxed Bernoulli is on the logit scale",
    .outputs = outputs, .logq = logq,
    .grad = grad,       .sample = sample,
    .path = path,
};
