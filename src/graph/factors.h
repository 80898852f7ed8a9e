/* factors.h: inverses made factor by factor, in an order fixed beforehand: what
   all methods share that do not eliminate. */
#ifndef GRAPH_FACTORS_H
#define GRAPH_FACTORS_H

#include "graph/invert.h"

struct factors {
    const struct problem *p;
    struct inverse *h;
    const int *place; /* of each node in a topological order */
    int *mark, *list; /* n entries of work space each; mark is zero at first */
    void *own;        /* the method's */
};

/* The order of method nami, or the topological one. parents() adds the parents
   of f->h->perm[i] with inverse_add or inverse_add_vars. */
enum factor_order { ORDER_NAMI, ORDER_TOPOLOGICAL };
int by_factors(const struct problem *p, enum factor_order order,
               int (*parents)(struct factors *f, int i), void *own, struct inverse **out,
               nami_err *err);

#endif
