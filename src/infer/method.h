/* method.h: inference methods: posterior draws, their weights, estimates of the evidence log p(x).
   A method is a row of infer.def and a record, which says what it can do. */
#ifndef INFER_METHOD_H
#define INFER_METHOD_H

#include "data/summary.h"
#include "infer/ais.h"
#include "infer/infer.h"

struct answer;

/* What an estimate of the evidence may want to know besides the query. */
struct evidence_options {
    struct ais_options ais;
};

struct infer_method {
    const char *name, *what;
    int weighted; /* it needs p(x, z): a model with a density, and a factor for each latent */
    int streams;  /* draws of a data set may be made piece by piece */
    int islands;  /* draws are in islands (smc.h), whose differences tell the error */
    int chains;   /* query.per counts chains, of which a few are enough: draws are quick, and many */
    /* Fills what there is of x (answer.h): draws x->first ..., all of x->nset data sets unless it
       streams; and x->found of a data set, where weights alone do not tell.  NULL: it has no
       draws. */
    int (*fill)(const struct infer *a, const struct query *q, int threads, struct answer *x,
                nami_err *err);
    /* log_z and log_se of sets first .. first+nset-1 of the query, found[0] ...; khat and ess where
       they mean something, else NaN.  The same for any number of threads, and however the sets of a
       query are asked for.  NULL: it has no estimate. */
    int (*evidence)(const struct infer *a, const struct query *q, const struct evidence_options *o,
                    size_t first, size_t nset, int threads, struct diagnostics *found,
                    nami_err *err);
};

#define INFER(id) extern const struct infer_method infer_##id;
#include "infer/infer.def"
#undef INFER
extern const struct infer_method *const infer_methods[]; /* in the order of infer.def; NULL ends */
const struct infer_method *infer_method_find(const char *name); /* or NULL */

/* NAMI_EINPUT if networks of this model cannot be asked by this method. */
int infer_method_can(const struct infer_method *method, const struct model *m, nami_err *err);
/* For draws: importance sampling, where it can be; else the network's own. */
const struct infer_method *infer_method_default(const struct model *m);

#endif
