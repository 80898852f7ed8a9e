/* map.h: maximum a posteriori (MAP) estimates of continuous latents.

   The location of the maximum depends on the scale.  The usual density is that of the variables
   themselves; on the unconstrained scale (logarithms of positive variables, ...) it has the factor
   |dz / d coordinates|, and has an interior maximum also where the former has its maximum on the
   boundary. */
#ifndef INFER_MAP_H
#define INFER_MAP_H

#include "infer/infer.h"
#include "infer/lbfgs.h"

/* The mode of one data set. */
struct map_mode {
    enum lbfgs_state state; /* LBFGS_FOUND: a maximum. LBFGS_FLAT: on the boundary of the support,
                               or at infinity. LBFGS_FALLS: unbounded density */
    double logp;            /* log p(x, z), without barren latents */
    double grad;            /* largest derivative with respect to a coordinate */
    int steps;
    int agree; /* number of searches that reached the same density */
};

struct map_options {
    int unconstrained, threads;
    int (*progress)(size_t done, size_t all,
                    void *user); /* in searches; nonzero cancels. Or NULL */
    void *user;
};

/* For all sets of the query, the best of q->per searches that start from draws of the network:
   out[set]; the points z[row * nset + set], NaN for barren latents and their descendants; sd
   likewise, if not NULL: the standard deviation of the Laplace approximation, NaN where there is no
   interior maximum. The result does not depend on the number of threads. NAMI_EINPUT if p(x, z) is
   not known or a latent is discrete. */
int map_sets(const struct infer *a, const struct query *q, const struct map_options *opt,
             struct map_mode *out, double *z, double *sd, nami_err *err);

#endif
