/* recovery.h: parameter recovery: true values against posterior means, for each scalar. */
#ifndef INFER_RECOVERY_H
#define INFER_RECOVERY_H

#include "infer/sims.h"

struct recovery {
    double corr; /* correlation of true value and posterior mean; NaN if one is constant */
    double rmse; /* of the posterior mean, in units of the prior sd: 0: exact, 1: no better than the
                    prior */
    double contraction; /* 1 - mean posterior variance / prior variance: 1: exact, 0: nothing
                           learned */
    double z_mean;      /* z = (mean - truth) / posterior sd: mean 0 and sd 1 if calibrated */
    double z_sd;
    int nflat; /* number of sets with posterior sd 0, which have no z */
};

/* out[d]; mean[d * n] and sd[d * n] of the posteriors (or NULL).  The prior is the distribution of
   the true values.  NAMI_EINPUT: not all numbers are finite. */
int recovery_run(const struct sims *s, struct recovery *out, double *mean, double *sd,
                 nami_err *err);
/* The central interval with this probability for scalar k of set i; work[2 * m]. */
void recovery_interval(const struct sims *s, int k, int i, double level, double *work, double *lo,
                       double *hi);

#endif
