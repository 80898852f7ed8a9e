/* ood_model.h: out-of-distribution test of observed data against draws of the model, which are
   what the network was trained on. */
#ifndef INFER_OOD_MODEL_H
#define INFER_OOD_MODEL_H

#include "infer/ood.h"
#include "model/view.h"

#define OOD_ALARM 0.001 /* a smaller p is worth a warning */

struct ood_model {
    int k, *elem;    /* elements that are compared: the observed ones, or 2000 of more, evenly */
    struct ood o;    /* its scalar j is elem[j] */
    double *x;       /* (k): one data set */
    const char *why; /* why it cannot tell; or NULL */
};

/* Draws from the model, always the same ones: 3200, of which those that are finite count.  Not
   those of a simulator, which may be slow, or not be there.  ood_model_free() in any case. */
int ood_model_fit(const struct model *m, int threads, struct ood_model *out, nami_err *err);
/* Data set s of nset, x[row * nset + s]; p is NaN if it cannot tell. */
int ood_model_query(const struct ood_model *o, const struct model *m, const double *x, size_t nset,
                    size_t s, struct ood_answer *out, nami_err *err);
void ood_model_free(struct ood_model *o);

#endif
