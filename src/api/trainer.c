/* trainer.c: nami_trainer_* of nami.h, a thin layer over training.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/err.h"
#include "base/exchange.h"
#include "base/parallel.h"
#include "model/given.h"
#include "model/read.h"
#include "report/json.h"
#include "report/network.h"
#include "tensor/product.h"
#include "train/log.h"
#include "train/samples.h"
#include "train/schedule.h"

struct nami_trainer {
    struct training r;
    int threads;
    uint64_t seed; /* of the draws */
    int own;       /* the caller's loop, not nami_trainer_step, moves the weights */
    nami_exchange exchange; /* of the options, if there is one */
    double *part;  /* losses, of what was computed last */
};

/* ---- options to a plan -------------------------------------------------------------- */

/* The strings are copied. */
static int make_plan(struct training *r, const nami_model *w, const nami_options *invert,
                     const nami_train_options *o, nami_err *err)
{
    struct plan *p = &r->net.plan;
    p->set = w->set;
    p->nset = w->num_set;
    p->observe = w->observe;
    enum { PARTS = 8 };
    int rc = plan_make(p, invert, o, model_learns(r->net.model), &r->net.mem, err);
    if (!rc && !p->options.parts) p->options.parts = p->train.parts = r->with ? PARTS : 1;
    if (!rc && !r->net.untrained && plan_open(p, r->net.model, &r->net.mem)) rc = err_nomem(err);
    return rc;
}

/* ---- a trainer ---------------------------------------------------------------------- */

/* Fresh draws only when they are asked for: a simulator may take its time. */
static int needs_source(nami_trainer *t, nami_err *err)
{
    struct source **s = &t->r.train.source;
    if (!*s && t->r.net.plan.elbo && !t->r.points && !t->r.feeds.n)
        return err_set(err, NAMI_EUSAGE,
                       "what should it learn from? a bound is of data, points or samples that are "
                       "given, not of the model's draws");
    return *s ? 0 : samples_source(&t->r, t->seed, s, err);
}

/* With the room for losses, and samples in their place, if all went well; else nothing. */
static int finish(nami_trainer *t, int rc, nami_trainer **out, nami_err *err)
{
    if (!rc && !(t->part = new_array(double, t->r.train.t.num_loss_terms))) rc = err_nomem(err);
    if (!rc && (t->r.points || t->r.feeds.n)) rc = needs_source(t, err);
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
    if ((rc = exchange_check(o->exchange, err))) return rc;
    if (!(*out = new_array(nami_trainer, 1))) return err_nomem(err);
    (*out)->threads = parallel_threads(o->threads);
    if (o->exchange) {
        (*out)->exchange = *o->exchange;
        (*out)->r.with = &(*out)->exchange;
    }
    return 0;
}

static uint64_t draw_seed(uint64_t seed, uint64_t stream)
{
    return seed + stream * 0x9e3779b97f4a7c15u;
}

/* What it is trained on, but for the model's own draws. */
static int read_samples(nami_trainer *t, const nami_train_options *o, nami_err *err)
{
    const nami_data *data = o->data;
    if (!t->r.net.plan.elbo && data && data->records.n)
        return err_set(err, NAMI_EUSAGE,
                       "%.200s: data to learn from are for the objective 'elbo'; constants and "
                       "observations are read from JSON files or R dumps",
                       data->records.a[0]);
    unsigned long long observations = t->r.net.plan.observations; /* of a file that goes on */
    if (t->r.net.plan.elbo && observations && !data && !o->samples)
        return err_set(err, NAMI_EUSAGE,
                       "this network learned from %llu observations; to go on, give the data to "
                       "learn from again",
                       observations);
    if (!t->r.net.plan.elbo || !data) return samples_read(&t->r, o->samples, err);
    return samples_feed(&t->r, data->records.a, (int)data->records.n, &data->sets, err);
}

/* Data that hold observations, but not all of them, cannot be a query of the network. */
static void tell_missing(const struct model *m, const nami_watch *watch)
{
    const struct dataset *data = model_first_data(m);
    struct given g = {0};
    int n = 0, of = 0, missing = -1, known = data && !given_open(&g, m, data, NULL);
    for (int e = 0; e < model_num_elements(m) && known; e++) {
        if (element_row(m, e) < 0 || !element_is_observed(m, e)) continue;
        of++;
        n += isnan(given_value(&g, e));
        if (missing < 0 && isnan(given_value(&g, e))) missing = e;
    }
    if (data) given_close(&g);
    if (!n || n == of) return;
    struct str name = {0};
    elem_name(m, missing, &name);
    tell(watch, NAMI_NOTE,
         "%s is observed, but has no value in these data (%d of %d have none): the network will "
         "not answer them",
         name.s ? name.s : "a variable", n, of);
    str_free(&name);
}

/* One or two numbers are within reach of quadrature. */
static void tell_few(const struct network *n, const nami_watch *watch)
{
    int left = n->collapse.num_left;
    if (n->collapse.step.n && !n->collapse.by_name && left > 0 && left <= 2)
        tell(watch, NAMI_NOTE,
             "%s left to learn; with 'exact' set to all, NaMI tries to integrate %s out, too, and "
             "needs no network",
             left == 1 ? "one number is" : "two numbers are", left == 1 ? "it" : "them");
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
    t->r.net.model = model->m;
    tell_missing(model->m, o.watch);
    rc = make_plan(&t->r, model, invert, opt, err);
    if (!rc) rc = read_samples(t, &o, err);
    if (!rc) rc = training_prepare(&t->r, t->threads, err);
    if (!rc) rc = training_start(&t->r, NULL, t->threads, err);
    if (!rc) tell_few(&t->r.net, o.watch);
    return finish(t, rc, out, err);
}

/* By default, Markov chains integrate only where it costs less than drawing (exact/choose.c). */
static nami_options for_chains(const nami_options *invert)
{
    nami_options o = invert ? *invert : (nami_options){0};
    if (!o.exact || strcmp(o.exact, "auto") == 0) o.exact = "closed";
    return o;
}

int nami_network_untrained(const nami_model *model, const nami_options *invert, nami_network **out,
                           nami_err *err)
{
    nami_options exact = for_chains(invert);
    nami_train_options o,
        small = {.net = "mlp", .hidden = "1", .family = "mixture", .components = 1, .whiten = "no"};
    nami_trainer *t;
    int rc = new_trainer(&small, &o, &t, err);
    *out = NULL;
    if (!rc) rc = needs_model(model, err);
    if (rc) return nami_trainer_free(t), rc;
    t->r.net.model = model->m;
    t->r.net.untrained = 1;
    rc = make_plan(&t->r, model, &exact, &small, err);
    if (!rc) rc = training_prepare(&t->r, t->threads, err);
    if (!rc) rc = training_start(&t->r, NULL, t->threads, err);
    if (!rc) rc = nami_trainer_network(t, out, err);
    if (!rc) (*out)->net.untrained = (*out)->infer.untrained = 1;
    nami_trainer_free(t);
    return rc;
}

/* Other kernels add in another order: the last digits of a run depend on them. */
static void tell_kernel(const struct network *n, const nami_watch *watch)
{
    const char *then = st_get(&n->file, "kernel"), *now = product_best(1)->name;
    const char *wanted = getenv("NAMI_KERNEL");
    if (then && strcmp(then, now) != 0)
        tell(
            watch, NAMI_WARNING,
            "this network was trained with the kernels '%.20s', and goes on with '%s': it will not "
            "have the same bits as a run on one kind of processor; NAMI_KERNEL=any is the same "
            "on all",
            then, now);
    if (wanted && !product_find(wanted, 1))
        tell(watch, NAMI_WARNING, "NAMI_KERNEL: this processor has no kernels '%.20s'", wanted);
}

int nami_trainer_read(const char *path, const nami_train_options *opt, nami_trainer **out,
                      nami_err *err)
{
    nami_train_options o;
    nami_trainer *t;
    int rc = new_trainer(opt, &o, &t, err);
    *out = NULL;
    if (rc) return rc;
    rc = network_read(&t->r.net, path, t->threads, err);
    if (!rc) tell_kernel(&t->r.net, o.watch);
    if (!rc && o.allow_simulator) model_allow_simulator(t->r.net.model);
    if (!rc) rc = read_samples(t, &o, err);
    if (opt && opt->minutes > 0) t->r.net.plan.train.more_seconds = 60 * opt->minutes;
    if (opt && opt->steps > 0) {
        t->r.net.plan.train.steps = opt->steps;
        t->r.net.plan.train.converge = 0;
        t->r.net.plan.options.epochs = 0; /* from now on, steps count */
    }
    if (!rc) rc = training_continue(&t->r, NULL, t->threads, err);
    t->seed = draw_seed(t->r.net.plan.train.seed, o.stream);
    return finish(t, rc, out, err);
}

/* The text of a network's model may have more training distributions, behind the rest: the network
   is one of the same model, and its answers are for the same priors. */
static int is_same_text(const char *of_network, const char *of_model)
{
    size_t n = strlen(of_model);
    if (strncmp(of_network, of_model, n) != 0) return 0;
    of_network += n;
    if (n && of_model[n - 1] != '\n' && *of_network == '\n') of_network++;
    return !*of_network || strncmp(of_network, "train { ", 8) == 0;
}

static int is_same_model(const struct model *a, const nami_model *model, nami_err *err)
{
    int array;
    if (!is_same_text(model_text(a), model_text(model->m)))
        return err_set(err, NAMI_EUSAGE, "the network was trained for another model than %.200s",
                       model_file_name(model->m) ? model_file_name(model->m) : "this");
    if ((array = model_other_constant(a, model->m)) < 0) return 0;
    return err_set(err, NAMI_EUSAGE, "the network was trained with other values of %.60s",
                   array_name(a, array));
}

int nami_trainer_resume(const char *path, const nami_model *model, const nami_train_options *opt,
                        nami_trainer **out, nami_err *err)
{
    nami_train_options o = opt ? *opt : (nami_train_options){0};
    *out = NULL;
    err_clear(err);
    int rc = needs_model(model, err);
    o.allow_simulator = 1; /* that of the model at hand, since it is the same */
    if (!rc) rc = nami_trainer_read(path, &o, out, err);
    if (!rc) rc = is_same_model((*out)->r.net.model, model, err);
    if (!rc && model_set_file_name((*out)->r.net.model, model_file_name(model->m)))
        rc = err_nomem(err);
    if (rc) nami_trainer_free(*out), *out = NULL;
    return rc;
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
const char *nami_trainer_objective(const nami_trainer *t)
{
    return objective_names[t->r.net.plan.elbo];
}
int nami_trainer_batch(const nami_trainer *t) { return t->r.train.t.batch; }
uint64_t nami_trainer_steps(const nami_trainer *t) { return t->r.train.step; }
int nami_trainer_parts(const nami_trainer *t) { return t->r.train.t.num_loss_terms; }

static int is_part(const nami_trainer *t, int i) { return i >= 0 && i < nami_trainer_parts(t); }

const char *nami_trainer_part_name(const nami_trainer *t, int i)
{
    return is_part(t, i) ? t->r.train.t.loss_term[i].name : NULL;
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
    const struct block *b = i < 0 ? NULL : network_layer(&t->r.net, (size_t)i);
    if (!b) return NULL;
    const struct dense *d = b->layer;
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
    if (!x || t->r.net.plan.elbo) t->r.train.step++; /* latents are drawn anew */
    if ((rc = trainer_gradient(w, &b))) return trainer_failed(rc, err);
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
        if ((rc = trainer_loss(w, &b))) return trainer_failed(rc, err);
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

static int print(nami_trainer *t, int with_state, const char *path, struct str *out, nami_err *err)
{
    const struct network *n = &t->r.net;
    struct view w = {.file = model_file_name(n->model),
                     .bn = model_bn(n->model),
                     .v = &n->inversion,
                     .h = n->inverse};
    struct str inverse = {0};
    err_clear(err);
    adopt(t);
    int rc = inverse_json(&w, INVERSE_RUNS, &inverse, err);
    if (!rc)
        rc = path ? training_save(&t->r, path, inverse.s, err)
                  : training_print(&t->r, inverse.s, with_state, out, err);
    str_free(&inverse);
    return rc;
}

int nami_trainer_save(nami_trainer *t, const char *path, nami_err *err)
{
    return print(t, 1, path, NULL, err);
}

int nami_trainer_print(nami_trainer *t, char **bytes, size_t *len, nami_err *err)
{
    struct str out = {0};
    *bytes = NULL;
    int rc = print(t, 1, NULL, &out, err);
    if (rc) return str_free(&out), rc;
    return give_text(&out, bytes, len, err);
}

int nami_trainer_network(nami_trainer *t, nami_network **out, nami_err *err)
{
    struct str bytes = {0};
    *out = NULL;
    int rc = print(t, 0, NULL, &bytes, err);
    return rc ? (str_free(&bytes), rc) : network_take_bytes(&bytes, t->threads, 1, out, err);
}

int nami_trainer_log(const nami_trainer *t, const char *path, nami_err *err)
{
    err_clear(err);
    return train_log(&t->r.train, path, err);
}

void nami_trainer_progress(const nami_trainer *t, nami_progress *out)
{
    const struct train *x = &t->r.train;
    const double *h = train_last(x);
    *out = (nami_progress){.phase = "train",
                           .done = (double)x->step,
                           .total = schedule_total(x),
                           .loss = x->nsum ? x->sum / x->nsum : NAN,
                           .valid = h ? h[HIST_VALID] : NAN,
                           .rate = train_rate(x)};
}

/* ---- how it has ended --------------------------------------------------------------------- */

static void put_number(struct str *out, double x)
{
    if (isfinite(x))
        str_printf(out, "%.10g", x);
    else
        str_put(out, "null");
}

static void put_json(const nami_trainer *t, struct str *out)
{
    const struct train *x = &t->r.train;
    const double *h = train_best(x); /* parts of this loss, not of a later one */
    str_printf(out, "{\"steps\":%llu,\"loss\":", (unsigned long long)x->step);
    put_number(out, x->best);
    str_printf(out, ",\"parameters\":%zu,\"why\":", x->t.nparam);
    str_quote(out, train_done[x->done]);
    str_put(out, ",\"parts\":{");
    for (int k = 0; h && k < x->t.num_loss_terms; k++) {
        if (k) str_put(out, ",");
        str_quote(out, x->t.loss_term[k].name);
        str_put(out, ":");
        put_number(out, h[HIST_PARTS + k]);
    }
    str_put(out, "}}\n");
}

static void put_text(const nami_trainer *t, struct str *out)
{
    const struct train *x = &t->r.train;
    unsigned long long steps = x->step;
    const char *why = train_done[x->done];
    if (x->done == TRAIN_NOTHING)
        str_put(out, "network      none is needed: all latents are integrated out exactly\n");
    else if (t->r.net.plan.elbo)
        str_printf(out, "bound        %.4f nats: of log p(x) on %zu data sets, %llu steps; %s\n",
                   -x->best, t->r.split.n[SPLIT_VALID], steps, why);
    else
        str_printf(out, "loss         %.4f nats: E[-log q(z|x)] on %d draws, %llu steps; %s\n",
                   x->best, x->source ? source_nvalid(x->source) * x->opt.batch : 0, steps, why);
}

int nami_trainer_describe(const nami_trainer *t, const char *as, char **text, nami_err *err)
{
    struct str out = {0};
    int rc = 0;
    err_clear(err);
    *text = NULL;
    if (strcmp(as, "text") == 0)
        put_text(t, &out);
    else if (strcmp(as, "json") == 0)
        put_json(t, &out);
    else if (strcmp(as, "network") == 0)
        rc = network_text(&t->r.net, &out, err);
    else if (strcmp(as, "network-json") == 0)
        network_json(&t->r.net.q, &out);
    else
        rc = no_such_form(as, "text, json, network, network-json", err);
    if (!rc) return give_text(&out, text, NULL, err);
    str_free(&out);
    return rc;
}

/* ---- from beginning to end ------------------------------------------------------------------ */

static int report(const nami_trainer *t, const nami_watch *w, nami_err *err)
{
    nami_progress p;
    if (!w || !w->progress) return 0;
    nami_trainer_progress(t, &p);
    if (!w->progress(&p, w->user)) return 0;
    return err_set(err, NAMI_ECANCEL, "canceled after %.0f steps", p.done);
}

int nami_train(const nami_model *model, const nami_options *invert, const nami_train_options *opt,
               nami_network **out, nami_err *err)
{
    nami_trainer *t;
    int rc = nami_trainer_new(model, invert, opt, &t, err), more = 1;
    *out = NULL;
    while (!rc && more) {
        more = nami_trainer_step(t, err);
        rc = more < 0 ? more : report(t, opt ? opt->watch : NULL, err);
    }
    if (!rc) rc = nami_trainer_network(t, out, err);
    nami_trainer_free(t);
    return rc;
}
