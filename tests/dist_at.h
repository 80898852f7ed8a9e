/* dist_at.h: any distribution at one point or many draws, whichever its kernels are. */
#ifndef TESTS_DIST_AT_H
#define TESTS_DIST_AT_H

#include <math.h>
#include <string.h>

#include "dist/bijector.h"
#include "dist/dist.h"
#include "run.h"

enum { MOST = 32 }; /* elements of a value, or of all arguments */

/* A distribution at parameters. */
struct at {
    const struct dist *d;
    int dim[1 + DIST_ARGS], nx, np;
    double p[MOST];
};

static double at_work[1 << 16];

#define for_each_try(it)                                                                           \
    for (int i_ = 0; dists[i_]; i_++)                                                              \
        for (int t_ = 0; t_ < DIST_TRIES && dists[i_]->try_at[t_].n[0]; t_++)                      \
            for (struct at it = at_try(dists[i_], t_); it.d; it.d = NULL)

static inline struct at at_try(const struct dist *d, int t)
{
    const struct dist_try *y = &d->try_at[t];
    const char *why = "";
    struct at it = {.d = d, .nx = 1};
    int n[DIST_ARGS];
    memcpy(n, y->n, sizeof n);
    if (d->size_arg)
        n[d->size_arg - 1] = (int)y->p[d->size_arg - 1]; /* they are numbers before it */
    if (d->size) it.nx = d->size(n, &why);
    it.dim[0] = it.nx;
    for (int k = 0; k < DIST_ARGS; k++) it.np += it.dim[1 + k] = y->n[k];
    memcpy(it.p, y->p, sizeof y->p);
    return it;
}

/* A stream's node for the t-th try of a distribution: new rows leave the draws of others alone. */
static inline uint32_t at_node(const struct at *it, int t)
{
    uint32_t h = (uint32_t)t;
    for (const char *s = it->d->name; *s; s++) h = h * 31 + (unsigned char)*s;
    return h % 1000003;
}

static inline int at_first(const struct at *it, int k) /* the first element of argument k */
{
    int j = 0;
    for (int i = 0; i < k; i++) j += it->dim[1 + i];
    return j;
}

static inline double at_logp(const struct at *it, const double *x)
{
    double v, *out = &v;
    const double *a[1 + DIST_ARGS] = {x};
    struct lanes l[2 * MOST];
    for (int k = 0; k < it->np && k < DIST_ARGS; k++) a[1 + k] = &it->p[k];
    for (int j = 0; j < it->nx + it->np; j++)
        l[j] = (struct lanes){j < it->nx ? &x[j] : &it->p[j - it->nx], 0};
    if (it->d->logp)
        it->d->logp(it->d, 1, &v, a);
    else
        it->d->blogp(it->d, it->dim, 1, &out, l, at_work);
    return v;
}

/* g: derivatives by the value's elements, then by the arguments' */
static inline void at_grad(const struct at *it, const double *x, double *g)
{
    double v = at_logp(it, x), one = 1, *da[2 * MOST];
    const double *out = &v, *dout = &one, *a[1 + DIST_ARGS] = {x};
    struct lanes l[2 * MOST];
    for (int k = 0; k < it->np && k < DIST_ARGS; k++) a[1 + k] = &it->p[k];
    for (int j = 0; j < it->nx + it->np; j++) {
        l[j] = (struct lanes){j < it->nx ? &x[j] : &it->p[j - it->nx], 0};
        g[j] = 0;
        da[j] = &g[j];
    }
    if (it->d->grad)
        it->d->grad(it->d, 1, out, dout, a, da);
    else
        it->d->bgrad(it->d, it->dim, 1, &out, &dout, l, da, at_work);
}

/* x[j * n + i] is element j of draw i. */
static inline void at_draw(const struct at *it, const struct stream *s, int n, double *x)
{
    double *out[MOST];
    for (int j = 0; j < it->nx; j++) out[j] = x + (size_t)j * (size_t)n;
    if (it->d->sample) {
        const double *a[DIST_ARGS];
        static double full[DIST_ARGS][1 << 16];
        for (int k = 0; k < it->np; k++) {
            for (int i = 0; i < n; i++) full[k][i] = it->p[k];
            a[k] = full[k];
        }
        it->d->sample(it->d, s, n, x, a);
    } else {
        struct lanes l[MOST];
        for (int j = 0; j < it->np; j++) l[j] = (struct lanes){&it->p[j], 0};
        it->d->bsample(it->d, s, it->dim, n, out, l, at_work);
    }
}

static inline int at_discrete(const struct at *it) { return domains[it->d->domain].discrete; }

static inline void at_bounds(const struct at *it, double *lo, double *hi)
{
    *lo = -INFINITY;
    *hi = INFINITY;
    if (it->d->bounds) it->d->bounds(it->p, lo, hi);
}

#define check(it, ok, ...)                                                                         \
    do {                                                                                           \
        if (!(ok)) {                                                                               \
            fprintf(stderr, "%s(%g, %g, %g): ", (it)->d->name, (it)->p[0], (it)->p[1],             \
                    (it)->p[2]);                                                                   \
            fail_msg(__VA_ARGS__);                                                                 \
        }                                                                                          \
    } while (0)

static inline int near(double a, double b, double tol)
{
    return a == b || fabs(a - b) <= tol * (1 + fabs(a) + fabs(b)) || (isnan(a) && isnan(b));
}

/* The element of v that element e of an argument or value moves with, so that it stays in
   its domain: the mirror of a matrix, the last of a simplex; -1: none. */
static inline int partner(enum domain d, int e, int n, double *sign)
{
    int k = 1;
    while (domains[d].rank == 2 && k * k < n) k++;
    *sign = d == SIMPLEX ? -1 : 1;
    if (d == SIMPLEX) return n - 1;
    if (d == CHOL_CORR || (d == CORR && e / k == e % k)) return e; /* cannot move alone */
    return (d == SPD || d == CORR) && e / k != e % k ? e % k * k + e / k : -1;
}

#endif
