/* check.h: prior predictive check: properties of a model that make amortized inference hard or
   impossible. Messages are warnings that point to the statement to change. */
#ifndef MODEL_CHECK_H
#define MODEL_CHECK_H

#include "model/lang/diag.h"
#include "model/view.h"

/* Summary of the draws of one statement, over all its instances. */
struct check_row {
    int stmt;
    double mean, sd, q05, q50, q95; /* of finite values */
    double nan, inf;                /* fractions of all values that are NaN, infinite */
    double huge;                    /* fraction of values above 10^12 in absolute value */
    int num_data;                   /* number of observed values; 0: no data */
    double data_mean, data_sd;      /* of the observed values */
};

struct check {
    size_t n; /* draws */
    int nrow;
    struct check_row *row; /* the stochastic statements, in order */
    struct diags diags;    /* messages of the model, which must outlive this, and of the check */
    int nproblem;          /* number of messages added; 0: no problem was found */
    int without_data;      /* there are no observed values to compare draws with */
    int training;          /* the draws are from the training distributions */
};

/* training: draws from the training distributions, if there are any. Call check_fini() also after an
   error. */
int model_check(const struct model *m, size_t n, uint64_t seed, int training, int threads,
                struct check *out, nami_err *err);
void check_fini(struct check *c);

#endif
