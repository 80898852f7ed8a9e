/* training.c: prepares a training run, saves it to a checkpoint file, and restores it. */
#include "train/training.h"

#include <float.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/json.h"
#include "model/eval.h"
#include "train/designs.h"
#include "train/schedule.h"

/* ---- a run ------------------------------------------------------------------------------ */

/* Copies the observed values of an observation, without labels of latents. */
static void copy_observed(const struct training *r, size_t i, double *x, size_t stride)
{
    for (size_t k = 0; k < r->feeds.feed.n; k++) {
        const struct feed *f = &r->feeds.feed.a[k];
        for (size_t j = 0; j < f->r.k; j++)
            if (feed_observed(r->net.model, f, j))
                x[(size_t)f->row[j] * stride] = records_at(&f->r, i, j);
    }
}

/* Standardizes latents by draws of the prior, and data by the data. */
static int make_on_data(struct training *r, int threads, nami_err *err)
{
    enum { MOST = 4096 };
    struct model *m = r->net.model;
    size_t n = r->split.n[SPLIT_TRAIN] < MOST ? r->split.n[SPLIT_TRAIN] : MOST;
    const int *index = split_index(&r->split, SPLIT_TRAIN);
    double *x = raw_array(double, (size_t)model_num_rows(m) * n + 1);
    if (!x) return err_nomem(err);
    int rc = model_simulate_training(m, r->net.plan.net.seed ^ 0x7072696f72, 0, n, threads, x, err);
    for (size_t i = 0; i < n && !rc; i++) copy_observed(r, (size_t)index[i], x + i, n);
    if (!rc) rc = network_make(&r->net, n, x, threads, err);
    free(x);
    return rc;
}

int training_prepare(struct training *r, int threads, nami_err *err)
{
    int rc = network_invert(&r->net, err);
    if (rc) return rc;
    if (designs_wanted(&r->net.plan)) return designs_make(&r->designs, &r->net, threads, err);
    return r->feeds.n ? make_on_data(r, threads, err)
                      : network_make(&r->net, r->net.plan.samples, r->points, threads, err);
}

int training_start(struct training *r, struct source *s, int threads, nami_err *err)
{
    struct network *n = &r->net;
    if (n->plan.train.seconds > 0 && r->with)
        return err_set(err, NAMI_EUSAGE,
                       "a time budget is of one process: several would stop at different steps; "
                       "give a number of steps");
    return train_make_with(&r->train, &n->q, n->plan.elbo ? &n->elbo : NULL, s, &n->plan.train,
                           r->with, r->designs, threads, err);
}

void training_free(struct training *r)
{
    designs_free(r->designs);
    train_free(&r->train);
    feeds_free(&r->feeds);
    split_free(&r->split);
    free(r->points);
    network_free(&r->net);
}

/* ---- the state of training, by name ------------------------------------------------------ */

/* One row for each number of the state of a run. i: int, u: uint64, d: double, b: the best loss,
   which may be infinite (null). `later`: 0 in files of the first versions, which do not have it. */
static const struct state {
    const char *name;
    size_t at;
    char kind, later;
} states[] = {
#define ROW(field, kind) {#field, offsetof(struct train, field), kind, 0},
#define LATER(field, kind) {#field, offsetof(struct train, field), kind, 1},
    ROW(step, 'u') ROW(rate, 'd') ROW(best, 'b') ROW(since, 'i') ROW(sum, 'd') ROW(norm, 'd')
        ROW(nsum, 'i') ROW(bad, 'i') ROW(falls, 'i') ROW(skipped, 'u') ROW(t.step, 'u')
            ROW(done, 'i') ROW(best_bad, 'i') LATER(cool_from, 'u') LATER(cool_to, 'u')
                LATER(elapsed, 'd')
#undef ROW
#undef LATER
};
enum { STATES = sizeof states / sizeof *states };

static json_t *state_value(const struct train *x, const struct state *s)
{
    const char *at = (const char *)x + s->at;
    if (s->kind == 'u') return json_integer((json_int_t) * (const uint64_t *)at);
    if (s->kind == 'i') return json_integer(*(const int *)at);
    double value = *(const double *)at;
    return isfinite(value) ? json_real(value) : json_null();
}

static int print_state(const struct train *x, struct str *out)
{
    json_t *o = json_object();
    int bad = !o;
    for (int k = 0; k < STATES; k++)
        bad |= json_object_set_new(o, states[k].name, state_value(x, &states[k]));
    json_print(bad ? NULL : o, JSON_REAL_PRECISION(17), out);
    json_decref(o);
    return out->oom ? NAMI_ENOMEM : 0;
}

/* 0 if the number is invalid. */
static int take_state(struct train *x, const struct state *s, const json_t *value)
{
    char *at = (char *)x + s->at;
    if (!value && s->later) return 1;
    json_int_t i = json_integer_value(value);
    if (s->kind == 'u' || s->kind == 'i') {
        if (!json_is_integer(value) || i < 0 || (s->kind == 'i' && i > INT_MAX)) return 0;
        if (s->kind == 'u')
            *(uint64_t *)at = (uint64_t)i;
        else
            *(int *)at = (int)i;
        return 1;
    }
    *(double *)at = json_is_null(value) ? INFINITY : json_number_value(value);
    return json_is_number(value) || (s->kind == 'b' && json_is_null(value));
}

/* NAMI_EINPUT if the state is invalid, or NAMI_ENOMEM */
static int parse_state(struct train *x, const char *text)
{
    struct json_why why;
    json_t *o = text ? json_read(text, strlen(text), 0, &why) : NULL;
    if (text && !o && why.code == json_error_out_of_memory) return NAMI_ENOMEM;
    int ok = json_is_object(o);
    for (int k = 0; k < STATES && ok; k++)
        ok = take_state(x, &states[k], json_object_get(o, states[k].name));
    json_decref(o);
    if (!ok || !(x->rate > 0) || x->done > TRAIN_TIME || !(x->elapsed >= 0) ||
        x->cool_from > x->cool_to)
        return NAMI_EINPUT;
    schedule_resume(x);
    return 0;
}

/* ---- files ------------------------------------------------------------------------------- */

struct adding {
    struct st *file;
    const float *param;
};

static int add_weight(void *arg, const char *name, int num_dims, const size_t *dim, size_t at,
                      nami_err *err)
{
    const struct adding *w = arg;
    return st_add(w->file, name, ST_F32, num_dims, dim, w->param + at, err);
}

/* Adds the history of validations: a network keeps it for the figure of its training. */
static int add_history(const struct train *x, struct st *file, nami_err *err)
{
    size_t hist[2] = {x->history.n / (size_t)x->width, (size_t)x->width};
    return st_add(file, "nami.history", ST_F64, 2, hist, x->history.a, err);
}

/* Adds Adam moments and current weights. */
static int add_state(const struct train *x, struct st *file, nami_err *err)
{
    struct str state = {0};
    size_t np = x->t.nparam;
    int rc = print_state(x, &state) ? err_nomem(err) : st_set(file, "state", state.s, err);
    if (!rc) rc = st_add(file, "nami.now", ST_F32, 1, &np, x->t.param, err);
    if (!rc) rc = st_add(file, "nami.adam_m", ST_F32, 1, &np, x->t.m, err);
    if (!rc) rc = st_add(file, "nami.adam_v", ST_F32, 1, &np, x->t.v, err);
    str_free(&state);
    return rc;
}

int training_print(const struct training *r, const char *inverse, int with_state, struct str *out,
                   nami_err *err)
{
    struct st file = {0};
    struct adding w = {&file, r->train.best_param};
    int rc = network_texts(&r->net, &file, inverse, err);
    if (!rc) rc = network_each_weight(&r->net, add_weight, &w, err);
    if (!rc && r->designs) rc = designs_each_weight(r->designs, add_weight, &w, err);
    if (!rc && (with_state || r->train.history.n)) rc = add_history(&r->train, &file, err);
    if (!rc && with_state) rc = add_state(&r->train, &file, err);
    if (!rc) rc = network_print(&file, out, err);
    st_free(&file);
    return rc;
}

int training_save(const struct training *r, const char *path, const char *inverse, nami_err *err)
{
    struct str out = {0};
    int rc = training_print(r, inverse, 1, &out, err);
    if (!rc) rc = file_save(path, out.s, out.n, err);
    str_free(&out);
    return rc;
}

static int take_history(struct train *x, const struct st_tensor *t, nami_err *err)
{
    if (!t || t->type != ST_F64 || t->n % (size_t)x->width)
        return network_broken("nami.history", err);
    if (vec_reserve(&x->history, t->n + 1)) return err_nomem(err);
    if (t->n) memcpy(x->history.a, t->x, t->n * sizeof(double));
    x->history.n = t->n;
    return 0;
}

int training_continue(struct training *r, struct source *s, int threads, nami_err *err)
{
    struct train *x = &r->train;
    const struct network *n = &r->net;
    if (!st_get(&n->file, "state"))
        return err_set(err, NAMI_EINPUT,
                       "this file holds a network without the state of its training: training "
                       "cannot go on from it");
    int rc = designs_wanted(&n->plan) ? designs_make(&r->designs, &r->net, threads, err) : 0;
    if (!rc) rc = training_start(r, s, threads, err);
    const size_t *np = &x->t.nparam;
    if (!rc) rc = network_take_weights(n, x->best_param, err);
    if (!rc && r->designs) rc = designs_take_weights(r->designs, n, x->best_param, err);
    if (!rc) rc = network_take(n, "nami.now", 1, np, NETWORK_LARGEST, x->t.param, err);
    if (!rc) rc = network_take(n, "nami.adam_m", 1, np, FLT_MAX, x->t.m, err);
    if (!rc) rc = network_take(n, "nami.adam_v", 1, np, FLT_MAX, x->t.v, err);
    if (!rc) rc = take_history(x, st_find(&n->file, "nami.history"), err);
    if (rc) return rc;
    rc = parse_state(x, st_get(&n->file, "state"));
    r->net.plan.train.seconds = x->opt.seconds;
    return !rc ? 0 : rc == NAMI_ENOMEM ? err_nomem(err) : network_broken("state", err);
}
