/* heuristic.h: what the structure-blind methods share. Their order is the
   topological one; only the choice of parents differs. */
#ifndef GRAPH_HEURISTIC_H
#define GRAPH_HEURISTIC_H

#include "graph/invert.h"

/* parents(): adds the parents of h->perm[i] (inverse_add*); place[v] is v's place
   in the topological order; mark is n zeros at first, kept between calls. */
int heuristic(const struct problem *p,
              int (*parents)(const struct problem *p, struct inverse *h, int i, const int *place,
                             int *mark),
              struct inverse **out, nami_err *err);

#endif
