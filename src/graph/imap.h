/* imap.h: the minimal I-map of a graph for a given order. */
#ifndef GRAPH_IMAP_H
#define GRAPH_IMAP_H

#include "graph/invert.h"

/* Each latent's parents are its Markov boundary among what comes later, in the
   moral graph of their ancestors.  Exact for any graph; O(nodes * edges). */
int imap(const struct problem *p, const unsigned char *role, const int *order, int norder,
         struct inverse **out, nami_err *err);

#endif
