/* test_training.c: checkpoints: a run that is stopped and resumed gives the same bytes as one
   that is not; damaged files are refused; failing allocations leak nothing. */
#include <unistd.h>

#include "net_at.h"
#include "base/err.h"
#include "base/file.h"
#include "base/rng.h"
#include "model_at.h"
#include "network_at.h"
#include "report/json.h"
#include "train/samples.h"

#include "malloc_fail.h"
#include "model/model.h"

static const char zoo[] =
    "const J = 2\n const w[J]\n const s0 = 0.5\n"
    "model { m ~ normal(1, s0 * 4)\n g ~ gamma(2, 1.5)\n p[1:3] ~ dirichlet(c(1, 2, 3))\n"
    "u ~ uniform(2, 5)\n v[1:2] ~ multi_normal(c(m, 0.5), diag(c(1.5, 0.5)))\n k ~ categorical(p)\n"
    "c ~ poisson(g)\n for (j in 1:J) { t[j] ~ normal(m, g)\n r[j] ~ normal(w[j] * t[j], u) }\n"
    "y1 ~ normal(v[1] + v[2], g)\n y2 ~ poisson(g * k)\n y4 ~ poisson(c + 0.5)\n"
    "for (i in 1:5) { s[i] ~ normal(m, 1) } }\n"
    "observe y1, y2, y4, s, r\n embed s { conv(2, 2, tanh); dense(3) }";
static const char bugs[] =
    "model { mu ~ dnorm(0, 0.01)\n for (i in 1:3) { theta[i] ~ dnorm(mu, 1)\n"
    "y[i] ~ dpois(exp(theta[i] / 4)) } }";
static const char pair[] = "model { z ~ normal(1, 2)\n y ~ normal(z, 1) }\n observe y";

static const char *const sets[] = {"J=3", "s0=0.25"};

struct job {
    const char *text, *data;
    enum dialect dialect;
    int nset; /* of sets */
    const char *observe;
    uint64_t samples; /* draws to train on; 0: fresh ones */
    nami_options invert;
    nami_train_options opt;
};

static const struct job jobs[] = {
    {.text = pair,
     .opt = {.hidden = "12,8",
             .activation = "tanh",
             .steps = 40,
             .batch = 8,
             .rate = 0.01,
             .clip = -1,
             .cooldown = -1,
             .check = 7,
             .valid = 16,
             .patience = 1}},
    {.text = zoo,
     .data = "{\"w\": [0.1, 2.5, -1e-7], \"r\": [1, 2, 3], \"other\": [[1, null], [3, 4]]}",
     .nset = 2,
     .invert = {.restarts = 2, .seed = UINT64_MAX - 4},
     .opt = {.hidden = "40",
             .net = "made",
             .activation = "softplus",
             .steps = 40,
             .batch = 13,
             .rate = 0.02,
             .clip = 1,
             .check = 5,
             .valid = 20,
             .patience = 2,
             .cooldown = 0.5,
             .seed = UINT64_MAX}},
    {.text = zoo,
     .data = "{\"w\": [1, 2, 3]}",
     .nset = 2,
     .observe = "y1,y2,y4,s,r",
     .invert = {.method = "stuhlmuller", .seed = 1},
     .opt = {.family = "mixture",
             .components = 3,
             .net = "mlp",
             .hidden = "6",
             .skip = "yes",
             .steps = 40,
             .batch = 8,
             .rate = 0.01,
             .check = 9,
             .valid = 8,
             .patience = 5}},
    {.text = bugs,
     .data = "{\"y\": [1, 4, 0]}",
     .dialect = BUGS,
     .invert = {.method = "full", .mode = "reverse"},
     .opt = {.family = "spline",
             .components = 3,
             .activation = "sigmoid",
             .steps = 40,
             .batch = 8,
             .rate = 0.01,
             .check = 40,
             .valid = 8,
             .patience = 1}},
    {.text = zoo,
     .data = "{\"w\": [1, 2, 3]}",
     .nset = 2,
     .samples = 95,
     .opt = {.hidden = "24",
             .activation = "tanh",
             .skip = "no",
             .steps = 40,
             .batch = 9,
             .rate = 0.01,
             .check = 6,
             .valid = 5,
             .patience = 2}},
    {.text = zoo, /* m, t, k are integrated out */
     .data = "{\"w\": [1, 2, 3]}",
     .nset = 2,
     .invert = {.exact = "auto"},
     .opt = {.hidden = "6",
             .activation = "tanh",
             .steps = 40,
             .batch = 8,
             .rate = 0.01,
             .check = 6,
             .valid = 5,
             .patience = 2}},
};
/* The rate is much too large: by then it has been cut, and is about to be cut again. */
static const struct job restless = {.text = pair,
                                    .opt = {.hidden = "12",
                                            .activation = "tanh",
                                            .steps = 40,
                                            .batch = 8,
                                            .rate = 2,
                                            .clip = -1,
                                            .cooldown = -1,
                                            .check = 2,
                                            .valid = 16,
                                            .patience = 2}};
enum { NJOB = sizeof jobs / sizeof *jobs };

static char path[] = "/tmp/nami_training_XXXXXX";

/* ---- a run -------------------------------------------------------------------------- */

static int source_of(struct training *r, struct source **s, nami_err *err)
{
    return samples_source(r, r->net.plan.train.seed, s, err);
}

/* As many draws as the plan says, as if from a file. */
static int points_of(struct training *r, nami_err *err)
{
    size_t n = r->net.plan.samples;
    if (!n) return 0;
    r->points = raw_array(double, (size_t)r->net.model->ir.num_rows *n);
    return r->points ? model_simulate(r->net.model, 77, 0, n, 1, r->points, err) : err_nomem(err);
}

/* The plan, of a model that is read. */
static int plan_of(struct training *r, const struct job *j, nami_err *err)
{
    struct plan *p = &r->net.plan;
    p->set = sets;
    p->nset = j->nset;
    p->observe = j->observe;
    p->samples = j->samples;
    nami_options invert = j->invert;
    if (!invert.exact) invert.exact = "none";
    return plan_make(p, &invert, &j->opt, model_learns(r->net.model), &r->net.mem, err);
}

static int start(struct training *r, const struct job *j, int threads, nami_err *err)
{
    struct source *s = NULL;
    struct model_options opt = {.set = sets, .nset = j->nset, .observe = j->observe};
    *r = (struct training){0};
    r->net.model = r->net.own_model = model_new();
    if (!r->net.model) return err_nomem(err);
    int rc = j->data ? data_parse(&r->net.model->source.data, j->data, strlen(j->data), err) : 0;
    if (!rc)
        rc = model_parse(r->net.model, "dir/a model", j->text, strlen(j->text), j->dialect, &opt,
                         err);
    if (!rc) rc = plan_of(r, j, err);
    if (!rc) rc = points_of(r, err);
    if (!rc) rc = training_prepare(r, threads, err);
    if (!rc) rc = source_of(r, &s, err);
    if (!rc) rc = training_start(r, s, threads, err);
    if (rc && r->train.source != s) source_free(s);
    return rc;
}

static int save(const struct training *r, nami_err *err)
{
    struct view w = {.file = model_file_name(r->net.model),
                     .bn = model_bn(r->net.model),
                     .v = &r->net.inversion,
                     .h = r->net.inverse};
    struct str inverse = {0};
    int rc = inverse_json(&w, INVERSE_RUNS, &inverse, err);
    if (!rc) rc = training_save(r, path, inverse.s, err);
    str_free(&inverse);
    return rc;
}

static int go_on(struct training *r, int threads, nami_err *err)
{
    struct source *s = NULL;
    *r = (struct training){0};
    int rc = network_read(&r->net, path, threads, err);
    if (!rc && r->net.plan.samples > 1000) /* not of ours */
        rc = err_set(err, NAMI_EINPUT, "there are not so many points");
    if (!rc) rc = points_of(r, err);
    if (!rc) rc = source_of(r, &s, err);
    if (!rc) rc = training_continue(r, s, threads, err);
    if (rc && r->train.source != s) source_free(s);
    return rc;
}

static int steps(struct training *r, int n, nami_err *err)
{
    int checked, rc = 0;
    while (n-- > 0 && !r->train.done && !rc) rc = train_step(&r->train, &checked, err);
    return rc;
}

static void must(int rc, const nami_err *err)
{
    if (rc) fail_msg("%s", err->msg);
}

/* ---- there and back ----------------------------------------------------------------- */

static void same_bytes(const struct str *a, const struct str *b)
{
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++)
        if (a->s[i] != b->s[i])
            fail_msg("byte %zu of %zu is another: ...%.60s", i, a->n,
                     i > 30 ? a->s + i - 30 : a->s);
}

static void check_resume(const struct job *j, int stop)
{
    struct training whole, part;
    struct str want = {0}, got = {0};
    nami_err err = {0};
    must(start(&whole, j, 2, &err), &err);
    must(steps(&whole, 1000, &err), &err);
    must(save(&whole, &err), &err);
    must(file_read(path, &want, &err), &err);
    must(start(&part, j, 1, &err), &err);
    must(steps(&part, stop, &err), &err);
    must(save(&part, &err), &err);
    training_free(&part);
    must(go_on(&part, 3, &err), &err);
    assert_int_equal(part.train.step, stop);
    assert_true(part.train.rate <= j->opt.rate);
    must(steps(&part, 1000, &err), &err);
    assert_int_equal(part.train.done, whole.train.done);
    must(save(&part, &err), &err);
    must(file_read(path, &got, &err), &err);
    same_bytes(&want, &got);
    training_free(&part);
    training_free(&whole);
    str_free(&want);
    str_free(&got);
}

static void test_resume(void **state)
{
    (void)state;
    for (int i = 0; i < NJOB; i++) {
        check_resume(&jobs[i], 17);
        check_resume(&jobs[i], i ? 28 : 14); /* a validation just made */
    }
    check_resume(&jobs[0], 0);
    struct training r;
    nami_err err = {0};
    int stop = 0;
    must(start(&r, &restless, 1, &err), &err);
    while (!r.train.done && !(r.train.rate < 2 && r.train.since)) {
        must(steps(&r, 1, &err), &err);
        stop++;
    }
    assert_false(r.train.done);
    training_free(&r);
    check_resume(&restless, stop);
    check_resume(&jobs[1], 40);
}

/* A run that has made all its steps can be asked for more, as one that never stopped. */
static void test_more_steps(void **state)
{
    (void)state;
    struct job j = jobs[0];
    struct training r, whole;
    nami_err err = {0};
    j.opt.check = 8; /* the end of the first run is a validation of the second, too */
    must(start(&r, &j, 1, &err), &err);
    must(steps(&r, 1000, &err), &err);
    assert_int_equal(r.train.done, TRAIN_STEPS);
    must(save(&r, &err), &err);
    training_free(&r);
    j.opt.steps = 48;
    must(start(&whole, &j, 1, &err), &err);
    must(steps(&whole, 1000, &err), &err);
    for (int more = 48; more >= 10; more -= 38) {
        struct source *s;
        r = (struct training){0};
        must(network_read(&r.net, path, 1, &err), &err);
        r.net.plan.train.steps = more;
        must(source_of(&r, &s, &err), &err);
        must(training_continue(&r, s, 1, &err), &err);
        assert_int_equal(r.train.done, more == 48 ? 0 : TRAIN_STEPS);
        must(steps(&r, 1000, &err), &err);
        assert_int_equal(r.train.step, more == 48 ? 48 : 40);
        if (more == 48)
            assert_memory_equal(r.train.t.param, whole.train.t.param,
                                sizeof(float) * whole.train.t.nparam);
        training_free(&r);
    }
    training_free(&whole);
}

/* What is read is what was there: the model, its data, the settings. */
static void test_contents(void **state)
{
    (void)state;
    struct training r;
    nami_err err = {0};
    must(start(&r, &jobs[1], 1, &err), &err);
    must(steps(&r, 3, &err), &err);
    must(save(&r, &err), &err);
    size_t nparam = r.net.q.prog.nparam;
    training_free(&r);
    must(go_on(&r, 1, &err), &err);
    const nami_train_options *t = &r.net.plan.options, *want = &jobs[1].opt;
    assert_true(t->steps == 40 && t->batch == 13 && t->rate == 0.02 && t->clip == 1);
    assert_true(t->check == 5 && t->valid == 20 && t->patience == 2 && t->cooldown == 0.5);
    assert_true(t->seed == want->seed && r.net.plan.train.seed == want->seed);
    assert_true(r.net.plan.net.arch == &arch_made && r.net.plan.net.act == ACT_SOFTPLUS);
    assert_true(r.net.plan.invert.seed == UINT64_MAX - 4 && r.net.plan.invert.restarts == 2);
    assert_string_equal(t->objective, "ic");
    assert_int_equal(r.net.plan.nset, 2);
    assert_string_equal(r.net.plan.set[0], "J=3");
    assert_string_equal(r.net.model->source.text.s, zoo);
    assert_string_equal(r.net.model->source.file, "dir/a model");
    assert_int_equal(r.net.q.prog.nparam, nparam);
    assert_true(
        r.net.model->ir.value[r.net.model->ir.arrays.a[array_find(r.net.model, "w")].first + 2] ==
        -1e-7);
    training_free(&r);
}

/* ---- damage ------------------------------------------------------------------------- */

static void saved(const struct job *j, struct str *out)
{
    struct training r;
    nami_err err = {0};
    out->n = 0;
    must(start(&r, j, 1, &err), &err);
    must(steps(&r, 10, &err), &err);
    must(save(&r, &err), &err);
    must(file_read(path, out, &err), &err);
    training_free(&r);
}

/* Reads these bytes and goes on; an error has a message. */
static int try_bytes(const char *s, size_t n, nami_err *err)
{
    struct training r;
    FILE *f = fopen(path, "wb");
    *err = (nami_err){0};
    assert_true(f && fwrite(s, 1, n, f) == n && fclose(f) == 0);
    int rc = go_on(&r, 1, err);
    if (!rc) rc = steps(&r, 1, err);
    training_free(&r);
    if (rc) assert_true(err->code == rc && strlen(err->msg) > 10);
    return rc;
}

static void test_cut_off(void **state)
{
    (void)state;
    struct str whole = {0};
    nami_err err;
    saved(&jobs[2], &whole);
    assert_int_equal(try_bytes(whole.s, whole.n, &err), 0);
    for (size_t i = 0; i < 60; i++) {
        size_t n = i < 10 ? i : i < 20 ? whole.n - (i - 9) : whole.n * (i - 19) / 41;
        if (!try_bytes(whole.s, n, &err)) fail_msg("%zu bytes of %zu are enough", n, whole.n);
    }
    str_put(&whole, "x");
    assert_int_not_equal(try_bytes(whole.s, whole.n, &err), 0);
    str_free(&whole);
}

static void test_flipped(void **state)
{
    (void)state;
    struct str whole = {0};
    struct rng r;
    nami_err err;
    saved(&jobs[0], &whole);
    rng_init(&r, 12, 0);
    for (int i = 0; i < 400; i++) {
        size_t at = rng_below(&r, (uint32_t)whole.n);
        char was = whole.s[at];
        whole.s[at] = (char)(was ^ (1 << rng_below(&r, 8)));
        if (!try_bytes(whole.s, whole.n, &err)) fail_msg("byte %zu is another, and read", at);
        whole.s[at] = was;
    }
    assert_int_equal(try_bytes(whole.s, whole.n, &err), 0);
    str_free(&whole);
}

/* The file with another text, and the digest that belongs to it. */
static int try_text(const struct str *whole, const char *name, const char *value, nami_err *err)
{
    struct st st = {0};
    struct str out = {0};
    must(st_parse(&st, whole->s, whole->n, err), err);
    edit_text(&st, name, value);
    edit_print(&st, &out);
    int rc = try_bytes(out.s, out.n, err);
    st_free(&st);
    str_free(&out);
    return rc;
}

/* Numbers that no run could have saved: each member of the state, replaced by odd values. */
static void test_numbers(void **state)
{
    (void)state;
    static const char *const odd[] = {"null", "-1",   "\"1\"", "[]",
                                      "0",    "0.5",  "3",     "1e6",
                                      "-0.5", "true", "1e300", "9223372036854775807"};
    struct str whole = {0};
    nami_err err = {0};
    saved(&jobs[0], &whole);
    struct st st = {0};
    must(st_parse(&st, whole.s, whole.n, &err), &err);
    json_t *was = json_loads(st_get(&st, "state"), 0, NULL), *value;
    const char *name;
    int refused = 0, tried = 0;
    json_object_foreach(was, name, value)
    {
        int whole_number = json_is_integer(value), best = strcmp(name, "best") == 0;
        for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
            json_t *now = json_copy(was);
            json_object_set_new(now, name, json_loads(odd[k], JSON_DECODE_ANY, NULL));
            char *text = json_dumps(now, JSON_REAL_PRECISION(17));
            int rc = try_text(&whole, "state", text, &err);
            int must_not = k > 0 && k < 4 ? k > 1 || whole_number
                                          : (k == 0 && !best) || k == 9 ||
                                                (whole_number && strpbrk(odd[k], ".e"));
            if (must_not && rc != NAMI_EINPUT) fail_msg("%s = %s is read", name, odd[k]);
            if (rc) assert_non_null(strstr(err.msg, "'state'"));
            refused += rc != 0;
            tried++;
            free(text);
            json_decref(now);
        }
        json_t *now = json_copy(was);
        json_object_del(now, name);
        char *text = json_dumps(now, 0);
        int later = strncmp(name, "cool_", 5) == 0 || strcmp(name, "elapsed") == 0;
        assert_int_equal(try_text(&whole, "state", text, &err), later ? 0 : NAMI_EINPUT);
        free(text);
        json_decref(now);
    }
    print_message("%d of %d are refused\n", refused, tried);
    json_decref(was);
    st_free(&st);
    str_free(&whole);
}

/* Settings that no run could have had. */
static void test_settings(void **state)
{
    (void)state;
    static const char *const change[][2] = {
        {"\"batch\": 8", "\"batch\": 0"},
        {"\"batch\": 8", "\"batch\": -8"},
        {"\"batch\": 8", "\"batch\": 8.5"},
        {"\"batch\": 8", "\"batch\": 4294967304"},
        {"\"batch\": 8", "\"batch\": 2147483647"},
        {"\"batch\": 8", "\"batch\": \"8\""},
        {"\"batch\": 8", "\"batch\": null"},
        {"\"valid\": 16", "\"valid\": 0"},
        {"\"valid\": 16", "\"valid\": -5"},
        {"\"patience\": 1", "\"patience\": 0"},
        {"\"steps\": 40", "\"steps\": -1"},
        {"\"minutes\": 0.0", "\"minutes\": -1"},
        {"\"check\": 7", "\"check\": 0"},
        {"\"check\": 7", "\"check\": -7"},
        {"\"particles\": 1", "\"particles\": 0"},
        {"\"hidden\": \"12,8\"", "\"hidden\": \"12,0\""},
        {"\"hidden\": \"12,8\"", "\"hidden\": \"12,9\""},
        {"\"hidden\": \"12,8\"", "\"hidden\": \"1,1,1,1,1,1,1,1,1\""},
        {"\"hidden\": \"12,8\"", "\"hidden\": \"a\""},
        {"\"hidden\": \"12,8\"", "\"hidden\": 7"},
        {"\"hidden\": \"12,8\"", "\"hidden\": null"},
        {"\"family\": \"match\"", "\"family\": \"many\""},
        {"\"family\": \"match\"", "\"family\": 1"},
        {"\"family\": \"match\"", "\"family\": null"},
        {"\"activation\": \"tanh\"", "\"activation\": \"tanhh\""},
        {"\"activation\": \"tanh\"", "\"activation\": 1"},
        {"\"net\": \"auto\"", "\"net\": \"none\""},
        {"\"net\": \"auto\"", "\"net\": null"},
        {"\"rate\": 0.01", "\"rate\": -0.01"},
        {"\"cooldown\": 0.0", "\"cooldown\": 1.5"},
        {"\"no_share\": false", "\"no_share\": 0"},
        {"\"set\": []", "\"set\": [1]"},
        {"\"set\": []", "\"set\": [\"nothing=1\"]"},
        {"\"set\": []", "\"set\": null"},
        {"{", "["},
        {"\"cooldown\"", "\"cooldawn\""},
        {"\"method\": \"nami\"", "\"method\": \"none\""},
        {"\"mode\": \"best\"", "\"mode\": \"none\""},
        {"\"mode\": \"best\"", "\"mode\": null"},
        {"\"samples\": 0", "\"samples\": -1"},
        {"\"invert\": {", "\"observe\": \"none such\", \"invert\": {"},
        {"\"invert\": {", "\"observe\": 3, \"invert\": {"},
        {"\"invert\": {", "\"observe\": \"@/etc/passwd\", \"invert\": {"},
    };
    struct str whole = {0};
    struct st st = {0};
    nami_err err = {0};
    saved(&jobs[0], &whole);
    must(st_parse(&st, whole.s, whole.n, &err), &err);
    for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
        struct str text = {0};
        edit_piece(st_get(&st, "settings"), change[i][0], change[i][1], &text);
        if (!try_text(&whole, "settings", text.s, &err)) fail_msg("%s is read", change[i][1]);
        str_free(&text);
    }
    st_free(&st);
    str_free(&whole);
}

/* ---- memory ------------------------------------------------------------------------- */

struct whole_job {
    struct job j;
    double sum, want; /* of the weights, at the end */
};

/* All of it: model, inverse, network, training, file, and on from there. */
static int run_all(void *ctx)
{
    struct whole_job *w = ctx;
    struct training r = {0}, again = {0};
    nami_err err = {0};
    int rc = start(&r, &w->j, 1, &err);
    if (!rc) rc = steps(&r, 2, &err);
    if (!rc) rc = save(&r, &err);
    training_free(&r);
    if (!rc) rc = go_on(&again, 1, &err);
    if (!rc) rc = steps(&again, 1, &err);
    w->sum = 0;
    for (size_t i = 0; i < again.train.t.nparam && !rc; i++) w->sum += again.train.t.param[i];
    training_free(&again);
    assert_int_equal(rc, err.code);
    return rc;
}

static void test_no_memory(void **state)
{
    (void)state;
    static const struct job job = {.text = "const w[2]\n model { z ~ normal(1, 2)\n g ~ gamma(2, "
                                           "1)\n v[1:2] ~ multi_normal(c(z, g), "
                                           "diag(w))\n"
                                           "k ~ bernoulli(0.3)\n for (i in 1:3) { y[i] ~ "
                                           "normal(v[1] + v[2] * k, 1) } }\n observe y\n"
                                           "embed y { conv(2, 2, tanh); dense(2) }",
                                   .data = "{\"w\": [1, 2]}",
                                   .opt = {.hidden = "8",
                                           .activation = "tanh",
                                           .steps = 40,
                                           .batch = 9,
                                           .rate = 0.01,
                                           .check = 1,
                                           .valid = 8,
                                           .patience = 1}};
    for (int i = 0; net_archs[i]; i++) {
        const struct arch *arch = net_archs[i];
        struct whole_job w = {.j = job};
        const char *why;
        long n = 1, step = arch == &arch_mlp ? 5 : 1, harmless = 0;
        int more;
        char room[1000];
        w.j.opt.net = arch->name;
        w.j.text = text_for(arch, w.j.text, room, sizeof room);
        if (arch == &arch_made) w.j.samples = 40;
        assert_int_equal(run_all(&w), 0);
        w.want = w.sum;
        for (; (more = nomem_at(run_all, &w, n, &why)); n += step) {
            if (more > 0) continue;
            /* elimination can do without some: then all is as before */
            if (strcmp(why, "a failed allocation without an error") != 0 || w.sum != w.want)
                fail_msg("%s, allocation %ld: %s", arch->name, n, why);
            harmless++;
        }
        print_message("%ld allocations failed, %ld without harm\n", (n - 1) / step, harmless);
        assert_true(n > 300 && harmless < 10);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_resume),   cmocka_unit_test(test_more_steps),
    cmocka_unit_test(test_contents), cmocka_unit_test(test_cut_off),
    cmocka_unit_test(test_flipped),  cmocka_unit_test(test_numbers),
    cmocka_unit_test(test_settings), cmocka_unit_test(test_no_memory),
};

int main(int argc, char **argv)
{
    int fd = mkstemp(path);
    if (fd < 0) return 2;
    close(fd);
    int rc = run_cases(tests, sizeof tests / sizeof *tests, argc, argv);
    remove(path);
    return rc;
}
