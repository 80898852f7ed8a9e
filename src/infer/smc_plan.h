/* smc_plan.h: what sequential Monte Carlo does after each sampling stage; private to smc.c. */
#ifndef INFER_SMC_PLAN_H
#define INFER_SMC_PLAN_H

#include "net/sampler.h"

/* A sampling stage: it ends at these instructions of the two programs. */
struct smc_step {
    size_t draw, term;
    int nrow, *row; /* what a lane takes along when it is copied: rows of the first program */
    int nunit, *unit;
};

/* The two programs, draws and terms of log p(x, z), cut into stages. */
struct smc_plan {
    struct arena mem;
    /* The sampler's program, but for the order: log q of a latent may be added later than it is
       drawn.  All but `code` is borrowed. */
    struct prog draw;
    /* log p(x, z).  The term of a latent is added in the wave after which it and its parents are
       known.  Until then it is open: it has no prior.  Log q, and terms of observed variables, are
       added at once if few latents are open meanwhile, as in a chain; else not before the term
       itself, for to weigh many latents by the data without a prior would lead astray.  Terms of
       barren latents are left out: they are drawn by them. */
    struct prog term;
    int n;
    struct smc_step *step;
};

/* The network has no nuisances, and the model has a density.  Free it in any case. */
int smc_plan_make(struct smc_plan *p, const struct sampler *s, nami_err *err);
void smc_plan_free(struct smc_plan *p);

#endif
