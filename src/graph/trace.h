/* trace.h: the individual steps of an inversion, as in Table 1 of the paper, for any graph.  The
   steps are recomputed from an inverse by the naive algorithm on an adjacency matrix, which also
   verifies the fast algorithm. */
#ifndef GRAPH_TRACE_H
#define GRAPH_TRACE_H

#include "base/arena.h"
#include "graph/invert.h"

struct trace_step {
    int node;                 /* the eliminated variable */
    int nuisance;             /* 1 if it is a nuisance (no factor) */
    int nfrontier, *frontier; /* the candidates, by number ... */
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

/* direct: the frontier exactly as in Algorithm 1 (method paper). */
int trace_new(const struct problem *p, const struct inverse *h, int direct, struct trace *out,
              nami_err *err);
void trace_free(struct trace *t);

#endif
