/* weights.h: importance weights, as logarithms up to a constant. A weight may be 0 (-inf). NaN,
   +inf and values close to overflow are rejected as errors of the caller. */
#ifndef INFER_WEIGHTS_H
#define INFER_WEIGHTS_H

#include <stddef.h>

#include "nami.h"

/* A log weight of this size is a difference of numbers whose rounding errors exceed 0.01: weights
   with logarithms below minus this are treated as 0. */
#define WEIGHTS_VANISH 1e13

#define NO_TAIL (-1.0) /* the shape of a uniform distribution */

struct psis {
    /* Estimated shape k of the tail; 1/k moments of the weights are finite.  NO_TAIL: there is
       nothing to fit: no weight is twice the mean (the largest of nearly equal weights differ by
       errors of a percent, whose shape means nothing), or more draws share the largest weight (to 8
       digits) than the tail contains.  +inf: k cannot be estimated, since fewer than 5 draws are in
       the tail (n < 21, ties, or weights so unequal that the others vanish), or weights appear equal
       because their logarithms exceed 4e7 and have no digits left to differ in.  In the former case,
       loo returns +inf with a warning, posterior NA, and ArviZ 1 raises an error. */
    double khat;
    size_t tail;     /* the number of weights that were smoothed: 0 if khat is not finite */
    double log_mean; /* log mean of the smoothed weights, before normalization */
};

/* Pareto-smoothed importance sampling (Vehtari, Simpson, Gelman, Yao, Gabry 2024, JMLR 25(72)): the
   min(n/5, 3 sqrt n) largest weights are replaced by quantiles of a generalized Pareto distribution
   fitted to them, truncated at the largest raw weight; then all are normalized: sum exp(logw) = 1.
   Memory: O(sqrt n). After an error, logw is unchanged. */
int psis(size_t n, double *logw, struct psis *out, nami_err *err);

/* Minimum number of draws for an estimate of khat. */
enum { KHAT_DRAWS = 21 };
/* Up to this khat, n draws are enough for reliable means: min(1 - 1/log10(n), 0.7). */
double khat_limit(size_t n);

/* Normalizes the weights; returns the logarithm of their sum. If all are 0, they are unchanged
   (-inf). */
double weights_normalise(size_t n, double *logw);

/* (sum w)^2 / sum w^2: between 1 and n; 0 if all weights are 0. */
double weights_ess(size_t n, const double *logw);

/* log mean w, which estimates the evidence if w = p(x, z) / q(z); its standard error, by the delta
   method: sd(w) / (sqrt n mean w), +inf where undefined (n = 1, all weights 0). */
double weights_log_mean(size_t n, const double *logw, double *se);

/* ---- for tests ---------------------------------------------------------------------- */

/* Fits a generalized Pareto distribution, density (1 + k x / sigma)^(-1 - 1/k) / sigma, to
   x > 0, increasing (Zhang, Stephens 2009, Technometrics 51); no prior on k. */
void gpd_fit(size_t n, const double *x, double *k, double *sigma);

#endif
