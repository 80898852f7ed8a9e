/* exact_tree.c: clique trees of discrete networks, and beliefs by messages along them (Lauritzen
   and Spiegelhalter 1988), in logarithms, to avoid underflow. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "graph/cliques.h"
#include "graph/invert.h"
#include "infer/exact.h"
#include "infer/exact_axes.h"

/* ---- the tree ----------------------------------------------------------------------- */

/* The graph without the edges out of observed variables: its moral graph connects exactly the
   latent variables of each table. Observed variables are leaves with one state. */
static int cut_graph(const struct dnet *d, const int *state, struct dag *out, int *size,
                     nami_err *err)
{
    vec(struct edge) e = {0};
    int rc = 0;
    for (int v = 0; v < d->n && !rc; v++) {
        size[v] = state[v] < 0 ? d->card[v] : 1;
        for_parents (d->g, v, u)
            if (state[u] < 0 && !rc && vec_push(&e, ((struct edge){u, v}))) rc = err_nomem(err);
    }
    if (!rc) rc = dag_init(out, d->n, e.a, e.n, err);
    vec_free(&e);
    return rc;
}

static double entries(const struct dnet *d, const int *state, const struct cliques *c,
                      double *largest)
{
    double total = 0;
    *largest = 0;
    for (int i = 0; i < c->n; i++) {
        double size = 1;
        for (int k = 0; k < c->clique[i].n; k++)
            if (state[c->clique[i].node[k]] < 0) size *= d->card[c->clique[i].node[k]];
        total += size;
        *largest = fmax(*largest, size);
    }
    return total;
}

/* The cliques of the best elimination order found by the criteria. */
static int find_cliques(const struct dnet *d, const int *state, struct cliques *out, double *total,
                        double *largest, nami_err *err)
{
    struct dag g = {0};
    int *size = raw_array(int, d->n), rc = size ? 0 : err_nomem(err);
    unsigned char *observed = new_array(unsigned char, d->n);
    struct problem p = {.g = &g, .observed = observed, .size = size, .mode = MODE_FREE};
    if (!rc && !observed) rc = err_nomem(err);
    if (!rc) rc = cut_graph(d, state, &g, size, err);
    *total = INFINITY;
    for (int i = 0; criteria[i].name && !rc; i++) {
        struct inverse *h = NULL;
        struct cliques c = {0};
        double biggest, sum = INFINITY;
        p.criterion = &criteria[i];
        rc = method_paper.invert(&p, &h,
                                 err); /* eliminates all nodes in the unmodified moral graph */
        if (!rc) rc = cliques_new(h, INT64_MAX, &c, err);
        inverse_free(h);
        if (!rc) sum = entries(d, state, &c, &biggest);
        if (sum < *total) {
            struct cliques worse = *out;
            *out = c;
            c = worse;
            *total = sum;
            *largest = biggest;
        }
        cliques_free(&c);
    }
    dag_fini(&g);
    free(size);
    free(observed);
    if (rc) cliques_free(out);
    return rc;
}

/* The latent variables of a list, and the product of their numbers of states. */
static int latent(const struct ctree *t, const int *from, int n, int **to, int *nto, size_t *size)
{
    if (!(*to = raw_array(int, n))) return -1;
    *size = 1;
    for (int k = 0; k < n; k++)
        if (t->state[from[k]] < 0) {
            (*to)[(*nto)++] = from[k];
            *size *= (size_t)t->net->card[from[k]];
        }
    return 0;
}

static int take_cliques(struct ctree *t, const struct cliques *c)
{
    if (!(t->c = new_array(struct dclique, c->n))) return -1;
    t->n = c->n;
    for (int i = 0; i < c->n; i++) {
        struct dclique *to = &t->c[i];
        const struct clique *from = &c->clique[i];
        to->parent = from->parent;
        if (latent(t, from->node, from->n, &to->var, &to->n, &to->size) ||
            latent(t, from->sep, from->parent < 0 ? 0 : from->nsep, &to->sep, &to->nsep,
                   &to->sep_size))
            return -1;
        to->b = raw_array(double, to->size);
        to->up = raw_array(double, 2 * to->sep_size);
        if (!to->b || !to->up) return -1;
    }
    return 0;
}

/* Sorts children before parents, by decreasing distance from the root. */
static int sort_cliques(struct ctree *t)
{
    int *depth = raw_array(int, t->n), *start = new_array(int, t->n + 1), most = 0;
    t->order = raw_array(int, t->n);
    int ok = depth && start && t->order;
    for (int i = 0; i < t->n && ok; i++) depth[i] = -1;
    for (int i = 0; i < t->n && ok; i++) {
        int n = 0, j = i, d;
        for (; j >= 0 && depth[j] < 0; j = t->c[j].parent) n++;
        d = j < 0 ? n : depth[j] + n + 1;
        for (j = i; n-- > 0; j = t->c[j].parent) depth[j] = --d;
        if (depth[i] > most) most = depth[i];
    }
    for (int i = 0; i < t->n && ok; i++) start[most - depth[i] + 1]++;
    for (int k = 0; k < t->n && ok; k++) start[k + 1] += start[k];
    for (int i = 0; i < t->n && ok; i++) t->order[start[most - depth[i]]++] = i;
    free(depth);
    free(start);
    return ok ? 0 : -1;
}

static int holds(const struct dclique *c, int v)
{
    int lo = 0, hi = c->n;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (c->var[mid] < v)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < c->n && c->var[lo] == v;
}

int ctree_find(const struct ctree *t, const int *var, int n)
{
    int one = 0, best = -2;
    while (one < n && t->state[var[one]] >= 0) one++;
    if (one == n) return -1;
    for (int i = t->at_p[var[one]]; i < t->at_p[var[one] + 1]; i++) {
        const struct dclique *c = &t->c[t->at[i]];
        int k = one;
        while (k < n && (t->state[var[k]] >= 0 || holds(c, var[k]))) k++;
        if (k == n && (best < 0 || c->size < t->c[best].size)) best = t->at[i];
    }
    return best;
}

static int find_homes(struct ctree *t)
{
    int n = t->net->n;
    t->at_p = new_array(int, n + 2);
    t->home = raw_array(int, n);
    if (!t->at_p || !t->home) return -1;
    for (int i = 0; i < t->n; i++)
        for (int k = 0; k < t->c[i].n; k++) t->at_p[t->c[i].var[k] + 2]++;
    for (int v = 0; v < n; v++) t->at_p[v + 2] += t->at_p[v + 1];
    if (!(t->at = raw_array(int, t->at_p[n + 1]))) return -1;
    for (int i = 0; i < t->n; i++)
        for (int k = 0; k < t->c[i].n; k++) t->at[t->at_p[t->c[i].var[k] + 1]++] = i;
    for (int v = 0; v < n; v++) t->home[v] = ctree_find(t, t->net->t[v].var, t->net->t[v].n);
    return 0;
}

int ctree_new(const struct dnet *d, const int *state, size_t most, struct ctree *out, nami_err *err)
{
    struct cliques c = {0};
    double total = 0, largest = 0;
    *out = (struct ctree){.net = d, .most = most, .state = raw_array(int, d->n)};
    if (!out->state) return err_nomem(err);
    memcpy(out->state, state, sizeof *state * (size_t)d->n);
    int rc = find_cliques(d, state, &c, &total, &largest, err);
    if (!rc && total > (double)most)
        rc = err_set(err, NAMI_ELIMIT,
                     "the clique tree has %.3g entries, %.3g of them in the largest clique: more "
                     "than %.3g are too many; observe more, or sample",
                     total, largest, (double)most);
    if (!rc) {
        out->total = (size_t)total;
        out->largest = (size_t)largest;
        if (take_cliques(out, &c) || sort_cliques(out) || find_homes(out)) rc = err_nomem(err);
    }
    cliques_free(&c);
    if (rc) ctree_free(out);
    return rc;
}

void ctree_free(struct ctree *t)
{
    for (int i = 0; i < t->n; i++) {
        free(t->c[i].var);
        free(t->c[i].sep);
        free(t->c[i].b);
        free(t->c[i].up);
    }
    free(t->c);
    free(t->state);
    free(t->order);
    free(t->home);
    free(t->at_p);
    free(t->at);
    *t = (struct ctree){0};
}

/* ---- beliefs ------------------------------------------------------------------------ */

/* The slice of a table at the evidence: offset *at, and strides of all its variables. */
static void table_at(const struct ctree *t, const struct dtable *f, size_t *stride, size_t *at)
{
    size_t step = 1;
    *at = 0;
    for (int k = f->n - 1; k >= 0; k--) {
        stride[k] = step;
        if (t->state[f->var[k]] >= 0) *at += step * (size_t)t->state[f->var[k]];
        step *= (size_t)t->net->card[f->var[k]];
    }
}

/* Multiplies the tables into their cliques; fully observed ones into a constant. */
static int fill(struct ctree *t, double *constant, nami_err *err)
{
    int most = 0;
    for (int v = 0; v < t->net->n; v++)
        if (t->net->t[v].n > most) most = t->net->t[v].n;
    size_t *stride = raw_array(size_t, most), at;
    if (!stride) return err_nomem(err);
    *constant = 0;
    for (int i = 0; i < t->n; i++) memset(t->c[i].b, 0, sizeof(double) * t->c[i].size);
    for (int v = 0; v < t->net->n; v++) {
        const struct dtable *f = &t->net->t[v];
        struct axes a;
        table_at(t, f, stride, &at);
        if (t->home[v] < 0) {
            *constant += f->logp[at];
            continue;
        }
        axes_init(&a, t->net, &t->c[t->home[v]], f->var, f->n, stride);
        axes_each(&a, run_add, t->c[t->home[v]].b, f->logp + at, 0);
    }
    free(stride);
    return 0;
}

static double log_sum(const struct dclique *c)
{
    double s[2];
    struct axes all = {.n = 1, .size = {c->size}};
    axes_log_sum(&all, c->b, s, 1);
    return s[0];
}

static void log_max(const struct axes *a, double *t, double *s, size_t size)
{
    for (size_t i = 0; i < size; i++) s[i] = -INFINITY;
    axes_each(a, run_max, t, s, 0);
}

/* Collects messages towards the roots. */
static void to_roots(struct ctree *t,
                     void (*reduce)(const struct axes *, double *, double *, size_t))
{
    for (int i = 0; i < t->n; i++) {
        struct dclique *c = &t->c[t->order[i]];
        struct axes a;
        if (c->parent < 0) continue;
        axes_sub(&a, t->net, c, c->sep, c->nsep);
        reduce(&a, c->b, c->up, c->sep_size);
        axes_sub(&a, t->net, &t->c[c->parent], c->sep, c->nsep);
        axes_each(&a, run_add, t->c[c->parent].b, c->up, 0);
    }
}

/* Distributes messages from the roots: the belief of the parent divided by the message it
   received. */
static void from_roots(struct ctree *t, double *down)
{
    for (int i = t->n - 1; i >= 0; i--) {
        struct dclique *c = &t->c[t->order[i]];
        struct axes a;
        if (c->parent < 0) continue;
        axes_sub(&a, t->net, &t->c[c->parent], c->sep, c->nsep);
        axes_log_sum(&a, t->c[c->parent].b, down, c->sep_size);
        for (size_t s = 0; s < c->sep_size; s++)
            down[s] = isinf(c->up[s]) ? -INFINITY : down[s] - c->up[s];
        axes_sub(&a, t->net, c, c->sep, c->nsep);
        axes_each(&a, run_add, c->b, down, 0);
    }
}

static int impossible(nami_err *err)
{
    return err_set(err, NAMI_EINPUT, "the evidence has probability 0");
}

int ctree_calibrate(struct ctree *t, nami_err *err)
{
    size_t most = 1;
    for (int i = 0; i < t->n; i++)
        if (t->c[i].sep_size > most) most = t->c[i].sep_size;
    double *down = raw_array(double, 2 * most);
    int rc = down ? fill(t, &t->log_evidence, err) : err_nomem(err);
    if (!rc) {
        to_roots(t, axes_log_sum);
        for (int i = 0; i < t->n; i++) {
            if (t->c[i].parent >= 0) continue;
            double z = log_sum(&t->c[i]);
            t->log_evidence += z;
            for (size_t k = 0; k < t->c[i].size; k++) t->c[i].b[k] -= z;
        }
        if (!(t->log_evidence > -INFINITY)) rc = impossible(err);
    }
    if (!rc) from_roots(t, down);
    free(down);
    return rc;
}

/* ---- the most probable states ------------------------------------------------------- */

/* The largest entry of a clique given the states of the separator. */
static void choose(const struct ctree *t, const struct dclique *c, int *state)
{
    size_t best = 0;
    double most = -INFINITY;
    for (size_t i = 0; i < c->size; i++) {
        if (!(c->b[i] > most)) continue;
        size_t rest = i;
        int fits = 1;
        for (int k = c->n - 1, s = c->nsep - 1; k >= 0 && fits; k--) {
            size_t card = (size_t)t->net->card[c->var[k]];
            if (s >= 0 && c->sep[s] == c->var[k]) {
                fits = (size_t)state[c->var[k]] == rest % card;
                s--;
            }
            rest /= card;
        }
        if (fits) best = i, most = c->b[i];
    }
    for (int k = c->n - 1; k >= 0; k--) {
        size_t card = (size_t)t->net->card[c->var[k]];
        state[c->var[k]] = (int)(best % card);
        best /= card;
    }
}

int ctree_mpe(struct ctree *t, int *state, double *logp, nami_err *err)
{
    int rc = fill(t, logp, err);
    if (rc) return rc;
    to_roots(t, log_max);
    for (int i = 0; i < t->n; i++) {
        double most = -INFINITY;
        for (size_t k = 0; k < t->c[i].size && t->c[i].parent < 0; k++)
            if (t->c[i].b[k] > most) most = t->c[i].b[k];
        if (t->c[i].parent < 0) *logp += most;
    }
    if (!(*logp > -INFINITY)) return impossible(err);
    memcpy(state, t->state, sizeof *state * (size_t)t->net->n);
    for (int i = t->n - 1; i >= 0; i--) choose(t, &t->c[t->order[i]], state);
    return 0;
}
