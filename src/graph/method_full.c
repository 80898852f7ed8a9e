#include <stdlib.h>

#include "base/err.h"
#include "graph/invert.h"

/* Every later variable: no independence is claimed at all. */
static int run(const struct problem *p, struct inverse **out, nami_err *err)
{
    int inexact, norder, rc;
    unsigned char *role = raw_array(unsigned char, p->g->n);
    int *order = raw_array(int, p->g->n);
    struct inverse *h = NULL;
    *out = NULL;
    if (!role || !order) {
        rc = err_nomem(err);
        goto out;
    }
    if ((rc = roles(p, role, &inexact, err)) || (rc = natural_order(p, role, order, &norder, err)) ||
        (rc = inverse_start(p, role, order, norder, NULL, &h, err)))
        goto out;
    for (int i = 0; i < norder; i++) {
        if (inverse_add(h, i + 1, norder + h->nobserved - i - 1)) {
            rc = err_nomem(err);
            inverse_free(h);
            goto out;
        }
        inverse_close(h, i);
    }
    *out = h;
out:
    free(role);
    free(order);
    return rc;
}

const struct method method_full = {
    "full", "fully connected: every later variable is a parent", 1, run};
