/* smc_plan.h: the sampling stages of sequential Monte Carlo; private to smc.c. */
#ifndef INFER_SMC_PLAN_H
#define INFER_SMC_PLAN_H

#include "net/sampler.h"

/* A sampling stage: the ends of its instructions in the two programs. */
struct smc_step {
    size_t draw, term;
    int nrow, *row; /* rows of the first program to copy when a particle is resampled */
    int nunit, *unit;
};

/* The two programs, draws and terms of log p(x, z), cut into stages. */
struct smc_plan {
    struct arena mem;
    /* The program of the sampler, reordered: log q of a latent may be added later than it is drawn.
       Everything except `code` is borrowed. */
    struct prog draw;
    /* log p(x, z).  The term of a latent is added in the stage after which it and its parents are
       known.  Until then the latent is open: its prior is missing from the weight.  Log q, and
       terms of observed variables, are added immediately if few latents are open meanwhile, as in a
       chain; otherwise not before the term itself, since weighting many latents by the data without
       their prior would be misleading.  Terms of barren latents are omitted: these are drawn from
       their prior. */
    struct prog term;
    int n;
    struct smc_step *step;
};

/* The network must have no nuisances, and the model a density. Call smc_plan_free also after an
   error. */
int smc_plan_make(struct smc_plan *p, const struct sampler *s, nami_err *err);
void smc_plan_free(struct smc_plan *p);

#endif
