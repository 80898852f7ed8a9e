/* c2st.h: classifier two-sample test (Lopez-Paz and Oquab 2017): can draws of q be told apart from
   reference draws?  An accuracy of 1/2 means no.

   The classifier is a logistic regression with a ridge, on standardized columns, their squares and
   products: the most discriminative on the training set, one for ten pairs there, at most 160.
   A neural one may replace fit() and score() of c2st.c. */
#ifndef INFER_C2ST_H
#define INFER_C2ST_H

#include <stdint.h>

#include "base/err.h"

struct c2st {
    double accuracy; /* k-fold cross-validated: share of rows put on the right side */
    int n;           /* pairs (one row of each sample) that were ordered by a classifier ... */
    int wins;        /* ... that had seen only earlier folds; a win: it finds which is which */
    double p;        /* exact, one-sided: wins ~ binomial(n, 1/2) if there is no difference */
};

/* Samples a[k * na], b[k * nb]: column j of row i is a[j * na + i].
   paired: row i of both is about the same data set, e.g. (theta, x) and (theta ~ q, x) with the
   same x; na = nb, and the rows stay in one fold.  Otherwise rows are paired at random, and
   the larger sample loses some.
   Cross-validated accuracies are not binomial: folds train on each other.  Hence p is from
   classifiers trained on the folds before the one they are tried on, where each pair is a fair
   coin whatever happened before.  folds: 2..20, 0 for 5. */
int c2st_run(const double *a, int na, const double *b, int nb, int k, int paired, int folds,
             uint64_t seed, struct c2st *out, nami_err *err);

#endif
