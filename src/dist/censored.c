/* censored.c: censored distributions.
   censored(d, lower, upper): what d gives, recorded as `lower` if it is below and as `upper` if it
   is above.  log p(x) is the density of d between the bounds, log P(X <= lower) at `lower`,
   log P(X >= upper) at `upper`. */
#include "dist/loops.h"

/* The part of the line that a recorded value stands for; 0: a point, with a density. */
static int stands_for(double x, double lower, double upper, double *lo, double *hi)
{
    *lo = x <= lower ? -INFINITY : upper;
    *hi = x <= lower ? lower : INFINITY;
    return x <= lower || x >= upper;
}

static void logp(const void *self, int n, double *out, const double *const *a)
{
    const struct dist *d = ((const struct dist *)self)->part[0];
    const double *lower = a[1 + d->narg], *upper = a[2 + d->narg];
    d->logp(d, n, out, a);
    for (int i = 0; i < n; i++) {
        double p[DIST_ARGS], lo, hi;
        if (isnan(out[i])) continue;
        if (!(lower[i] <= upper[i]))
            out[i] = NAN;
        else if (a[0][i] < lower[i] || a[0][i] > upper[i])
            out[i] = -INFINITY;
        else if (stands_for(a[0][i], lower[i], upper[i], &lo, &hi)) {
            for (int k = 0; k < d->narg; k++) p[k] = a[1 + k][i];
            out[i] = log_between(d, p, lo, hi);
        }
    }
}

static void grad(const void *self, int n, const double *out, const double *dout,
                 const double *const *a, double *const *da)
{
    const struct dist *d = ((const struct dist *)self)->part[0];
    int lower = 1 + d->narg, upper = lower + 1;
    d->grad(d, n, out, dout, a, da);
    for (int i = 0; i < n; i++) {
        double p[DIST_ARGS], g[DIST_ARGS], ends[2] = {0}, lo, hi;
        int mass = stands_for(a[0][i], a[lower][i], a[upper][i], &lo, &hi);
        for (int k = 0; k < d->narg; k++) p[k] = a[1 + k][i];
        if (mass) log_between_grad(d, p, lo, hi, g, ends);
        if (mass && da[0]) da[0][i] = 0;
        for (int k = 0; mass && k < d->narg; k++)
            if (da[1 + k]) da[1 + k][i] = dout[i] * g[k];
        if (da[lower]) da[lower][i] = mass && isinf(lo) ? dout[i] * ends[1] : 0;
        if (da[upper]) da[upper][i] = mass && isinf(hi) ? dout[i] * ends[0] : 0;
    }
}

static void sample(const void *self, const struct stream *s, int n, double *out,
                   const double *const *a)
{
    const struct dist *d = ((const struct dist *)self)->part[0];
    const double *lower = a[d->narg], *upper = a[d->narg + 1];
    d->sample(d, s, n, out, a);
    for (int i = 0; i < n; i++) {
        double x = out[i] < lower[i] ? lower[i] : out[i] > upper[i] ? upper[i] : out[i];
        out[i] = if_ok(lower[i] <= upper[i], x);
    }
}

static const char *make(struct dist *out)
{
    const struct dist *d = out->part[0];
    if (!d->cdf) return "its distribution function is not known";
    out->domain = d->domain;
    out->atoms = !domains[d->domain].discrete;
    out->logp = logp;
    out->grad = grad;
    out->sample = sample;
    return NULL;
}

const struct dist_form form_censored = {
    "censored",
    "a draw, recorded as the bound that it is beyond",
    "as of d",
    3,
    {{"d", A_DIST}, {"lower", REAL}, {"upper", REAL}},
    0,
    "draw t ~ d(...), and observe k ~ dinterval(t, c(lower, upper))",
    make};
