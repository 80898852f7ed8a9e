/* test_training.c: checkpoints: a run that is stopped and resumed gives the same bytes as one
   that is not; damaged files are refused; failing allocations leak nothing. */
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/rng.h"
#include "model_at.h"
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
    struct plan plan;
};

static const struct job jobs[] = {
    {pair,
     NULL,
     NATIVE,
     {.net = {.nhidden = 2, .hidden = {12, 8}, .act = ACT_TANH, .skip = -1},
      .train = {.steps = 40, .batch = 8, .rate = 0.01, .check = 7, .valid = 16, .patience = 1}}},
    {zoo,
     "{\"w\": [0.1, 2.5, -1e-7], \"r\": [1, 2, 3], \"other\": [[1, null], [3, 4]]}",
     NATIVE,
     {.set = sets,
      .nset = 2,
      .net = {.nhidden = 1,
              .hidden = {40},
              .kind = NET_MADE,
              .act = ACT_SOFTPLUS,
              .skip = -1,
              .seed = 3},
      .train = {.steps = 40,
                .batch = 13,
                .rate = 0.02,
                .clip = 1,
                .check = 5,
                .valid = 20,
                .patience = 2,
                .cooldown = 0.5,
                .seed = UINT64_MAX}}},
    {zoo,
     "{\"w\": [1, 2, 3]}",
     NATIVE,
     {.set = sets,
      .nset = 2,
      .observe = "y1,y2,y4,s,r",
      .invert = {.method = "stuhlmuller", .seed = 1},
      .net = {.family = &family_mixture,
              .size = 3,
              .kind = NET_MLP,
              .nhidden = 1,
              .hidden = {6},
              .act = ACT_RELU,
              .skip = 1},
      .train = {.steps = 40, .batch = 8, .rate = 0.01, .check = 9, .valid = 8, .patience = 5}}},
    {bugs,
     "{\"y\": [1, 4, 0]}",
     BUGS,
     {.invert = {.method = "full", .mode = "reverse", .criterion = "min-fill"},
      .net = {.family = &family_spline, .size = 3, .act = ACT_SIGMOID, .skip = -1},
      .train = {.steps = 40, .batch = 8, .rate = 0.01, .check = 40, .valid = 8, .patience = 1}}},
    {zoo,
     "{\"w\": [1, 2, 3]}",
     NATIVE,
     {.set = sets,
      .nset = 2,
      .samples = 95,
      .net = {.nhidden = 1, .hidden = {24}, .act = ACT_TANH, .skip = 0},
      .train = {.steps = 40, .batch = 9, .rate = 0.01, .check = 6, .valid = 5, .patience = 2}}},
};
/* The rate is much too large: by then it has been cut, and is about to be cut again. */
static const struct job restless = {
    pair,
    NULL,
    NATIVE,
    {.net = {.nhidden = 1, .hidden = {12}, .act = ACT_TANH, .skip = -1},
     .train = {.steps = 40, .batch = 8, .rate = 2, .check = 2, .valid = 16, .patience = 2}}};
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

static int start(struct training *r, const struct job *j, int threads, nami_err *err)
{
    struct source *s = NULL;
    struct model_options opt = {
        .set = j->plan.set, .nset = j->plan.nset, .observe = j->plan.observe};
    *r = (struct training){.plan = j->plan};
    r->net.model = r->net.own_model = model_new();
    if (!r->net.model) return err_nomem(err);
    int rc = j->data ? data_parse(&r->net.model->source.data, j->data, strlen(j->data), err) : 0;
    if (!rc) rc = model_parse(r->net.model, "dir/a model", j->text, strlen(j->text), j->dialect, &opt, err);
    if (!rc) rc = points_of(r, err);
    if (!rc) rc = training_prepare(r, threads, err);
    if (!rc) rc = source_of(r, &s, err);
    if (!rc) rc = training_start(r, s, threads, err);
    if (rc && r->train.source != s) source_free(s);
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
    must(training_save(&whole, path, "{\"an\": \"inverse\"}", &err), &err);
    must(file_read(path, &want, &err), &err);
    must(start(&part, j, 1, &err), &err);
    must(steps(&part, stop, &err), &err);
    must(training_save(&part, path, "{\"an\": \"inverse\"}", &err), &err);
    training_free(&part);
    must(go_on(&part, 3, &err), &err);
    assert_int_equal(part.train.step, stop);
    assert_true(part.train.rate <= j->plan.train.rate);
    must(steps(&part, 1000, &err), &err);
    assert_int_equal(part.train.done, whole.train.done);
    must(training_save(&part, path, "{\"an\": \"inverse\"}", &err), &err);
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
    j.plan.train.check = 8; /* the end of the first run is a validation of the second, too */
    must(start(&r, &j, 1, &err), &err);
    must(steps(&r, 1000, &err), &err);
    assert_int_equal(r.train.done, TRAIN_STEPS);
    must(training_save(&r, path, NULL, &err), &err);
    training_free(&r);
    j.plan.train.steps = 48;
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
    must(training_save(&r, path, NULL, &err), &err);
    size_t nparam = r.net.q.prog.nparam;
    training_free(&r);
    must(go_on(&r, 1, &err), &err);
    const struct train_options *t = &r.net.plan.train, *want = &jobs[1].plan.train;
    assert_memory_equal(t, want, offsetof(struct train_options, seed));
    assert_true(t->seed == want->seed && r.net.plan.net.seed == 3 && r.net.plan.net.kind == NET_MADE);
    assert_int_equal(r.net.plan.nset, 2);
    assert_string_equal(r.net.plan.set[0], "J=3");
    assert_string_equal(r.net.model->source.text.s, zoo);
    assert_string_equal(r.net.model->source.file, "dir/a model");
    assert_int_equal(r.net.q.prog.nparam, nparam);
    assert_true(r.net.model->ir.value[r.net.model->ir.arrays.a[array_find(r.net.model, "w")].first + 2] == -1e-7);
    training_free(&r);
}

/* ---- damage ------------------------------------------------------------------------- */

/* Returns how many heads the network has. */
static int saved(const struct job *j, struct str *out)
{
    struct training r;
    nami_err err = {0};
    out->n = 0;
    must(start(&r, j, 1, &err), &err);
    must(steps(&r, 10, &err), &err);
    must(training_save(&r, path, NULL, &err), &err);
    must(file_read(path, out, &err), &err);
    int heads = r.net.q.ngroup;
    training_free(&r);
    return heads;
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
    int refused = 0;
    saved(&jobs[0], &whole);
    uint64_t header;
    memcpy(&header, whole.s, sizeof header);
    rng_init(&r, 12, 0);
    for (int i = 0; i < 400; i++) {
        size_t most = i % 4 ? header + 8 : whole.n; /* there is less to damage in weights */
        size_t at = rng_below(&r, (uint32_t)most);
        char was = whole.s[at];
        whole.s[at] = (char)(was ^ (1 << rng_below(&r, 8)));
        refused += try_bytes(whole.s, whole.n, &err) != 0;
        whole.s[at] = was;
    }
    print_message("%d of 400 are refused\n", refused);
    assert_true(refused > 100);
    assert_int_equal(try_bytes(whole.s, whole.n, &err), 0);
    str_free(&whole);
}

/* Numbers that no run could have saved.  Those of heads are at the end of scales, 11 each; the
   first three of them cannot be any others. */
static void check_numbers(const struct job *j, const char *name)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, -1, 0, 0.5, 3, 1e6, 3e9, 1e19, -1e300};
    struct str whole = {0};
    struct st st = {0};
    nami_err err = {0};
    int nhead = saved(j, &whole), scales = strcmp(name, "nami.scales") == 0;
    must(st_parse(&st, whole.s, whole.n, &err), &err);
    const struct st_tensor *t = st_find(&st, name);
    assert_non_null(t);
    double *x = calloc(t->n, sizeof *x);
    struct st_tensor *mine = &st.tensor.a[t - st.tensor.a];
    assert_non_null(x);
    memcpy(x, t->x, t->n * sizeof *x);
    mine->x = x;
    int heads = (int)t->n - nhead * 11;
    for (int i = 0; i < (int)t->n; i++)
        for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
            struct str out = {0};
            double was = x[i];
            int fixed = scales && i >= heads && (i - heads) % 11 < 3 && was != odd[k];
            if (scales && !fixed && ((int)k + i) % 5) continue; /* some for each will do */
            x[i] = odd[k];
            must(st_print(&st, &out, &err), &err);
            int rc = try_bytes(out.s, out.n, &err);
            int best = !scales && i == 2 && odd[k] > 0;
            if (!rc && (fixed || (!isfinite(odd[k]) && !best)))
                fail_msg("%s[%d] = %g is read", name, i, odd[k]);
            x[i] = was;
            str_free(&out);
        }
    free(x);
    st_free(&st);
    str_free(&whole);
}

static void test_numbers(void **state)
{
    (void)state;
    check_numbers(&jobs[0], "nami.state");
    for (int i = 0; i < NJOB; i++) check_numbers(&jobs[i], "nami.scales");
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
        {"\"valid\": 16", "\"valid\": 0"},
        {"\"valid\": 16", "\"valid\": -5"},
        {"\"patience\": 1", "\"patience\": 0"},
        {"\"steps\": 40", "\"steps\": 0"},
        {"\"check\": 7", "\"check\": 0"},
        {"\"check\": 7", "\"check\": -7"},
        {"\"hidden\": [12, 8]", "\"hidden\": [12, 0]"},
        {"\"hidden\": [12, 8]", "\"hidden\": [12, 9]"},
        {"\"hidden\": [12, 8]", "\"hidden\": [1,1,1,1,1,1,1,1,1]"},
        {"\"hidden\": [12, 8]", "\"hidden\": [\"a\"]"},
        {"\"hidden\": [12, 8]", "\"hidden\": 7"},
        {"\"family\": \"match\"", "\"family\": \"many\""},
        {"\"family\": \"match\"", "\"family\": 1"},
        {"\"activation\": 1", "\"activation\": 5"},
        {"\"activation\": 1", "\"activation\": -1"},
        {"\"net\": 0", "\"net\": 3"},
        {"\"net\": 0", "\"net\": -1"},
        {"\"rate\": 0.01", "\"rate\": -0.01"},
        {"\"set\": []", "\"set\": [1]"},
        {"\"set\": []", "\"set\": [\"nothing=1\"]"},
        {"{", "["},
        {"\"cooldown\"", "\"warmup\""},
        {"\"family\"", "\"method\": \"none\", \"family\""},
        {"\"family\"", "\"mode\": \"none\", \"family\""},
        {"\"family\"", "\"observe\": \"none such\", \"family\""},
    };
    struct str whole = {0};
    nami_err err = {0};
    saved(&jobs[0], &whole);
    for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
        struct st st = {0};
        struct str text = {0}, out = {0};
        must(st_parse(&st, whole.s, whole.n, &err), &err);
        const char *was = st_get(&st, "settings"), *at = strstr(was, change[i][0]);
        if (!at) fail_msg("there is no %s in %s", change[i][0], was);
        str_putn(&text, was, (size_t)(at - was));
        str_put(&text, change[i][1]);
        str_put(&text, at + strlen(change[i][0]));
        must(st_set(&st, "settings", text.s, &err), &err);
        must(st_print(&st, &out, &err), &err);
        if (!try_bytes(out.s, out.n, &err)) fail_msg("%s is read", change[i][1]);
        st_free(&st);
        str_free(&text);
        str_free(&out);
    }
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
    if (!rc) rc = training_save(&r, path, "{}", &err);
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
    static const struct job job = {
        "const w[2]\n model { z ~ normal(1, 2)\n g ~ gamma(2, 1)\n v[1:2] ~ multi_normal(c(z, g), "
        "diag(w))\n"
        "k ~ bernoulli(0.3)\n for (i in 1:3) { y[i] ~ normal(v[1] + v[2] * k, 1) } }\n observe y\n"
        "embed y { conv(2, 2, tanh); dense(2) }",
        "{\"w\": [1, 2]}",
        NATIVE,
        {.net = {.nhidden = 1, .hidden = {8}, .act = ACT_TANH, .skip = -1},
         .train = {.steps = 40, .batch = 9, .rate = 0.01, .check = 1, .valid = 8, .patience = 1}}};
    for (int kind = NET_MLP; kind <= NET_MADE; kind++) {
        struct whole_job w = {.j = job};
        const char *why;
        long n = 1, step = kind == NET_MLP ? 5 : 1, harmless = 0;
        int more;
        w.j.plan.net.kind = (enum net_kind)kind;
        if (kind == NET_MADE) w.j.plan.samples = 40;
        assert_int_equal(run_all(&w), 0);
        w.want = w.sum;
        for (; (more = nomem_at(run_all, &w, n, &why)); n += step) {
            if (more > 0) continue;
            /* elimination can do without some: then all is as before */
            if (strcmp(why, "a failed allocation without an error") != 0 || w.sum != w.want)
                fail_msg("%s, allocation %ld: %s", net_kinds[kind], n, why);
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
