/* check.h: the prior predictive check: what makes a model hard or impossible to
   amortise.  Messages are warnings, at the statement to change. */
#ifndef MODEL_CHECK_H
#define MODEL_CHECK_H

#include "model/lang/diag.h"
#include "model/view.h"

/* What draws of one statement look like, all its instances together. */
struct check_row {
    int stmt;
    double mean, sd, q05, q50, q95; /* of finite values */
    double nan, inf;                /* shares of all values that are not numbers, infinite */
    double huge;                    /* the share beyond 10^12 */
    int num_data;                   /* observed values; 0: none were given */
    double data_mean, data_sd;      /* of these */
};

struct check {
    size_t n; /* draws */
    int nrow;
    struct check_row *row; /* stochastic statements in order */
    struct diags diags;    /* the model's messages, which it must outlive, and those of the check */
    int nproblem;          /* messages added: 0 is a good model */
    int without_data;      /* no observed values were given: nothing to compare draws with */
};

/* check_fini() in any case. */
int model_check(const struct model *m, size_t n, uint64_t seed, int threads, struct check *out,
                nami_err *err);
void check_fini(struct check *c);

#endif
