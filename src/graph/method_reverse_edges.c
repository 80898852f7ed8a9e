/* method_reverse_edges.c: the model's edges reversed, and nothing else; not faithful. */
#include "graph/factors.h"

/* A latent's parents are its children in the model. */
static int parents(struct factors *f, int i)
{
    struct inverse *h = f->h;
    for_children (f->p->g, h->perm[i], c)
        if (h->pos[c] >= 0 && inverse_add(h, h->pos[c], 1)) return -1;
    return 0;
}

static int run(const struct problem *p, struct inverse **out, nami_err *err)
{
    return by_factors(p, ORDER_TOPOLOGICAL, parents, NULL, out, err);
}

const struct method method_reverse_edges = {
    "reverse-edges", "the model's edges turned round, nothing else; not faithful", 0, run};
