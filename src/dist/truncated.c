/* truncated.c: truncated distributions.
   T(lower, upper) of any distribution with a cdf: log p(x) - log Z on [lower, upper], where
   Z = P(lower <= X <= upper) is taken from the tail that keeps its digits. */
#include <string.h>

#include "dist/dist.h"
#include "dist/math.h"

static double upper_tail(const struct dist *d, double x, const double *p)
{
    return d->ccdf ? d->ccdf(x, p) : 1 - d->cdf(x, p);
}

/* The part of the support that is left: for counts "from lower" means "above lower - 1". */
struct cut {
    double lo, hi; /* P(lo < X <= hi) */
    double a, b;   /* the tails there: lower ones, or upper ones if `upper` */
    int upper;
    double Z; /* NaN if nothing is left */
    double log_z;
    int far;    /* Z underflows: log_z alone is known, and a and b are logarithms */
    int narrow; /* the tails differ in their last digits: the density hardly varies between */
};

static double log_density(const struct dist *d, const double *p, double x)
{
    double v;
    const double *a[1 + DIST_ARGS] = {&x};
    for (int k = 0; k < d->narg; k++) a[1 + k] = &p[k];
    d->logp(d, 1, &v, a);
    return v;
}

static double middle(const struct cut *c) { return c->lo + 0.5 * (c->hi - c->lo); }

/* By Simpson's rule, where the density hardly varies. */
static void cut_narrow(const struct dist *d, const double *p, struct cut *c)
{
    double f = log_density(d, p, middle(c)), width = c->hi - c->lo;
    double l = log_density(d, p, c->lo) - f, r = log_density(d, p, c->hi) - f;
    if (!is_real(f) || !is_real(width) || !(fabs(l) < 1e-4 && fabs(r) < 1e-4)) return;
    c->narrow = 1;
    c->log_z = f + log(width) + log1p((expm1(l) + expm1(r)) / 6);
    c->Z = fmax(exp(c->log_z), DBL_TRUE_MIN);
}

static const double few = 1e-8; /* of a tail: a difference that has lost half of its digits */

/* In the tails where probabilities are 0, by their logarithms: log(exp(a) - exp(b)) */
static void cut_far(const struct dist *d, const double *p, struct cut *c)
{
    c->upper = d->cdf(c->lo, p) > 0.5;
    c->a = dist_log_tail(d, c->lo, p, c->upper);
    c->b = dist_log_tail(d, c->hi, p, c->upper);
    c->log_z = c->upper ? c->a + log1m_exp(c->a - c->b) : c->b + log1m_exp(c->b - c->a);
    c->far = 1;
    c->Z = c->log_z > -INFINITY ? DBL_TRUE_MIN : NAN;
    if (!domains[d->domain].discrete && fabs(c->a - c->b) < few) cut_narrow(d, p, c);
}

static struct cut cut(const struct dist *d, const double *p, double lower, double upper)
{
    int discrete = domains[d->domain].discrete;
    struct cut c = {.lo = discrete ? ceil(lower) - 1 : lower,
                    .hi = discrete ? floor(upper) : upper};
    c.a = d->cdf(c.lo, p);
    c.upper = c.a > 0.5;
    if (c.upper) {
        c.a = upper_tail(d, c.lo, p);
        c.b = upper_tail(d, c.hi, p);
        c.Z = c.a - c.b;
    } else {
        c.b = d->cdf(c.hi, p);
        c.Z = c.b - c.a;
        if (c.a == 0 && c.b > 0.5) c.Z = 1 - upper_tail(d, c.hi, p); /* the same, rounded once */
    }
    c.log_z = log(c.Z);
    if (!discrete && lower < upper && c.Z < few * fmax(c.a, c.b)) cut_narrow(d, p, &c);
    if (!(c.Z > DBL_MIN) && lower < upper && !c.narrow) cut_far(d, p, &c);
    if (!(lower <= upper) || !(c.Z > 0)) c.Z = c.log_z = NAN;
    return c;
}

void truncated_logp(const void *self, int n, double *out, const double *const *a)
{
    const struct dist *d = self;
    d->logp(d, n, out, a);
    for (int i = 0; i < n; i++) {
        double p[DIST_ARGS], x = a[0][i], lower = a[d->narg + 1][i], upper = a[d->narg + 2][i];
        for (int k = 0; k < d->narg; k++) p[k] = a[1 + k][i];
        out[i] = density(true, x >= lower && x <= upper, x, out[i]) - cut(d, p, lower, upper).log_z;
    }
}

/* d log Z / d p[k], by central differences with Richardson's extrapolation: with steps h
   and h/2 the error is O(h^4), about 1e-10 relative.  h is 1/1000 of the argument or, for a
   location, of the scale that follows it. */
static double dlogz(const struct dist *d, const double *p, int k, double lower, double upper)
{
    enum domain domain = d->arg[k].domain;
    double size = domain != REAL ? p[k] : k + 1 < d->narg ? p[k + 1] : 1, h = 1e-3 * fabs(size);
    double q[DIST_ARGS], slope[2];
    if (domain == UNIT || domain == OPEN_UNIT) h = fmin(h, 0.5 * (1 - p[k]));
    memcpy(q, p, sizeof(double) * (size_t)d->narg);
    for (int s = 0; s < 2; s++, h /= 2) {
        q[k] = p[k] + h;
        double up = cut(d, q, lower, upper).log_z;
        q[k] = p[k] - h;
        slope[s] = (up - cut(d, q, lower, upper).log_z) / (2 * h);
    }
    return (4 * slope[1] - slope[0]) / 3;
}

/* f(x) / Z: what a bound moves */
static double edge(const struct dist *d, const double *p, double x, double log_z)
{
    return domains[d->domain].discrete || isinf(x) ? 0 : exp(log_density(d, p, x) - log_z);
}

double log_between(const struct dist *d, const double *p, double lower, double upper)
{
    struct cut c = cut(d, p, lower, upper);
    int nothing = lower <= upper && !isnan(c.a) && !isnan(c.b) && isnan(c.Z);
    return nothing ? -INFINITY : c.log_z;
}

static void density_grad(const struct dist *d, const double *p, double x, double *g)
{
    double v = log_density(d, p, x), one = 1;
    const double *a[1 + DIST_ARGS] = {&x};
    double *da[1 + DIST_ARGS] = {NULL};
    for (int k = 0; k < d->narg; k++) a[1 + k] = &p[k], da[1 + k] = &g[k];
    d->grad(d, 1, &v, &one, a, da);
}

void log_between_grad(const struct dist *d, const double *p, double lower, double upper, double *g,
                      double *ends)
{
    double glo[DIST_ARGS] = {0}, ghi[DIST_ARGS] = {0}, gmid[DIST_ARGS] = {0};
    struct cut c = cut(d, p, lower, upper);
    if (c.narrow) density_grad(d, p, middle(&c), gmid);
    if (d->dcdf && is_real(c.lo)) d->dcdf(c.lo, p, glo);
    if (d->dcdf && is_real(c.hi)) d->dcdf(c.hi, p, ghi);
    for (int k = 0; k < d->narg; k++) {
        int fixed = domains[d->arg[k].domain].discrete;
        int by_hand = d->dcdf && !c.far;
        g[k] = fixed      ? 0
               : c.narrow ? gmid[k]
               : by_hand  ? (ghi[k] - glo[k]) / c.Z
                          : dlogz(d, p, k, lower, upper);
    }
    ends[0] = -edge(d, p, lower, c.log_z);
    ends[1] = edge(d, p, upper, c.log_z);
}

void truncated_grad(const void *self, int n, const double *out, const double *dout,
                    const double *const *a, double *const *da)
{
    const struct dist *d = self;
    int na = d->narg;
    d->grad(d, n, out, dout, a, da);
    for (int i = 0; i < n; i++) {
        double p[DIST_ARGS], g[DIST_ARGS], ends[2];
        for (int k = 0; k < na; k++) p[k] = a[1 + k][i];
        log_between_grad(d, p, a[na + 1][i], a[na + 2][i], g, ends);
        for (int k = 0; k < na; k++)
            if (da[1 + k]) da[1 + k][i] -= dout[i] * g[k];
        if (da[na + 1]) da[na + 1][i] = -dout[i] * ends[0];
        if (da[na + 2]) da[na + 2][i] = -dout[i] * ends[1];
    }
}

/* The x with log tail v, by bisection between the bounds, or steps from the finite one */
static double far_quantile(const struct dist *d, const double *p, const struct cut *c, double v)
{
    double lo = c->lo, hi = c->hi, step = 1;
    if (isinf(hi))
        for (hi = lo; dist_log_tail(d, hi, p, c->upper) > v && step < DBL_MAX; step *= 2)
            hi = lo + step;
    if (isinf(lo))
        for (lo = hi; dist_log_tail(d, lo, p, c->upper) > v && step < DBL_MAX; step *= 2)
            lo = hi - step;
    for (int i = 0; i < 80; i++) {
        double x = 0.5 * (lo + hi);
        if ((dist_log_tail(d, x, p, c->upper) > v) == c->upper)
            lo = x;
        else
            hi = x;
    }
    return domains[d->domain].discrete ? round(hi) : 0.5 * (lo + hi);
}

void truncated_sample(const void *self, const struct stream *s, int n, double *out,
                      const double *const *a)
{
    const struct dist *d = self;
    stream_uniform(s, n, out);
    for (int i = 0; i < n; i++) {
        double p[DIST_ARGS], lower = a[d->narg][i], upper = a[d->narg + 1][i], x;
        for (int k = 0; k < d->narg; k++) p[k] = a[k][i];
        struct cut c = cut(d, p, lower, upper);
        double u = c.a + out[i] * (c.b - c.a);
        if (c.narrow) {
            x = c.lo + out[i] * (c.hi - c.lo);
        } else if (c.far && c.Z > 0) {
            /* in logs: a share of the larger tail, between it and the other */
            double top = c.upper ? c.a : c.b, low = c.upper ? c.b : c.a;
            x = far_quantile(d, p, &c, top + log1p(-out[i] * -expm1(low - top)));
        } else if (!c.upper)
            x = d->quantile(u, p);
        else
            x = d->cquantile ? d->cquantile(u, p) : d->quantile(1 - u, p);
        if (x < lower) x = lower; /* rounding */
        if (x > upper) x = upper;
        out[i] = if_ok(c.Z > 0, x);
    }
}
