/* scale.h: plausible scales of parameters, from the data and the covariates. A much wider prior
   draws data that are never observed. */
#ifndef MODEL_SCALE_H
#define MODEL_SCALE_H

#include "model/model.h"

enum prior_role {
    PRIOR_OTHER,     /* none of the following: no scale is known */
    PRIOR_LOCATION,  /* a term in the mean of observations, on the scale of `link` */
    PRIOR_SD,        /* standard deviation of observations, or of a latent that is such a term */
    PRIOR_VARIANCE,  /* its square */
    PRIOR_PRECISION, /* inverse of the variance */
    PRIOR_INVERSE,   /* inverse of the scale, e.g. double exponentials in JAGS */
};

enum prior_link { LINK_NONE, LINK_LOG, LINK_UNIT }; /* unit: log odds, probits, cloglog */

struct prior_scale {
    enum prior_role role;
    enum prior_link link;
    int response;         /* the observed statement */
    double response_mean; /* mean of the data, transformed by the link */
    double response_sd;   /* the same; 1 on the scale of a link, more if offsets vary more */
    double slope_mean;    /* d response / d parameter over the data: the covariate */
    double slope_sd;
    double size;     /* plausible size of the parameter, or of the sd that it represents */
    double center;   /* plausible value of an intercept; otherwise 0 */
    int is_level;    /* an intercept: its slope is the same for all observations */
    int is_feedback; /* autoregressive: its covariate is an earlier value of the response */
    double uncentered; /* intercepts: root of the sum of (mean / sd)^2 of other covariates */
};

/* Mean and sd of the data of an observed statement; returns their number. */
int response_data(const struct model *m, const struct stmt *s, double *mean, double *sd);

/* out[i] for statement i; PRIOR_OTHER unless it is a prior with observed descendants. */
int model_prior_scales(struct model *m, struct prior_scale *out);

/* Is this an unobserved scalar whose parameters are constants? */
int is_prior(const struct model *m, const struct stmt *s);

/* propose.c; texts are allocated in the diags of m. A proposal for a prior; `reasons`: with
   reasons. */
const char *propose(struct model *m, const struct stmt *s, const struct prior_scale *scale,
                    int reasons);
/* The reason for a size: "sd of y[i] 2.4, of its covariate 14". */
const char *scale_reason(struct model *m, const struct prior_scale *scale);
/* x rounded to two digits: 280, 3.5, 0.016, 1e+09. */
const char *two_digits(struct model *m, double x);

#endif
