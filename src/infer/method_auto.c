/* method_auto.c: the first of importance sampling, its adaptive form and Markov chains whose answer
   is trusted, for each data set. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "infer/adapt.h"
#include "infer/answer.h"
#include "infer/mcmc.h"
#include "infer/verdict.h"
#include "infer/weights.h"

static int fill(const struct infer *a, const struct query *q, int threads, struct answer *x,
                nami_err *err)
{
    int rc = infer_adaptive.fill(a, q, threads, x, err), can = mcmc_can(a->q);
    double *logw = raw_array(double, x->per);
    if (!rc && !logw) rc = err_nomem(err);
    for (size_t s = 0; s < x->nset && !rc && can && x->per >= KHAT_DRAWS; s++) {
        struct diagnostics d = {0};
        memcpy(logw, x->logw + s * x->per, sizeof *logw * x->per);
        rc = answer_smooth(a, x->per, logw, &d, err);
        if (!rc && verdict_of(&infer_auto, &d, x->per, 0) != TRUSTED)
            rc = mcmc_answer(a, q, x, s, threads, err);
    }
    free(logw);
    return rc;
}

static int evidence(const struct infer *a, const struct query *q, const struct evidence_options *o,
                    size_t first, size_t nset, int threads, struct diagnostics *found,
                    nami_err *err)
{
    return infer_adaptive.evidence(a, q, o, first, nset, threads, found, err);
}

const struct infer_method infer_auto = {
    .name = "auto",
    .what = "importance sampling, adaptive if need be; where that is not trusted, mcmc",
    .weighted = 1,
    .fill = fill,
    .evidence = evidence,
};
