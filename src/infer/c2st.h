/* c2st.h: classifier two-sample test (Lopez-Paz and Oquab 2017): can draws of q be told apart from
   reference draws?  An accuracy of 1/2 means no.

   The classifier is a logistic regression with a ridge, on standardized columns, their squares and
   products: the most discriminative ones on the training set, one for every ten pairs, at most
   160. */
#ifndef INFER_C2ST_H
#define INFER_C2ST_H

#include <stdint.h>

#include "base/err.h"

struct c2st {
    double accuracy; /* k-fold cross-validated accuracy */
    int n;           /* pairs (one row of each sample) that were ordered by a classifier ... */
    int wins;        /* ... trained on earlier folds only; wins: correct orderings */
    double p;        /* exact, one-sided: wins ~ binomial(n, 1/2) if there is no difference */
};

/* Samples a[k * na], b[k * nb]: column j of row i is a[j * na + i]. paired: row i of both belongs
   to the same data set, e.g. (theta, x) and (theta ~ q, x) with the same x; na = nb, and the rows
   stay in one fold.  Otherwise rows are paired at random, and the larger sample is truncated.
   Cross-validated accuracies are not binomial: training sets of different folds overlap.  Hence p
   is computed from classifiers trained on the preceding folds only, for which each pair is a fair
   coin given the past.  folds: 2..20, 0 for 5. */
int c2st_run(const double *a, int na, const double *b, int nb, int k, int paired, int folds,
             uint64_t seed, struct c2st *out, nami_err *err);

#endif
