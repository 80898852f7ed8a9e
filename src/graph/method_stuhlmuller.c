/* method_stuhlmuller.c: Stuhlmueller's heuristic inverse by Markov blankets (the paper's Appendix
   C); not faithful. */
#include "graph/factors.h"

/* Appendix C: in reverse topological order, a latent's parents are those members
   of its Markov blanket (parents, children, children's parents) that were
   visited before it. */
static int parents(struct factors *f, int i)
{
    const struct dag *g = f->p->g;
    struct inverse *h = f->h;
    int v = h->perm[i], *mark = f->mark;
    mark[v] = i + 1;
    for_children (g, v, c) {
        if (mark[c] != i + 1 && h->pos[c] >= 0 && inverse_add(h, h->pos[c], 1)) return -1;
        mark[c] = i + 1;
        for_parents (g, c, u) {
            if (mark[u] == i + 1 || h->pos[u] < 0 || f->place[u] < f->place[v]) continue;
            mark[u] = i + 1;
            if (inverse_add(h, h->pos[u], 1)) return -1;
        }
    }
    return 0;
}

static int run(const struct problem *p, struct inverse **out, nami_err *err)
{
    return by_factors(p, ORDER_TOPOLOGICAL, parents, NULL, out, err);
}

const struct method method_stuhlmuller = {
    "stuhlmuller", "Stuhlmueller's heuristic inverse (Appendix C); not faithful", 0, run};
