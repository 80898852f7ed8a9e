/* compare.c: compares two structures by names: do they encode the same conditional
   independencies? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"
#include "graph/equiv.h"
#include "model/bn.h"

/* b's edges in a's numbering; both must have the same names. */
static int renumber(const struct bn *a, const struct bn *b, struct dag *out, char *why, size_t len,
                    int *same, nami_err *err)
{
    vec(struct edge) e = {0};
    int rc = 0, *to = raw_array(int, bn_n(b));
    if (!to) return err_nomem(err);
    *same = bn_n(a) == bn_n(b);
    if (!*same) snprintf(why, len, "one has %d nodes, the other %d", bn_n(a), bn_n(b));
    for (int v = 0; v < bn_n(b) && *same; v++) {
        const char *name = bn_name(b, v);
        if ((to[v] = bn_find(a, name, strlen(name))) < 0) {
            *same = 0;
            snprintf(why, len, "only the second has a node '%s'", name);
        }
    }
    for (int v = 0; v < bn_n(b) && *same && !rc; v++)
        for_parents (&b->dag, v, u)
            if (vec_push(&e, ((struct edge){to[u], to[v]}))) rc = err_nomem(err);
    if (!rc && *same) rc = dag_init(out, bn_n(a), e.a, e.n, err);
    vec_free(&e);
    free(to);
    return rc;
}

int nami_bn_equivalent(const nami_bn *a, const nami_bn *b, char *why, size_t len, nami_err *err)
{
    struct dag h = {0};
    struct equiv_witness w;
    int same;
    err_clear(err);
    if (len) why[0] = 0;
    int rc = renumber(a, b, &h, why, len, &same, err);
    if (rc || !same) return rc;
    int yes = equivalent(&a->dag, &h, &w);
    const char *which = w.in_a ? "the first" : "the second";
    if (w.kind == EQUIV_SKELETON)
        snprintf(why, len, "only %s has an edge between %s and %s", which, bn_name(a, w.x),
                 bn_name(a, w.y));
    if (w.kind == EQUIV_IMMORALITY)
        snprintf(why, len, "only %s has the immorality %s -> %s <- %s", which, bn_name(a, w.x),
                 bn_name(a, w.y), bn_name(a, w.z));
    dag_fini(&h);
    return yes;
}
