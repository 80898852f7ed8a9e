/* elim.h: simulated variable elimination on an undirected graph.

   Each step removes one vertex, joins its neighbours to a clique, and records
   them.  Among the enabled vertices, elim_pick returns the best by the
   criterion; the caller decides what is enabled, and so the order. */
#ifndef GRAPH_ELIM_H
#define GRAPH_ELIM_H

#include "base/vec.h"
#include "graph/dag.h"
#include "graph/invert.h"

struct elim;

/* Copies j.  Vertices with fixed[v] are never eliminated; those with gone[v]
   are not there at all (either may be NULL).  Unless `strict`, edges between fixed
   vertices are no longer looked at when they get too many (elim_impl.h).  rank and size: see struct
   problem. */
struct elim *elim_new(const struct ugraph *j, const unsigned char *fixed, int strict,
                      const unsigned char *gone, const struct criterion *criterion, const int *size,
                      const int *rank);
void elim_free(struct elim *e);

void elim_enable(struct elim *e, int v);
int elim_pick(struct elim *e); /* -1 if nothing is enabled */
/* 0, NAMI_ENOMEM, NAMI_ELIMIT when the graph gets too dense to be stored, or
   NAMI_EBUG when a count turns out to be wrong.
   After a failure only elim_free makes sense. */
int elim_vertex(struct elim *e, int v);

/* What was recorded, step by step: the neighbours of each vertex when it was
   eliminated, as chains: `count` vertices, which elim_expand writes out.  Those of
   a chain are either all fixed or all movable; fixed ones stand together in
   elim_fixed_order, from `head` on.
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
/* Writes all fixed vertices so that every chain is contiguous; returns how many. */
int elim_fixed_order(const struct elim *e, int *out);

int64_t elim_fill(const struct elim *e); /* edges added so far */
/* No result that comes from here has fewer edges than this: edges of the
   current graph and those recorded, both with at least one movable end. */
int64_t elim_edges(const struct elim *e);
/* What was recorded until now counts no longer for elim_edges. */
int elim_forget(struct elim *e);
/* A lower bound on what eliminating v adds to elim_edges. */
int64_t elim_growth(struct elim *e, int v);

#endif
