/* posterior_blame.c: of answers by importance sampling that are not trusted, which latents make the
   weights uneven. */
#include <math.h>
#include <stdlib.h>

#include "api/posterior.h"
#include "base/err.h"
#include "infer/blame.h"

/* Scalars that the network draws, not those that are drawn exactly given them. */
static int is_learned(const nami_posterior *p, int element)
{
    const struct collapse *c = p->net->net.q.collapse;
    int node = element_node(p->net->net.model, element);
    for (size_t s = 0; c && s < c->step.n; s++)
        for (size_t k = 0; k < c->step.a[s]->node.n; k++)
            if (c->step.a[s]->node.a[k] == node) return 0;
    return node >= 0;
}

/* Keeps the largest, in order. */
static void keep(struct blamed *b, int element, double share)
{
    int k = b->n < BLAMED ? b->n++ : BLAMED - 1;
    if (k == BLAMED - 1 && b->share[k] > share && b->element[k] >= 0) return;
    for (; k > 0 && b->share[k - 1] < share; k--) {
        b->share[k] = b->share[k - 1];
        b->element[k] = b->element[k - 1];
    }
    b->share[k] = share;
    b->element[k] = element;
}

int blame_set(nami_posterior *p, size_t set, size_t i, nami_err *err)
{
    const struct answer *a = &p->answer;
    const struct model *m = p->net->net.model;
    const struct diagnostics *d = &p->blocks.found[set];
    struct blamed *b = &p->blamed[set];
    size_t n = p->q.per;
    *b = (struct blamed){.element = {-1, -1, -1}};
    if (p->method != &infer_is || a->n - i < n ||
        verdict_of(p->method, d, n, p->islands) != NOT_TRUSTED)
        return 0;
    double *logw = raw_array(double, n);
    int rc = logw ? 0 : err_nomem(err);
    for (size_t k = 0; k < n && !rc; k++) logw[k] = a->logp[i + k] - a->logq[i + k];
    for (int e = 0; e < model_num_elements(m) && !rc; e++) {
        double share;
        if (element_is_observed(m, e) || !is_learned(p, e)) continue;
        rc = blame(n, a->z + (size_t)element_row(m, e) * a->n + i, logw, &share, err);
        if (!rc && share >= BLAMED_LEAST) keep(b, e, share);
    }
    free(logw);
    return rc;
}
