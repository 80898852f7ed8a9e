/* family_match.c: the family that matches the prior.
   The distribution that the model itself gives the variable (of numbers by numbers), with arguments
   from the network.  An argument that is a real number is u = shift + scale * output; a positive
   one is exp(u), one between 0 and 1 is logistic(u), both with the output's share of u squashed.
   Integers (binomial's N) are not outputs: they are output_dist.fixed.  match_fit.c chooses the
   rest. */
#include "net/family_impl.h"

static int is_output(const struct output_dist *h, int k)
{
    return !domains[h->dist->arg[k].domain].discrete;
}

static int outputs(const struct output_dist *h)
{
    int n = 0;
    for (int k = 0; k < h->dist->narg; k++) n += is_output(h, k);
    return n;
}

/* One argument of m lanes, and its derivative by the output. */
WIDE static void constrained(const struct domain_info *in, double shift, double scale, int m,
                             const double *restrict o, double *restrict x, double *restrict dx)
{
    if (isinf(in->lo)) {
        EACH(b, m)
        {
            x[b] = shift + scale * o[b];
            dx[b] = scale;
        }
    } else if (isinf(in->hi)) {
        EACH(b, m)
        {
            double slope, u = shift + squash(scale * o[b], 16, 16, &slope);
            x[b] = exp(u);
            dx[b] = scale * slope * x[b];
        }
    } else {
        EACH(b, m)
        {
            double slope, u = shift + squash(scale * o[b], 20, 20, &slope);
            x[b] = sigmoid(u);
            dx[b] = scale * slope * x[b] * (1 - x[b]);
        }
    }
}

/* The arguments of a slab, by outputs o */
struct args {
    const double *p[RECORD_ARGS];
    double x[RECORD_ARGS][SLAB], dx[RECORD_ARGS][SLAB];
};

static void arguments(const struct output_dist *h, const struct lanes *o, struct slab s,
                      struct args *y)
{
    double buf[SLAB];
    for (int k = 0; k < h->dist->narg; k++) {
        y->p[k] = y->x[k];
        if (is_output(h, k))
            constrained(&domains[h->dist->arg[k].domain], h->shift[k], h->scale[k], s.m,
                        lanes_at(o++, s, buf), y->x[k], y->dx[k]);
        else
            fill(y->x[k], h->fixed);
    }
}

static void logq(const void *self, const int *dim, int L, double *const *out, const struct lanes *a,
                 double *work)
{
    (void)dim, (void)work;
    const struct output_dist *h = self;
    EACH_SLAB(s, L)
    {
        struct args y;
        double xbuf[SLAB], lq[SLAB];
        const double *all[1 + RECORD_ARGS] = {lanes_at(&a[0], s, xbuf)};
        arguments(h, a + 1, s, &y);
        memcpy(all + 1, y.p, sizeof y.p);
        h->dist->logp(h->dist, s.m, lq, all);
        put(s, lq, out[0]);
    }
}

static void grad(const void *self, const int *dim, int L, const double *const *out,
                 const double *const *dout, const struct lanes *a, double *const *da, double *work)
{
    (void)dim, (void)work;
    const struct output_dist *h = self;
    EACH_SLAB(s, L)
    {
        struct args y;
        double xbuf[SLAB], obuf[SLAB], gbuf[SLAB], d[1 + RECORD_ARGS][SLAB], *dall[1 + RECORD_ARGS];
        const double *all[1 + RECORD_ARGS] = {lanes_at(&a[0], s, xbuf)};
        arguments(h, a + 1, s, &y);
        memcpy(all + 1, y.p, sizeof y.p);
        dall[0] = da[0] ? d[0] : NULL;
        for (int k = 0; k < RECORD_ARGS; k++)
            dall[1 + k] = k < h->dist->narg && is_output(h, k) ? d[1 + k] : NULL;
        h->dist->grad(h->dist, s.m, lanes_of(out[0], s, obuf), lanes_of(dout[0], s, gbuf), all,
                      dall);
        add(s, d[0], da[0]);
        for (int k = 0, j = 1; k < h->dist->narg; k++) {
            if (!is_output(h, k)) continue;
            EACH(b, s.m) d[1 + k][b] *= y.dx[k][b];
            add(s, d[1 + k], da[j++]);
        }
    }
}

static void sample(const void *self, const struct stream *stream, const int *dim, int L,
                   double *const *out, const struct lanes *a, double *work)
{
    (void)dim, (void)work;
    const struct output_dist *h = self;
    EACH_SLAB(s, L)
    {
        struct args y;
        struct stream at = stream_at(stream, s);
        arguments(h, a, s, &y);
        h->dist->sample(h->dist, &at, s.live, out[0] + s.first, y.p);
    }
}

static void path(const void *self, const int *dim, int L, const double *const *out,
                 const double *const *dout, const struct lanes *a, double *const *da, double *work)
{
    (void)dim, (void)work;
    const struct output_dist *h = self;
    if (!output_has_path(h)) return;
    EACH_SLAB(s, L)
    {
        struct args y;
        double xbuf[SLAB], gbuf[SLAB], d[RECORD_ARGS][SLAB], *dall[RECORD_ARGS];
        arguments(h, a, s, &y);
        for (int k = 0; k < RECORD_ARGS; k++)
            dall[k] = k < h->dist->narg && is_output(h, k) ? d[k] : NULL;
        h->dist->path(h->dist, s.m, lanes_of(out[0], s, xbuf), lanes_of(dout[0], s, gbuf), y.p,
                      dall);
        for (int k = 0, j = 0; k < h->dist->narg; k++) {
            if (!is_output(h, k)) continue;
            EACH(b, s.m) d[k][b] *= y.dx[k][b];
            add(s, d[k], da[j++]);
        }
    }
}

const struct family family_match = {
    "match",          "the distribution that the model gives the variable",
    .own_scale = 1,   .outputs = outputs,
    .logq = logq,     .grad = grad,
    .sample = sample, .path = path,
};
