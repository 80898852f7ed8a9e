/* method_smc.c: sequential Monte Carlo along the factors of the network (smc.h). */
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "infer/answer.h"
#include "infer/smc.h"
#include "infer/weights.h"

/* Adds the same term to log p and log q. */
static int add_others(const struct infer *a, struct answer *x, int threads, nami_err *err)
{
    double *b = raw_array(double, x->n);
    int rc = b ? infer_others(a, x->n, x->z, NULL, threads, b, err) : err_nomem(err);
    for (size_t i = 0; i < x->n && !rc; i++) x->logp[i] += b[i], x->logq[i] += b[i];
    free(b);
    return rc;
}

/* Evidence from islands: the unweighted mean of their estimates. */
static void find(struct answer *x, size_t s, double *logz)
{
    struct diagnostics *f = &x->found[s];
    double *w = x->logw + s * x->per, n = (double)x->islands;
    for (size_t k = 0; k < x->islands; k++) {
        size_t size = smc_first(x->per, x->islands, k + 1) - smc_first(x->per, x->islands, k);
        logz[k] += log((double)size * n / (double)x->per);
    }
    f->log_z = weights_log_mean(x->islands, logz, &f->log_se);
    f->ess = weights_ess(x->per, w);
    if (!(f->log_z > -WEIGHTS_VANISH)) /* weights are all 0, or indistinguishable */
        *f = (struct diagnostics){.khat = NAN, .ess = 0, .log_z = -INFINITY, .log_se = INFINITY};
    weights_normalise(x->per, w);
}

/* Does not set x->found for sets without resampling: their weights are those of importance
   sampling. */
static int fill(const struct infer *a, const struct query *q, int threads, struct answer *x,
                nami_err *err)
{
    size_t first = x->first / q->per;
    x->islands = smc_islands(a, q->per);
    double *logz = raw_array(double, x->nset * x->islands);
    int *resampled = raw_array(int, x->nset * x->islands);
    struct smc_out out = {.z = x->z,
                          .pred = x->pred,
                          .logq = x->logq,
                          .logp = x->logp,
                          .logw = x->logw,
                          .logz = logz,
                          .resampled = resampled};
    int rc = logz && resampled ? 0 : err_nomem(err);
    if (!rc) rc = smc_run(a, q, first, x->nset, threads, &out, err);
    if (!rc && infer_has_others(a) && x->z) rc = add_others(a, x, threads, err);
    for (size_t s = 0; s < x->nset && !rc; s++) {
        int any = 0;
        for (size_t k = 0; k < x->islands; k++) any |= resampled[s * x->islands + k];
        if (any) find(x, s, logz + s * x->islands);
    }
    free(logz);
    free(resampled);
    return rc;
}

static int evidence(const struct infer *a, const struct query *q, const struct evidence_options *o,
                    size_t first, size_t nset, int threads, struct diagnostics *found,
                    nami_err *err)
{
    (void)o;
    struct answer x = {.first = first * q->per,
                       .nset = nset,
                       .per = q->per,
                       .n = nset * q->per,
                       .found = found};
    for (size_t s = 0; s < nset; s++) found[s] = DIAGNOSTICS_UNKNOWN;
    x.logw = raw_array(double, x.n);
    int rc = x.logw ? fill(a, q, threads, &x, err) : err_nomem(err);
    for (size_t s = 0; s < nset && !rc; s++)
        if (isnan(found[s].log_z)) rc = answer_smooth(a, q->per, x.logw + s * q->per, &found[s], err);
    free(x.logw);
    return rc;
}

const struct infer_method infer_smc = {
    .name = "smc",
    .what = "sequential Monte Carlo: partial particles are weighted and resampled after each factor",
    .weighted = 1,
    .islands = 1,
    .fill = fill,
    .evidence = evidence,
};
