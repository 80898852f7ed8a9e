/* trainer.c: nami_trainer_* of nami.h, a thin layer over training.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/parallel.h"
#include "api/api.h"
#include "report/json.h"
#include "train/samples.h"

struct nami_trainer {
    struct training r;
    int threads;
    uint64_t seed; /* of the draws */
    int own;       /* the caller's loop, not nami_trainer_step, moves the weights */
    double *part;  /* losses, of what was computed last */
};

/* ---- options to a plan -------------------------------------------------------------- */

/* The strings are copied. */
static int make_plan(struct training *r, const nami_model *w, const nami_options *invert,
                     const nami_train_options *o, nami_err *err)
{
    struct plan *p = &r->plan;
    p->set = w->set;
    p->nset = w->num_set;
    p->observe = w->observe;
    return plan_make(p, invert, o, model_learns(r->m), &r->mem, err);
}

/* ---- a trainer ---------------------------------------------------------------------- */

/* Fresh draws only when they are asked for: a simulator may take its time. */
static int needs_source(nami_trainer *t, nami_err *err)
{
    struct source **s = &t->r.train.source;
    if (!*s && t->r.plan.elbo && !t->r.points)
        return err_set(err, NAMI_EUSAGE,
                       "a bound is of points or samples that are given, not of the model's draws");
    return *s ? 0 : samples_source(&t->r, t->seed, s, err);
}

/* With the room for losses, and samples in their place, if all went well; else nothing. */
static int finish(nami_trainer *t, int rc, nami_trainer **out, nami_err *err)
{
    if (!rc && !(t->part = new_array(double, t->r.train.t.npart))) rc = err_nomem(err);
    if (!rc && t->r.points) rc = needs_source(t, err);
    if (rc)
        nami_trainer_free(t);
    else
        *out = t;
    return rc;
}

static int new_trainer(const nami_train_options *given, nami_train_options *o, nami_trainer **out,
                       nami_err *err)
{
    *out = NULL;
    err_clear(err);
    int rc = options_complete("train", given, sizeof *o, o, err);
    if (rc) return rc;
    if (!(*out = new_array(nami_trainer, 1))) return err_nomem(err);
    (*out)->threads = parallel_threads(o->threads);
    return 0;
}

static uint64_t draw_seed(uint64_t seed, uint64_t stream)
{
    return seed + stream * 0x9e3779b97f4a7c15u;
}

int nami_trainer_new(const nami_model *model, const nami_options *invert,
                     const nami_train_options *opt, nami_trainer **out, nami_err *err)
{
    nami_train_options o;
    nami_trainer *t;
    int rc = new_trainer(opt, &o, &t, err);
    *out = NULL;
    if (!rc) rc = needs_model(model, err);
    if (rc) return nami_trainer_free(t), rc;
    t->own = 1;
    t->seed = draw_seed(o.seed, o.stream);
    t->r.m = (struct model *)&model->m;
    rc = make_plan(&t->r, model, invert, opt, err);
    if (!rc) rc = samples_read(&t->r, o.samples, err);
    if (!rc) rc = training_prepare(&t->r, NULL, 0, t->threads, err);
    if (!rc) rc = training_start(&t->r, NULL, t->threads, err);
    return finish(t, rc, out, err);
}

int nami_trainer_read(const char *path, const nami_train_options *opt, nami_trainer **out,
                      nami_err *err)
{
    nami_train_options o;
    nami_trainer *t;
    int rc = new_trainer(opt, &o, &t, err);
    *out = NULL;
    if (rc) return rc;
    rc = training_read(&t->r, path, t->threads, err);
    if (!rc && o.allow_simulator) t->r.m->simulator_locked = 0;
    if (opt && opt->steps > 0) t->r.plan.train.steps = opt->steps;
    if (!rc) rc = samples_read(&t->r, o.samples, err);
    if (!rc) rc = training_continue(&t->r, NULL, t->threads, err);
    t->seed = draw_seed(t->r.plan.train.seed, o.stream);
    return finish(t, rc, out, err);
}

void nami_trainer_free(nami_trainer *t)
{
    if (!t) return;
    training_free(&t->r);
    free(t->part);
    free(t);
}

size_t nami_trainer_size(const nami_trainer *t) { return t->r.train.t.nparam; }
float *nami_trainer_params(nami_trainer *t) { return t->r.train.t.param; }
float *nami_trainer_grads(nami_trainer *t) { return t->r.train.t.grad; }
int nami_trainer_batch(const nami_trainer *t) { return t->r.train.t.batch; }
uint64_t nami_trainer_steps(const nami_trainer *t) { return t->r.train.step; }
int nami_trainer_parts(const nami_trainer *t) { return t->r.train.t.npart; }

static int is_part(const nami_trainer *t, int i) { return i >= 0 && i < nami_trainer_parts(t); }

const char *nami_trainer_part_name(const nami_trainer *t, int i)
{
    return is_part(t, i) ? t->r.train.t.part[i].name : NULL;
}

double nami_trainer_part_loss(const nami_trainer *t, int i)
{
    return is_part(t, i) ? t->part[i] : NAN;
}

double nami_trainer_valid(const nami_trainer *t)
{
    const double *h = train_last(&t->r.train);
    return h ? h[HIST_VALID] : NAN;
}

const char *nami_trainer_layer(const nami_trainer *t, int i, size_t *first, size_t *outputs,
                               size_t *inputs)
{
    const struct block *b = i < 0 ? NULL : training_layer(&t->r, (size_t)i);
    if (!b) return NULL;
    const struct dense *d = b->d;
    *first = d->w;
    *outputs = (size_t)d->out;
    *inputs = (size_t)d->in;
    return b->name;
}

/* ---- gradients and losses ----------------------------------------------------------- */

/* Of the latents of given points, in batch number k. */
static uint64_t point_seed(const nami_trainer *t, uint64_t k)
{
    return draw_seed(t->seed ^ 0x706f696e7473, k);
}

/* The weights that the caller has come to are those to keep. */
static void adopt(nami_trainer *t)
{
    struct train *x = &t->r.train;
    if (!t->own) return;
    memcpy(x->best_param, x->t.param, sizeof(float) * x->t.nparam);
    x->best = INFINITY;
    x->since = 0;
}

int nami_trainer_gradient(nami_trainer *t, size_t n, const double *x, double *loss, nami_err *err)
{
    struct trainer *w = &t->r.train.t;
    struct batch b = {.x = x, .n = n, .count = (int)n, .seed = point_seed(t, t->r.train.step)};
    int rc = 0;
    err_clear(err);
    if (x && (n < 1 || n > (size_t)w->batch))
        return err_set(err, NAMI_EUSAGE,
                       "a gradient is of 1 to %d points, the batch of the options, not of %zu",
                       w->batch, n);
    if (!x && !(rc = needs_source(t, err)))
        rc = source_batch(t->r.train.source, t->r.train.step, &b, err);
    if (rc) return rc;
    t->own = 1;
    if (!x || t->r.plan.elbo) t->r.train.step++; /* latents are drawn anew */
    trainer_gradient(w, &b);
    memcpy(t->part, w->loss, sizeof *t->part * (size_t)nami_trainer_parts(t));
    if (loss) *loss = w->total;
    return 0;
}

/* The mean over batches, the last of which may be shorter. */
int nami_trainer_loss(nami_trainer *t, size_t n, const double *x, double *loss, nami_err *err)
{
    struct trainer *w = &t->r.train.t;
    size_t batch = (size_t)w->batch;
    double total = 0;
    err_clear(err);
    int rc = x ? 0 : needs_source(t, err);
    if (x && !n) rc = err_set(err, NAMI_EUSAGE, "the loss of no points is not known");
    if (rc) return rc;
    if (!x) n = (size_t)source_nvalid(t->r.train.source) * batch;
    memset(t->part, 0, sizeof *t->part * (size_t)nami_trainer_parts(t));
    for (size_t at = 0; at < n; at += batch) {
        size_t count = n - at < batch ? n - at : batch;
        struct batch b = {
            .x = x ? x + at : NULL, .n = n, .count = (int)count, .seed = point_seed(t, ~at)};
        if (!x) source_valid(t->r.train.source, (int)(at / batch), &b);
        trainer_loss(w, &b);
        double share = (double)count / (double)n;
        for (int k = 0; k < nami_trainer_parts(t); k++) t->part[k] += share * w->loss[k];
        total += share * w->total;
    }
    if (loss) *loss = total;
    return 0;
}

int nami_trainer_apply(nami_trainer *t, double rate, nami_err *err)
{
    struct train *x = &t->r.train;
    err_clear(err);
    if (!isfinite(rate)) return err_set(err, NAMI_EUSAGE, "the rate is not finite");
    trainer_norm(&x->t);
    if (!isfinite(x->t.norm))
        return err_set(err, NAMI_EINPUT, "the gradient is not finite; leave this batch out");
    t->own = 1;
    trainer_apply(&x->t, rate, x->opt.clip);
    return 0;
}

int nami_trainer_step(nami_trainer *t, nami_err *err)
{
    struct train *x = &t->r.train;
    int checked, rc;
    err_clear(err);
    if (x->done) return 0;
    if ((rc = needs_source(t, err))) return rc;
    adopt(t);
    t->own = 0;
    if ((rc = train_step(x, &checked, err))) return rc;
    memcpy(t->part, checked ? train_last(x) + HIST_PARTS : x->t.loss,
           sizeof *t->part * (size_t)nami_trainer_parts(t));
    return !x->done;
}

int nami_trainer_save(nami_trainer *t, const char *path, nami_err *err)
{
    const struct training *r = &t->r;
    struct view w = {.file = r->m->file, .bn = r->m->bn, .v = &r->inversion, .h = r->h};
    struct str inverse = {0};
    err_clear(err);
    adopt(t);
    int rc = inverse_json(&w, INVERSE_RUNS, &inverse, err);
    if (!rc) rc = training_save(r, path, inverse.s, err);
    str_free(&inverse);
    return rc;
}
