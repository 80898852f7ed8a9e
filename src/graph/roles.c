/* roles.c: the role of each node in an inversion: observed, wanted, nuisance or barren. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "graph/invert.h"

/* A latent is barren if it has no observed descendant.  A wanted barren latent
   is set aside, with the model's own conditional as its factor, if its parents
   all have values when it is drawn (none is a nuisance) and its children are
   out of the way too.  A barren nuisance simply goes. Children come before
   parents here, so whole barren subtrees go. */
int roles(const struct problem *p, unsigned char *role, int *inexact, nami_err *err)
{
    const struct dag *g = p->g;
    int *topo = raw_array(int, g->n);
    unsigned char *seen =
        new_array(unsigned char, g->n); /* has an observed descendant, or is one */
    if (!topo || !seen || dag_toposort(g, topo) < 0) {
        free(topo);
        free(seen);
        return err_nomem(err);
    }
    *inexact = 0;
    for (int i = g->n; i-- > 0;) {
        int v = topo[i], nuisance = p->nuisance && p->nuisance[v];
        int out = nuisance || !p->keep_barren;
        seen[v] = p->observed[v];
        for_children (g, v, c) {
            seen[v] |= seen[c];
            out &= role[c] == ROLE_MODEL || role[c] == ROLE_DROPPED;
        }
        if (p->observed[v]) {
            role[v] = ROLE_OBSERVED;
            continue;
        }
        if (!nuisance)
            for_parents (g, v, u) out &= p->observed[u] || !(p->nuisance && p->nuisance[u]);
        if (nuisance)
            role[v] = out ? ROLE_DROPPED : ROLE_NUISANCE;
        else
            role[v] = out ? ROLE_MODEL : ROLE_WANTED;
        if (!out && !seen[v]) *inexact = 1;
    }
    free(topo);
    free(seen);
    return 0;
}

int inverse_start(const struct problem *p, const unsigned char *role, const int *latent,
                  int nlatent, const int *observed, struct inverse **out, nami_err *err)
{
    int n = p->g->n, count[ROLE_DROPPED + 1] = {0}, *list = NULL;
    struct inverse *h = NULL;
    *out = NULL;
    for (int v = 0; v < n; v++) count[role[v]]++;
    if (!observed || count[ROLE_MODEL]) {
        if (!(list = raw_array(int, n))) goto nomem;
        for (int v = 0, k = 0; v < n; v++)
            if (role[v] == ROLE_OBSERVED) list[k++] = v;
    }
    h = inverse_new(n, latent, nlatent, observed ? observed : list, count[ROLE_OBSERVED]);
    if (!h || !(h->model = raw_array(int, count[ROLE_MODEL])) ||
        !(h->nuisance = raw_array(int, count[ROLE_NUISANCE] + count[ROLE_DROPPED])))
        goto nomem;
    int nexact = 0;
    while (p->exact && nexact < nlatent && p->exact[latent[nexact]]) nexact++;
    if (nexact && inverse_set_exact(h, nexact)) goto nomem;
    if (count[ROLE_MODEL]) { /* children first: the order of elimination */
        if (dag_toposort(p->g, list) < 0) goto nomem;
        for (int i = n; i-- > 0;)
            if (role[list[i]] == ROLE_MODEL) h->model[h->nmodel++] = list[i];
    }
    for (int v = 0; v < n; v++)
        if (role[v] == ROLE_NUISANCE || role[v] == ROLE_DROPPED) h->nuisance[h->nnuisance++] = v;
    free(list);
    *out = h;
    return 0;
nomem:
    free(list);
    inverse_free(h);
    return err_nomem(err);
}
