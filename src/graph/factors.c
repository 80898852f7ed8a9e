/* factors.c: the frame of methods that choose the parents of each factor in a fixed order. */
#include "graph/factors.h"

#include <stdlib.h>

#include "base/err.h"

static int find_order(const struct problem *p, enum factor_order how, const unsigned char *role,
                      const int *topo, int *order, int *n, nami_err *err)
{
    if (how == ORDER_NAMI) return natural_order(p, role, order, n, err);
    *n = 0;
    for (int i = 0; i < p->g->n; i++)
        if (role[topo[i]] == ROLE_WANTED) order[(*n)++] = topo[i];
    return 0;
}

int by_factors(const struct problem *p, enum factor_order order,
               int (*parents)(struct factors *f, int i), void *own, struct inverse **out,
               nami_err *err)
{
    int n = p->g->n, inexact, rc, k;
    unsigned char *role = raw_array(unsigned char, n);
    int *topo = raw_array(int, n), *place = raw_array(int, n), *list = raw_array(int, n);
    struct problem q = *p;
    struct factors f = {
        .p = &q, .place = place, .mark = new_array(int, n), .list = list, .own = own};
    *out = NULL;
    if (order == ORDER_TOPOLOGICAL) q.exact = NULL; /* it does not put them first */
    if (!role || !topo || !place || !list || !f.mark || dag_toposort(p->g, topo) < 0) {
        rc = err_nomem(err);
        goto out;
    }
    for (int i = 0; i < n; i++) place[topo[i]] = i;
    if ((rc = roles(&q, role, &inexact, err)) ||
        (rc = find_order(&q, order, role, topo, list, &k, err)) ||
        (rc = inverse_start(&q, role, list, k, NULL, &f.h, err)))
        goto out;
    for (int i = 0; i < k; i++) {
        if (parents(&f, i)) {
            rc = err_nomem(err);
            goto out;
        }
        inverse_close(f.h, i);
    }
    *out = f.h;
    f.h = NULL;
out:
    inverse_free(f.h);
    free(role);
    free(topo);
    free(place);
    free(list);
    free(f.mark);
    return rc;
}
