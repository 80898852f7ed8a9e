/* bound.h: from log p - log q of draws to a lower bound of log p(x), and to what each draw is worth
   in its gradient.

   A point has k lanes.  Either they are draws of all latents: the bound is log mean exp(log p - log
   q), the ELBO for k = 1 (Burda et al. 2016).  Or they are all configurations of the discrete
   latents, with one draw of the others: the bound is the mean by q of the configurations.

   Discrete latents that are drawn have no derivatives to go through.  What log q of them is worth
   is the gain of the bound over what it would be without this draw: over the mean of the other
   points (k = 1), or over the other draws (Mnih, Rezende 2016).

   Points whose discrete latents are known are bounded given these; `labels` times log q of what is
   known is added, so that q learns from it (Kingma et al. 2014). */
#ifndef TRAIN_BOUND_H
#define TRAIN_BOUND_H

#include "net/joint.h"

struct bound {
    int n, k;                   /* points; lanes of each: i * k + j */
    int all;                    /* the lanes are all configurations */
    const double *total;        /* (n, k): log p - log q */
    const double *data;         /* (n, k): log p(x | z) of it */
    const double *score;        /* (n, k): log q of discrete latents; NULL: there are none */
    const unsigned char *known; /* (n): they are given; NULL: never */
    double warm;                /* weight of all but log p(x | z): 1, or less at first */
    double labels;
};

/* Minus the mean bound (and what labels add).  worth[lot][lane]: its derivative by the lane's terms
   of this lot.  share[lane]: the lane's part of the mean. */
double bound_of(const struct bound *b, double *const *worth, double *share);

#endif
