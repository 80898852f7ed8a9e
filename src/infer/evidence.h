/* evidence.h: estimators of the log marginal likelihood log p(x) with a trained network, one row
   each. */
#ifndef INFER_EVIDENCE_H
#define INFER_EVIDENCE_H

#include "data/summary.h"
#include "infer/ais.h"
#include "infer/infer.h"

struct evidence_options {
    struct ais_options ais;
};

struct evidence_method {
    const char *name, *what;
    int chains;  /* does q->per count chains?  Draws are quick, and there are many. */
    int islands; /* draws are in islands (smc.h), whose differences are the error */
    /* Of sets first .. first+nset-1 of the query, found[0] ...: log_z and log_se; khat and ess
       where they mean something, else NaN.  The network has no nuisances, the model a density;
       The same for any number of threads, and however the sets of a query are asked for. */
    int (*run)(const struct infer *a, const struct query *q, const struct evidence_options *o,
               size_t first, size_t nset, int threads, struct diagnostics *found, nami_err *err);
};

extern const struct evidence_method evidence_methods[];        /* name NULL at the end */
const struct evidence_method *evidence_find(const char *name); /* or NULL */

#endif
