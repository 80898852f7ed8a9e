/* generate.h: families of graphs for tests and benchmarks; unless stated otherwise, parents have
   smaller numbers than their children. */
#ifndef GRAPH_GENERATE_H
#define GRAPH_GENERATE_H

#include "graph/dag.h"

struct graph_family {
    const char *name, *what;
    /* generates a graph with about n nodes */
    int (*make)(struct dag *g, int n, uint64_t seed, nami_err *err);
};

extern const struct graph_family
    graph_families[]; /* hmm, tree, revtree, rlocal, rdag, plate, grid; name NULL ends */
const struct graph_family *graph_family_find(const char *name);

/* A random DAG with n nodes: each possible edge with probability p, in a random order of nodes. */
int generate_random(struct dag *g, int n, double p, uint64_t seed, nami_err *err);

#endif
