/* bijector.h: transformations between a domain and the unconstrained scale, with log-Jacobians. */
#ifndef DIST_BIJECTOR_H
#define DIST_BIJECTOR_H

#include "dist/dist.h"

/* The number of unconstrained coordinates of a value with n elements: n; n - 1 for a simplex;
   k(k+1)/2 for a k x k covariance; k(k-1)/2 for a correlation matrix or its factor; -1 for discrete
   domains. */
int unconstrained_size(enum domain d, int n);
/* Maps u to x and returns log |dx/du| (for dependent elements, with respect to the free ones: the
   first n - 1 of a simplex; the lower triangle, without the diagonal for correlations). lo and hi
   are additional bounds of scalars (uniform, pareto, truncation; -INFINITY and INFINITY if there
   are none). */
double constrain(enum domain d, double lo, double hi, int n, const double *u, double *x);
/* Maps x to u; x must be in the interior (the boundary is mapped to +-INFINITY). */
void unconstrain(enum domain d, double lo, double hi, int n, const double *x, double *u);
/* Given dx = df/dx (NULL: 0), adds to du: df/du through x(u), plus jac times the derivative of
   the log-Jacobian. work: 2 n doubles. */
void constrain_grad(enum domain d, double lo, double hi, int n, const double *u, const double *x,
                    const double *dx, double jac, double *du, double *work);
/* du/dx of a scalar or of each element of a vector; not for dependent elements */
double unconstrain_slope(enum domain d, double lo, double hi, double x);

#endif
