/* adapt.h: adaptive importance sampling: where the network's draws are too far from the posterior,
   a mixture of Student t distributions is fitted to them by their weights, and to its own draws in
   turn, until the weights are even.  A tenth of the draws stays with the network, so that no weight
   is larger than ten times what it would be without.

   Works on the unconstrained coordinates of the latents (net/joint.h), for up to ADAPT_MOST of
   them; discrete latents must have been integrated out. */
#ifndef INFER_ADAPT_H
#define INFER_ADAPT_H

#include "data/summary.h"
#include "infer/infer.h"

enum { ADAPT_MOST = 40 };

/* Can the posterior of this network be adapted to? */
int adapt_can(const struct qnet *q);

/* One data set: n draws z[row * n + i] of the network, observed rows included, with log weights.
   If the draws can be improved, z (all rows), pred (or NULL), logw and *found become those of
   better ones, and the result is 1; 0 if not, negative for errors. number: of the data set. */
int adapt_set(const struct infer *a, uint64_t seed, size_t number, size_t n, int threads, double *z,
              double *pred, double *logw, struct diagnostics *found, nami_err *err);
/* Are the weights even enough to leave the draws alone? */
int adapt_enough(const struct diagnostics *d, size_t n);

#endif
