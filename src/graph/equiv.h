/* equiv.h: I-equivalence of two graphs on the same nodes (same conditional independencies), which
   holds if and only if they have the same skeleton and the same immoralities
   (Verma and Pearl; the paper's Appendix A.6). */
#ifndef GRAPH_EQUIV_H
#define GRAPH_EQUIV_H

#include "graph/dag.h"

struct equiv_witness {
    enum { EQUIV_YES, EQUIV_SKELETON, EQUIV_IMMORALITY } kind;
    int in_a;    /* 1 if the edge or immorality is in a only, 0 if in b only */
    int x, y, z; /* the edge x - y, or the immorality x -> y <- z */
};

/* Returns 1 or 0; for 0, fills the witness. */
int equivalent(const struct dag *a, const struct dag *b, struct equiv_witness *why);

#endif
