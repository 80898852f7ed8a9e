/* weights.h: importance weights, as logarithms on any scale.

   A weight may be 0 (-inf).  NaN, +inf and values close to overflow are refused as errors of the
   caller. */
#ifndef INFER_WEIGHTS_H
#define INFER_WEIGHTS_H

#include <stddef.h>

#include "nami.h"

/* A log weight of this size is a difference of numbers whose rounding errors exceed 0.01: below
   minus this, the weight may as well be 0. */
#define WEIGHTS_VANISH 1e13

struct psis {
    /* Estimated shape k of the tail; 1/k moments of the weights are finite.  -inf: more draws
       share the largest weight (to 8 digits) than the tail has, e.g. all of them: they are
       bounded.  +inf: there is no telling, since fewer than 5 draws are in the tail (n < 21,
       ties, or weights so unequal that the others vanish), or weights look equal because their
       logarithms, beyond 4e7, have no digits left to differ in.  In the former case, loo says +inf
       with a warning, posterior NA, and ArviZ 1 raises an error. */
    double khat;
    size_t tail;     /* the number of weights that were smoothed: 0 if khat is not finite */
    double log_mean; /* log mean of the smoothed weights, before they were normalised */
};

/* Pareto-smoothed importance sampling (Vehtari, Simpson, Gelman, Yao, Gabry 2024, JMLR 25(72)):
   the min(n/5, 3 sqrt n) largest weights become quantiles of a generalized Pareto distribution
   that is fitted to them, none larger than the largest was; then all are normalised:
   sum exp(logw) = 1.  Memory: O(sqrt n).  After an error, logw is as it was. */
int psis(size_t n, double *logw, struct psis *out, nami_err *err);

/* With fewer draws there is no khat. */
enum { KHAT_DRAWS = 21 };
/* Up to this khat, n draws are enough for reliable means: min(1 - 1/log10(n), 0.7). */
double khat_limit(size_t n);

/* Makes the sum of the weights 1; returns the logarithm of what it was.  If all are 0, they stay
   (-inf). */
double weights_normalise(size_t n, double *logw);

/* (sum w)^2 / sum w^2: between 1 and n; 0 if all weights are 0. */
double weights_ess(size_t n, const double *logw);

/* log mean w, which estimates the evidence if w = p(x, z) / q(z); its standard error, by the
   delta method: sd(w) / (sqrt n mean w), +inf where this says nothing (n = 1, all weights 0). */
double weights_log_mean(size_t n, const double *logw, double *se);

/* ---- for tests ---------------------------------------------------------------------- */

/* Fits a generalized Pareto distribution, density (1 + k x / sigma)^(-1 - 1/k) / sigma, to
   x > 0, increasing (Zhang, Stephens 2009, Technometrics 51); no prior on k. */
void gpd_fit(size_t n, const double *x, double *k, double *sigma);

#endif
