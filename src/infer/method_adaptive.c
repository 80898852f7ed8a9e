/* method_adaptive.c: importance sampling, first with draws of the network, then, for data sets
   where their weights are too uneven, with a proposal that is adapted to the posterior (adapt.h).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "infer/adapt.h"
#include "infer/answer.h"
#include "infer/weights.h"
#include "model/eval.h"

/* One data set: arrays of its own, since those of an answer hold all of them side by side. */
static int improve(const struct infer *a, const struct query *q, struct answer *x, size_t s,
                   int threads, nami_err *err)
{
    size_t rows = (size_t)model_num_rows(a->q->model), n = x->per, at = s * n,
           set = x->first / q->per + s;
    double *z = raw_array(double, rows *n), *pred = x->pred ? raw_array(double, rows *n) : NULL;
    int rc = !z || (x->pred && !pred) ? err_nomem(err) : 0;
    for (size_t r = 0; r < rows && !rc; r++) memcpy(z + r * n, x->z + r * x->n + at, sizeof *z * n);
    if (!rc)
        rc = adapt_set(a, query_seed(q, set), query_number(q, set), n, threads, z, pred,
                       x->logw + at, &x->found[s], err);
    if (rc > 0) { /* log p and log q of all latents, whose difference is the weight */
        struct density d = {.logp = x->logp + at};
        rc = model_logp(a->q->model, n, z, threads, &d, err);
        for (size_t i = at; i < at + n && !rc; i++) x->logq[i] = x->logp[i] - x->logw[i];
        for (size_t r = 0; r < rows && !rc; r++) {
            memcpy(x->z + r * x->n + at, z + r * n, sizeof *z * n);
            if (pred) memcpy(x->pred + r * x->n + at, pred + r * n, sizeof *z * n);
        }
    }
    free(z);
    free(pred);
    return rc;
}

static int fill(const struct infer *a, const struct query *q, int threads, struct answer *x,
                nami_err *err)
{
    int rc = infer_is.fill(a, q, threads, x, err);
    int can = adapt_can(a->q) && x->per >= KHAT_DRAWS; /* of fewer, none is known to be better */
    double *logw = raw_array(double, x->per);
    if (!rc && !logw) rc = err_nomem(err);
    for (size_t s = 0; s < x->nset && !rc; s++) {
        struct diagnostics d;
        memcpy(logw, x->logw + s * x->per, sizeof *logw * x->per);
        rc = answer_smooth(a, x->per, logw, &d, err);
        if (rc || !can || adapt_enough(&d, x->per)) continue;
        x->found[s] = d;
        rc = improve(a, q, x, s, threads, err);
        x->found[s] = DIAGNOSTICS_UNKNOWN; /* of the smoothed weights: later */
    }
    free(logw);
    return rc;
}

static int evidence(const struct infer *a, const struct query *q, const struct evidence_options *o,
                    size_t first, size_t nset, int threads, struct diagnostics *found,
                    nami_err *err)
{
    int rc = 0;
    (void)o;
    for (size_t s = 0; s < nset && !rc; s++) {
        struct answer x;
        rc = answer_sets(a, q, &infer_adaptive, first + s, 1, 0, threads, &x, err);
        if (!rc) found[s] = x.found[0];
        answer_free(&x);
    }
    return rc;
}

const struct infer_method infer_adaptive = {
    .name = "adaptive",
    .what =
        "importance sampling; if the network's draws are too far off, with a proposal fitted to "
        "their weights",
    .weighted = 1,
    .fill = fill,
    .evidence = evidence,
};
