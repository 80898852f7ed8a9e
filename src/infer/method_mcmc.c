/* method_mcmc.c: Hamiltonian Monte Carlo on the collapsed posterior (mcmc.h), started at draws of
   the network. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "infer/answer.h"
#include "infer/mcmc.h"
#include "model/eval.h"

/* Coordinates of the first draws, z[row * n + i]. */
static int start_of(const struct infer *a, size_t n, const double *z, double **out, nami_err *err)
{
    size_t rows = (size_t)model_num_rows(a->q->model), m = MCMC_CHAINS;
    struct joint j;
    double *first = raw_array(double, rows *m);
    int rc = joint_make(&j, a->q, err);
    *out = rc ? NULL : raw_array(double, (size_t)j.num_coordinates *m);
    if (!rc && (!*out || !first)) rc = err_nomem(err);
    for (size_t r = 0; r < rows && !rc; r++)
        for (size_t i = 0; i < m; i++) first[r * m + i] = z[r * n + i % n];
    if (!rc && joint_coordinates(&j, m, first, *out)) rc = err_nomem(err);
    joint_free(&j);
    free(first);
    return rc;
}

int mcmc_answer(const struct infer *a, const struct query *q, struct answer *x, size_t s,
                int threads, nami_err *err)
{
    size_t rows = (size_t)model_num_rows(a->q->model), n = x->per, at = s * n,
           set = x->first / q->per + s;
    double *z = raw_array(double, rows *n), *pred = x->pred ? raw_array(double, rows *n) : NULL;
    double *start = NULL;
    struct density d = {.logp = x->logp + at};
    int rc = !z || (x->pred && !pred) ? err_nomem(err) : 0;
    for (size_t r = 0; r < rows && !rc; r++) memcpy(z + r * n, x->z + r * x->n + at, sizeof *z * n);
    if (!rc && !a->untrained) rc = start_of(a, n, z, &start, err);
    if (!rc) rc = mcmc_set(a, q, set, n, threads, start, z, pred, &x->found[s], err);
    if (!rc) rc = model_logp(a->q->model, n, z, threads, &d, err);
    for (size_t i = at; i < at + n && !rc; i++) x->logw[i] = -log((double)n), x->logq[i] = NAN;
    for (size_t r = 0; r < rows && !rc; r++) {
        memcpy(x->z + r * x->n + at, z + r * n, sizeof *z * n);
        if (pred) memcpy(x->pred + r * x->n + at, pred + r * n, sizeof *z * n);
    }
    x->found[s].method = infer_mcmc.name;
    free(z);
    free(pred);
    free(start);
    return rc;
}

static int fill(const struct infer *a, const struct query *q, int threads, struct answer *x,
                nami_err *err)
{
    if (infer_is_exact(a)) return infer_is.fill(a, q, threads, x, err); /* nothing to explore */
    int rc = infer_direct.fill(a, q, threads, x, err);
    for (size_t s = 0; s < x->nset && !rc; s++) rc = mcmc_answer(a, q, x, s, threads, err);
    return rc;
}

const struct infer_method infer_mcmc = {
    .name = "mcmc",
    .what = "Hamiltonian Monte Carlo: chains that start at the network's draws",
    .weighted = 1,
    .fill = fill,
};
