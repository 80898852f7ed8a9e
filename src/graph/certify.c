/* certify.c: checks that an inverse is faithful, minimal and natural, by d-separation in the
   model; a property that fails gets a witness. */
#include "graph/certify.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/rng.h"
#include "graph/dsep.h"

enum {
    SAMPLE = 200,            /* factors in a sample ... */
    SAMPLE_MIN = 20,         /* ... at least, whatever they cost */
    SAMPLE_WORK = 400000000, /* ... and nodes visited, at most */
    FULL_WORK = 300000000
};

struct check {
    struct inverse *h;
    const struct dag *g;
    struct dsep *d;
    int *pa;   /* the parents at hand */
    int *turn; /* when a node is eliminated; observed last; -1 for nuisances */
    unsigned char *is_parent;
    int64_t work;
};

static int set_witness(struct check *c, int property, int node, int other)
{
    struct witness *w = &c->h->cert.why[property];
    if (c->h->cert.is[property] == 0) return 0; /* the first one stays */
    c->h->cert.is[property] = 0;
    w->node = node;
    w->other = other;
    if (property != FAITHFUL) return 0;
    if (!(w->trail = raw_array(int, 2 * c->g->n))) return -1;
    w->ntrail = dsep_trail(c->d, other, w->trail, 2 * c->g->n);
    return 0;
}

/* A node and its parents: is it cut off from the rest of what comes later, and
   does it need each of them? */
static int check_factor(struct check *c, int v, int npa)
{
    const int *reached;
    int k, hit = 0, rc = 0;
    dsep_given(c->d, c->pa, npa);
    dsep_from(c->d, v);
    k = dsep_reached(c->d, &reached);
    c->work += k + npa + 1;
    for (int i = 0; i < npa; i++) c->is_parent[c->pa[i]] = 1;
    for (int i = 0; i < k && !rc; i++) {
        if (c->is_parent[reached[i]])
            hit++;
        else if (c->turn[reached[i]] > c->turn[v])
            rc = set_witness(c, FAITHFUL, v, reached[i]);
    }
    for (int i = 0; i < npa; i++) {
        c->is_parent[c->pa[i]] = 0;
        if (hit < npa && !rc && !dsep_reaches(c->d, c->pa[i]))
            rc = set_witness(c, MINIMAL, v, c->pa[i]);
    }
    return rc;
}

/* The i-th of all factors: model factors first, then the networks. */
static int check_one(struct check *c, int i)
{
    struct inverse *h = c->h;
    int n = 0;
    h->cert.checked++;
    if (i < h->nmodel) {
        for_parents (c->g, h->model[i], u) c->pa[n++] = u;
        return check_factor(c, h->model[i], n);
    }
    i -= h->nmodel;
    for (struct inverse_it it = inverse_it(h, i); inverse_next(&it);) c->pa[n++] = it.node;
    return check_factor(c, h->perm[i], n);
}

static int check_factors(struct check *c, int full, uint64_t seed)
{
    int total = c->h->nmodel + c->h->nlatent, rc = 0;
    struct rng rng;
    c->h->cert.is[FAITHFUL] = c->h->cert.is[MINIMAL] = 1;
    rng_init(&rng, seed, 0);
    if (full)
        for (int i = 0; i < total && !rc; i++) rc = check_one(c, i);
    else
        for (int i = 0; i < SAMPLE && !rc && (i < SAMPLE_MIN || c->work < SAMPLE_WORK); i++)
            rc = check_one(c, (int)rng_below(&rng, (uint32_t)total));
    return rc;
}

/* ---- natural ---------------------------------------------------------------
   Either no edge of the inverse runs from a latent to one of its descendants in
   the model, or none to one of its ancestors. */

/* The latest turn among the strict ancestors (descendants) of every node. */
static void latest(const struct check *c, const int *topo, int down, int *out)
{
    const struct dag *g = c->g;
    int n = g->n, L = c->h->nlatent;
    for (int i = 0; i < n; i++) {
        int v = topo[down ? n - 1 - i : i];
        out[v] = -1;
        const int *ptr = down ? g->cp : g->pp, *row = down ? g->c : g->p;
        for (int k = ptr[v]; k < ptr[v + 1]; k++) {
            int u = row[k], p = c->h->pos[u];
            if (p >= 0 && p < L && p > out[v]) out[v] = p;
            if (out[u] > out[v]) out[v] = out[u];
        }
    }
}

/* Marks all strict ancestors (descendants) of v with v; returns the work. */
static int64_t mark_line(const struct dag *g, int v, int down, int *mark, int *stack)
{
    const int *ptr = down ? g->cp : g->pp, *row = down ? g->c : g->p;
    int top = 0;
    int64_t work = 1;
    stack[top++] = v;
    while (top) {
        int x = stack[--top];
        for (int k = ptr[x]; k < ptr[x + 1]; k++, work++)
            if (mark[row[k]] != v) {
                mark[row[k]] = v;
                stack[top++] = row[k];
            }
    }
    return work;
}

/* An edge of the inverse into v from one of v's ancestors (down: descendants).
   1 found, 0 none, -1 gave up. */
static int find_edge(struct check *c, const int *topo, int down, int64_t budget, int *late,
                     int *mark, int *stack, int edge[2])
{
    latest(c, topo, down, late);
    for (int v = 0; v < c->g->n; v++) mark[v] = -1;
    for (int i = 0; i < c->h->nlatent; i++) {
        int v = c->h->perm[i];
        if (late[v] < i) continue; /* all of them are eliminated before v */
        if ((budget -= mark_line(c->g, v, down, mark, stack)) < 0) return -1;
        for (struct inverse_it it = inverse_it(c->h, i); inverse_next(&it);) {
            if (c->h->pos[it.node] >= c->h->nlatent || mark[it.node] != v) continue;
            edge[0] = it.node;
            edge[1] = v;
            return 1;
        }
    }
    return 0;
}

static int check_natural(struct check *c)
{
    int n = c->g->n, rc = -1, e[2][2];
    int *topo = raw_array(int, n), *late = raw_array(int, n), *mark = raw_array(int, n);
    int *stack = raw_array(int, n);
    if (!topo || !late || !mark || !stack || dag_toposort(c->g, topo) < 0) goto out;
    rc = 0;
    int to_descendant = find_edge(c, topo, 0, FULL_WORK, late, mark, stack, e[0]);
    int to_ancestor =
        to_descendant == 0 ? 0 : find_edge(c, topo, 1, FULL_WORK, late, mark, stack, e[1]);
    if (to_descendant == 0 || to_ancestor == 0) {
        c->h->cert.is[NATURAL] = 1;
    } else if (to_descendant == 1 && to_ancestor == 1) {
        int *w = e[c->h->mode && strcmp(c->h->mode, "reverse") == 0];
        rc = set_witness(c, NATURAL, w[1], w[0]);
    }
out:
    free(topo);
    free(late);
    free(mark);
    free(stack);
    return rc;
}

/* As if it had never been looked at. */
static void forget(struct certificate *c)
{
    for (int k = 0; k < NPROPERTY; k++) free(c->why[k].trail);
    memset(c, 0, sizeof *c);
    for (int k = 0; k < NPROPERTY; k++) c->is[k] = -1;
}

int certify(struct inverse *h, const struct dag *g, enum verify how, uint64_t seed, nami_err *err)
{
    int n = g->n, total = h->nmodel + h->nlatent, rc = -1;
    forget(&h->cert);
    h->cert.total = total;
    if (how == VERIFY_NONE) return 0;
    if (how == VERIFY_AUTO) {
        double work = (double)total * ((double)n + g->m) + (double)h->edges;
        how = work <= FULL_WORK ? VERIFY_FULL : VERIFY_SAMPLE;
    }
    if (total <= SAMPLE) how = VERIFY_FULL;
    struct check c = {.h = h,
                      .g = g,
                      .d = dsep_new(g),
                      .pa = raw_array(int, n),
                      .turn = raw_array(int, n),
                      .is_parent = new_array(unsigned char, n)};
    if (c.d && c.pa && c.turn && c.is_parent) {
        for (int v = 0; v < n; v++) c.turn[v] = -1;
        for (int i = 0; i < h->nmodel; i++) c.turn[h->model[i]] = i;
        for (int i = 0; i < h->nlatent + h->nobserved; i++) c.turn[h->perm[i]] = h->nmodel + i;
        rc = check_factors(&c, how == VERIFY_FULL, seed);
        if (!rc) rc = check_natural(&c);
    }
    dsep_free(c.d);
    free(c.pa);
    free(c.turn);
    free(c.is_parent);
    return rc ? err_nomem(err) : 0;
}
