/* factors.h: builds an inverse factor by factor in a given order; shared by all methods that do not
   use elimination. */
#ifndef GRAPH_FACTORS_H
#define GRAPH_FACTORS_H

#include "graph/invert.h"

struct factors {
    const struct problem *p;
    struct inverse *h;
    const int *place; /* position of each node in a topological order */
    int *mark, *list; /* workspaces of n entries each; mark is initially zero */
    void *own;        /* private data of the method */
};

/* The order of method nami, or a topological order. parents() adds the parents
   of f->h->perm[i] with inverse_add or inverse_add_vars. */
enum factor_order { ORDER_NAMI, ORDER_TOPOLOGICAL };
int by_factors(const struct problem *p, enum factor_order order,
               int (*parents)(struct factors *f, int i), void *own, struct inverse **out,
               nami_err *err);

#endif
