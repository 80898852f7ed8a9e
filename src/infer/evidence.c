/* evidence.c: the table of estimators of log p(x): importance sampling, sequential Monte Carlo
   and annealed importance sampling. */
#include "infer/evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "infer/answer.h"

enum { NUMBERS = 1 << 22 }; /* in memory at once, about, but for weights */

static int by_is(const struct infer *a, const struct query *q, const struct evidence_options *o,
                 size_t first, size_t nset, int threads, struct diagnostics *found, nami_err *err)
{
    (void)o;
    size_t n = nset * q->per, most = NUMBERS / (size_t)(model_num_rows(a->q->m) + 1) + 1;
    double *logw = raw_array(double, n);
    int rc = logw ? 0 : err_nomem(err);
    for (size_t i = 0, k; i < n && !rc; i += k) {
        struct answer x;
        k = n - i < most ? n - i : most;
        rc = answer_draws(a, q, ANSWER_IS, first * q->per + i, k, 0, threads, &x, err);
        if (!rc) memcpy(logw + i, x.logw, k * sizeof *logw);
        answer_free(&x);
    }
    for (size_t s = 0; s < nset && !rc; s++)
        rc = answer_smooth(q->per, logw + s * q->per, &found[s], err);
    free(logw);
    return rc;
}

static int by_smc(const struct infer *a, const struct query *q, const struct evidence_options *o,
                  size_t first, size_t nset, int threads, struct diagnostics *found, nami_err *err)
{
    (void)o;
    struct answer x = {.nset = nset, .per = q->per, .n = nset * q->per, .found = found};
    for (size_t s = 0; s < nset; s++) found[s] = (struct diagnostics){NAN, NAN, NAN, NAN};
    x.logw = raw_array(double, x.n);
    int rc = x.logw ? answer_smc(a, q, first, threads, &x, err) : err_nomem(err);
    for (size_t s = 0; s < nset && !rc; s++)
        if (isnan(found[s].log_z)) rc = answer_smooth(q->per, x.logw + s * q->per, &found[s], err);
    free(x.logw);
    return rc;
}

static int by_ais(const struct infer *a, const struct query *q, const struct evidence_options *o,
                  size_t first, size_t nset, int threads, struct diagnostics *found, nami_err *err)
{
    struct ais s;
    double *logw = raw_array(double, nset * q->per);
    int rc = ais_init(&s, a, &o->ais, err);
    if (!rc && !logw) rc = err_nomem(err);
    if (!rc) rc = ais_sets(&s, q, first, nset, threads, &(struct ais_out){logw, found, NULL}, err);
    ais_fini(&s);
    free(logw);
    return rc;
}

const struct evidence_method evidence_methods[] = {
    {"is", "the mean of importance weights p(x,z)/q(z|x)", 0, 0, by_is},
    {"smc", "sequential Monte Carlo along the factors of the network", 0, 1, by_smc},
    {"ais", "annealed importance sampling: chains of Hamiltonian Monte Carlo", 1, 0, by_ais},
    {NULL, NULL, 0, 0, NULL},
};

const struct evidence_method *evidence_find(const char *name)
{
    for (const struct evidence_method *m = evidence_methods; m->name; m++)
        if (strcmp(m->name, name) == 0) return m;
    return NULL;
}
