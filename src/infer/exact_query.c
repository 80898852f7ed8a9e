/* exact_query.c: queries of a calibrated clique tree: marginals, joint probabilities, entropy,
   draws. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "infer/exact.h"
#include "infer/exact_axes.h"

/* ---- marginals ---------------------------------------------------------------------- */

void ctree_marginal(const struct ctree *t, int v, double *p)
{
    struct axes a;
    int c = ctree_find(t, &v, 1);
    memset(p, 0, sizeof *p * (size_t)t->net->card[v]);
    if (c < 0) {
        p[t->state[v]] = 1;
        return;
    }
    axes_sub(&a, t->net, &t->c[c], &v, 1);
    axes_each(&a, run_collect, t->c[c].b, p, 0);
}

static int add_joint(const struct ctree *t, const int *var, int nvar, const size_t *stride,
                     size_t size, double weight, double *p, nami_err *err);

/* No clique contains all variables: conditions on each state of v in turn. */
static int add_states(const struct ctree *t, int v, const int *var, int nvar, const size_t *stride,
                      size_t size, double weight, double *p, nami_err *err)
{
    int *state = raw_array(int, t->net->n), rc = 0;
    double *own = raw_array(double, t->net->card[v]);
    if (!state || !own) rc = err_nomem(err);
    if (!rc) {
        memcpy(state, t->state, sizeof *state * (size_t)t->net->n);
        ctree_marginal(t, v, own);
    }
    for (int s = 0; !rc && s < t->net->card[v]; s++) {
        struct ctree given;
        if (own[s] == 0) continue;
        state[v] = s;
        if ((rc = ctree_new(t->net, state, t->most, &given, err))) break;
        if (!(rc = ctree_calibrate(&given, err)))
            rc = add_joint(&given, var, nvar, stride, size, weight * own[s], p, err);
        ctree_free(&given);
    }
    free(state);
    free(own);
    return rc;
}

/* p += weight * p(var | evidence) */
static int add_joint(const struct ctree *t, const int *var, int nvar, const size_t *stride,
                     size_t size, double weight, double *p, nami_err *err)
{
    size_t at = 0;
    int c = ctree_find(t, var, nvar), k = 0;
    if (c == -2) {
        while (t->state[var[k]] >= 0) k++;
        return add_states(t, var[k], var, nvar, stride, size, weight, p, err);
    }
    for (; k < nvar; k++)
        if (t->state[var[k]] >= 0) at += stride[k] * (size_t)t->state[var[k]];
    if (c == -1) {
        p[at] += weight;
        return 0;
    }
    struct axes a;
    double *q = new_array(double, size);
    if (!q) return err_nomem(err);
    axes_init(&a, t->net, &t->c[c], var, nvar, stride);
    axes_each(&a, run_collect, t->c[c].b, q + at, 0);
    for (size_t i = 0; i < size; i++) p[i] += weight * q[i];
    free(q);
    return 0;
}

int ctree_joint(const struct ctree *t, const int *var, int nvar, double *p, nami_err *err)
{
    size_t *stride = raw_array(size_t, nvar), size = 1;
    if (!stride) return err_nomem(err);
    for (int k = nvar - 1; k >= 0; k--) {
        stride[k] = size;
        size *= (size_t)t->net->card[var[k]];
    }
    memset(p, 0, sizeof *p * size);
    int rc = add_joint(t, var, nvar, stride, size, 1, p, err);
    free(stride);
    return rc;
}

/* ---- entropy ------------------------------------------------------------------------ */

static double entropy(size_t n, const double *logp)
{
    double h = 0;
    for (size_t i = 0; i < n; i++)
        if (logp[i] > -INFINITY) h -= exp(logp[i]) * logp[i];
    return h;
}

/* The entropy of the cliques minus that of the separators. */
double ctree_entropy(const struct ctree *t)
{
    double h = 0;
    for (int i = 0; i < t->n; i++) {
        struct dclique *c = &t->c[i];
        struct axes a;
        h += entropy(c->size, c->b);
        if (c->parent < 0) continue;
        axes_sub(&a, t->net, c, c->sep, c->nsep);
        axes_log_sum(&a, c->b, c->up, c->sep_size); /* messages are no longer needed */
        h -= entropy(c->sep_size, c->up);
    }
    return h;
}

/* ---- draws -------------------------------------------------------------------------- */

/* Clique by clique from the roots.  Draws that agree in the separator share one table of
   cumulative weights. */
enum { STREAM = 1 << 30 }; /* random streams distinct from those of the model */

struct drawing {
    const struct ctree *t;
    size_t n;
    int *x;
    double *u; /* (n) uniform */
    struct {
        size_t sep; /* start of its slice of the clique */
        size_t draw;
    } * key;        /* (n) */
    size_t *offset; /* of the entries of a slice */
    double *sum;    /* cumulative weights */
};

static int by_sep(const void *a_, const void *b_)
{
    const size_t *a = a_, *b = b_; /* the key: sep, then draw */
    if (a[0] != b[0]) return a[0] < b[0] ? -1 : 1;
    return (a[1] > b[1]) - (a[1] < b[1]);
}

/* Keys of all draws, and the offsets of a slice: all states of the variables outside the
   separator. */
static size_t slices(struct drawing *d, const struct dclique *c)
{
    size_t step = 1, m = 1;
    for (size_t i = 0; i < d->n; i++) {
        d->key[i].sep = 0;
        d->key[i].draw = i;
    }
    d->offset[0] = 0;
    for (int k = c->n - 1, s = c->nsep - 1; k >= 0; k--) {
        int v = c->var[k], card = d->t->net->card[v];
        if (s >= 0 && c->sep[s] == v) {
            for (size_t i = 0; i < d->n; i++)
                d->key[i].sep += step * (size_t)d->x[(size_t)v * d->n + i];
            s--;
        } else {
            for (int j = 1; j < card; j++)
                for (size_t i = 0; i < m; i++)
                    d->offset[(size_t)j * m + i] = d->offset[i] + (size_t)j * step;
            m *= (size_t)card;
        }
        step *= (size_t)card;
    }
    qsort(d->key, d->n, sizeof *d->key, by_sep);
    return m;
}

static void weigh(struct drawing *d, const double *b, size_t m)
{
    double most = -INFINITY, s = 0;
    for (size_t i = 0; i < m; i++) most = fmax(most, b[d->offset[i]]);
    for (size_t i = 0; i < m; i++) d->sum[i] = s += exp(b[d->offset[i]] - most);
}

/* The first entry whose cumulative weight exceeds u of all: one of positive weight. */
static size_t pick(const double *sum, size_t m, double u)
{
    size_t lo = 0, hi = m - 1;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (sum[mid] > u * sum[m - 1])
            hi = mid;
        else
            lo = mid + 1;
    }
    while (lo && sum[lo] == sum[lo - 1]) lo--; /* rounding, at the very end */
    return lo;
}

static void draw_clique(struct drawing *d, const struct dclique *c)
{
    size_t m = slices(d, c);
    for (size_t i = 0; i < d->n; i++) {
        size_t sep = d->key[i].sep, draw = d->key[i].draw;
        if (!i || sep != d->key[i - 1].sep) weigh(d, c->b + sep, m);
        size_t at = sep + d->offset[pick(d->sum, m, d->u[draw])];
        for (int k = c->n - 1; k >= 0; k--) {
            size_t card = (size_t)d->t->net->card[c->var[k]];
            d->x[(size_t)c->var[k] * d->n + draw] = (int)(at % card);
            at /= card;
        }
    }
}

int ctree_draw(const struct ctree *t, uint64_t seed, uint64_t first, size_t n, int *x,
               nami_err *err)
{
    struct drawing d = {.t = t, .n = n, .x = x, .u = raw_array(double, n)};
    d.key = mem_raw(n, sizeof *d.key);
    d.offset = raw_array(size_t, t->largest);
    d.sum = raw_array(double, t->largest);
    int rc = d.u && d.key && d.offset && d.sum ? 0 : err_nomem(err);
    for (int v = 0; v < t->net->n && !rc; v++)
        for (size_t i = 0; i < n; i++) x[(size_t)v * n + i] = t->state[v];
    for (int i = t->n - 1; i >= 0 && !rc; i--) {
        enum { CHUNK = 1 << 20 };
        for (size_t at = 0; at < n; at += CHUNK) {
            struct stream s = {seed, STREAM + (uint32_t)t->order[i], first + at};
            stream_uniform(&s, (int)(n - at < CHUNK ? n - at : CHUNK), d.u + at);
        }
        draw_clique(&d, &t->c[t->order[i]]);
    }
    free(d.u);
    free(d.key);
    free(d.offset);
    free(d.sum);
    return rc;
}
