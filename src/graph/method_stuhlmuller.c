#include "graph/heuristic.h"

/* Appendix C: in reverse topological order, a latent's parents are those members
   of its Markov blanket (parents, children, children's parents) that were
   visited before it. */
static int parents(const struct problem *p, struct inverse *h, int i, const int *place, int *mark)
{
    const struct dag *g = p->g;
    int v = h->perm[i];
    mark[v] = i + 1;
    for_children(g, v, c) {
        if (mark[c] != i + 1 && h->pos[c] >= 0 && inverse_add(h, h->pos[c], 1)) return -1;
        mark[c] = i + 1;
        for_parents(g, c, u) {
            if (mark[u] == i + 1 || h->pos[u] < 0 || place[u] < place[v]) continue;
            mark[u] = i + 1;
            if (inverse_add(h, h->pos[u], 1)) return -1;
        }
    }
    return 0;
}

static int run(const struct problem *p, struct inverse **out, nami_err *err)
{
    return heuristic(p, parents, out, err);
}

const struct method method_stuhlmuller = {
    "stuhlmuller", "Stuhlmueller's heuristic inverse (Appendix C); not faithful", 0, run};
