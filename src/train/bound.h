/* bound.h: from log p - log q of samples to a lower bound on log p(x), and to the weight of each
   sample in its gradient.

   A data point has k lanes.  Either they are draws of all latents: the bound is
   log mean exp(log p - log q), the importance-weighted bound (Burda et al. 2016), the ELBO for
   k = 1.  Or they enumerate all configurations of the discrete latents, with one draw of the
   others: the bound is the expectation over the configurations under q.

   Discrete latents that are drawn have no pathwise gradient.  The weight of their score,
   grad log q, is the gain of the bound over what it would be without this draw: over the mean of
   the other points of the part (k = 1), or over the other draws (VIMCO; Mnih, Rezende 2016).

   Points whose discrete latents are observed (labels) are bounded conditionally on these;
   `labels` times log q of the labels is added, so that q learns from them (Kingma et al. 2014). */
#ifndef TRAIN_BOUND_H
#define TRAIN_BOUND_H

#include "net/joint.h"

/* The log weights of a minibatch, or of a part of it, and how its bound is computed from them. */
struct bound {
    int n, k;                   /* points; lanes of each: i * k + j */
    int of;                     /* points of the batch that they are a part of, for means; 0: n */
    int all;                    /* the lanes are all configurations */
    const double *total;        /* (n, k): log p - log q */
    const double *data;         /* (n, k): log p(x | z) of it */
    const double *score;        /* (n, k): log q of discrete latents; NULL: there are none */
    const unsigned char *known; /* (n): they are given; NULL: never */
    double warm;                /* weight of all but log p(x | z): 1, or less at first */
    double labels;
};

/* Minus the mean bound (and what labels add).  weight[group][lane]: its derivative by the
   terms of this gradient group in the lane.  share[lane]: the lane's part of the mean. */
double bound_of(const struct bound *b, double *const *weight, double *share);

#endif
