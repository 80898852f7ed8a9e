/* bijector.h: between a domain and the unconstrained scale, with the log-Jacobian. */
#ifndef DIST_BIJECTOR_H
#define DIST_BIJECTOR_H

#include "dist/dist.h"

/* How many unconstrained numbers a value of n elements takes: n; n - 1 for a simplex;
   k(k+1)/2 for a k x k covariance; k(k-1)/2 for a correlation matrix or its factor; -1 for discrete
   domains. */
int unconstrained_size(enum domain d, int n);
/* u -> x, and log |dx/du| as the result (for tied elements: with respect to the free
   ones: the first n - 1 of a simplex; the lower triangle, of correlations without the diagonal). lo
   and hi bound scalars further (uniform, pareto, truncation; -INFINITY and INFINITY where the
   domain says it all). */
double constrain(enum domain d, double lo, double hi, int n, const double *u, double *x);
/* x -> u; x must be inside (the boundary gives +-INFINITY). */
void unconstrain(enum domain d, double lo, double hi, int n, const double *x, double *u);
/* Given dx = df/dx (NULL: 0), adds to du: df/du through x(u), plus jac times the derivative of
   the log-Jacobian. work: 2 n doubles. */
void constrain_grad(enum domain d, double lo, double hi, int n, const double *u, const double *x,
                    const double *dx, double jac, double *du, double *work);
/* du/dx of a number, or of each element of a vector: not for tied ones */
double unconstrain_slope(enum domain d, double lo, double hi, double x);

#endif
