#include "graph/heuristic.h"

static int parents(const struct problem *p, struct inverse *h, int i, const int *place, int *mark)
{
    (void)p, (void)i, (void)place, (void)mark;
    return inverse_add(h, h->nlatent, h->nobserved);
}

static int run(const struct problem *p, struct inverse **out, nami_err *err)
{
    return heuristic(p, parents, out, err);
}

const struct method method_mean_field = {
    "mean-field", "each latent given the observations only; not faithful", 0, run};
