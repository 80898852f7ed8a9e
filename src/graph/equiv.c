/* equiv.c: Markov equivalence of two directed graphs, by skeletons and immoralities. */
#include "graph/equiv.h"

static int adjacent(const struct dag *g, int x, int y)
{
    return dag_has_edge(g, x, y) || dag_has_edge(g, y, x);
}

/* Is every edge of a an adjacency of b, and every immorality of a one of b? */
static int included(const struct dag *a, const struct dag *b, int in_a, struct equiv_witness *w)
{
    for (int y = 0; y < a->n; y++)
        for_parents (a, y, x)
            if (!adjacent(b, x, y)) {
                *w = (struct equiv_witness){EQUIV_SKELETON, in_a, x, y, -1};
                return 0;
            }
    for (int y = 0; y < a->n; y++)
        for_parents (a, y, x)
            for_parents (a, y, z) {
                if (z <= x || adjacent(a, x, z)) continue;
                if (!dag_has_edge(b, x, y) || !dag_has_edge(b, z, y)) {
                    *w = (struct equiv_witness){EQUIV_IMMORALITY, in_a, x, y, z};
                    return 0;
                }
            }
    return 1;
}

/* Skeletons must be compared before immoralities: "not adjacent" then means the
   same in both. */
int equivalent(const struct dag *a, const struct dag *b, struct equiv_witness *why)
{
    struct equiv_witness w = {EQUIV_YES, 0, -1, -1, -1}, w2 = w;
    int yes = included(a, b, 1, &w), yes2 = included(b, a, 0, &w2);
    if (!yes2 && (yes || (w.kind == EQUIV_IMMORALITY && w2.kind == EQUIV_SKELETON))) w = w2;
    if (why) *why = w;
    return yes && yes2;
}
