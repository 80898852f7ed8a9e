/* share.h: which factors can share a network: those of one statement for which p(v | parents) is
   the same function of the parents, each in its role.

   The function is the same; the prior scales of v and of its parents may differ: a shared network
   reads values on the scale of its representative, not on that of each factor. */
#ifndef NET_SHARE_H
#define NET_SHARE_H

#include "graph/inverse.h"
#include "model/view.h"

/* Each factor's representative, and its parents in the order of their roles. */
struct share {
    int *rep; /* by position i < h->nlatent in the inverse: the first factor with which it shares */
    /* the parents of factor i, in the order of their roles: parent[off[i]] .. (nodes of bn); the
       k-th parent of a factor plays the role of the k-th parent of its rep */
    int64_t *off;
    int *parent;
};

/* on = 0: nothing is shared. */
int share_find(const struct model *m, const struct inverse *h, int on, struct share *out,
               nami_err *err);
void share_free(struct share *s);

#endif
