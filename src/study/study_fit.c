#include "study/study_fit.h"

#include <math.h>
#include <string.h>

#include "base/err.h"

uint64_t fit_seed(const struct job *j, enum fit_seed what) { return j->seed * 16 + (uint64_t)what; }

int fit_model(struct fit *f, const char *text, nami_err *err)
{
    f->r.m = &f->r.own;
    return model_parse(f->r.m, "model", text, strlen(text), NATIVE, NULL, err);
}

int fit_invert(struct fit *f, const struct job *j, nami_err *err)
{
    struct training *r = &f->r;
    r->plan.invert = (nami_options){.method = j->v->method, .mode = j->v->mode};
    int rc = inversion_init(&r->inversion, r->m->bn, &r->plan.invert, err);
    return rc ? rc : inversion_run(&r->inversion, &r->h, err);
}

/* ---- as many parameters as wanted ----------------------------------------------------------- */

static int count_with(const struct training *r, int hidden, size_t *n, nami_err *err)
{
    struct net_options o = r->plan.net;
    struct qnet q;
    for (int i = 0; i < o.nhidden; i++) o.hidden[i] = hidden;
    int rc = qnet_make(&q, r->m, r->h, &o, NULL, 0, 1, err);
    *n = rc ? 0 : q.prog.nparam;
    qnet_free(&q);
    return rc;
}

/* Units of each hidden layer, by bisection. */
static int fit_hidden(struct training *r, size_t want, nami_err *err)
{
    int lo = 1, hi = 1 << 13, rc = 0; /* lo: too few */
    size_t n, below = 0, above = 0;
    while (hi - lo > 1 && !rc) {
        int mid = (lo + hi) / 2;
        if ((rc = count_with(r, mid, &n, err))) break;
        if (n < want)
            lo = mid, below = n;
        else
            hi = mid, above = n;
    }
    int best = above && above - want < want - below ? hi : lo;
    for (int i = 0; i < r->plan.net.nhidden; i++) r->plan.net.hidden[i] = best;
    return rc;
}

/* ---- all ------------------------------------------------------------------------------------ */

int fit_network(struct fit *f, const struct job *j, int params, nami_err *err)
{
    struct training *r = &f->r;
    int rc = 0;
    struct bound_options bound = {1, 1, 1};
    r->plan.net = j->v->net;
    r->plan.net.seed = j->seed;
    if (params) rc = fit_hidden(r, (size_t)params, err);
    if (!rc) rc = training_prepare(r, NULL, 0, 1, err);
    if (!rc)
        rc = trainer_make(&f->t, &r->q, r->plan.elbo ? &r->e : NULL, &bound, j->s->batch, 1, err);
    if (!rc) rc = infer_init(&f->a, &r->q, f->t.param, err);
    return rc;
}

void fit_free(struct fit *f)
{
    infer_fini(&f->a);
    trainer_free(&f->t);
    training_free(&f->r);
}

double fit_rate(const struct settings *s, int epoch)
{
    return s->cut ? s->rate * pow(0.1, epoch / s->cut) : s->rate;
}

void fit_step(struct fit *f, const struct batch *b, double rate)
{
    trainer_gradient(&f->t, b);
    if (isfinite(f->t.total) && isfinite(f->t.norm))
        trainer_apply(&f->t, rate, 0);
    else
        f->skipped++;
}
