/* transform.c: transformations of data in the notation of OpenBUGS, in the model block:

       z[i] <- log(y[i])
       z[i] ~ dnorm(mu, tau)

   Both relations have the same left side in the same loop, so the first must define data: it is
   treated as part of a data block, which rejects what is not computed from data. */
#include <string.h>

#include "model/lang/parse.h"

static int same_expr(const struct expr *x, const struct expr *y)
{
    if (x->kind != y->kind || x->narg != y->narg) return 0;
    if (x->kind == X_NUMBER) return x->value == y->value;
    if (x->kind != X_EMPTY && x->name != y->name) return 0;
    for (int i = 0; i < x->narg; i++)
        if (!same_expr(x->arg[i], y->arg[i])) return 0;
    return 1;
}

/* Loops with the same counters and ranges. */
static int same_loops(const struct syntax *s, int a, int b)
{
    while (a >= 0 && b >= 0 && a != b) {
        const struct loop *x = &s->loop.a[a], *y = &s->loop.a[b];
        if (x->var != y->var || !same_expr(x->range, y->range)) return 0;
        a = x->outer;
        b = y->outer;
    }
    return a == b;
}

void lift_transformations(struct syntax *s)
{
    for (size_t i = 0; i < s->rel.n; i++) {
        struct rel *value = &s->rel.a[i];
        for (size_t k = 0; !value->stochastic && !value->in_data && k < s->rel.n; k++) {
            const struct rel *r = &s->rel.a[k];
            if (r->stochastic && r->lhs->name == value->lhs->name && !r->in_data &&
                same_expr(r->lhs, value->lhs) && same_loops(s, r->loop, value->loop))
                value->in_data = 1;
        }
    }
}
