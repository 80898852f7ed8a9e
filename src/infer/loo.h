/* loo.h: leave-one-out cross-validation from posterior draws, by Pareto-smoothed importance
   sampling (PSIS-LOO: Vehtari, Gelman, Gabry 2017, Statistics and Computing 27). */
#ifndef INFER_LOO_H
#define INFER_LOO_H

#include <stddef.h>

#include "nami.h"

/* One observation y_i. */
struct loo_point {
    double elpd; /* log p(y_i | all others), by weights 1 / p(y_i | z) */
    double lpd;  /* log p(y_i | all): the mean over draws of p(y_i | z) */
    double khat; /* shape of the tail of these weights; elpd is unreliable above khat_limit() */
};

/* From n draws with log p(y_i | z), and logarithms of normalized weights, or NULL: equal ones.
   work: room for n. */
int loo_point(size_t n, const double *loglik, const double *logw, double *work,
              struct loo_point *out, nami_err *err);

/* Of all observations. */
struct loo {
    double elpd, se; /* sum of elpd; its standard error, from their variance */
    double p;        /* effective number of parameters: sum of lpd - elpd */
    double worst;    /* largest k-hat */
    size_t n, bad;   /* observations; those whose k-hat is not below the limit for this number of
                        draws */
};
struct loo loo_of(size_t n, const struct loo_point *point, size_t draws);

/* elpd of a minus that of b, observation by observation, and its standard error. */
double loo_difference(size_t n, const struct loo_point *a, const struct loo_point *b, double *se);

/* Stacking (Yao, Vehtari, Simpson, Gelman 2018, Bayesian Analysis 13): weights of num models, which
   sum to 1 and maximize sum_i log sum_k weight[k] exp(elpd of model k for observation i). points[k]
   has n. */
int loo_stack(size_t n, size_t num, const struct loo_point *const *points, double *weight,
              nami_err *err);

#endif
