/* ood_model.h: out-of-distribution test of observed data against draws of the model, which are
   what the network was trained on. */
#ifndef INFER_OOD_MODEL_H
#define INFER_OOD_MODEL_H

#include "infer/ood.h"
#include "model/view.h"

#define OOD_ALARM 0.001 /* a warning is given if p is smaller */

struct ood_model {
    int k, *elem;    /* compared elements: the observed ones, at most 2000, evenly spaced */
    struct ood o;    /* its scalar j is elem[j] */
    double *x;       /* (k): one data set */
    const char *why; /* why the test is not available; or NULL */
};

/* Fits to 3200 draws from the model with a fixed seed, of which the finite ones are used. Not
   available for simulators, which may be slow or missing. Call ood_model_free() also after an
   error. */
int ood_model_fit(const struct model *m, int threads, struct ood_model *out, nami_err *err);
/* Data set s of nset, x[row * nset + s]; p is NaN if the test is not available. */
int ood_model_query(const struct ood_model *o, const struct model *m, const double *x, size_t nset,
                    size_t s, struct ood_answer *out, nami_err *err);
void ood_model_free(struct ood_model *o);

#endif
