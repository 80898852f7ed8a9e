/* scale.h: how large the parameters of a model's priors can be, as far as the data and the
   covariates tell.  A prior much wider than this draws data that nobody sees. */
#ifndef MODEL_SCALE_H
#define MODEL_SCALE_H

#include "model/model.h"

enum prior_role {
    PRIOR_OTHER,     /* none of those below: nothing is known */
    PRIOR_LOCATION,  /* a term of the mean of observations, on the scale of `link` */
    PRIOR_SD,        /* of observations, or of a latent that is such a term */
    PRIOR_VARIANCE,  /* its square */
    PRIOR_PRECISION, /* one over its square */
    PRIOR_INVERSE,   /* one over it, as of double exponentials in JAGS */
};

enum prior_link { LINK_NONE, LINK_LOG, LINK_UNIT }; /* unit: log odds, probits, cloglog */

struct prior_scale {
    enum prior_role role;
    enum prior_link link;
    int response;         /* the statement that is observed */
    double response_mean; /* of the data: on their own scale, or by their link */
    double response_sd;   /* the same; 1 on the scale of a link; more if known offsets vary more */
    double slope_mean;    /* d response / d parameter over the data: the covariate */
    double slope_sd;
    double size;       /* of the parameter, or of the sd that it stands for */
    double center;     /* where a level common to all data must lie; 0 for all else */
    int is_level;      /* its slope is the same for all observations */
    int is_feedback;   /* its covariate is the response itself, at an earlier time */
    double uncentered; /* of a level: root of sum of (mean / sd)^2 of the covariates beside it */
};

/* Mean and sd of the data of an observed statement, and their number; 0: no data. */
int response_data(const struct model *m, const struct stmt *s, double *mean, double *sd);

/* out[i] is that of statement i; all that are no priors, or lead to no data, are PRIOR_OTHER. */
int model_prior_scales(struct model *m, struct prior_scale *out);

/* Is this an unobserved scalar whose parameters are constants? */
int is_prior(const struct model *m, const struct stmt *s);

/* propose.c; texts are those of the diags of m.  What to write instead; `reasons`: why, too. */
const char *propose(struct model *m, const struct stmt *s, const struct prior_scale *scale,
                    int reasons);
/* What a size comes from: "sd of y[i] 2.4, of its covariate 14". */
const char *scale_reason(struct model *m, const struct prior_scale *scale);
/* Two digits, as people write them: 280, 3.5, 0.016, 1e+09. */
const char *two_digits(struct model *m, double x);

#endif
