/* mixture.c: mixtures of two distributions.
   mixture(w, d1, d2): log p = log(w p1(x) + (1 - w) p2(x)).  A number in place of a distribution is
   a point mass: mixture(w, 0, poisson(lambda)) is the zero-inflated Poisson distribution. */
#include "dist/loops.h"

enum { TILE = 64 };

/* ---- a point mass ------------------------------------------------------------------- */

static void point_logp(const void *self, int n, double *out, const double *const *a)
{
    (void)self;
    for (int i = 0; i < n; i++) out[i] = density(is_real(a[1][i]), a[0][i] == a[1][i], a[0][i], 0);
}

static void point_grad(const void *self, int n, const double *out, const double *dout,
                       const double *const *a, double *const *da)
{
    (void)self, (void)out, (void)dout, (void)a;
    for (int k = 0; k < 2; k++)
        for (int i = 0; da[k] && i < n; i++) da[k][i] = 0;
}

static void point_sample(const void *self, const struct stream *s, int n, double *out,
                         const double *const *a)
{
    (void)self, (void)s;
    for (int i = 0; i < n; i++) out[i] = a[0][i];
}

const struct dist dist_point = {"point",
                                "a single value",
                                1,
                                {{"x", REAL}},
                                REAL,
                                .logp = point_logp,
                                .grad = point_grad,
                                .sample = point_sample};

/* ---- the mixture --------------------------------------------------------------------- */

/* Arguments of part k: where they begin among those of the mixture (a[0] is the value). */
static int first_arg(const struct dist *d, int k) { return k ? 2 + d->part[0]->narg : 2; }

static void arguments(const struct dist *d, int k, int i, const double *const *a, const double **b)
{
    b[0] = a[0] + i;
    for (int j = 0; j < d->part[k]->narg; j++) b[1 + j] = a[first_arg(d, k) + j] + i;
}

/* l[k]: log densities of both parts.  Where a continuous part meets a point mass, only the mass
   counts. */
static void log_parts(const struct dist *d, int i, int n, const double *const *a, double l[2][TILE])
{
    for (int k = 0; k < 2; k++) {
        const double *b[1 + DIST_ARGS];
        arguments(d, k, i, a, b);
        d->part[k]->logp(d->part[k], n, l[k], b);
    }
    for (int k = 0; k < 2 && d->atoms; k++)
        for (int j = 0; d->part[k] == &dist_point && j < n; j++)
            if (l[k][j] == 0) l[1 - k][j] = -INFINITY;
}

/* log(w e^x + (1 - w) e^y) */
static double log_mix(double w, double x, double y)
{
    double u = log(w) + x, v = log1p(-w) + y, top = u > v ? u : v;
    if (!is_unit(w) || isnan(x) || isnan(y)) return NAN;
    if (w == 0) return y;
    if (w == 1) return x;
    return isinf(top) ? top : top + log1p(exp((u < v ? u : v) - top));
}

static void logp(const void *self, int n, double *out, const double *const *a)
{
    const struct dist *d = self;
    double l[2][TILE];
    for (int i = 0; i < n; i += TILE) {
        int m = n - i < TILE ? n - i : TILE;
        log_parts(d, i, m, a, l);
        for (int j = 0; j < m; j++) out[i + j] = log_mix(a[1][i + j], l[0][j], l[1][j]);
    }
}

/* With r_k the probability of part k given x: d log p = sum r_k d log p_k, and by w it is
   (p1 - p2) / p. */
static void grad(const void *self, int n, const double *out, const double *dout,
                 const double *const *a, double *const *da)
{
    const struct dist *d = self;
    for (int i = 0; i < n; i += TILE) {
        double l[2][TILE], r[TILE], by[1 + DIST_ARGS][TILE], total[TILE] = {0};
        int m = n - i < TILE ? n - i : TILE;
        log_parts(d, i, m, a, l);
        for (int j = 0; da[1] && j < m; j++)
            da[1][i + j] = dout[i + j] * (exp(l[0][j] - out[i + j]) - exp(l[1][j] - out[i + j]));
        for (int k = 0; k < 2; k++) {
            const struct dist *p = d->part[k];
            const double *b[1 + DIST_ARGS];
            double *db[1 + DIST_ARGS] = {da[0] ? by[0] : NULL};
            int first = first_arg(d, k);
            arguments(d, k, i, a, b);
            for (int q = 0; q < p->narg; q++) db[1 + q] = da[first + q] ? by[1 + q] : NULL;
            for (int j = 0; j < m; j++) {
                double w = a[1][i + j];
                r[j] = dout[i + j] * (k ? 1 - w : w) * exp(l[k][j] - out[i + j]);
            }
            p->grad(p, m, l[k], r, b, db);
            for (int j = 0; j < m; j++) {
                for (int q = 0; q < p->narg; q++)
                    if (da[first + q]) da[first + q][i + j] = r[j] != 0 ? by[1 + q][j] : 0;
                if (da[0] && r[j] != 0) total[j] += by[0][j];
            }
        }
        for (int j = 0; da[0] && j < m; j++) da[0][i + j] = total[j];
    }
}

static void sample(const void *self, const struct stream *s, int n, double *out,
                   const double *const *a)
{
    const struct dist *d = self;
    for (int i = 0; i < n; i += TILE) {
        double x[2][TILE], u[TILE];
        int m = n - i < TILE ? n - i : TILE;
        struct stream at = {s->seed, s->node, s->first + (uint64_t)i};
        stream_uniform(&at, m, u);
        for (int k = 0; k < 2; k++) {
            const double *b[DIST_ARGS];
            struct stream own = at;
            own.seed ^= 0x9E3779B97F4A7C15u * (uint64_t)(k + 1); /* numbers of its own */
            for (int j = 0; j < d->part[k]->narg; j++) b[j] = a[first_arg(d, k) - 1 + j] + i;
            d->part[k]->sample(d->part[k], &own, m, x[k], b);
        }
        for (int j = 0; j < m; j++)
            out[i + j] = if_ok(is_unit(a[0][i + j]), u[j] < a[0][i + j] ? x[0][j] : x[1][j]);
    }
}

static const char *make(struct dist *out)
{
    const struct dist *p = out->part[0], *q = out->part[1];
    if (p == &dist_point && q == &dist_point) return "one of its parts must be a distribution";
    if (p == &dist_point || q == &dist_point) {
        const struct dist *other = p == &dist_point ? q : p;
        out->domain = domains[other->domain].discrete ? COUNT : REAL;
        out->atoms = !domains[other->domain].discrete;
    } else if (domains[p->domain].discrete != domains[q->domain].discrete) {
        return "its parts must both be discrete or both be continuous";
    } else if (domains[p->domain].discrete) {
        out->domain = p->domain == q->domain ? p->domain : COUNT;
    } else {
        double lo = fmin(domains[p->domain].lo, domains[q->domain].lo);
        double hi = fmax(domains[p->domain].hi, domains[q->domain].hi);
        out->domain = p->domain == q->domain ? p->domain
                      : lo < 0               ? REAL
                      : hi <= 1              ? UNIT
                                             : NONNEGATIVE;
    }
    out->atoms |= p->atoms | q->atoms;
    out->logp = logp;
    out->grad = grad;
    out->sample = sample;
    return NULL;
}

const struct dist_form form_mixture = {
    "mixture",
    "the first of two distributions with probability w, else the second; a number is a point mass",
    "as of d1, d2",
    3,
    {{"w", UNIT}, {"d1", A_DIST}, {"d2", A_DIST}},
    1,
    "draw the part first: z ~ dbern(w), then x from the part that z says",
    make};
