/* api_train.c: nami_trainer_* of nami.h, a thin layer over training.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/parallel.h"
#include "model/api_model.h"
#include "model/read.h"
#include "report/json.h"
#include "train/samples.h"

_Static_assert((int)NAMI_LAYERS == (int)NET_LAYERS, "as many layers outside as inside");

static const nami_train_options defaults;

struct nami_trainer {
    struct training r;
    int threads;
    uint64_t seed; /* of the draws */
    int own;       /* the caller's loop, not nami_trainer_step, moves the weights */
    double *part;  /* losses, of what was computed last */
};

/* ---- options to a plan -------------------------------------------------------------- */

static int choose(const char *const *names, const char *name, const char *what, int *out,
                  nami_err *err)
{
    struct str all = {0};
    for (*out = 0; names[*out]; ++*out)
        if (strcmp(names[*out], name) == 0) return 0;
    for (int i = 0; names[i]; i++) str_printf(&all, i ? ", %s" : "%s", names[i]);
    err_set(err, NAMI_EUSAGE, "no %s is called '%s'; choose from %s", what, name,
            all.oom ? "those of 'nami train --help'" : all.s);
    str_free(&all);
    return NAMI_EUSAGE;
}

static int net_options(const nami_train_options *o, struct net_options *n, nami_err *err)
{
    static const char *const skips[] = {"no", "yes", "auto", NULL};
    int kind, skip, whiten, rc;
    *n = (struct net_options){.size = o->components, .no_share = o->no_share, .seed = o->seed};
    if (o->family && !(n->family = family_find(o->family, strlen(o->family))))
        return err_set(err, NAMI_EUSAGE, "no family is called '%s'; see 'nami list families'",
                       o->family);
    if ((rc = choose(net_kinds, o->net ? o->net : "auto", "kind of network", &kind, err)) ||
        (rc = choose(act_names, o->activation ? o->activation : "relu", "activation", &n->act,
                     err)) ||
        (rc = choose(skips, o->skip ? o->skip : "auto", "kind of skip", &skip, err)) ||
        (rc = choose(skips, o->whiten ? o->whiten : "auto", "kind of whitening", &whiten, err)))
        return rc;
    n->kind = (enum net_kind)kind;
    n->skip = skip == 2 ? -1 : skip;
    n->whiten = whiten == 2 ? -1 : whiten;
    if (o->components < 0) return err_set(err, NAMI_EUSAGE, "components must not be negative");
    for (int i = 0; i < NAMI_LAYERS && o->hidden[i]; i++) {
        if (o->hidden[i] < 0 || o->hidden[i] > 1 << 20)
            return err_set(err, NAMI_EUSAGE, "a layer of %d hidden units; 1 to %d are possible",
                           o->hidden[i], 1 << 20);
        n->hidden[n->nhidden++] = o->hidden[i];
    }
    return 0;
}

static int loop_options(const nami_train_options *o, struct train_options *t, nami_err *err)
{
    if (o->batch < 0 || o->steps < 0 || o->check < 0 || o->valid < 0 || o->patience < 0)
        return err_set(err, NAMI_EUSAGE,
                       "batch, steps, check, valid and patience must not be negative");
    if (o->particles < 0 || o->warmup < 0)
        return err_set(err, NAMI_EUSAGE, "particles and warmup must not be negative");
    if (!(o->rate >= 0 && o->rate < INFINITY) || !(o->cooldown <= 1) || isnan(o->clip))
        return err_set(err, NAMI_EUSAGE,
                       "rate must not be negative, and cooldown is a part of 1: %g, %g", o->rate,
                       o->cooldown);
    *t = (struct train_options){.batch = o->batch ? o->batch : 250,
                                .valid = o->valid ? o->valid : 10000,
                                .steps = o->steps ? o->steps : 20000,
                                .check = o->check ? o->check : 500,
                                .patience = o->patience ? o->patience : 6,
                                .rate = o->rate > 0 ? o->rate : 0.001,
                                .cooldown = o->cooldown < 0   ? 0
                                            : o->cooldown > 0 ? o->cooldown
                                                              : 0.3,
                                .clip = o->clip < 0   ? 0
                                        : o->clip > 0 ? o->clip
                                                      : 100,
                                .seed = o->seed,
                                .particles = o->particles ? o->particles : 1,
                                .warmup = o->warmup,
                                .labels = 1};
    return 0;
}

/* The strings are copied. */
static int make_plan(struct training *r, const nami_model *w, const nami_options *invert,
                     const nami_train_options *o, nami_err *err)
{
    struct plan *p = &r->plan;
    p->set = w->set;
    p->nset = w->nset;
    p->observe = w->observe;
    if (invert) p->invert = *invert;
    const char **text[] = {&p->invert.method, &p->invert.mode, &p->invert.criterion,
                           &p->invert.verify};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        if (*text[i] && !(*text[i] = arena_strndup(&r->mem, *text[i], strlen(*text[i]))))
            return err_nomem(err);
    static const char *const objectives[] = {"ic", "elbo", NULL};
    int rc = choose(objectives, o->objective ? o->objective : "ic", "objective", &p->elbo, err);
    if (!rc) rc = net_options(o, &p->net, err);
    return rc ? rc : loop_options(o, &p->train, err);
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

static nami_trainer *new_trainer(const nami_train_options *o)
{
    nami_trainer *t = new_array(nami_trainer, 1);
    if (t) t->threads = parallel_threads(o->threads);
    return t;
}

static uint64_t draw_seed(uint64_t seed, uint64_t stream)
{
    return seed + stream * 0x9e3779b97f4a7c15u;
}

int nami_trainer_new(nami_model *model, const nami_options *invert, const nami_train_options *opt,
                     nami_trainer **out, nami_err *err)
{
    if (!opt) opt = &defaults;
    *out = NULL;
    err_clear(err);
    int rc = needs_model(model, err);
    if (rc) return rc;
    nami_trainer *t = new_trainer(opt);
    if (!t) return err_nomem(err);
    t->own = 1;
    t->seed = draw_seed(opt->seed, opt->stream);
    t->r.m = model->m;
    rc = make_plan(&t->r, model, invert, opt, err);
    if (!rc) rc = samples_read(&t->r, opt->samples, err);
    if (!rc) rc = training_prepare(&t->r, NULL, 0, t->threads, err);
    if (!rc) rc = training_start(&t->r, NULL, t->threads, err);
    return finish(t, rc, out, err);
}

int nami_trainer_read(const char *path, const nami_train_options *opt, nami_trainer **out,
                      nami_err *err)
{
    if (!opt) opt = &defaults;
    *out = NULL;
    err_clear(err);
    nami_trainer *t = new_trainer(opt);
    if (!t) return err_nomem(err);
    int rc = training_read(&t->r, path, t->threads, err);
    if (!rc && opt->allow_simulator) model_allow_simulator(t->r.m);
    if (opt->steps > 0) t->r.plan.train.steps = opt->steps;
    if (!rc) rc = samples_read(&t->r, opt->samples, err);
    if (!rc) rc = training_continue(&t->r, NULL, t->threads, err);
    t->seed = draw_seed(t->r.plan.train.seed, opt->stream);
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
    struct view w = {
        .file = model_file_name(r->m), .bn = model_bn(r->m), .v = &r->inversion, .h = r->h};
    struct str inverse = {0};
    err_clear(err);
    adopt(t);
    int rc = inverse_json(&w, INVERSE_RUNS, &inverse, err);
    if (!rc) rc = training_save(r, path, inverse.s, err);
    str_free(&inverse);
    return rc;
}
