/* frontier.h: which latents may be eliminated next, so that the order stays
   natural: a latent waits for the latents upstream of it (its ancestors, or its
   descendants in reverse mode).

   Algorithm 1 waits for latent parents only.  That is not enough when two
   latents are linked through an observed node, so here every node passes the
   wait on: one that is not to be eliminated now (observed, a nuisance, in
   another stage) is passed when everything upstream of it is. */
#ifndef GRAPH_FRONTIER_H
#define GRAPH_FRONTIER_H

#include "base/vec.h"
#include "graph/dag.h"

struct frontier {
    const struct dag *g;
    int reverse;       /* upstream = children */
    int direct;        /* Algorithm 1 to the letter */
    int *topo, *place; /* a topological order and its inverse, if there are stages */
    int *wait;
    unsigned char *member;
    int lo, hi;     /* the stage lies within these places */
    vec(int) ready; /* became free at the last call: what the caller enables */
    vec(int) stack;
};

int frontier_init(struct frontier *f, const struct dag *g, int reverse, int direct, int staged,
                  nami_err *err);
void frontier_fini(struct frontier *f);
/* A new stage: these nodes are to be eliminated. Fills f->ready. */
int frontier_open(struct frontier *f, const int *node, int n);
/* node was eliminated. Fills f->ready with what need not wait any longer. */
int frontier_pass(struct frontier *f, int node);

#endif
