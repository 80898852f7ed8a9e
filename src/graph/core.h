/* core.h: the dense core of an elimination, as a bit matrix.

   Toward its end a large elimination operates on a few thousand vertices that are nearly all
   adjacent; rows of bits are then faster than lists.  For each new edge the common neighbors are
   the AND of two rows, and decrementing the number of missing pairs of each of them is one addition
   in bit-sliced counters: bit i of plane k is bit k of the counter of vertex i, so that one carry
   chain over whole words updates 64 vertices at once. */
#ifndef GRAPH_CORE_H
#define GRAPH_CORE_H

#include "graph/elim_impl.h"

/* Switches to the bit matrix if that is faster now. -1: out of memory. */
int core_try(struct elim *e);
void core_free(struct core *k);

/* The operations of a step that depend on the representation of adjacency. */
int core_neighbours(struct elim *e, int vy); /* fills nb */
int core_find_fill(struct elim *e, int vy);  /* see find_fill in elim_impl.h */
void core_join(struct elim *e, int a, int b);
void core_remove(struct elim *e, int v); /* v was eliminated */
void core_weigh(struct elim *e, int v);  /* its weight changed */

#endif
