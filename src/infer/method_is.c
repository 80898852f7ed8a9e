/* method_is.c: importance sampling: draws of the network with weights p(x, z) / q(z | x). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "infer/answer.h"
#include "model/eval.h"

enum { NUMBERS = 1 << 22 }; /* approximate number of values in memory, without weights */

/* An integral without a value did not converge, or is over a singular density: of a few draws,
   their weights become 0; of more, the answer would be wrong. */
static int check_integrals(const struct infer *a, const struct answer *x, nami_err *err)
{
    const struct collapse *c = a->q->collapse;
    const struct exact_step *s = c->step.a[0];
    size_t bad = 0;
    for (size_t i = 0; i < x->n; i++) bad += isnan(x->logp[i]) && !isnan(x->logq[i]);
    if (bad <= x->n / 20) return 0;
    for (size_t k = 0; k < c->step.n && !s->kind->plates; k++) s = c->step.a[k];
    return err_set(err, NAMI_EINPUT,
                   "the integral over %s (%s) has no value for %.0f %% of the draws; train a "
                   "network for it: --exact with the names of the others, or none",
                   bn_name(model_bn(a->q->model), s->node.a[0]), s->kind->name,
                   100.0 * (double)bad / (double)x->n);
}

/* If the network has no latents, the collapsed density is p(x): computed once for each data set, at
   the first of its draws. */
static int evidence_of_sets(const struct infer *a, struct answer *x, int threads, nami_err *err)
{
    size_t rows = (size_t)model_num_rows(a->q->model), first = x->first / x->per,
           sets = (x->first + x->n - 1) / x->per - first + 1;
    double *z = raw_array(double, rows *sets), *logp = raw_array(double, sets);
    int rc = z && logp ? 0 : err_nomem(err);
    for (size_t s = 0; s < sets && !rc; s++) {
        size_t i = s ? (first + s) * x->per - x->first : 0;
        for (size_t r = 0; r < rows; r++) z[r * sets + s] = x->z[r * x->n + i];
    }
    if (!rc)
        rc = program_logp(a->q->model, collapse_density(a->q->collapse), sets, z, threads,
                          &(struct density){.logp = logp}, err);
    for (size_t i = 0; i < x->n && !rc; i++) x->logp[i] = logp[(x->first + i) / x->per - first];
    free(z);
    free(logp);
    return rc;
}

/* log p of the latents that the network has. */
static int collapsed(const struct infer *a, struct answer *x, int threads, nami_err *err)
{
    struct density d = {.logp = x->logp};
    const struct collapse *c = a->q->collapse;
    if (!c) return model_logp(a->q->model, x->n, x->z, threads, &d, err);
    if (infer_is_exact(a)) return evidence_of_sets(a, x, threads, err);
    return program_logp(a->q->model, collapse_density(c), x->n, x->z, threads, &d, err);
}

/* Exact latents are integrated out of both densities; barren ones, drawn from the model, cancel. */
static int weigh(const struct infer *a, const struct query *q, struct answer *x, int threads,
                 nami_err *err)
{
    const struct collapse *c = a->q->collapse;
    size_t n = x->n;
    int others = infer_has_others(a) && !(c && q->weights_only);
    double *add = others ? raw_array(double, n + 1) : NULL;
    int rc = others && !add ? err_nomem(err) : 0;
    if (!rc) rc = collapsed(a, x, threads, err);
    if (!rc && others) rc = infer_others(a, n, x->z, x->logp, threads, add, err);
    if (!rc && c) rc = check_integrals(a, x, err);
    for (size_t i = 0; i < n && !rc; i++) {
        if (others && !c) x->logq[i] += add[i];
        x->logw[i] = x->logp[i] - x->logq[i];
        if (others && c) x->logp[i] += add[i], x->logq[i] += add[i];
        if (isnan(x->logw[i])) x->logw[i] = -INFINITY; /* outside of the model's support */
    }
    free(add);
    return rc;
}

static int fill(const struct infer *a, const struct query *q, int threads, struct answer *x,
                nami_err *err)
{
    int rc = infer_direct.fill(a, q, threads, x, err);
    return rc ? rc : weigh(a, q, x, threads, err);
}

static int evidence(const struct infer *a, const struct query *q, const struct evidence_options *o,
                    size_t first, size_t nset, int threads, struct diagnostics *found,
                    nami_err *err)
{
    (void)o;
    struct query only = *q;
    size_t n = nset * q->per, most = NUMBERS / (size_t)(model_num_rows(a->q->model) + 1) + 1;
    double *logw = raw_array(double, n);
    int rc = logw ? 0 : err_nomem(err);
    only.weights_only = 1;
    for (size_t i = 0, k; i < n && !rc; i += k) {
        struct answer x;
        k = n - i < most ? n - i : most;
        rc = answer_draws(a, &only, &infer_is, first * q->per + i, k, 0, threads, &x, err);
        if (!rc) memcpy(logw + i, x.logw, k * sizeof *logw);
        answer_free(&x);
    }
    for (size_t s = 0; s < nset && !rc; s++)
        rc = answer_smooth(a, q->per, logw + s * q->per, &found[s], err);
    free(logw);
    return rc;
}

const struct infer_method infer_is = {
    .name = "is",
    .what = "Pareto-smoothed importance sampling with weights p(x,z)/q(z|x)",
    .weighted = 1,
    .streams = 1,
    .fill = fill,
    .evidence = evidence,
};
