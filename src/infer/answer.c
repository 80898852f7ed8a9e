/* answer.c: posterior draws of a network with importance weights p(x, z) / q(z | x), and the
   diagnostics of these weights. */
#include "infer/answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/exchange.h"
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

/* ---- between processes ---------------------------------------------------------------------- */

/* Diagnostics without a pointer: the method by its number, from 1; 0: that of the query. */
struct found_message {
    struct diagnostics found;
    int method;
};

static int number_of(const char *method)
{
    for (int i = 0; infer_methods[i] && method; i++)
        if (strcmp(infer_methods[i]->name, method) == 0) return i + 1;
    return 0;
}

/* Sends or receives all arrays. */
static int pass(const struct infer *a, const nami_exchange *with, int from, struct answer *x,
                nami_err *err)
{
    size_t rows = (size_t)model_num_rows(a->q->model), size = sizeof *x->z * x->n;
    const struct {
        void *bytes;
        size_t size;
    } list[] = {{x->z, rows * size}, {x->pred, rows * size},
                {x->logq, size},     {x->logp, size},
                {x->logw, size},     {x->message, sizeof *x->message * x->nset}};
    int rc = 0;
    for (size_t i = 0; i < sizeof list / sizeof *list && !rc; i++) {
        if (!list[i].bytes) continue;
        rc = from < 0 ? exchange_send(with, 0, EXCHANGE_ANSWER, list[i].bytes, list[i].size)
                      : exchange_receive(with, from, EXCHANGE_ANSWER, list[i].bytes, list[i].size);
    }
    return rc ? exchange_failed(err) : 0;
}

int answer_send(const struct infer *a, const nami_exchange *with, struct answer *x, nami_err *err)
{
    if (!(x->message = new_array(struct found_message, x->nset))) return err_nomem(err);
    for (size_t s = 0; s < x->nset; s++) {
        x->message[s] = (struct found_message){x->found[s], number_of(x->found[s].method)};
        x->message[s].found.method = NULL;
    }
    return pass(a, with, -1, x, err);
}

int answer_receive(const struct infer *a, const nami_exchange *with, int from,
                   const struct query *q, const struct infer_method *method, size_t first,
                   size_t nset, int predict, struct answer *out, nami_err *err)
{
    int rc = room(a, q, method, first * q->per, nset * q->per, predict, out, err);
    if (rc) return rc;
    out->nset = nset;
    out->found = new_array(struct diagnostics, nset);
    out->message = new_array(struct found_message, nset);
    if (!out->found || !out->message) return err_nomem(err);
    if ((rc = pass(a, with, from, out, err))) return rc;
    for (size_t s = 0; s < nset; s++) {
        int number = out->message[s].method;
        out->found[s] = out->message[s].found;
        if (number > 0) out->found[s].method = infer_methods[number - 1]->name;
    }
    return 0;
}

void answer_free(struct answer *x)
{
    free(x->z);
    free(x->pred);
    free(x->logq);
    free(x->logp);
    free(x->logw);
    free(x->found);
    free(x->message);
    *x = (struct answer){0};
}
