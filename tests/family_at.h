/* family_at.h: any head at one value or many, and its derivatives against differences. */
#ifndef TESTS_FAMILY_AT_H
#define TESTS_FAMILY_AT_H

#include "dist_at.h"
#include "net/family.h"

enum { OUTPUTS = 64 };

static double scratch[1 << 16];

struct case_ {
    struct output_dist h;
    int dim[2];
};

static inline struct case_ case_of(const struct output_dist *h)
{
    struct case_ c = {*h, {1, h->family->outputs(h)}};
    assert_true(c.dim[1] >= 1 && c.dim[1] <= OUTPUTS);
    assert_true(!h->family->work ||
                h->family->work(c.dim) <= (int)(sizeof scratch / sizeof(double)));
    return c;
}

/* logq of L values with the same outputs */
static inline void logq_at(const struct case_ *c, int L, const double *x, const double *o,
                           double *lq)
{
    struct lanes a[1 + OUTPUTS] = {{x, 1}};
    for (int j = 0; j < c->dim[1]; j++) a[1 + j] = (struct lanes){&o[j], 0};
    c->h.family->logq(&c->h, c->dim, L, &lq, a, scratch);
}

/* g: by the value, then by the outputs */
static inline double grad_at(const struct case_ *c, double x, const double *o, double *g)
{
    double lq, one = 1, *da[1 + OUTPUTS];
    const double *out = &lq, *dout = &one;
    struct lanes a[1 + OUTPUTS] = {{&x, 0}};
    for (int j = 0; j < c->dim[1]; j++) a[1 + j] = (struct lanes){&o[j], 0};
    for (int j = 0; j <= c->dim[1]; j++) {
        g[j] = 0;
        da[j] = &g[j];
    }
    logq_at(c, 1, &x, o, &lq);
    c->h.family->grad(&c->h, c->dim, 1, &out, &dout, a, da, scratch);
    return lq;
}

static inline void sample_at(const struct case_ *c, uint32_t node, int L, const double *o,
                             double *x)
{
    struct stream s = {.seed = 41, .node = node};
    struct lanes a[OUTPUTS];
    for (int j = 0; j < c->dim[1]; j++) a[j] = (struct lanes){&o[j], 0};
    c->h.family->sample(&c->h, &s, c->dim, L, &x, a, scratch);
}

/* g[j * stride + i]: how value i moves with output j */
static inline void path_at(const struct case_ *c, int n, const double *x, const double *o,
                           double *g, int stride)
{
    double *da[OUTPUTS], one[256];
    const double *dout = one;
    struct lanes a[OUTPUTS];
    assert_true(n <= 256);
    for (int i = 0; i < n; i++) one[i] = 1;
    for (int j = 0; j < c->dim[1]; j++) {
        a[j] = (struct lanes){&o[j], 0};
        da[j] = g + j * stride;
        memset(da[j], 0, sizeof(double) * (size_t)n);
    }
    c->h.family->path(&c->h, c->dim, n, &x, &dout, a, da, scratch);
}

#undef check
#define check(c, ok, ...)                                                                          \
    do {                                                                                           \
        if (!(ok)) {                                                                               \
            fprintf(stderr, "%s(%d) %s: ", (c)->h.family->name, (c)->h.size,                       \
                    (c)->h.dist ? (c)->h.dist->name : "");                                         \
            fail_msg(__VA_ARGS__);                                                                 \
        }                                                                                          \
    } while (0)

static inline void random_outputs(struct rng *r, int n, double sd, double *o)
{
    for (int j = 0; j < n; j++) o[j] = sd * rng_normal(r);
}

static inline double difference_at(const struct case_ *c, int j, double step, double x,
                                   const double *o)
{
    double v[4], w[OUTPUTS];
    for (int i = 0; i < 4; i++) {
        double by = (i < 2 ? 1 : 2) * (i % 2 ? step : -step), y = j ? x : x + by;
        memcpy(w, o, sizeof w);
        if (j) w[j - 1] += by;
        logq_at(c, 1, &y, w, &v[i]);
    }
    return (8 * (v[1] - v[0]) - (v[3] - v[2])) / (12 * step);
}

/* Against differences; where two steps give different ones (a kink, as at the knots of a spline) it
   is not looked at.  Returns the number of these. */
static inline int check_grad(const struct case_ *c, double x, const double *o, double step)
{
    double g[1 + OUTPUTS], lq = grad_at(c, x, o, g);
    int unclear = 0, discrete = c->h.family->discrete;
    if (c->h.dist) discrete = domains[c->h.dist->domain].discrete;
    check(c, isfinite(lq), "log density %g at %g", lq, x);
    if (discrete) check(c, g[0] == 0, "derivative by a state");
    for (int j = discrete; j <= c->dim[1]; j++) {
        double h = step * (1 + fabs(j ? 0 : x)), d = difference_at(c, j, h, x, o);
        double d2 = difference_at(c, j, h / 2, x, o),
               noise = (c->h.dist ? 1e-12 : 1e-14) * (1 + fabs(lq)) / h;
        double tol = 1e-6 * (0.01 + fabs(g[j])) + 4 * noise;
        if (!(fabs(d - d2) < tol))
            unclear++;
        else
            check(c, fabs(d2 - g[j]) < tol, "derivative %d at %g is %.10g, not %.10g (%g)", j, x,
                  g[j], d2, d);
    }
    return unclear;
}

#endif
