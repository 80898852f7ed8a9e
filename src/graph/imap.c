/* imap.c: the minimal I-map for a given elimination order, by walks in the moral graph of the
   ancestors. */
#include "graph/imap.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

struct search {
    const struct dag *g;
    unsigned char *left;     /* not eliminated yet: a possible parent */
    unsigned char *ancestor; /* of left[] or of v */
    int *mark, *stack, *found, nfound;
};

/* A walk in the moral graph of the ancestors reached u. */
static int arrive(struct search *s, int u, int v, int top)
{
    if (!s->ancestor[u] || s->mark[u] == v || u == v) return top;
    s->mark[u] = v;
    if (s->left[u])
        s->found[s->nfound++] = u;
    else
        s->stack[top++] = u;
    return top;
}

/* All of left[] that a walk from v meets first, through eliminated nodes. */
static void boundary(struct search *s, int v)
{
    int top = 0;
    s->nfound = 0;
    s->stack[top++] = v;
    while (top) {
        int x = s->stack[--top];
        for_parents (s->g, x, u) top = arrive(s, u, v, top);
        for_children (s->g, x, c) {
            if (!s->ancestor[c]) continue;
            top = arrive(s, c, v, top);
            for_parents (s->g, c, u) top = arrive(s, u, v, top);
        }
    }
}

/* v is eliminated: it stays in the ancestral graph only while it has a child
   there, and if it goes, its eliminated parents may go too. */
static void shrink(struct search *s, int v)
{
    int top = 0;
    s->stack[top++] = v;
    while (top) {
        int x = s->stack[--top], keep = s->left[x] || !s->ancestor[x];
        for_children (s->g, x, c) keep |= s->ancestor[c];
        if (keep) continue;
        s->ancestor[x] = 0;
        for_parents (s->g, x, u) s->stack[top++] = u;
    }
}

int imap(const struct problem *p, const unsigned char *role, const int *order, int norder,
         struct inverse **out, nami_err *err)
{
    const struct dag *g = p->g;
    int n = g->n, rc;
    struct search s = {.g = g,
                       .left = new_array(unsigned char, n),
                       .ancestor = new_array(unsigned char, n),
                       .mark = raw_array(int, n),
                       .stack = raw_array(int, n + g->m + 1),
                       .found = raw_array(int, n)};
    int *topo = raw_array(int, n);
    struct inverse *h = NULL;
    *out = NULL;
    if (!s.left || !s.ancestor || !s.mark || !s.stack || !s.found || !topo ||
        dag_toposort(g, topo) < 0) {
        rc = err_nomem(err);
        goto out;
    }
    if ((rc = inverse_start(p, role, order, norder, NULL, &h, err))) goto out;
    for (int v = 0; v < n; v++) {
        s.left[v] = role[v] == ROLE_OBSERVED || role[v] == ROLE_WANTED;
        s.mark[v] = -1;
    }
    for (int i = n; i-- > 0;) {
        int v = topo[i];
        s.ancestor[v] = s.left[v];
        for_children (g, v, c) s.ancestor[v] |= s.ancestor[c];
    }
    for (int i = 0; i < norder; i++) {
        int v = order[i];
        s.left[v] = 0;
        boundary(&s, v);
        if (inverse_add_vars(h, s.found, s.nfound)) {
            rc = err_nomem(err);
            goto out;
        }
        inverse_close(h, i);
        shrink(&s, v);
    }
    *out = h;
    h = NULL;
out:
    inverse_free(h);
    free(s.left);
    free(s.ancestor);
    free(s.mark);
    free(s.stack);
    free(s.found);
    free(topo);
    return rc;
}
