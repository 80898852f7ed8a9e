/* trace.h: the steps of an inversion, one by one: the paper's Table 1 for any
   graph.  The steps are replayed from an inverse by the naive algorithm on an
   adjacency matrix, so they also check the fast one. */
#ifndef GRAPH_TRACE_H
#define GRAPH_TRACE_H

#include "base/arena.h"
#include "graph/invert.h"

struct trace_step {
    int node;                 /* the variable eliminated */
    int nuisance;             /* is it a nuisance (no factor)? */
    int nfrontier, *frontier; /* the candidates, in number order ... */
    int64_t *fill;            /* ... and the fill of each */
    int nadded;
    struct edge *added;   /* edges added to the induced graph J */
    int nparent, *parent; /* edges added to H: parent[] -> node */
};

struct trace {
    int nstep;
    struct trace_step *step;
    struct arena mem;
};

/* direct: the frontier of Algorithm 1 to the letter (method paper). */
int trace_new(const struct problem *p, const struct inverse *h, int direct, struct trace *out,
              nami_err *err);
void trace_free(struct trace *t);

#endif
