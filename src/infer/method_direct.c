/* method_direct.c: draws of the network without weights. */
#include "infer/answer.h"

static int fill(const struct infer *a, const struct query *q, int threads, struct answer *x,
                nami_err *err)
{
    return infer_draws(a, q, x->first, x->n, threads, x->z, x->logq, x->pred, err);
}

const struct infer_method infer_direct = {
    .name = "direct",
    .what = "draws of the network, without weights",
    .streams = 1,
    .fill = fill,
};
