#include "graph/heuristic.h"

#include <stdlib.h>

#include "base/err.h"

int heuristic(const struct problem *p,
              int (*parents)(const struct problem *p, struct inverse *h, int i, const int *place,
                             int *mark),
              struct inverse **out, nami_err *err)
{
    int n = p->g->n, inexact, rc, k = 0;
    unsigned char *role = raw_array(unsigned char, n);
    int *topo = raw_array(int, n), *place = raw_array(int, n), *mark = new_array(int, n);
    int *order = raw_array(int, n);
    struct inverse *h = NULL;
    *out = NULL;
    if (!role || !topo || !place || !mark || !order || dag_toposort(p->g, topo) < 0) {
        rc = err_nomem(err);
        goto out;
    }
    if ((rc = roles(p, role, &inexact, err))) goto out;
    for (int i = 0; i < n; i++) {
        place[topo[i]] = i;
        if (role[topo[i]] == ROLE_WANTED) order[k++] = topo[i];
    }
    if ((rc = inverse_start(p, role, order, k, NULL, &h, err))) goto out;
    for (int i = 0; i < k; i++) {
        if (parents(p, h, i, place, mark)) {
            rc = err_nomem(err);
            goto out;
        }
        inverse_close(h, i);
    }
    *out = h;
    h = NULL;
out:
    inverse_free(h);
    free(role);
    free(topo);
    free(place);
    free(mark);
    free(order);
    return rc;
}
