/* imap.h: the minimal I-map of a graph for a given order. */
#ifndef GRAPH_IMAP_H
#define GRAPH_IMAP_H

#include "graph/invert.h"

/* The parents of each latent are its Markov boundary among the later variables, in the moral graph
   of their common ancestors.  Exact for any graph; O(nodes * edges). */
int imap(const struct problem *p, const unsigned char *role, const int *order, int norder,
         struct inverse **out, nami_err *err);

#endif
