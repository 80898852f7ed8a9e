/* exact_rows.c: computes the deterministic variables of draws from the random ones. */
#include <string.h>

#include "infer/exact.h"
#include "model/eval.h"

int exact_complete(const struct model *m, size_t n, double *x, nami_err *err)
{
    struct exec e;
    int rc =
        exec_init(&e, model_density_program(m), exec_lanes(model_density_program(m)), 0, 0, err);
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
