/* modes.h: the modes of a posterior on the unconstrained scale (net/joint.h), found by climbing
   from several points, with the mass that a normal approximation gives each of them (Laplace). They
   show what a proposal must cover: importance weights cannot tell of a mode that no draw comes
   near. */
#ifndef INFER_MODES_H
#define INFER_MODES_H

#include "infer/infer.h"
#include "infer/tmix.h"

struct modes {
    int num, dim;
    double *u, *value; /* (num, dim) points, log densities there */
    struct tmix t;     /* a component at each, weighted by its mass */
};

/* Of one data set, data[row]; the starts are u[k * n + i], i < starts.  Modes with less than a
   thousandth of the largest mass, and points where the density has no maximum, are left out: num
   may be 0.  Call modes_free also after an error. */
int modes_find(struct modes *m, const struct infer *a, const double *data, size_t starts, size_t n,
               const double *u, uint64_t seed, int threads, nami_err *err);
void modes_free(struct modes *m);
/* Is the density of t, times p(x) = exp(log_z), near that of the posterior at each of the modes, or
   above: not below a hundredth? */
int modes_covered(const struct modes *m, const struct tmix *t, double log_z, double *work);

#endif
