/* pointwise.h: the log likelihood of each observed variable of a model, given all latents. */
#ifndef INFER_POINTWISE_H
#define INFER_POINTWISE_H

#include "data/draws.h"
#include "model/view.h"

struct pointwise {
    const struct model *model;
    struct prog prog;
    int n;     /* observed variables: scalars, or vectors with a multivariate distribution */
    int *elem; /* the first element of each, increasing */
    int *row;  /* the row of the program that has its log density */
    /* Arrays of them, as variables of files: of the shape of the observed array, if that is
       observed as a whole, scalar by scalar; else a list of its observed variables. */
    int nvar;
    struct draws_var *var;
};

/* NAMI_EINPUT if an observed variable has no density.  pointwise_free() in any case. */
int pointwise_make(struct pointwise *p, const struct model *m, nami_err *err);
void pointwise_free(struct pointwise *p);
/* Of n points x[row * n + i]: out[k * n + i] for each k < p->n. */
int pointwise_logp(const struct pointwise *p, size_t n, const double *x, int threads, double *out,
                   nami_err *err);

#endif
