/* core.h: the dense rest of an elimination, as a matrix of bits.

   Towards its end a large elimination works on a few thousand vertices that
   are nearly all adjacent; then a row of bits beats a list.  For each new edge
   the common neighbours are one AND of two rows, and "each of them loses a
   missing pair" is one addition in bit-sliced counters: bit i of plane k is bit
   k of vertex i's counter, so that a carry chain over whole words counts for 64
   vertices at once. */
#ifndef GRAPH_CORE_H
#define GRAPH_CORE_H

#include "graph/elim_impl.h"

/* Moves to a core if that pays now. -1: out of memory. */
int core_try(struct elim *e);
void core_free(struct core *k);

/* The parts of a step that depend on how adjacency is stored. */
int core_neighbours(struct elim *e, int vy); /* fills nb */
int core_find_fill(struct elim *e, int vy);  /* as find_fill of elim.c */
void core_join(struct elim *e, int a, int b);
void core_remove(struct elim *e, int v); /* v is dead */
void core_weigh(struct elim *e, int v);  /* its weight changed */

#endif
