/* cliques.h: the induced graph of an elimination and its clique tree. */
#ifndef GRAPH_CLIQUES_H
#define GRAPH_CLIQUES_H

#include "graph/inverse.h"

struct clique {
    int n, *node;   /* its variables, increasing */
    int parent;     /* the next clique towards the root, or -1 */
    int nsep, *sep; /* the variables shared with it, increasing */
};

struct cliques {
    int n;
    struct clique *clique;
};

/* The maximal cliques of the graph that the inverse induces (a factor's node
   and its parents; the observed variables that are used count as one clique, as
   they are given together), and a tree of them: a forest if parts share nothing. At most `max`
   entries in all, or NAMI_ELIMIT. */
int cliques_new(const struct inverse *h, int64_t max, struct cliques *out, nami_err *err);
void cliques_free(struct cliques *c);

/* The induced graph J: an edge between a node and each of its parents in h,
   and between any two parents of one node. */
int induced_init(struct ugraph *j, const struct inverse *h, int64_t max_edges, nami_err *err);

#endif
