/* posterior_loo.c: nami_posterior_loo: log likelihoods of the observations at posterior draws, and
   leave-one-out cross-validation from them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/posterior.h"
#include "base/err.h"

enum { MOST = 1 << 27 }; /* numbers in memory: 1 GB */

int likelihood_begin(nami_posterior *p, nami_err *err)
{
    struct likelihood *l = &p->likelihood;
    const struct model *m = p->net->net.model;
    if (!p->opt.loo) return 0;
    int rc = pointwise_make(&l->of, m, err);
    if (rc) return rc;
    size_t n = (size_t)l->of.n;
    if (!n)
        return err_set(err, NAMI_EINPUT,
                       "the model observes nothing: there is nothing to leave out");
    if (p->q.per > MOST / n)
        return err_set(
            err, NAMI_ELIMIT,
            "%zu draws of %zu log likelihoods are too many for memory; ask for %zu draws "
            "or fewer",
            p->q.per, n, MOST / n);
    l->set = raw_array(double, n * p->q.per);
    l->logw = raw_array(double, p->q.per);
    l->work = raw_array(double, p->q.per);
    l->point = new_array(struct loo_point, n * p->q.nset);
    l->name = arena_array(&p->mem, const char *, n + 1);
    if (!l->set || !l->logw || !l->work || !l->point || !l->name) return err_nomem(err);
    for (size_t k = 0; k < n && !rc; k++) {
        struct str name = {0};
        elem_name(m, l->of.elem[k], &name);
        l->name[k] = name.s ? arena_strndup(&p->mem, name.s, name.n) : NULL;
        if (!l->name[k]) rc = err_nomem(err);
        str_free(&name);
    }
    return rc;
}

/* All draws of a data set are there. */
static int conclude(nami_posterior *p, size_t set, nami_err *err)
{
    struct likelihood *l = &p->likelihood;
    size_t n = (size_t)l->of.n;
    int rc = 0;
    for (size_t k = 0; k < n && !rc; k++)
        rc = loo_point(p->q.per, l->set + k * p->q.per, p->shown.logw ? l->logw : NULL, l->work,
                       &l->point[set * n + k], err);
    return rc;
}

int likelihood_put(nami_posterior *p, nami_err *err)
{
    struct likelihood *l = &p->likelihood;
    const struct shown *s = &p->shown;
    size_t per = p->q.per;
    if (!p->opt.loo || !s->n) return 0;
    free(l->block);
    if (!(l->block = raw_array(double, (size_t)l->of.n * s->n))) return err_nomem(err);
    int rc = pointwise_logp(&l->of, s->n, s->z, p->threads, l->block, err);
    for (size_t i = 0, n; i < s->n && !rc; i += n) {
        size_t set = (s->first + i) / per, at = (s->first + i) % per;
        n = per - at < s->n - i ? per - at : s->n - i;
        for (size_t k = 0; k < (size_t)l->of.n; k++)
            memcpy(l->set + k * per + at, l->block + k * s->n + i, n * sizeof *l->set);
        if (s->logw) memcpy(l->logw + at, s->logw + i, n * sizeof *l->logw);
        if (at + n == per) rc = conclude(p, set, err);
    }
    return rc;
}

void likelihood_free(struct likelihood *l)
{
    pointwise_free(&l->of);
    free(l->block);
    free(l->set);
    free(l->logw);
    free(l->work);
    free(l->point);
}

int has_loo(const nami_posterior *p, nami_err *err)
{
    return p->opt.loo ? 0
                      : err_set(err, NAMI_EUSAGE,
                                "the log likelihoods were not computed; ask for them by the "
                                "option 'loo'");
}

int nami_posterior_loo(const nami_posterior *p, size_t set, nami_loo *out, nami_err *err)
{
    const struct likelihood *l = &p->likelihood;
    err_clear(err);
    int rc = is_answered(p, set, err);
    if (!rc) rc = has_loo(p, err);
    if (rc) return rc;
    struct loo all = loo_of((size_t)l->of.n, l->point + set * (size_t)l->of.n, p->q.per);
    *out = (nami_loo){.elpd = all.elpd,
                      .se = all.se,
                      .p_loo = all.p,
                      .khat = all.worst,
                      .num_observations = all.n,
                      .num_bad = all.bad};
    return 0;
}

int nami_posterior_loo_point(const nami_posterior *p, size_t set, size_t i, nami_loo_point *out,
                             nami_err *err)
{
    const struct likelihood *l = &p->likelihood;
    err_clear(err);
    int rc = is_answered(p, set, err);
    if (!rc) rc = has_loo(p, err);
    if (!rc && i >= (size_t)l->of.n)
        rc = err_set(err, NAMI_EUSAGE, "there is no observation %zu: there are %d", i + 1, l->of.n);
    if (rc) return rc;
    const struct loo_point *x = &l->point[set * (size_t)l->of.n + i];
    *out = (nami_loo_point){l->name[i], x->elpd, x->lpd, x->khat};
    return 0;
}
