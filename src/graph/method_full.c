/* method_full.c: the fully connected inverse: every later variable is a parent. */
#include "graph/factors.h"

/* Every later variable: no independence is claimed at all. */
static int parents(struct factors *f, int i)
{
    return inverse_add(f->h, i + 1, f->h->nlatent + f->h->nobserved - i - 1);
}

static int run(const struct problem *p, struct inverse **out, nami_err *err)
{
    return by_factors(p, ORDER_NAMI, parents, NULL, out, err);
}

const struct method method_full = {"full", "fully connected: every later variable is a parent", 1,
                                   run};
