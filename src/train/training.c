/* training.c: saves a training run to a checkpoint file, and restores it. */
#include "train/training.h"

#include <float.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/file.h"
#include "data/draws.h"
#include "model/eval.h"
#include "model/read.h"

static const char VERSION[] = "1";

/* ---- a run ------------------------------------------------------------------------------------
 */

const char *const brightness_words[] = {"as-is", "scale", "binarise", "threshold", NULL};

/* An observation's data; what it says of latents is left out. */
static void copy_observed(const struct training *r, size_t i, double *x, size_t stride)
{
    for (size_t k = 0; k < r->feeds.feed.n; k++) {
        const struct feed *f = &r->feeds.feed.a[k];
        for (size_t j = 0; j < f->r.k; j++)
            if (feed_observed(r->m, f, j)) x[(size_t)f->row[j] * stride] = records_at(&f->r, i, j);
    }
}

/* Scales of latents by draws of the prior, of data by the data. */
static int make_on_data(struct training *r, int threads, nami_err *err)
{
    enum { MOST = 4096 };
    size_t n = r->split.n[SPLIT_TRAIN] < MOST ? r->split.n[SPLIT_TRAIN] : MOST;
    const int *index = split_index(&r->split, SPLIT_TRAIN);
    double *x = raw_array(double, (size_t)model_num_rows(r->m) * n + 1);
    if (!x) return err_nomem(err);
    int rc = model_simulate(r->m, r->plan.net.seed ^ 0x7072696f72, 0, n, threads, x, err);
    for (size_t i = 0; i < n && !rc; i++) copy_observed(r, (size_t)index[i], x + i, n);
    if (!rc) rc = qnet_make_on(&r->q, r->m, r->h, &r->plan.net, n, x, err);
    free(x);
    return rc;
}

int training_prepare(struct training *r, const double *saved, size_t nsaved, int threads,
                     nami_err *err)
{
    int rc = r->plan.elbo ? joint_density(r->m, "", err) : 0;
    if (!rc && !r->h) rc = inversion_init(&r->inversion, model_bn(r->m), &r->plan.invert, err);
    if (!rc && !r->h) rc = inversion_run(&r->inversion, &r->h, err);
    if (!rc && r->h->nlatent == 0) /* NOLINT: it is there */
        rc = err_set(err, NAMI_EINPUT,
                     "there is nothing to learn: no latent variable has observed descendants");
    if (!rc && r->feeds.n && !saved)
        rc = make_on_data(r, threads, err);
    else if (!rc && r->points && !saved)
        rc = qnet_make_on(&r->q, r->m, r->h, &r->plan.net, r->plan.samples, r->points, err);
    else if (!rc)
        rc = qnet_make(&r->q, r->m, r->h, &r->plan.net, saved, nsaved, threads, err);
    if (!rc && r->plan.elbo) rc = elbo_make(&r->e, &r->q, err);
    return rc;
}

static struct elbo *elbo_of(const struct training *r)
{
    return r->plan.elbo ? (struct elbo *)&r->e : NULL;
}

int training_start(struct training *r, struct source *s, int threads, nami_err *err)
{
    return train_make(&r->train, &r->q, elbo_of(r), s, &r->plan.train, threads, err);
}

void training_free(struct training *r)
{
    train_free(&r->train);
    elbo_free(&r->e);
    qnet_free(&r->q);
    feeds_free(&r->feeds);
    split_free(&r->split);
    inverse_free(r->h);
    inversion_fini(&r->inversion);
    model_free(r->own);
    free(r->points);
    st_free(&r->saved);
    str_free(&r->text);
    arena_free(&r->mem);
}

/* ---- data as JSON ------------------------------------------------------------------------------
 */

/* The first data set: the one that gave the constants. */
static void put_data(const struct model *m, struct str *out)
{
    const struct dataset *d = model_first_data(m);
    str_put(out, "{");
    for (size_t i = 0; d && i < d->value.n; i++) {
        if (i) str_put(out, ",");
        const struct value *v = &d->value.a[i];
        struct draws_var as = {.name = v->name, .ndim = v->ndim};
        memcpy(as.dim, v->dim, sizeof as.dim);
        str_quote(out, v->name);
        str_put(out, ":");
        json_elements(out, &as, 0, v->x);
    }
    str_put(out, "}");
}

/* ---- settings ----------------------------------------------------------------------- */

/* One row for each number of the plan. */
struct setting {
    const char *name;
    size_t at;
    char kind; /* i int, d double, u uint64 */
};
static const struct setting settings[] = {
#define ROW(name, field, kind)                                                                     \
    {                                                                                              \
        name, offsetof(struct plan, field), kind                                                   \
    }
    ROW("keep_barren", invert.keep_barren, 'i'),
    ROW("restarts", invert.restarts, 'i'),
    ROW("invert_seed", invert.seed, 'u'),
    ROW("size", net.size, 'i'),
    ROW("net", net.kind, 'i'),
    ROW("activation", net.act, 'i'),
    ROW("skip", net.skip, 'i'),
    ROW("no_share", net.no_share, 'i'),
    ROW("whiten", net.whiten, 'i'),
    ROW("net_seed", net.seed, 'u'),
    ROW("steps", train.steps, 'i'),
    ROW("batch", train.batch, 'i'),
    ROW("rate", train.rate, 'd'),
    ROW("clip", train.clip, 'd'),
    ROW("check", train.check, 'i'),
    ROW("valid", train.valid, 'i'),
    ROW("patience", train.patience, 'i'),
    ROW("cooldown", train.cooldown, 'd'),
    ROW("seed", train.seed, 'u'),
    ROW("samples", samples, 'u'),
    ROW("elbo", elbo, 'i'),
    ROW("particles", train.particles, 'i'),
    ROW("warmup", train.warmup, 'i'),
    ROW("labels", train.labels, 'd'),
    ROW("observations", observations, 'u'),
    ROW("brightness", brightness, 'i'),
    ROW("shared", net.shared, 'i'),
#undef ROW
};
enum { NSETTING = sizeof settings / sizeof *settings };

static json_t *number_of(const struct plan *p, const struct setting *s)
{
    const char *at = (const char *)p + s->at;
    if (s->kind == 'd') return json_real(*(const double *)at);
    if (s->kind == 'u') return json_integer((json_int_t) * (const uint64_t *)at);
    return json_integer(*(const int *)at);
}

/* What was observed, as it is stored: names alone.  "@FILE" is spelt out, since a network's file
   must not make its reader open others. */
static void put_observe(const struct training *r, struct str *out)
{
    const struct bn *bn = model_bn(r->m);
    if (!strchr(r->plan.observe, '@')) {
        str_put(out, r->plan.observe);
        return;
    }
    for (int v = 0; v < bn_n(bn); v++)
        if (bn->node.a[v].observed) str_printf(out, "%s%s", out->n ? "," : "", bn_name(bn, v));
    if (!out->n) str_put(out, "none");
}

static int put_settings(const struct training *r, struct str *out)
{
    const struct plan *p = &r->plan;
    struct str observe = {0};
    const struct family *f = p->net.family ? p->net.family : &family_match;
    json_t *o = json_object(), *set = json_array(), *hidden = json_array();
    int bad = !o || !set || !hidden;
    for (int i = 0; i < p->nset; i++) bad |= json_array_append_new(set, json_string(p->set[i]));
    for (int i = 0; i < p->net.nhidden; i++)
        bad |= json_array_append_new(hidden, json_integer(p->net.hidden[i]));
    bad |= json_object_set_new(o, "set", set);
    bad |= json_object_set_new(o, "hidden", hidden);
    if (p->observe) put_observe(r, &observe);
    bad |= observe.oom;
    if (observe.s) bad |= json_object_set_new(o, "observe", json_string(observe.s));
    str_free(&observe);
    if (p->split) bad |= json_object_set_new(o, "split", json_string(p->split));
    if (p->invert.method) bad |= json_object_set_new(o, "method", json_string(p->invert.method));
    if (p->invert.mode) bad |= json_object_set_new(o, "mode", json_string(p->invert.mode));
    if (p->invert.criterion)
        bad |= json_object_set_new(o, "criterion", json_string(p->invert.criterion));
    bad |= json_object_set_new(o, "family", json_string(f->name));
    for (int i = 0; i < NSETTING; i++)
        bad |= json_object_set_new(o, settings[i].name, number_of(p, &settings[i]));
    char *text = bad ? NULL : json_dumps(o, JSON_REAL_PRECISION(17));
    if (text) str_put(out, text);
    free(text);
    json_decref(o);
    return text && !out->oom ? 0 : NAMI_ENOMEM;
}

/* 0 if it is no number of its kind. */
static int take_number(struct plan *p, const struct setting *s, const json_t *x)
{
    char *at = (char *)p + s->at;
    if (!x && s->at == offsetof(struct plan, net.whiten)) { /* a file from before there was one */
        *(int *)at = 0;
        return 1;
    }
    json_int_t i = json_integer_value(x);
    if (s->kind == 'd') {
        *(double *)at = json_number_value(x);
        return json_is_number(x);
    }
    if (s->kind == 'u')
        *(uint64_t *)at = (uint64_t)i;
    else if (i >= INT_MIN && i <= INT_MAX)
        *(int *)at = (int)i;
    else
        return 0;
    return json_is_integer(x);
}

/* As the command line would have it. */
static int plan_is_sane(const struct plan *p)
{
    const struct train_options *t = &p->train;
    return p->net.family && p->net.size >= 0 && p->net.shared >= 0 && p->net.shared < 1 << 24 &&
           p->net.act >= 0 && p->net.act < NACT && (int)p->net.kind >= 0 &&
           p->net.kind <= NET_MADE && t->batch > 0 && t->steps > 0 && t->check > 0 &&
           t->valid > 0 && t->patience > 0 && t->rate > 0 && t->clip >= 0 && t->cooldown >= 0 &&
           t->cooldown <= 1 && t->particles >= 0 && t->warmup >= 0 && t->labels >= 0 &&
           p->brightness >= AS_IS && p->brightness <= THRESHOLD;
}

/* A string of the settings, copied; NULL if there is none. */
static const char *text_of(struct training *r, const json_t *o, const char *name)
{
    const char *s = json_string_value(json_object_get(o, name));
    return s ? arena_strndup(&r->mem, s, strlen(s)) : NULL;
}

static int broken(nami_err *err, const char *what)
{
    return err_set(err, NAMI_EINPUT,
                   "the file has no usable '%s'; it is not of this version, or "
                   "was not written by 'nami train'",
                   what);
}

static int get_settings(struct training *r, const char *text, nami_err *err)
{
    struct plan *p = &r->plan;
    json_t *o = text ? json_loads(text, 0, NULL) : NULL;
    const json_t *set = json_object_get(o, "set"), *hidden = json_object_get(o, "hidden");
    const char **name = arena_array(&r->mem, const char *, json_array_size(set) + 1);
    const char *family = json_string_value(json_object_get(o, "family"));
    int ok = json_is_object(o) && name && json_is_array(set) && json_is_array(hidden) &&
             json_array_size(hidden) <= NET_LAYERS && family;
    for (int i = 0; ok && i < NSETTING; i++)
        ok = take_number(p, &settings[i], json_object_get(o, settings[i].name));
    for (size_t i = 0; ok && i < json_array_size(set); i++) {
        const char *s = json_string_value(json_array_get(set, i));
        ok = s && (name[i] = arena_strndup(&r->mem, s, strlen(s)));
    }
    for (size_t i = 0; ok && i < json_array_size(hidden); i++) {
        p->net.hidden[i] = (int)json_integer_value(json_array_get(hidden, i));
        ok = p->net.hidden[i] > 0 && p->net.hidden[i] < 1 << 24;
    }
    if (ok) {
        p->set = name;
        p->nset = (int)json_array_size(set);
        p->net.nhidden = (int)json_array_size(hidden);
        p->observe = text_of(r, o, "observe");
        p->split = text_of(r, o, "split");
        p->invert.method = text_of(r, o, "method");
        p->invert.mode = text_of(r, o, "mode");
        p->invert.criterion = text_of(r, o, "criterion");
        p->net.family = family_find(family, strlen(family));
        ok = plan_is_sane(p);
    }
    json_decref(o);
    if (ok && p->observe && strchr(p->observe, '@'))
        return err_set(err, NAMI_EINPUT,
                       "it takes what is observed from another file, '%.100s', which a network may "
                       "not; train it again",
                       p->observe);
    return ok ? 0 : broken(err, "settings");
}

/* ---- state -------------------------------------------------------------------------- */

/* One row for each number that a run goes on with; kinds as of settings, and b: the best loss,
   which may be infinite. */
static const struct setting states[] = {
#define ROW(field, kind) {#field, offsetof(struct train, field), kind},
    ROW(step, 'u') ROW(rate, 'd') ROW(best, 'b') ROW(since, 'i') ROW(sum, 'd') ROW(norm, 'd')
        ROW(nsum, 'i') ROW(bad, 'i') ROW(falls, 'i') ROW(skipped, 'u') ROW(t.step, 'u')
            ROW(done, 'i') ROW(best_bad, 'i')
#undef ROW
};
enum { STATE = sizeof states / sizeof *states };

static void get_state(const struct train *x, double *s)
{
    for (int k = 0; k < STATE; k++) {
        const char *at = (const char *)x + states[k].at;
        char kind = states[k].kind;
        s[k] = kind == 'u'   ? (double)*(const uint64_t *)at
               : kind == 'i' ? *(const int *)at
                             : *(const double *)at;
    }
}

static int number_is_sane(char kind, double x)
{
    if (kind == 'd') return isfinite(x);
    if (kind == 'b') return !isnan(x) && x > -INFINITY;
    return x >= 0 && x <= (kind == 'u' ? 9e15 : INT_MAX) && x == floor(x);
}

/* NAMI_EINPUT if no run has such numbers. */
static int set_state(struct train *x, const double *s)
{
    for (int k = 0; k < STATE; k++) {
        char *at = (char *)x + states[k].at, kind = states[k].kind;
        if (!number_is_sane(kind, s[k])) return NAMI_EINPUT;
        if (kind == 'u')
            *(uint64_t *)at = (uint64_t)s[k];
        else if (kind == 'i')
            *(int *)at = (int)s[k];
        else
            *(double *)at = s[k];
    }
    if (!(x->rate > 0) || x->done > TRAIN_STALLED) return NAMI_EINPUT;
    if (x->done != TRAIN_STALLED) /* more steps may be wanted now, or fewer */
        x->done = x->step >= (uint64_t)x->opt.steps ? TRAIN_STEPS : 0;
    return 0;
}

/* ---- weights ------------------------------------------------------------------------ */

/* A layer that is used again has been seen. */
static int is_again(const struct block *b, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (b[k].d->w == b[i].d->w) return 1;
    return 0;
}

const struct block *training_layer(const struct training *r, size_t i)
{
    const struct block *b = r->plan.elbo ? r->e.block.a : r->q.block.a;
    size_t n = r->plan.elbo ? r->e.block.n : r->q.block.n;
    if (i < r->q.block.n) return &b[i];
    i -= r->q.block.n;
    for (size_t k = r->q.block.n; k < n; k++)
        if (!is_again(b, k) && !i--) return &b[k];
    return NULL;
}

/* Calls each(arg, name, ndim, dim, where in the parameters) for every weight and bias. */
static int each_weight(const struct training *r,
                       int (*each)(void *arg, const char *name, int ndim, const size_t *dim,
                                   size_t at, nami_err *err),
                       void *arg, nami_err *err)
{
    const struct block *b;
    int rc = 0;
    for (size_t i = 0; !rc && (b = training_layer(r, i)); i++) {
        const struct dense *d = b->d;
        size_t dim[2] = {(size_t)d->out, (size_t)d->in};
        struct str name = {0};
        str_printf(&name, "%s.weight", b->name);
        rc = name.oom ? err_nomem(err) : each(arg, name.s, 2, dim, d->w, err);
        name.n = 0;
        str_printf(&name, "%s.bias", b->name);
        if (!rc)
            rc = name.oom ? err_nomem(err) : each(arg, name.s, 1, dim, d->w + dim[0] * dim[1], err);
        str_free(&name);
    }
    return rc;
}

struct weights {
    struct st *st;
    float *param;
};

static int add_weight(void *arg, const char *name, int ndim, const size_t *dim, size_t at,
                      nami_err *err)
{
    struct weights *w = arg;
    return st_add(w->st, name, ST_F32, ndim, dim, w->param + at, err);
}

/* Beyond this, single precision leaves nothing of the other inputs: no training gets there. */
static const float LARGEST = 1e12f;

/* Numbers of a tensor that no network has, but a damaged file may. */
static int is_damaged(const struct st_tensor *t, float most, nami_err *err)
{
    for (size_t i = 0; i < t->n; i++) {
        char text[32] = "NaN";
        float x;
        memcpy(&x, (const char *)t->x + i * sizeof x, sizeof x);
        if (fabsf(x) <= most) continue;
        if (!isnan(x)) snprintf(text, sizeof text, "%g", x);
        return err_set(
            err, NAMI_EINPUT,
            "the network is damaged: number %zu of %s is %s; train it again, or take the "
            "file from where it came",
            i + 1, t->name, text);
    }
    return 0;
}

static int take_weight(void *arg, const char *name, int ndim, const size_t *dim, size_t at,
                       nami_err *err)
{
    struct weights *w = arg;
    const struct st_tensor *t = st_find(w->st, name);
    size_t n = ndim == 2 ? dim[0] * dim[1] : dim[0];
    if (!t || t->type != ST_F32 || t->n != n) return broken(err, name);
    memcpy(w->param + at, t->x, n * sizeof(float));
    return is_damaged(t, LARGEST, err);
}

/* ---- out
 * --------------------------------------------------------------------------------------------------
 */

static int put_texts(const struct training *r, struct st *s, const char *inverse, nami_err *err)
{
    struct str data = {0}, plan = {0};
    put_data(r->m, &data);
    int rc = put_settings(r, &plan) || data.oom ? err_nomem(err) : 0;
    if (!rc) rc = st_set(s, "nami", VERSION, err);
    if (!rc) rc = st_set(s, "model", model_text(r->m), err);
    const char *file = model_file_name(r->m);
    if (!rc) rc = st_set(s, "file", file ? file : "model.nami", err);
    if (!rc) rc = st_set(s, "dialect", model_dialect(r->m) == BUGS ? "bugs" : "native", err);
    if (!rc) rc = st_set(s, "data", data.s, err);
    if (!rc) rc = st_set(s, "settings", plan.s, err);
    if (!rc && inverse) rc = st_set(s, "inverse", inverse, err);
    str_free(&data);
    str_free(&plan);
    return rc;
}

int training_save(const struct training *r, const char *path, const char *inverse, nami_err *err)
{
    const struct train *x = &r->train;
    struct st s = {0};
    struct str out = {0};
    double state[STATE];
    size_t np = x->t.nparam, nstate = STATE, nscale = qnet_nsaved(&r->q);
    size_t hist[2] = {x->history.n / (size_t)x->width, (size_t)x->width};
    double *scale = new_array(double, nscale + 1);
    struct weights w = {&s, x->best_param};
    int rc = scale ? put_texts(r, &s, inverse, err) : err_nomem(err);
    if (scale) qnet_saved(&r->q, scale);
    get_state(x, state);
    if (!rc) rc = each_weight(r, add_weight, &w, err);
    if (!rc) rc = st_add(&s, "nami.scales", ST_F64, 1, &nscale, scale, err);
    if (!rc) rc = st_add(&s, "nami.state", ST_F64, 1, &nstate, state, err);
    if (!rc) rc = st_add(&s, "nami.history", ST_F64, 2, hist, x->history.a, err);
    if (!rc) rc = st_add(&s, "nami.now", ST_F32, 1, &np, x->t.param, err);
    if (!rc) rc = st_add(&s, "nami.adam_m", ST_F32, 1, &np, x->t.m, err);
    if (!rc) rc = st_add(&s, "nami.adam_v", ST_F32, 1, &np, x->t.v, err);
    if (!rc) rc = st_print(&s, &out, err);
    if (!rc) rc = file_save(path, out.s, out.n, err);
    free(scale);
    str_free(&out);
    st_free(&s);
    return rc;
}

/* ---- in
 * ------------------------------------------------------------------------------------------------------
 */

static const struct st_tensor *tensor_of(const struct st *s, const char *name, enum st_type type)
{
    const struct st_tensor *t = st_find(s, name);
    return t && t->type == type ? t : NULL;
}

static int read_model(struct training *r, nami_err *err)
{
    const char *model = st_get(&r->saved, "model"), *file = st_get(&r->saved, "file");
    const char *data = st_get(&r->saved, "data"), *dialect = st_get(&r->saved, "dialect");
    if (!model || !file || !data || !dialect) return broken(err, "model");
    struct model_options opt = {
        .set = r->plan.set, .nset = r->plan.nset, .observe = r->plan.observe};
    r->m = r->own = model_new();
    if (!r->m) return err_nomem(err);
    int rc = strcmp(data, "{}") == 0 ? 0 : model_give_data(r->m, data, strlen(data), err);
    if (rc) return rc;
    model_lock_simulator(r->m);
    return model_parse(r->m, file, model, strlen(model), strcmp(dialect, "bugs") ? NATIVE : BUGS,
                       &opt, err);
}

/* The length of a header in JSON, in 8 bytes of which the last are 0: no text begins like that. */
int training_is(const char *path)
{
    char head[9] = "";
    struct stat st;
    if (stat(path, &st) || !S_ISREG(st.st_mode)) return 0; /* what is read of a pipe is gone */
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(head, 1, sizeof head, f) : 0;
    if (f) fclose(f);
    return n == sizeof head && !head[6] && !head[7] && head[8] == '{';
}

int training_read(struct training *r, const char *path, int threads, nami_err *err)
{
    const char *version;
    int rc = file_read(path, &r->text, err);
    if (!rc) rc = st_parse(&r->saved, r->text.s ? r->text.s : "", r->text.n, err);
    if (rc) return rc;
    version = st_get(&r->saved, "nami");
    if (!version || strcmp(version, VERSION) != 0) return broken(err, "nami");
    if ((rc = get_settings(r, st_get(&r->saved, "settings"), err))) return rc;
    if ((rc = read_model(r, err))) return rc;
    const struct st_tensor *scales = tensor_of(&r->saved, "nami.scales", ST_F64);
    if (!scales) return broken(err, "nami.scales");
    return training_prepare(r, scales->x, scales->n, threads, err);
}

size_t training_nparam(const struct training *r)
{
    return r->plan.elbo ? r->e.prog.nparam : r->q.prog.nparam;
}

int training_weights(struct training *r, float *param, nami_err *err)
{
    struct weights w = {.st = &r->saved, .param = param};
    if (r->plan.elbo) elbo_start(&r->e, 0, param); /* what is not learnt */
    int rc = each_weight(r, take_weight, &w, err);
    if (!rc && r->plan.elbo) elbo_model(&r->e, param);
    return rc;
}

int training_continue(struct training *r, struct source *s, int threads, nami_err *err)
{
    struct train *x = &r->train;
    const struct st_tensor *state = tensor_of(&r->saved, "nami.state", ST_F64);
    const struct st_tensor *hist = tensor_of(&r->saved, "nami.history", ST_F64);
    const char *const name[] = {"nami.now", "nami.adam_m", "nami.adam_v"};
    struct weights w = {.st = &r->saved};
    int rc = training_start(r, s, threads, err);
    if (rc) return rc;
    float *const to[] = {x->t.param, x->t.m, x->t.v};
    if (!state || state->n != STATE || !hist || hist->n % (size_t)x->width)
        return broken(err, "nami.state");
    w.param = x->best_param;
    if ((rc = each_weight(r, take_weight, &w, err))) return rc;
    for (int i = 0; i < 3; i++) {
        const struct st_tensor *t = tensor_of(&r->saved, name[i], ST_F32);
        if (!t || t->n != x->t.nparam) return broken(err, name[i]);
        if ((rc = is_damaged(t, i ? FLT_MAX : LARGEST, err))) return rc;
        memcpy(to[i], t->x, t->n * sizeof(float));
    }
    double now[STATE];
    memcpy(now, state->x, sizeof now);
    if (set_state(x, now)) return broken(err, "nami.state");
    if (vec_reserve(&x->history, hist->n + 1)) return err_nomem(err);
    if (hist->n) memcpy(x->history.a, hist->x, hist->n * sizeof(double));
    x->history.n = hist->n;
    return 0;
}
