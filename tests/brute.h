/* brute.h: d-separation and inverses for graphs of at most 16 nodes, straight
   from the definitions, on sets as bit masks.  Shares no code with src/graph:
   two nodes are separated given Z if the moral graph of the ancestors of both
   and of Z has no path between them that avoids Z. */
#ifndef TESTS_BRUTE_H
#define TESTS_BRUTE_H

#include "graph/inverse.h"
#include "graph/invert.h"

struct brute {
    int n;
    unsigned pa[16], ch[16], anc[16], desc[16]; /* strict ancestors and descendants */
};

static inline void brute_init(struct brute *b, const struct dag *g)
{
    *b = (struct brute){.n = g->n};
    for (int v = 0; v < g->n; v++)
        for_parents (g, v, u) {
            b->pa[v] |= 1u << u;
            b->ch[u] |= 1u << v;
        }
    for (int v = 0; v < g->n; v++) {
        b->anc[v] = b->pa[v];
        b->desc[v] = b->ch[v];
    }
    for (int k = 0; k < g->n; k++)
        for (int v = 0; v < g->n; v++)
            for (int u = 0; u < g->n; u++) {
                if (b->anc[v] >> u & 1) b->anc[v] |= b->anc[u];
                if (b->desc[v] >> u & 1) b->desc[v] |= b->desc[u];
            }
}

static inline int brute_dsep(const struct brute *b, int x, int y, unsigned z)
{
    unsigned in = z | 1u << x | 1u << y, adj[16] = {0}, reach = 1u << x;
    for (int v = 0; v < b->n; v++)
        if (in >> v & 1) in |= b->anc[v];
    for (int v = 0; v < b->n; v++) {
        if (!(in >> v & 1)) continue;
        unsigned family = b->pa[v] | 1u << v; /* all of it is joined */
        for (int u = 0; u < b->n; u++)
            if (family >> u & 1) adj[u] |= family;
    }
    for (unsigned old = 0; old != reach;) {
        old = reach;
        for (int v = 0; v < b->n; v++)
            if (reach >> v & 1 && !(z >> v & 1)) reach |= adj[v] & in;
    }
    return !(reach >> y & 1);
}

/* The parents of v in the minimal I-map, if `later` is what they may be:
   those it depends on given all the others. */
static inline unsigned brute_boundary(const struct brute *b, int v, unsigned later)
{
    unsigned pa = 0;
    for (int u = 0; u < b->n; u++)
        if (later >> u & 1 && !brute_dsep(b, v, u, later & ~(1u << u))) pa |= 1u << u;
    return pa;
}

static inline unsigned parent_mask(const struct inverse *h, int i)
{
    unsigned m = 0;
    for (struct inverse_it it = inverse_it(h, i); inverse_next(&it);) m |= 1u << it.node;
    return m;
}

static inline int has(const int *a, int n, int v)
{
    for (int i = 0; i < n; i++)
        if (a[i] == v) return 1;
    return 0;
}

#endif
