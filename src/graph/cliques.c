#include "graph/cliques.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

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
    qsort(c->node, (size_t)c->n, sizeof(int), by_value);
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

/* Factors whose parents are all observed end the branches of the tree: all that
   a branch observes are parents of its end.  Branches that share observations
   belong to one part. */
struct parts {
    int *up;    /* by factor: union-find over the ends */
    int *owner; /* by observed variable: an end that uses it, or -1 */
    int *size;  /* of a part: how many it observes ... */
    int *root;  /* ... and its root clique, or -1 */
};

static int part_of(struct parts *p, int i)
{
    while (p->up[i] != i) i = p->up[i] = p->up[p->up[i]];
    return i;
}

static void find_parts(const struct inverse *h, struct parts *p)
{
    int L = h->nlatent;
    for (int k = 0; k < h->nobserved; k++) p->owner[k] = -1;
    for (int i = 0; i < L; i++) {
        p->up[i] = i;
        p->root[i] = -1;
        if (next_factor(h, i) >= 0) continue;
        for (struct inverse_it it = inverse_it(h, i); inverse_next(&it);) {
            int *owner = &p->owner[h->pos[it.node] - L];
            if (*owner < 0)
                *owner = i;
            else
                p->up[part_of(p, i)] = part_of(p, *owner);
        }
    }
    for (int k = 0; k < h->nobserved; k++)
        if (p->owner[k] >= 0) p->size[part_of(p, p->owner[k])]++;
}

/* A part of which no end observes everything gets one clique more that does. */
static int add_roots(const struct inverse *h, struct parts *p, struct cliques *out)
{
    int first = out->n;
    for (int i = 0; i < h->nlatent; i++) {
        int part = part_of(p, i);
        if (next_factor(h, i) >= 0 || p->root[part] >= 0) continue;
        struct clique *c = &out->clique[p->root[part] = out->n++];
        if (!(c->node = raw_array(int, p->size[part]))) return -1;
        c->parent = -1;
    }
    for (int k = 0; k < h->nobserved; k++) {
        int root = p->owner[k] < 0 ? -1 : p->root[part_of(p, p->owner[k])];
        if (root < first) continue;
        struct clique *c = &out->clique[root];
        c->node[c->n++] = h->perm[h->nlatent + k];
    }
    for (int i = first; i < out->n; i++)
        qsort(out->clique[i].node, (size_t)out->clique[i].n, sizeof(int), by_value);
    return 0;
}

/* Factor i's clique {v} + parents lies inside that of a factor j before it
   whose next factor it is, if and only if j has exactly one parent more. */
int cliques_new(const struct inverse *h, int64_t max, struct cliques *out, nami_err *err)
{
    int L = h->nlatent, rc = NAMI_ENOMEM;
    int *rep = raw_array(int, L), *top = raw_array(int, L), *id = raw_array(int, L);
    struct parts p = {raw_array(int, L), raw_array(int, h->nobserved), new_array(int, L),
                      raw_array(int, L)};
    memset(out, 0, sizeof *out);
    if (h->edges + L > max) {
        rc = err_set(err, NAMI_ELIMIT, "the cliques have more than %lld entries", (long long)max);
        goto out;
    }
    out->clique = new_array(struct clique, L + L / 2 + 1);
    if (!rep || !top || !id || !p.up || !p.owner || !p.size || !p.root || !out->clique) goto out;
    for (int i = 0; i < L; i++) rep[i] = i;
    for (int j = 0; j < L; j++) {
        int i = next_factor(h, j);
        if (i >= 0 && rep[i] == i && inverse_count(h, j) == inverse_count(h, i) + 1) rep[i] = rep[j];
    }
    for (int i = 0; i < L; i++) {
        top[rep[i]] = i; /* the last factor inside this clique */
        if (rep[i] != i) continue;
        id[i] = out->n;
        if (fill_clique(&out->clique[out->n++], h, i)) goto out;
    }
    find_parts(h, &p);
    for (int i = 0; i < L; i++) /* an end that observes all of its part holds the root */
        if (next_factor(h, i) < 0 && inverse_count(h, i) == p.size[part_of(&p, i)])
            p.root[part_of(&p, i)] = id[rep[i]];
    if (add_roots(h, &p, out)) goto out;
    for (int i = 0; i < L; i++) {
        if (rep[i] != i) continue;
        struct clique *c = &out->clique[id[i]];
        int next = next_factor(h, top[i]), root = p.root[part_of(&p, top[i])];
        c->parent = next >= 0 ? id[rep[next]] : root == id[i] ? -1 : root;
        if (c->parent >= 0 && fill_sep(c, &out->clique[c->parent])) goto out;
    }
    rc = 0;
out:
    free(rep);
    free(top);
    free(id);
    free(p.up);
    free(p.owner);
    free(p.size);
    free(p.root);
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
        err_set(err, rc, "the induced graph has more than %lld edges", (long long)max_edges);
    dag_fini(&g);
    vec_free(&e);
    return rc;
}
