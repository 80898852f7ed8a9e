/* posterior_equal.c: the draws that files, tables and checks are of: resampled, so that all have
   the same weight, unless the query asks for weighted ones. */
#include <math.h>
#include <stdlib.h>

#include "api/posterior.h"
#include "base/err.h"

/* Copies of the draws of the present block, data set by data set. */
static int count_copies(nami_posterior *p, int *once, nami_err *err)
{
    const struct answer *a = &p->answer;
    size_t per = p->q.per;
    if (vec_reserve(&p->copies, a->n)) return err_nomem(err);
    *once = 1;
    for (size_t i = 0, n; i < a->n; i += n) {
        size_t s = (a->first + i) / per, left = (s + 1) * per - (a->first + i);
        n = left < a->n - i ? left : a->n - i;
        if (left == per) p->resample = (struct resample){0};
        if (p->blocks.found[s].ess > 0 || p->blocks.found[s].rhat) {
            *once &= resample(&p->resample, per, n, a->logw + i, p->copies.a + i);
            continue;
        }
        for (size_t k = i; k < i + n; k++) p->copies.a[k] = 1; /* all weights are 0 */
        *once = 0;
    }
    return 0;
}

/* Rows x[row * n + i] of draws to rows of their copies; missing where all weights are 0. */
static double *copy_rows(const nami_posterior *p, const double *x, size_t rows, size_t total)
{
    const struct answer *a = &p->answer;
    double *out = raw_array(double, rows *total + 1), *to = out;
    for (size_t r = 0; r < rows && out; r++)
        for (size_t i = 0; i < a->n; i++) {
            const struct diagnostics *d = &p->blocks.found[(a->first + i) / p->q.per];
            double value = d->ess > 0 || d->rhat ? x[r * a->n + i] : value_missing();
            for (unsigned k = p->copies.a[i]; k; k--) *to++ = value;
        }
    return out;
}

void shown_free(struct shown *s)
{
    if (s->owned) {
        free(s->z);
        free(s->pred);
        free(s->logq);
        free(s->logp);
    }
    *s = (struct shown){.first = s->first + s->n};
}

int shown_make(nami_posterior *p, nami_err *err)
{
    const struct answer *a = &p->answer;
    struct shown *s = &p->shown;
    int once = 1, rc = p->equal && a->n ? count_copies(p, &once, err) : 0;
    shown_free(s);
    if (rc || !a->n) return rc;
    if (once) {
        s->n = a->n;
        s->z = a->z, s->pred = a->pred, s->logq = a->logq, s->logp = a->logp;
        s->logw = p->equal ? NULL : a->logw;
        return 0;
    }
    size_t rows = (size_t)model_num_rows(p->net->net.model);
    for (size_t i = 0; i < a->n; i++) s->n += p->copies.a[i];
    s->owned = 1;
    s->z = copy_rows(p, a->z, p->layout.nrow > rows ? p->layout.nrow : rows, s->n);
    s->logq = copy_rows(p, a->logq, 1, s->n);
    s->logp = copy_rows(p, a->logp, 1, s->n);
    if (a->pred) s->pred = copy_rows(p, a->pred, p->seen.nrow > rows ? p->seen.nrow : rows, s->n);
    return s->z && s->logq && s->logp && (s->pred || !a->pred) ? 0 : err_nomem(err);
}

const unsigned *nami_posterior_copies(const nami_posterior *p)
{
    return p->equal && p->answer.n ? p->copies.a : NULL;
}
