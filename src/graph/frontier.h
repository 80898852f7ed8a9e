/* frontier.h: the latents that may be eliminated next so that the order stays natural: a latent
   waits for all latents upstream of it (its ancestors, or its descendants in reverse mode).

   Algorithm 1 waits only for latent parents.  That is not sufficient if two latents are connected
   through an observed node, so here waiting propagates through every node: a node that is not to be
   eliminated at this point (observed, a nuisance, in a different stage) is passed as soon as
   everything upstream of it is. */
#ifndef GRAPH_FRONTIER_H
#define GRAPH_FRONTIER_H

#include "base/vec.h"
#include "graph/dag.h"

struct frontier {
    const struct dag *g;
    int reverse;       /* reverse mode: upstream nodes are children */
    int direct;        /* wait only for latent neighbors, as in Algorithm 1 */
    int *topo, *place; /* a topological order and its inverse, if there are stages */
    int *wait;
    unsigned char *member;
    int lo, hi;     /* range of positions of the stage */
    vec(int) ready; /* nodes that became available in the last call; the caller enables them */
    vec(int) stack;
};

int frontier_init(struct frontier *f, const struct dag *g, int reverse, int direct, int staged,
                  nami_err *err);
void frontier_fini(struct frontier *f);
/* Starts a new stage in which these nodes are to be eliminated. Fills f->ready. */
int frontier_open(struct frontier *f, const int *node, int n);
/* Reports that node was eliminated. Fills f->ready with the nodes that became available. */
int frontier_pass(struct frontier *f, int node);

#endif
