/* method_ais.c: the evidence by annealed importance sampling (ais.h). */
#include <stdlib.h>

#include "base/err.h"
#include "base/vec.h"
#include "infer/method.h"

static int evidence(const struct infer *a, const struct query *q, const struct evidence_options *o,
                    size_t first, size_t nset, int threads, struct diagnostics *found,
                    nami_err *err)
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

const struct infer_method infer_ais = {
    .name = "ais",
    .what = "annealed importance sampling: chains of Hamiltonian Monte Carlo",
    .weighted = 1,
    .chains = 1,
    .evidence = evidence,
};
