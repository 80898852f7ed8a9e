/* answer.c: posterior draws of a network with importance weights p(x, z) / q(z | x), and the
   diagnostics of these weights. */
#include "infer/answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "infer/weights.h"

int answer_smooth(const struct infer *a, size_t n, double *logw, struct diagnostics *out,
                  nami_err *err)
{
    struct psis p;
    for (size_t i = 0; i < n; i++)
        if (logw[i] < -WEIGHTS_VANISH) logw[i] = -INFINITY;
    out->log_z = weights_log_mean(n, logw, &out->log_se);
    int rc = psis(n, logw, &p, err);
    out->khat = p.khat;
    out->ess = weights_ess(n, logw);
    if (infer_is_exact(a) && isfinite(out->log_z)) {
        out->khat = NO_TAIL;
        out->log_se = 0;
    }
    return rc;
}

static int room(const struct infer *a, const struct query *q, const struct infer_method *method,
                size_t first, size_t n, int predict, struct answer *out, nami_err *err)
{
    size_t rows = (size_t)model_num_rows(a->q->model);
    int weighted = method->weighted, rc = infer_method_can(method, a->q->model, err);
    *out = (struct answer){.per = q->per, .n = n, .first = first};
    if (rc) return rc;
    out->z = raw_array(double, rows *n);
    out->logq = raw_array(double, n);
    if (predict) out->pred = raw_array(double, rows *n);
    if (weighted) out->logp = raw_array(double, n), out->logw = raw_array(double, n);
    if (!out->z || !out->logq || (predict && !out->pred) ||
        (weighted && (!out->logp || !out->logw)))
        return err_nomem(err);
    return 0;
}

int answer_draws(const struct infer *a, const struct query *q, const struct infer_method *method,
                 size_t first, size_t n, int predict, int threads, struct answer *out,
                 nami_err *err)
{
    int rc = room(a, q, method, first, n, predict, out, err);
    return rc ? rc : method->fill(a, q, threads, out, err);
}

int answer_sets(const struct infer *a, const struct query *q, const struct infer_method *method,
                size_t first, size_t nset, int predict, int threads, struct answer *out,
                nami_err *err)
{
    size_t per = q->per;
    int rc = room(a, q, method, first * per, nset * per, predict, out, err);
    if (rc) return rc;
    out->nset = nset;
    out->found = new_array(struct diagnostics, nset);
    if (!out->found) return err_nomem(err);
    for (size_t s = 0; s < nset; s++) out->found[s] = DIAGNOSTICS_UNKNOWN;
    rc = method->fill(a, q, threads, out, err);
    for (size_t s = 0; s < nset && !rc && out->logw; s++)
        if (isnan(out->found[s].log_z) && !out->found[s].rhat) /* not known yet */
            rc = answer_smooth(a, per, out->logw + s * per, &out->found[s], err);
    return rc;
}

void answer_free(struct answer *x)
{
    free(x->z);
    free(x->pred);
    free(x->logq);
    free(x->logp);
    free(x->logw);
    free(x->found);
    *x = (struct answer){0};
}
