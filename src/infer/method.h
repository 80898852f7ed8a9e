/* method.h: inference methods: posterior draws, their weights, estimates of the evidence log p(x).
   A method is a row of infer.def and a record of its properties and functions. */
#ifndef INFER_METHOD_H
#define INFER_METHOD_H

#include "data/summary.h"
#include "infer/ais.h"
#include "infer/infer.h"

struct answer;

/* Options of evidence estimates. */
struct evidence_options {
    struct ais_options ais;
};

struct infer_method {
    const char *name, *what;
    int weighted; /* requires p(x, z): a model with a density, and a factor for each latent */
    int streams;  /* draws of a data set can be computed block by block */
    int islands;  /* draws are in islands (smc.h), from which errors are estimated */
    int chains;   /* query.per is the number of chains, of which a few suffice */
    /* Fills the arrays of x (answer.h): draws x->first ..., all of x->nset data sets unless it
       streams; and x->found of a data set if it cannot be computed from the weights. NULL: the
       method has no draws. */
    int (*fill)(const struct infer *a, const struct query *q, int threads, struct answer *x,
                nami_err *err);
    /* log_z and log_se of sets first .. first+nset-1 of the query, found[0] ...; khat and ess where
       defined, otherwise NaN. Results depend neither on the number of threads nor on how sets are
       divided into calls. NULL: the method has no estimate. */
    int (*evidence)(const struct infer *a, const struct query *q, const struct evidence_options *o,
                    size_t first, size_t nset, int threads, struct diagnostics *found,
                    nami_err *err);
};

#define INFER(id) extern const struct infer_method infer_##id;
#include "infer/infer.def"
#undef INFER
extern const struct infer_method
    *const infer_methods[]; /* in the order of infer.def; NULL at the end */
const struct infer_method *infer_method_find(const char *name); /* or NULL */

/* NAMI_EINPUT if this method does not apply to networks of this model. */
int infer_method_can(const struct infer_method *method, const struct model *m, nami_err *err);
/* Default for `per` draws of a data set: auto if the model has a density, importance sampling if
   there are too many draws to hold them in memory; otherwise direct draws of the network. */
const struct infer_method *infer_method_default(const struct qnet *q, size_t per);

#endif
