/* smc.h: sequential Monte Carlo along the factors of a trained network.

   Particles are partial draws of the network, extended stage by stage.  After each sampling stage,
   the weight of a particle is the product of the terms of p(x, z) that are complete so far, divided
   by q of the variables drawn so far; if the weights are too unequal, particles are resampled.  The
   final weights are p(x, z) / q(z | x), corrected for resampling, so that their mean is an unbiased
   estimate of p(x) for any network.

   Resampling is by w^b, between none (b = 0) and the usual (b = 1): a network that sees all data
   at once may anticipate more than the terms so far, and resampling by these would undo that.  A
   pilot run of a few particles estimates how much of a stage's log weight persists to the last
   stage: b is the slope of that regression, stage by stage. */
#ifndef INFER_SMC_H
#define INFER_SMC_H

#include "infer/infer.h"

/* The particles of a data set are divided into independent islands: their estimates of p(x) are
   independent and give the standard error.  Island i has particles smc_first(per, n, i) ..
   smc_first(per, n, i + 1) - 1. */
size_t smc_islands(const struct infer *a, size_t per);
static inline size_t smc_first(size_t per, size_t islands, size_t i)
{
    return per / islands * i + (i < per % islands ? i : per % islands);
}

/* Output, n = nset * q->per particles; NULL: not requested. See infer_draws. */
struct smc_out {
    double *z, *pred;           /* [row * n + i] */
    double *logq, *logp,
        *logw; /* of the latents that the network draws, i.e. without barren ones */
    double *logz;               /* [set * islands + i]: log of the mean of an island's weights */
    int *resampled;             /* [set * islands + i]: number of resampling steps */
};

/* Sets first .. first+nset-1 of the query.  The network must have no nuisances, and the model a
   density.  Results do not depend on the number of threads. */
int smc_run(const struct infer *a, const struct query *q, size_t first, size_t nset, int threads,
            const struct smc_out *out, nami_err *err);

#endif
