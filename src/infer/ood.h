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
    int k, n;               /* scalars; draws: a third is for fitting, the rest for calibration */
    int ncal;               /* number of calibration draws */
    double shrink;          /* shrinkage: 0: empirical covariance; 1: its diagonal */
    double *centre, *scale; /* (k): median, (q95 - q05) / 3.29; scale 0: constant */
    double *mean, *sd;      /* (k): of y */
    double *factor;         /* (k, k): Cholesky factor of the correlations of y; or NULL */
    double *given_sd;       /* (k): conditional sd of y given all others */
    double *distance, *largest; /* (ncal): of the calibration draws */
    int *further, *larger;      /* (ncal): number of draws that are at least as far, as large */
};

struct ood_scalar {
    int scalar;
    double z;     /* distance from the median in robust standard deviations */
    double given; /* standardized residual given the other scalars */
};

struct ood_answer {
    double p; /* p-value of the smaller of the next two; at least 2 / (ncal + 1) if only one is
                 extreme */
    double p_distance;
    double p_largest;
    double distance;                /* Mahalanobis distance */
    int ntop;                       /* min(k, OOD_TOP) */
    struct ood_scalar top[OOD_TOP]; /* the most extreme, by the larger of |z| and |given| */
};

/* x (k, n): scalar j of draw i is x[j * n + i], n >= 20.  The seed determines the split of the
   draws.  Call ood_free() also after an error. */
int ood_fit(const double *x, int k, int n, uint64_t seed, struct ood *out, nami_err *err);
int ood_query(const struct ood *o, const double *x, struct ood_answer *out, nami_err *err);
void ood_free(struct ood *o);

#endif
