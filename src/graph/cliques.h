/* cliques.h: the induced graph of an elimination and its junction tree (clique tree). */
#ifndef GRAPH_CLIQUES_H
#define GRAPH_CLIQUES_H

#include "graph/inverse.h"

struct clique {
    int n, *node;   /* variables, in increasing order */
    int parent;     /* neighbor in the direction of the root, or -1 */
    int nsep, *sep; /* separator: variables shared with the parent, increasing */
};

struct cliques {
    int n;
    struct clique *clique;
};

/* The maximal cliques of the induced graph of the inverse (each factor's node with its parents; all
   observed variables that are used form a clique, since they are conditioned on together),
   connected to a tree, or to a forest if components share no variable. NAMI_ELIMIT if the cliques
   have more than `max` entries in total. */
int cliques_new(const struct inverse *h, int64_t max, struct cliques *out, nami_err *err);
void cliques_free(struct cliques *c);

/* The induced graph J: an edge between a node and each of its parents in h,
   and between any two parents of the same node. */
int induced_init(struct ugraph *j, const struct inverse *h, int64_t max_edges, nami_err *err);

#endif
