/* answer.c: posterior draws of a network with importance weights p(x, z) / q(z | x), and the
   diagnostics of these weights. */
#include "infer/answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "infer/weights.h"
#include "model/eval.h"
#include "net/joint.h"

const char *const answer_methods[] = {"direct", "is", "smc", NULL};

int answer_can(const struct model *m, enum answer_method method, nami_err *err)
{
    return method == ANSWER_DIRECT ? 0 : joint_of_all(m, "; use --method direct", err);
}

enum answer_method answer_default(const struct model *m)
{
    return answer_can(m, ANSWER_IS, NULL) ? ANSWER_DIRECT : ANSWER_IS;
}

enum answer_method answer_find(const char *name)
{
    int i = 0;
    while (i + 1 < NANSWER && strcmp(answer_methods[i], name) != 0) i++;
    return (enum answer_method)i;
}

/* p(x, z) and q are both densities of all latents: barren ones, drawn from the model, cancel. */
static int weigh(const struct infer *a, struct answer *x, int threads, nami_err *err)
{
    struct density d = {.logp = x->logp};
    size_t n = x->n;
    int rc = model_logp(a->q->m, n, x->z, threads, &d, err);
    if (rc) return rc;
    if (a->q->h->nmodel) { /* what they add to log p, they add to log q */
        rc = infer_barren(a, n, x->z, threads, x->logw, err);
        for (size_t i = 0; i < n; i++) x->logq[i] += x->logw[i];
    }
    for (size_t i = 0; i < n; i++) {
        x->logw[i] = x->logp[i] - x->logq[i];
        if (isnan(x->logw[i])) x->logw[i] = -INFINITY; /* outside of the model's support */
    }
    return rc;
}

int answer_smooth(size_t n, double *logw, struct diagnostics *out, nami_err *err)
{
    struct psis p;
    for (size_t i = 0; i < n; i++)
        if (logw[i] < -WEIGHTS_VANISH) logw[i] = -INFINITY;
    out->log_z = weights_log_mean(n, logw, &out->log_se);
    int rc = psis(n, logw, &p, err);
    out->khat = p.khat;
    out->ess = weights_ess(n, logw);
    return rc;
}

static int room(const struct infer *a, const struct query *q, enum answer_method method,
                size_t first, size_t n, int predict, struct answer *out, nami_err *err)
{
    size_t rows = (size_t)model_num_rows(a->q->m);
    int weighted = method != ANSWER_DIRECT, rc = answer_can(a->q->m, method, err);
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

int answer_draws(const struct infer *a, const struct query *q, enum answer_method method,
                 size_t first, size_t n, int predict, int threads, struct answer *out,
                 nami_err *err)
{
    int rc = room(a, q, method, first, n, predict, out, err);
    if (!rc) rc = infer_draws(a, q, first, n, threads, out->z, out->logq, out->pred, err);
    return rc || method != ANSWER_IS ? rc : weigh(a, out, threads, err);
}

int answer_sets(const struct infer *a, const struct query *q, enum answer_method method,
                size_t first, size_t nset, int predict, int threads, struct answer *out,
                nami_err *err)
{
    size_t per = q->per, d = first * per, n = nset * per;
    int smc = method == ANSWER_SMC;
    int rc = smc ? room(a, q, method, d, n, predict, out, err)
                 : answer_draws(a, q, method, d, n, predict, threads, out, err);
    if (rc) return rc;
    out->nset = nset;
    out->found = new_array(struct diagnostics, nset);
    if (!out->found) return err_nomem(err);
    for (size_t s = 0; s < nset; s++) out->found[s] = (struct diagnostics){NAN, NAN, NAN, NAN};
    if (smc) rc = answer_smc(a, q, first, threads, out, err);
    for (size_t s = 0; s < nset && !rc && out->logw; s++)
        if (isnan(out->found[s].log_z)) /* not known yet */
            rc = answer_smooth(per, out->logw + s * per, &out->found[s], err);
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
