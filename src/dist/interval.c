/* interval.c: interval censoring.
   interval(t, cuts): in which interval between rising cut points t lies: the number of cut points
   below it.  JAGS's dinterval.  What t is made of can take its place: interval(d, cuts) is the
   distribution of that number for a draw from d; given the number, the draw itself has the
   distribution within(d, number, cuts), d truncated to that interval:

       p(t) p(k | t, cuts) = p(k | cuts) p(t | k, cuts)

   which is how the model language treats t where k is observed and t is not (lang/censor.c). */
#include "dist/block.h"

/* ---- of a given number ------------------------------------------------------------------ */

static double number(const struct lanes *t, const struct lanes *cuts, int n, int b)
{
    double k = 0, x = lane(t, b);
    bool ok = is_real(x);
    for (int j = 0; j < n; j++) {
        double cut = lane(&cuts[j], b);
        ok &= is_real(cut);
        k += cut < x;
    }
    return if_ok(ok, k);
}

static void logp(const void *self, const int *dim, int L, double *const *out, const struct lanes *a,
                 double *work)
{
    (void)self, (void)work;
    for (int b = 0; b < L; b++) {
        double k = number(&a[1], a + 2, dim[2], b), x = lane(&a[0], b);
        out[0][b] = density(k == k, x == k, x, 0);
    }
}

static void grad(const void *self, const int *dim, int L, const double *const *out,
                 const double *const *dout, const struct lanes *a, double *const *da, double *work)
{
    (void)self, (void)dim, (void)L, (void)out, (void)dout, (void)a, (void)da, (void)work;
}

static void sample(const void *self, const struct stream *s, const int *dim, int L,
                   double *const *out, const struct lanes *a, double *work)
{
    (void)self, (void)s, (void)work;
    for (int b = 0; b < L; b++) out[0][b] = number(&a[0], a + 1, dim[2], b);
}

/* The cut points are the last argument. */
static int cut_points(const int *n)
{
    int k = DIST_ARGS - 1;
    while (k && !n[k]) k--;
    return n[k];
}

const struct dist dist_interval = {
    "interval",
    "the number of cut points below t: 0, 1, ...",
    2,
    {{"t", REAL}, {"cuts", VECTOR}},
    COUNT,
    .blogp = logp,
    .bgrad = grad,
    .bsample = sample,
    .largest = cut_points,
    .own = 1,
    .try_at = {{{1, 1}, {2.385, 1.7}}, {{1, 3}, {0.31, -1.4, 0.2, 4.2}}},
};

/* ---- of a distribution ------------------------------------------------------------------- */

/* Arguments of d in lane b, and the interval k of n cut points; 0: there is none. */
static int interval_at(const struct dist *d, const struct lanes *arg, const struct lanes *cuts,
                       int n, double k, int b, double *p, double *lo, double *hi)
{
    for (int j = 0; j < d->narg; j++) p[j] = lane(&arg[j], b);
    if (!(k >= 0 && k <= n && k == floor(k))) return 0;
    *lo = k > 0 ? lane(&cuts[(int)k - 1], b) : -INFINITY;
    *hi = k < n ? lane(&cuts[(int)k], b) : INFINITY;
    if (domains[d->domain].discrete) *lo = floor(*lo) + 1; /* above the cut point */
    return 1;
}

static const struct dist *of(const void *self) { return ((const struct dist *)self)->part[0]; }

static void interval_logp(const void *self, const int *dim, int L, double *const *out,
                          const struct lanes *a, double *work)
{
    const struct dist *d = of(self);
    const struct lanes *cuts = a + 1 + d->narg;
    int n = dim[1 + d->narg];
    (void)work;
    for (int b = 0; b < L; b++) {
        double p[DIST_ARGS], lo, hi, k = lane(&a[0], b);
        int inside = interval_at(d, a + 1, cuts, n, k, b, p, &lo, &hi);
        out[0][b] = density(true, inside, k, inside ? log_between(d, p, lo, hi) : 0);
    }
}

static void add_lane(double *da, int b, double x)
{
    if (da) da[b] += x;
}

static void interval_grad(const void *self, const int *dim, int L, const double *const *out,
                          const double *const *dout, const struct lanes *a, double *const *da,
                          double *work)
{
    const struct dist *d = of(self);
    int first = 1 + d->narg, n = dim[first];
    (void)work;
    for (int b = 0; b < L; b++) {
        double p[DIST_ARGS], g[DIST_ARGS], ends[2], lo, hi, k = lane(&a[0], b);
        if (!isfinite(out[0][b])) continue;
        if (!interval_at(d, a + 1, a + first, n, k, b, p, &lo, &hi)) continue;
        log_between_grad(d, p, lo, hi, g, ends);
        for (int j = 0; j < d->narg; j++) add_lane(da[1 + j], b, dout[0][b] * g[j]);
        if (k > 0) add_lane(da[first + (int)k - 1], b, dout[0][b] * ends[0]);
        if (k < n) add_lane(da[first + (int)k], b, dout[0][b] * ends[1]);
    }
}

static void interval_sample(const void *self, const struct stream *s, const int *dim, int L,
                            double *const *out, const struct lanes *a, double *work)
{
    const struct dist *d = of(self);
    (void)work;
    EACH_SLAB(at, L)
    {
        double x[SLAB], buf[DIST_ARGS][SLAB];
        const double *p[DIST_ARGS];
        struct stream own = {s->seed, s->node, s->first + (uint64_t)at.first};
        for (int j = 0; j < d->narg; j++) p[j] = lanes_at(&a[j], at, buf[j]);
        d->sample(d, &own, at.live, x, p);
        put(at, x, out[0]);
    }
    for (int b = 0; b < L; b++)
        out[0][b] = number(&(struct lanes){out[0], 1}, a + d->narg, dim[1 + d->narg], b);
}

static const char *make(struct dist *out)
{
    const struct dist *d = of(out);
    if (!d->cdf) return "its distribution function is not known";
    out->domain = COUNT;
    out->blogp = interval_logp;
    out->bgrad = interval_grad;
    out->bsample = interval_sample;
    out->largest = cut_points;
    return NULL;
}

const struct dist_form form_interval = {"interval",
                                        "the number of cut points below a draw from d: 0, 1, ...",
                                        "count",
                                        2,
                                        {{"d", A_DIST}, {"cuts", VECTOR}},
                                        0,
                                        "draw t ~ d(...), and observe k ~ dinterval(t, cuts)",
                                        make};

/* ---- given the interval ------------------------------------------------------------------- */

/* Runs over slabs of lanes, with the value if there is one (`has` 1), the arguments of d, and
   bounds as T(,) wants them. */
struct within {
    double buf[1 + DIST_ARGS][SLAB], lo[SLAB], hi[SLAB];
    const double *arg[3 + DIST_ARGS];
};

static void load(const struct dist *d, const int *dim, const struct lanes *a, int has,
                 struct slab s, struct within *w)
{
    const struct lanes *number_at = a + has + d->narg;
    int n = dim[2 + d->narg];
    for (int j = 0; j < has + d->narg; j++) w->arg[j] = lanes_at(&a[j], s, w->buf[j]);
    for (int b = 0; b < s.m; b++) {
        double p[DIST_ARGS];
        int at = s.first + (b < s.live ? b : s.live - 1);
        if (!interval_at(d, a + has, number_at + 1, n, lane(number_at, at), at, p, &w->lo[b],
                         &w->hi[b]))
            w->lo[b] = w->hi[b] = NAN;
    }
    w->arg[has + d->narg] = w->lo;
    w->arg[has + d->narg + 1] = w->hi;
}

static void within_logp(const void *self, const int *dim, int L, double *const *out,
                        const struct lanes *a, double *work)
{
    (void)work;
    EACH_SLAB(s, L)
    {
        struct within w;
        double l[SLAB];
        load(of(self), dim, a, 1, s, &w);
        truncated_logp(of(self), s.m, l, w.arg);
        put(s, l, out[0]);
    }
}

static void within_grad(const void *self, const int *dim, int L, const double *const *out,
                        const double *const *dout, const struct lanes *a, double *const *da,
                        double *work)
{
    const struct dist *d = of(self);
    int na = d->narg, n = dim[2 + na];
    (void)work;
    EACH_SLAB(s, L)
    {
        struct within w;
        double lbuf[SLAB], gbuf[SLAB], g[3 + DIST_ARGS][SLAB], *dg[3 + DIST_ARGS];
        load(d, dim, a, 1, s, &w);
        for (int j = 0; j < 3 + na; j++) dg[j] = g[j];
        truncated_grad(d, s.m, lanes_of(out[0], s, lbuf), lanes_of(dout[0], s, gbuf), w.arg, dg);
        for (int j = 0; j <= na; j++) add(s, g[j], da[j]);
        for (int b = 0; b < s.live; b++) {
            double k = lane(&a[1 + na], s.first + b);
            if (!(k >= 0 && k <= n)) continue;
            if (k > 0) add_lane(da[1 + na + (int)k], s.first + b, g[na + 1][b]);
            if (k < n) add_lane(da[2 + na + (int)k], s.first + b, g[na + 2][b]);
        }
    }
}

static void within_sample(const void *self, const struct stream *stream, const int *dim, int L,
                          double *const *out, const struct lanes *a, double *work)
{
    (void)work;
    EACH_SLAB(s, L)
    {
        struct within w;
        double x[SLAB];
        struct stream own = {stream->seed, stream->node, stream->first + (uint64_t)s.first};
        load(of(self), dim, a, 0, s, &w);
        truncated_sample(of(self), &own, s.live, x, w.arg);
        put(s, x, out[0]);
    }
}

static const char *make_within(struct dist *out)
{
    const struct dist *d = of(out);
    if (!d->cdf || !d->quantile) return "its quantiles are not known";
    out->domain = d->domain;
    out->blogp = within_logp;
    out->bgrad = within_grad;
    out->bsample = within_sample;
    return NULL;
}

const struct dist_form form_within = {"within",
                                      "d, truncated to the interval with this number",
                                      "as of d",
                                      3,
                                      {{"d", A_DIST}, {"number", COUNT}, {"cuts", VECTOR}},
                                      0,
                                      NULL,
                                      make_within};
