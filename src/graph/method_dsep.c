/* method_dsep.c: the same inverse as method nami by repeated d-separation tests (the paper's
   Appendix F.1); slow, used to check the fast method. */
#include "base/err.h"
#include "graph/dsep.h"
#include "graph/factors.h"

enum { TOO_MANY = 400 };

/* Appendix F.1, the naive way: start from all later variables and drop any that
   is d-separated given the others, until none is. */
static int parents(struct factors *f, int i)
{
    struct dsep *d = f->own;
    int *pa = f->list, n = 0, again = 1;
    for (int q = i + 1; q < f->h->nlatent + f->h->nobserved; q++) pa[n++] = f->h->perm[q];
    while (again) {
        again = 0;
        for (int k = 0; k < n; k++) {
            int u = pa[k];
            pa[k] = pa[n - 1]; /* the others are pa[0..n-2] */
            dsep_given(d, pa, n - 1);
            dsep_from(d, f->h->perm[i]);
            if (dsep_reaches(d, u)) {
                pa[n - 1] = pa[k];
                pa[k] = u;
            } else {
                n--;
                k--;
                again = 1;
            }
        }
    }
    return inverse_add_vars(f->h, pa, n);
}

static int run(const struct problem *p, struct inverse **out, nami_err *err)
{
    if (p->g->n > TOO_MANY)
        return err_set(err, NAMI_ELIMIT,
                       "method dsep takes O(n^4) time and stops at %d nodes; method "
                       "nami gives the same inverse",
                       TOO_MANY);
    struct dsep *d = dsep_new(p->g);
    int rc = d ? by_factors(p, ORDER_NAMI, parents, d, out, err) : err_nomem(err);
    dsep_free(d);
    return rc;
}

const struct method method_dsep = {
    "dsep", "the same inverse the naive way, by d-separation (Appendix F.1); slow", 1, run};
