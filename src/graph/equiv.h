/* equiv.h: do two graphs on the same nodes encode the same independencies?
   Yes if and only if they have the same skeleton and the same immoralities
   (Verma and Pearl; the paper's Appendix A.6). */
#ifndef GRAPH_EQUIV_H
#define GRAPH_EQUIV_H

#include "graph/dag.h"

struct equiv_witness {
    enum { EQUIV_YES, EQUIV_SKELETON, EQUIV_IMMORALITY } kind;
    int in_a;    /* is what differs in a (1) or in b (0)? */
    int x, y, z; /* the edge x - y, or the immorality x -> y <- z */
};

/* 1 or 0, with the witness for 0. */
int equivalent(const struct dag *a, const struct dag *b, struct equiv_witness *why);

#endif
