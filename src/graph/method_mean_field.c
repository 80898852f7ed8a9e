/* method_mean_field.c: the mean-field inverse: each latent depends on the observations only; not
   faithful. */
#include "graph/factors.h"

static int parents(struct factors *f, int i)
{
    (void)i;
    return inverse_add(f->h, f->h->nlatent, f->h->nobserved);
}

static int run(const struct problem *p, struct inverse **out, nami_err *err)
{
    return by_factors(p, ORDER_TOPOLOGICAL, parents, NULL, out, err);
}

const struct method method_mean_field = {
    "mean-field", "each latent given the observations only; not faithful", 0, run};
