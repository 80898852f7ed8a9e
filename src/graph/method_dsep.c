#include <stdlib.h>

#include "base/err.h"
#include "graph/dsep.h"
#include "graph/invert.h"

enum { TOO_MANY = 400 };

/* Appendix F.1, the naive way: start from all later variables and drop any that
   is d-separated given the others, until none is. */
static int prune(struct dsep *d, int v, int *pa, int n)
{
    for (int again = 1; again;) {
        again = 0;
        for (int i = 0; i < n; i++) {
            int u = pa[i];
            pa[i] = pa[n - 1]; /* the others are pa[0..n-2] */
            dsep_given(d, pa, n - 1);
            dsep_from(d, v);
            if (dsep_reaches(d, u)) {
                pa[n - 1] = pa[i];
                pa[i] = u;
            } else {
                n--;
                i--;
                again = 1;
            }
        }
    }
    return n;
}

static int run(const struct problem *p, struct inverse **out, nami_err *err)
{
    int n = p->g->n, inexact, rc, norder;
    unsigned char *role = raw_array(unsigned char, n);
    int *order = raw_array(int, n), *pa = raw_array(int, n);
    struct dsep *d = dsep_new(p->g);
    struct inverse *h = NULL;
    *out = NULL;
    if (!role || !order || !pa || !d) {
        rc = err_nomem(err);
        goto out;
    }
    if (n > TOO_MANY) {
        rc = err_set(err, NAMI_ELIMIT, "method dsep takes O(n^4) time and stops at %d nodes; method "
                                       "nami gives the same inverse", TOO_MANY);
        goto out;
    }
    if ((rc = roles(p, role, &inexact, err)) || (rc = natural_order(p, role, order, &norder, err)) ||
        (rc = inverse_start(p, role, order, norder, NULL, &h, err)))
        goto out;
    for (int i = 0; i < norder; i++) {
        int k = 0;
        for (int q = i + 1; q < norder + h->nobserved; q++) pa[k++] = h->perm[q];
        k = prune(d, order[i], pa, k);
        if (inverse_add_vars(h, pa, k)) {
            rc = err_nomem(err);
            goto out;
        }
        inverse_close(h, i);
    }
    *out = h;
    h = NULL;
out:
    inverse_free(h);
    dsep_free(d);
    free(role);
    free(order);
    free(pa);
    return rc;
}

const struct method method_dsep = {
    "dsep", "the same inverse the naive way, by d-separation (Appendix F.1); slow", 1, run};
