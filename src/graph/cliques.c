/* cliques.c: the induced graph of an inverse made by elimination, and its clique (junction)
   tree. */
#include "graph/cliques.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* The factor that is eliminated first among i's latent parents, or -1. */
static int next_factor(const struct inverse *h, int i)
{
    if (h->ptr[i] == h->ptr[i + 1]) return -1;
    int start = h->run.a[h->ptr[i]].start; /* runs are sorted, latents come first */
    return start < h->nlatent ? start : -1;
}

static int fill_clique(struct clique *c, const struct inverse *h, int i)
{
    if (!(c->node = raw_array(int, inverse_count(h, i) + 1))) return -1;
    c->node[c->n++] = h->perm[i];
    for (struct inverse_it it = inverse_it(h, i); inverse_next(&it);) c->node[c->n++] = it.node;
    sort_ints(c->node, (size_t)c->n);
    return 0;
}

static int fill_sep(struct clique *c, const struct clique *up)
{
    if (!(c->sep = raw_array(int, c->n))) return -1;
    for (int a = 0, b = 0; a < c->n && b < up->n;) {
        if (c->node[a] == up->node[b]) c->sep[c->nsep++] = c->node[a];
        int d = c->node[a] - up->node[b];
        a += d <= 0;
        b += d >= 0;
    }
    return 0;
}

/* Observed variables that some factor uses. */
static int used_observed(const struct inverse *h, unsigned char *used)
{
    int n = 0;
    for (int i = 0; i < h->nlatent; i++)
        for (int64_t r = h->ptr[i]; r < h->ptr[i + 1]; r++)
            for (int k = 0; k < h->run.a[r].count; k++) {
                int p = h->run.a[r].start + k - h->nlatent;
                if (p >= 0 && !used[p]) {
                    used[p] = 1;
                    n++;
                }
            }
    return n;
}

/* Eliminating a node joins its parents: all but the next to go are parents of
   that one.  Other inverses have no clique tree of their own. */
static int from_elimination(const struct inverse *h, int *rc, nami_err *err)
{
    int *mark = new_array(int, h->n), yes = mark != NULL;
    for (int j = 0; j < h->nlatent && yes; j++) {
        int i = next_factor(h, j);
        if (i < 0) continue;
        for (struct inverse_it it = inverse_it(h, i); inverse_next(&it);) mark[it.node] = j + 1;
        mark[h->perm[i]] = j + 1;
        for (struct inverse_it it = inverse_it(h, j); inverse_next(&it) && yes;)
            yes = mark[it.node] == j + 1;
    }
    if (mark && !yes)
        *rc = err_set(err, NAMI_EUSAGE,
                      "this inverse has no clique tree: it is not the result of an "
                      "elimination; invert with method nami and barren aside");
    free(mark);
    return yes;
}

/* The clique of the observed variables is not maximal if one below it holds all
   of them: that one takes its place. */
static void drop_root(struct cliques *c, int root)
{
    int heir = 0;
    while (heir < root &&
           !(c->clique[heir].parent == root && c->clique[heir].nsep == c->clique[root].n))
        heir++;
    if (heir == root) return;
    for (int i = 0; i < root; i++)
        if (c->clique[i].parent == root) c->clique[i].parent = i == heir ? -1 : heir;
    c->clique[heir].nsep = 0;
    free(c->clique[root].node);
    free(c->clique[root].sep);
    c->n--; /* it was the last */
}

/* Factor i's clique {v} + parents lies inside that of a factor j before it
   whose next factor it is, if and only if j has exactly one parent more. */
int cliques_new(const struct inverse *h, int64_t max, struct cliques *out, nami_err *err)
{
    int L = h->nlatent, rc = NAMI_ENOMEM;
    int *rep = raw_array(int, L), *top = raw_array(int, L), *id = raw_array(int, L);
    unsigned char *used = new_array(unsigned char, h->nobserved);
    memset(out, 0, sizeof *out);
    if (h->edges + L > max) {
        rc = err_set(err, NAMI_ELIMIT, "the cliques have more than %lld entries", (long long)max);
        goto out;
    }
    if (!from_elimination(h, &rc, err)) goto out;
    out->clique = new_array(struct clique, L + 1);
    if (!rep || !top || !id || !used || !out->clique) goto out;
    for (int i = 0; i < L; i++) rep[i] = i;
    for (int j = 0; j < L; j++) {
        int i = next_factor(h, j);
        if (i >= 0 && rep[i] == i && inverse_count(h, j) == inverse_count(h, i) + 1)
            rep[i] = rep[j];
    }
    for (int i = 0; i < L; i++) {
        top[rep[i]] = i; /* the last factor inside this clique */
        if (rep[i] != i) continue;
        id[i] = out->n;
        if (fill_clique(&out->clique[out->n++], h, i)) goto out;
    }
    int root = -1, nused = used_observed(h, used);
    if (nused) {
        struct clique *c = &out->clique[root = out->n++];
        if (!(c->node = raw_array(int, nused))) goto out;
        for (int k = 0; k < h->nobserved; k++)
            if (used[k]) c->node[c->n++] = h->perm[L + k];
        sort_ints(c->node, (size_t)c->n);
        c->parent = -1;
    }
    for (int i = 0; i < L; i++) {
        if (rep[i] != i) continue;
        struct clique *c = &out->clique[id[i]];
        int up = next_factor(h, top[i]);
        c->parent = up >= 0 ? id[rep[up]] : h->ptr[i] < h->ptr[i + 1] ? root : -1;
        if (c->parent >= 0 && fill_sep(c, &out->clique[c->parent])) goto out;
    }
    if (root >= 0) drop_root(out, root);
    rc = 0;
out:
    free(rep);
    free(top);
    free(id);
    free(used);
    if (rc) cliques_free(out);
    return rc == NAMI_ENOMEM ? err_nomem(err) : rc;
}

void cliques_free(struct cliques *c)
{
    for (int i = 0; i < c->n; i++) {
        free(c->clique[i].node);
        free(c->clique[i].sep);
    }
    free(c->clique);
    memset(c, 0, sizeof *c);
}

/* The inverse is itself a graph, and the induced graph is its moral graph. */
int induced_init(struct ugraph *j, const struct inverse *h, int64_t max_edges, nami_err *err)
{
    vec(struct edge) e = {0};
    struct dag g = {0};
    int rc = 0;
    memset(j, 0, sizeof *j);
    if (h->edges > max_edges) rc = NAMI_ELIMIT;
    for (int i = 0; i < h->nlatent && !rc; i++)
        for (struct inverse_it it = inverse_it(h, i); inverse_next(&it) && !rc;)
            if (vec_push(&e, ((struct edge){it.node, h->perm[i]}))) rc = err_nomem(err);
    if (!rc && !(rc = dag_init(&g, h->n, e.a, e.n, err)))
        rc = moral_upto(j, &g, NULL, max_edges, err);
    if (rc == NAMI_ELIMIT)
        rc = err_set(err, rc, "the induced graph has more than %lld edges", (long long)max_edges);
    dag_fini(&g);
    vec_free(&e);
    return rc;
}
