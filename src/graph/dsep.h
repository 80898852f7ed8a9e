/* dsep.h: d-separation by reachability ("Bayes ball"). */
#ifndef GRAPH_DSEP_H
#define GRAPH_DSEP_H

#include "graph/dag.h"

/* Work space for one graph; every query costs what it visits. */
struct dsep;
struct dsep *dsep_new(const struct dag *g); /* borrows g; NULL: out of memory */
void dsep_free(struct dsep *d);

/* Condition on these nodes from now on. */
void dsep_given(struct dsep *d, const int *z, int nz);
/* Follow every active trail from x. */
void dsep_from(struct dsep *d, int x);
/* Then: does an active trail from x end in y?  For y in the conditioning set,
   this says whether x and y are dependent given the *others* (see dsep.c). */
int dsep_reaches(const struct dsep *d, int y);
/* Writes such a trail x .. y to out[cap]; returns its length (0: none, or too long). */
int dsep_trail(const struct dsep *d, int y, int *out, int cap);
/* The nodes that were reached, conditioning set included. */
int dsep_reached(const struct dsep *d, const int **nodes);

/* All in one: 1 if x and y are d-separated given z, 0 if not, -1 out of memory. */
int dsep(const struct dag *g, int x, int y, const int *z, int nz);

#endif
