/* method_nami.c: the default method: elimination in a natural order with barren latents set
   aside; faithful, minimal and natural. */
#include <stdlib.h>

#include "base/err.h"
#include "graph/elim.h"
#include "graph/imap.h"

/* Barren latents aside, eliminate in a natural order.  If latents without
   observed descendants had to be kept, their marriages make the moral graph
   too rich: then only the order comes from it, and the parents from imap(). */
static int run(const struct problem *p, struct inverse **out, nami_err *err)
{
    int inexact, n = p->g->n, rc;
    unsigned char *role = raw_array(unsigned char, n);
    struct elim *e = NULL;
    int *order = NULL;
    struct problem q = *p;
    if (!role) return err_nomem(err);
    if ((rc = roles(p, role, &inexact, err))) goto out;
    if (inexact) q.max_edges = 0; /* elimination would count too many */
    if ((rc = eliminate(&q, role, 0, &e, err))) goto out;
    if (!inexact) {
        rc = inverse_from_elim(p, role, e, out, err);
    } else if (!(order = raw_array(int, n))) {
        rc = err_nomem(err);
    } else {
        rc = imap(p, role, order, elim_order(e, role, order), out, err);
    }
out:
    elim_free(e);
    free(order);
    free(role);
    return rc;
}

const struct method method_nami = {
    "nami", "faithful, minimal and natural: elimination, with the paper's gaps closed", 1, run};
