/* dag.h: directed and undirected graphs on the integers 0..n-1.

   Both are stored as compressed sparse rows: the parents of v are
   p[pp[v]] .. p[pp[v+1]-1], in increasing order, its children likewise. */
#ifndef GRAPH_DAG_H
#define GRAPH_DAG_H

#include "nami.h"

struct dag {
    int n, m;    /* nodes, edges */
    int *pp, *p; /* parents */
    int *cp, *c; /* children */
};

struct edge {
    int from, to;
};

/* Duplicate edges are merged.  The caller must reject self-loops and cycles (dag_cycle).
   m is at most INT_MAX. */
int dag_init(struct dag *g, int n, const struct edge *e, size_t m, nami_err *err);
void dag_fini(struct dag *g);

#define for_parents(g, v, u)                                                                       \
    for (int i_##u = (g)->pp[v], u; i_##u < (g)->pp[(v) + 1] && (u = (g)->p[i_##u], 1); i_##u++)
#define for_children(g, v, u)                                                                      \
    for (int i_##u = (g)->cp[v], u; i_##u < (g)->cp[(v) + 1] && (u = (g)->c[i_##u], 1); i_##u++)

int dag_has_edge(const struct dag *g, int from, int to);

/* Writes the nodes in topological order to order[n], breaking ties by the smallest number.
   Returns the number of nodes written: less than n if there is a cycle; -1: out of memory. */
int dag_toposort(const struct dag *g, int *order);
/* Writes the length of the longest path from a source to each node (up: from the node to a sink)
   to depth[n]; -1: out of memory. */
int dag_depth(const struct dag *g, int up, int *depth);
/* Finds one cycle v0 -> v1 -> ... -> v0 and writes it to cycle[n]; returns its
   length, 0 if there is none, -1 if out of memory. */
int dag_cycle(const struct dag *g, int *cycle);

struct ugraph {
    int n;
    int64_t m;   /* edges, each counted once */
    int64_t *ap; /* neighbors of v: a[ap[v]] .. a[ap[v+1]-1], increasing */
    int *a;
};

/* The moral graph: the undirected edges, and an edge between any two parents of a common child.
   Nodes with skip[v] != 0 are removed with all their edges, including moral edges between their
   parents (skip may be NULL). */
int moral_init(struct ugraph *j, const struct dag *g, const unsigned char *skip, nami_err *err);
/* The same; with more than `max` edges, NAMI_ELIMIT before memory is allocated. */
int moral_upto(struct ugraph *j, const struct dag *g, const unsigned char *skip, int64_t max,
               nami_err *err);
void ugraph_fini(struct ugraph *j);

#endif
