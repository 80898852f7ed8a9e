/* dsep.h: d-separation by reachability ("Bayes ball"). */
#ifndef GRAPH_DSEP_H
#define GRAPH_DSEP_H

#include "graph/dag.h"

/* Workspace for one graph; the cost of a query is the number of nodes that it visits. */
struct dsep;
struct dsep *dsep_new(const struct dag *g); /* borrows g; NULL: out of memory */
void dsep_free(struct dsep *d);

/* Sets the conditioning set. */
void dsep_given(struct dsep *d, const int *z, int nz);
/* Follows all active trails from x. */
void dsep_from(struct dsep *d, int x);
/* After dsep_from: 1 if an active trail from x ends in y.  For y in the conditioning set, 1 if x
   and y are dependent given the *other* elements of the set (see dsep.c). */
int dsep_reaches(const struct dsep *d, int y);
/* Writes such a trail x .. y to out[cap]; returns its length (0: none, or longer than cap). */
int dsep_trail(const struct dsep *d, int y, int *out, int cap);
/* The nodes that were reached, including those of the conditioning set. */
int dsep_reached(const struct dsep *d, const int **nodes);

/* A single query: 1 if x and y are d-separated given z, 0 if not, -1 out of memory. */
int dsep(const struct dag *g, int x, int y, const int *z, int nz);

#endif
