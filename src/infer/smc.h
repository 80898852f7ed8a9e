/* smc.h: sequential Monte Carlo along the factors of a trained network.

   Particles are partial draws of the network, extended stage by stage.  After each sampling stage
   a particle's weight holds the terms of p(x, z) that are complete by then, over q of what was
   drawn; where the weights are too unequal, particles are resampled.  At the end all terms are in:
   weights are p(x, z) / q(z | x), corrected for resampling, so that their mean is an unbiased
   estimate of p(x), however poor the network is.

   Resampling is by w^b, between none (b = 0) and the usual (b = 1): a network that sees all data
   at once may anticipate more than the terms so far, and resampling by these would undo that.  A
   pilot run of a few particles estimates how much of a stage's log weight persists to the last
   stage: b is the slope of that regression, stage by stage. */
#ifndef INFER_SMC_H
#define INFER_SMC_H

#include "infer/infer.h"

/* The particles of a data set are in islands, which know nothing of each other: their estimates of
   p(x) are independent, and tell the standard error.  Island i has particles
   smc_first(per, n, i) .. smc_first(per, n, i + 1) - 1. */
size_t smc_islands(const struct infer *a, size_t per);
static inline size_t smc_first(size_t per, size_t islands, size_t i)
{
    return per / islands * i + (i < per % islands ? i : per % islands);
}

/* What is wanted, n = nset * q->per particles; NULL: it is not.  See infer_draws. */
struct smc_out {
    double *z, *pred;           /* [row * n + i] */
    double *logq, *logp, *logw; /* of what the network draws: without barren latents */
    double *logz;               /* [set * islands + i]: log of the mean of an island's weights */
    int *resampled;             /* the same: how often */
};

/* Sets first .. first+nset-1 of the query.  The network has no nuisances, the model a density.
   The same for any number of threads. */
int smc_run(const struct infer *a, const struct query *q, size_t first, size_t nset, int threads,
            const struct smc_out *out, nami_err *err);

#endif
