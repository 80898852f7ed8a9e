/* label.h: the labels of the hidden units of a masked network: sets, in place of the degrees of
   MADE (Germain et al. 2015).

   A unit is labeled with the set of variables it may depend on.  A unit may feed another if its
   label is a subset of the other's.  The labels are the parent sets of the factors and their
   useful intersections. */
#ifndef NET_LABEL_H
#define NET_LABEL_H

#include "nami.h"

/* Sets of variables 0 .. nvar-1: set i is member[off[i]] .. member[off[i+1]-1], ascending. */
struct sets {
    int n;
    int *off, *member;
};

/* The labels, and their subset relations to each other and to the parent sets. */
struct labels {
    struct sets set; /* small ones first; none is empty, none twice */
    struct sets sub; /* the labels that are subsets of label i, itself included, ascending */
    struct sets of;  /* the labels that are subsets of parent set i */
};

/* `parents`: one set for each factor, perhaps empty, perhaps equal ones.  At most `most` labels:
   distinct parent sets always; then intersections, the most useful first. */
int labels_make(int nvar, const struct sets *parents, int most, struct labels *out, nami_err *err);
void labels_free(struct labels *l);
/* Shares `units` out among the labels as evenly as multiples of 8 allow, none below 8 as far as
   they go; what is left over goes to the last ones.  The sum is `units`. */
void labels_spread(const struct labels *l, int units, int *width);

#endif
