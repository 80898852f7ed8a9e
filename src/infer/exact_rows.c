/* exact_rows.c: computes the deterministic variables of draws from the random ones. */
#include <string.h>

#include "infer/exact.h"
#include "model/eval.h"

static int run(const struct model *m, const struct prog *p, size_t n, double *x, nami_err *err)
{
    struct exec e;
    int rc = exec_init(&e, p, exec_lanes(p), 0, 0, err);
    if (rc) return rc;
    e.param = model_weights(m);
    for (size_t i = 0; i < n; i += (size_t)e.cap) {
        size_t lanes = n - i < (size_t)e.cap ? n - i : (size_t)e.cap;
        e.lanes = (int)lanes;
        for (int r = 0; r < model_num_rows(m); r++)
            memcpy(e.row + (size_t)r * (size_t)e.cap, x + (size_t)r * n + i, sizeof *x * lanes);
        exec_run(&e);
        for (int r = 0; r < model_num_rows(m); r++)
            memcpy(x + (size_t)r * n + i, e.row + (size_t)r * (size_t)e.cap, sizeof *x * lanes);
    }
    exec_fini(&e);
    return 0;
}

int exact_complete(const struct model *m, size_t n, double *x, nami_err *err)
{
    return run(m, model_density_program(m), n, x, err);
}

int exact_means(const struct collapse *c, size_t n, double *x, nami_err *err)
{
    return run(c->model, &c->mean, n, x, err);
}
