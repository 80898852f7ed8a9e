/* blame.h: which latents make importance weights uneven. */
#ifndef INFER_BLAME_H
#define INFER_BLAME_H

#include <stddef.h>

#include "nami.h"

/* The share of the variance of log weights that a quadratic function of the rank of x explains:
   near 1 if the factor of x alone is wrong, near 0 if the weights do not depend on x.  A wrong
   factor also shows in latents that correlate with its own: shares may add up to more than 1. Draws
   whose weight is 0 are left out; NaN if fewer than 20 are left, or if log weights are all equal.
 */
int blame(size_t n, const double *x, const double *logw, double *share, nami_err *err);

#endif
