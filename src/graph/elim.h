/* elim.h: simulated variable elimination on an undirected graph.

   Each step removes one vertex, connects its neighbors to a clique, and records them.  Among the
   enabled vertices, elim_pick returns the best by the criterion; the caller constrains the order by
   enabling vertices. */
#ifndef GRAPH_ELIM_H
#define GRAPH_ELIM_H

#include "base/vec.h"
#include "graph/dag.h"
#include "graph/invert.h"

struct elim;

/* Copies j.  Vertices with fixed[v] are never eliminated; those with gone[v] are not part of the
   graph (either may be NULL).  Unless `strict`, edges between fixed vertices are ignored once there
   are too many of them (elim_impl.h).  rank and size: see struct problem. */
struct elim *elim_new(const struct ugraph *j, const unsigned char *fixed, int strict,
                      const unsigned char *gone, const struct criterion *criterion, const int *size,
                      const int *rank);
void elim_free(struct elim *e);

void elim_enable(struct elim *e, int v);
int elim_pick(struct elim *e); /* -1 if nothing is enabled */
/* 0, NAMI_ENOMEM, NAMI_ELIMIT if the graph becomes too dense to be stored, or NAMI_EBUG if a count
   is inconsistent.  After a failure, only elim_free may be called. */
int elim_vertex(struct elim *e, int v);

/* The record, step by step: the neighbors of each vertex when it was eliminated, as chains of
   `count` vertices, which elim_expand enumerates.  The vertices of a chain are either all fixed or
   all movable; fixed ones are contiguous in elim_fixed_order, starting at `head`.
       for (int64_t at = 0; elim_next_step(e, &at, &step);)
           while (elim_next_chain(&step, &chain)) ... */
struct elim_chain {
    int head, count;
};
struct elim_step {
    int vertex;
    const int *at, *end;
};
int elim_next_step(const struct elim *e, int64_t *at, struct elim_step *out);
int elim_next_chain(struct elim_step *s, struct elim_chain *out);
void elim_expand(const struct elim *e, int vertex, struct elim_chain c, int *out);
int elim_is_fixed(const struct elim *e, int v);
/* Writes all fixed vertices such that every chain is contiguous; returns their number. */
int elim_fixed_order(const struct elim *e, int *out);

/* Eliminates all vertices of j in the order of the criterion, which is written to order[n];
   NAMI_ELIMIT once there are more than max_edges edges.  Does not fill a message for that. */
int elim_all(const struct ugraph *j, const struct criterion *criterion, const int *size,
             int64_t max_edges, int *order, nami_err *err);

int64_t elim_fill(const struct elim *e); /* edges added so far */
/* A lower bound on the number of edges of the final result: edges of the current graph and of the
   record that have at least one movable endpoint. */
int64_t elim_edges(const struct elim *e);
/* Excludes everything recorded so far from elim_edges. */
int elim_forget(struct elim *e);
/* A lower bound on the increase of elim_edges if v is eliminated. */
int64_t elim_growth(struct elim *e, int v);

#endif
