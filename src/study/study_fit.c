/* study_fit.c: the network of one job: fitted to a parameter budget, trained, saved to a
   checkpoint and resumed. */
#include "study/study_fit.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "data/safetensors.h"
#include "model/read.h"

uint64_t fit_seed(const struct job *j, enum fit_seed what) { return j->seed * 16 + (uint64_t)what; }

int fit_model(struct fit *f, const char *text, nami_err *err)
{
    f->r.net.model = f->r.net.own_model = model_new();
    if (!f->r.net.model) return err_nomem(err);
    return model_parse(f->r.net.model, "model", text, strlen(text), NATIVE, NULL, err);
}

int fit_invert(struct fit *f, const struct job *j, nami_err *err)
{
    struct training *r = &f->r;
    r->net.plan.invert = (nami_options){.method = j->v->method, .mode = j->v->mode, .exact = "none"};
    int rc = inversion_init(&r->net.inversion, model_bn(r->net.model), &r->net.plan.invert, err);
    return rc ? rc : inversion_run(&r->net.inversion, &r->net.inverse, err);
}

/* ---- as many parameters as wanted ----------------------------------------------------------- */

static int count_with(const struct training *r, int hidden, size_t *n, nami_err *err)
{
    struct net_options o = r->net.plan.net;
    struct qnet q;
    for (int i = 0; i < o.nhidden; i++) o.hidden[i] = hidden;
    int rc = qnet_make(&q, r->net.model, r->net.inverse, &o, NULL, 1, err);
    *n = rc ? 0 : q.prog.nparam;
    qnet_free(&q);
    return rc;
}

/* Finds the width of the hidden layers by bisection. */
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
    for (int i = 0; i < r->net.plan.net.nhidden; i++) r->net.plan.net.hidden[i] = best;
    return rc;
}

/* ---- all ------------------------------------------------------------------------------------ */

int fit_network(struct fit *f, const struct job *j, int params, nami_err *err)
{
    struct training *r = &f->r;
    int rc = 0;
    struct bound_options bound = {1, 1, 1};
    r->net.plan.net = j->v->net;
    r->net.plan.net.seed = j->seed;
    if (params) rc = fit_hidden(r, (size_t)params, err);
    if (!rc) rc = training_prepare(r, 1, err);
    if (!rc)
        rc = trainer_make(&f->t, &r->net.q, r->net.plan.elbo ? &r->net.elbo : NULL, &bound, j->s->batch, 1, err);
    if (!rc) rc = infer_init(&f->a, &r->net.q, f->t.param, err);
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
    return s->cut ? s->rate * pow(0.1, floor((double)epoch / s->cut)) : s->rate;
}

void fit_step(struct fit *f, const struct batch *b, double rate)
{
    trainer_gradient(&f->t, b);
    if (isfinite(f->t.total) && isfinite(f->t.norm))
        trainer_apply(&f->t, rate, 0);
    else
        f->skipped++;
}

/* ---- unfinished ----------------------------------------------------------------------------- */

static const char *const names[] = {"param", "m", "v"};

int fit_save(const struct fit *f, const struct job *j, nami_err *err)
{
    const float *x[] = {f->t.param, f->t.m, f->t.v};
    int64_t state[] = {(int64_t)f->t.step, f->skipped};
    size_t two = 2;
    struct str out = {0};
    struct st st = {0};
    int rc = 0;
    for (int i = 0; i < 3 && !rc; i++)
        rc = st_add(&st, names[i], ST_F32, 1, &f->t.nparam, x[i], err);
    if (!rc) rc = st_add(&st, "state", ST_I64, 1, &two, state, err);
    if (!rc) rc = st_add(&st, "epoch", ST_F64, 1, &j->epoch.n, j->epoch.a, err);
    if (!rc) rc = st_print(&st, &out, err);
    if (!rc) rc = file_save(j->part_path, out.s, out.n, err);
    str_free(&out);
    st_free(&st);
    return rc;
}

/* 1 if it is not a checkpoint of this job. */
static int take(struct fit *f, struct job *j, const struct st *st, int *epochs)
{
    float *x[] = {f->t.param, f->t.m, f->t.v};
    const struct st_tensor *t[3], *state = st_find(st, "state"), *epoch = st_find(st, "epoch");
    size_t width = (size_t)study_count(j->x->epoch);
    for (int i = 0; i < 3; i++) {
        t[i] = st_find(st, names[i]);
        if (!t[i] || t[i]->type != ST_F32 || t[i]->n != f->t.nparam) return 1;
    }
    if (!state || state->type != ST_I64 || state->n != 2) return 1;
    if (!epoch || epoch->type != ST_F64 || epoch->n % width ||
        epoch->n / width > (size_t)j->s->epochs)
        return 1;
    if (vec_reserve(&j->epoch, epoch->n + 1)) return NAMI_ENOMEM;
    for (int i = 0; i < 3; i++) memcpy(x[i], t[i]->x, sizeof(float) * f->t.nparam);
    if (epoch->n) memcpy(j->epoch.a, epoch->x, sizeof(double) * epoch->n);
    j->epoch.n = epoch->n;
    f->t.step = (uint64_t)((const int64_t *)state->x)[0];
    f->skipped = (int)((const int64_t *)state->x)[1];
    *epochs = (int)(epoch->n / width);
    return 0;
}

int fit_load(struct fit *f, struct job *j, int *epochs, nami_err *err)
{
    struct str text = {0};
    struct st st = {0};
    *epochs = 0;
    if (access(j->part_path, F_OK)) return 0;
    int rc = file_read(j->part_path, &text, err);
    if (!rc && !st_parse(&st, text.s ? text.s : "", text.n, NULL) && take(f, j, &st, epochs) < 0)
        rc = err_nomem(err);
    st_free(&st);
    str_free(&text);
    return rc;
}
