/* sims.h: simulated data sets, their true parameters, and posterior draws of a network for each:
   the input of all calibration diagnostics.

   If the draws are from the true posterior, truth and draws of a set are exchangeable, and the
   rank of one number (a scalar, a density, a distance) of the truth among those of the draws

       u = (sum of w_m over draws below + V (w_0 + sum of w_m over ties)) / (w_0 + sum of w_m),

   V uniform on (0, 1), is uniform on (0, 1): exactly, for any number of draws, for discrete
   numbers too.  Without weights all w are 1, and floor(u (m + 1)) is the rank of the truth, with
   ties broken at random.  With weights p/q there are two choices for that of the truth, w_0:
     - its own (logw0).  Then u is uniform whatever q is, as long as the weights are right (given
       the unordered m + 1 points, point i is the truth with probability w_i / sum w).  This tests
       the weights; it cannot see a mode that q misses.
     - without logw0, (sum w^2) / (sum w): the truth is one of ESS + 1 draws.  This tests the
       weighted draws as the posterior that they are used as; u is uniform in mean and variance,
       and near uniform for an ESS of 50 or more if truly calibrated. */
#ifndef INFER_SIMS_H
#define INFER_SIMS_H

#include <stdint.h>

#include "base/err.h"

struct sims {
    int d, m, n;         /* numbers of scalars, draws per set, and sets: all positive */
    const double *theta; /* (d, n): truths */
    const double *z;     /* (d, m, n): draws */
    const double *logw;  /* (m, n): log weights, up to a constant for each set; or NULL */
    const double *logw0; /* (n): those of the true values, with the same constants; or NULL */
};

/* The weights of draws, in a layout for loops over sets. */
struct sims_weights {
    const struct sims *s;
    double *w;     /* (m, n), or (1, n) if all are 1 */
    double *w0;    /* (n) */
    double *total; /* (n): sums over draws */
};

/* NAMI_EINPUT if the weights of a set are all zero, or NaN. */
int sims_weights(const struct sims *s, struct sims_weights *out, nami_err *err);
void sims_weights_free(struct sims_weights *w);
/* (n): the weights of draw m of each set. */
static inline const double *sims_weights_of(const struct sims_weights *w, int m)
{
    return w->s->logw ? w->w + (size_t)m * w->s->n : w->w;
}

/* u[n] for truth[n] among draws[m * n].  Random numbers depend on (seed, which).  NAMI_EINPUT for
   NaN (`what`: a description for the message). */
int sims_place(const struct sims_weights *w, const double *truth, const double *draws,
               uint64_t seed, uint32_t which, const char *what, double *u, nami_err *err);
/* u[d * n] for all scalars. */
int sims_pit(const struct sims *s, uint64_t seed, double *u, nami_err *err);
/* Mean and standard deviation (divided by n) of x[n]; NAN if they are not finite. */
void sims_moments(const double *x, size_t n, double *mean, double *sd);

#endif
