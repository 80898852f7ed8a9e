/* ood.h: out-of-distribution test: is a data set like those that a network was trained on?

   Two distances from draws of the prior predictive, both on robustly standardized scalars
   (z = (x - median) / spread; y = 3 asinh(z / 3) compresses heavy tails):
     - the Mahalanobis distance of y, with a covariance shrunk towards the diagonal (Schäfer,
       Strimmer 2005); for more than 256 scalars, the diagonal alone, to bound the cost,
     - the largest |z|.
   Each is ranked among those of held-out draws, so that the p-value is exact for any model: a data
   set from the model has p <= t with probability at most t. */
#ifndef INFER_OOD_H
#define INFER_OOD_H

#include <stdint.h>

#include "base/err.h"

enum { OOD_TOP = 5 };

struct ood {
    int k, n;               /* scalars; draws: a third fits, the rest calibrates */
    int ncal;               /* the rest */
    double shrink;          /* 0: the covariance as it is; 1: its diagonal */
    double *centre, *scale; /* (k): median, (q95 - q05) / 3.29; scale 0: always the same value */
    double *mean, *sd;      /* (k): of y */
    double *factor;         /* (k, k): of y's correlations, as dense.h has it; or NULL */
    double *given_sd;       /* (k): of a scalar's y, given all others */
    double *distance, *largest; /* (ncal): of the draws that calibrate */
    int *further, *larger;      /* (ncal): how many of them are at least as far, as large */
};

struct ood_scalar {
    int scalar;
    double z;     /* how far from the median, in robust standard deviations */
    double given; /* how far from what the other scalars suggest */
};

struct ood_answer {
    double
        p; /* of the smaller of the next two; no smaller than 2 / (ncal + 1) if that is one alone */
    double p_distance;
    double p_largest;
    double distance;                /* Mahalanobis' */
    int ntop;                       /* min(k, OOD_TOP) */
    struct ood_scalar top[OOD_TOP]; /* the most extreme, by the larger of |z| and |given| */
};

/* x (k, n): scalar j of draw i is x[j * n + i], n >= 20.  The seed splits the draws.
   ood_free() in any case. */
int ood_fit(const double *x, int k, int n, uint64_t seed, struct ood *out, nami_err *err);
int ood_query(const struct ood *o, const double *x, struct ood_answer *out, nami_err *err);
void ood_free(struct ood *o);

#endif
