/* test_study.c: paired tests give known values; a study that is killed resumes, and gives the
   same bytes for any number of threads; tiny forms of the paper's experiments run. */
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "run.h"
#include "study/study.h"
#include "study/study_gauss.h"
#include "study/study_test.h"

#include "malloc_fail.h"

static nami_err err;

static void near(double x, double y, double tol)
{
    if (!(fabs(x - y) <= tol)) fail_msg("%.17g is not %.17g", x, y);
}

/* ---- tests over runs ----------------------------------------------------------------------------
 */

/* With 1 and 2 degrees of freedom, Student's distribution function is elementary. */
static void student(void **state)
{
    (void)state;
    struct paired p;
    paired_test(2, (double[]){-3, -1}, &p); /* t = -2 */
    near(p.mean, -2, 1e-15);
    near(p.sd, sqrt(2), 1e-15);
    near(p.p_t, 0.5 + atan(-2) / M_PI, 1e-12);
    near(p.hi, -2 + 12.706204736432095, 1e-8);
    near(p.p_flip, 0.25, 0);
    assert_int_equal(p.wins, 2);
    paired_test(3, (double[]){-1, -2, 0.5}, &p);
    double t = p.mean / (p.sd / sqrt(3));
    near(p.p_t, 0.5 + t / (2 * sqrt(2 + t * t)), 1e-12);
    near(p.lo, p.mean - 4.302652729911275 * p.sd / sqrt(3), 1e-8);
    paired_test(1, (double[]){-1}, &p);
    assert_true(isnan(p.p_t) && p.p_flip == 0.5);
    paired_test(0, NULL, &p);
    assert_true(isnan(p.mean));
    paired_test(3, (double[]){2, 2, 2}, &p);
    assert_true(p.p_t == 1 && p.p_flip == 1);
}

static void signs(void **state)
{
    (void)state;
    static const double d[] = {-0.3, 1.1,  -2.5, -0.7, 0.2,  -0.9, -1.3, 0.1,  -0.6, -0.4, -0.2,
                               0.5,  -1.7, -0.8, 0.3,  -1.1, -0.1, 0.7,  -0.5, -1.9, -0.3, 0.4};
    struct paired p;
    for (int n = 1; n <= 12; n++) { /* one by one */
        int below = 0;
        double found = 0;
        for (int i = 0; i < n; i++) found += d[i];
        for (int k = 0; k < 1 << n; k++) {
            double sum = 0;
            for (int i = 0; i < n; i++) sum += k >> i & 1 ? fabs(d[i]) : -fabs(d[i]);
            below += sum <= found + 1e-9;
        }
        paired_test(n, d, &p);
        near(p.p_flip, (double)below / (1 << n), 0);
    }
    paired_test(20, d, &p);
    double exact = p.p_flip;
    double twice[22];
    memcpy(twice, d, sizeof twice);
    twice[20] = twice[21] = 1e-9; /* changes nothing, but there are too many to go through */
    paired_test(22, twice, &p);
    near(p.p_flip, exact, 6 * sqrt(exact / 100000)); /* error rate below 1e-8 */
}

static void falling(void **state)
{
    (void)state;
    near(falls_test(3, (double[]){3, 2, 1}), 1.0 / 6, 1e-15);
    near(falls_test(3, (double[]){1, 2, 3}), 1, 1e-15);
    near(falls_test(4, (double[]){4, 3, 1, 2}), 4.0 / 24, 1e-15); /* 1 and 3 orders */
    assert_true(falls_test(10, (double[]){9, 8, 7, 6, 5, 4, 3, 2, 1, 0}) < 3e-7);
    assert_true(isnan(falls_test(1, (double[]){1})));
    near(median_of(4, (double[]){4, 1, 3, 2}), 2.5, 0);
    near(median_of(3, (double[]){9, 1, 3}), 3, 0);
}

/* ---- a study that measures nothing
 * ---------------------------------------------------------------- */

static atomic_int jobs_run;
static int die_at; /* the job that is killed in its middle; 0: none */

static int pretend(struct job *j, nami_err *e)
{
    int number = atomic_fetch_add(&jobs_run, 1) + 1, rc = 0;
    for (int i = 0; i < j->s->epochs && !rc; i++) {
        double v[2] = {(double)(j->seed * 100) + i, i == 1 ? NAN : j->v->at + 0.5 / (i + 1)};
        rc = job_epoch(j, v, e);
        if (number == die_at && i == 1) raise(SIGKILL);
    }
    job_end(j, "size", j->v->at);
    job_end(j, "worth", -j->v->at - 0.01 * (double)(j->run * j->run));
    return rc;
}

static const struct measure fake_epoch[] = {{"loss", "a loss"}, {"other", "another"}, {NULL, NULL}};
static const struct measure fake_end[] = {
    {"size", "its size"}, {"worth", "its worth"}, {NULL, NULL}};
static const struct variant fake_variant[] = {
    {.name = "a-1", .what = "x", .method = "nami", .at = 1},
    {.name = "a-2", .what = "x", .method = "nami", .at = 2},
    {.name = "b-1", .what = "<y>", .method = "nami", .at = 3},
    {.name = "b-2", .what = "y", .method = "nami", .at = 4},
    {0}};
static const struct claim fake_claim[] = {{"b is less", CLAIM_LESS, "worth", "b-*", "a-*"},
                                          {"a is less", CLAIM_LESS, "worth", "a-1", "b-1"},
                                          {"a falls", CLAIM_FALLS, "worth", "a-*", NULL},
                                          {"spread", CLAIM_SPREAD, "worth", "a-1", "b-2"},
                                          {0}};
static const struct study_figure fake_figure[] = {{"loss", "Loss & more", "loss", 1, 1, 0, NULL},
                                            {"log", "Logarithms", "other", 1, 0, 1, NULL},
                                            {"worth", "Worth", "worth", 1, 0, 0, "size"},
                                            {0}};
static const struct experiment fake = {.name = "fake",
                                       .what = "nothing",
                                       .epoch = fake_epoch,
                                       .end = fake_end,
                                       .variant = fake_variant,
                                       .full = {.epochs = 4, .rate = 0.1},
                                       .quick = {.epochs = 2, .rate = 0.1},
                                       .run = pretend,
                                       .claim = fake_claim,
                                       .figure = fake_figure};

static void new_dir(char *dir) /* of 24 */
{
    strcpy(dir, "/tmp/nami-study-XXXXXX");
    assert_non_null(mkdtemp(dir));
}

static void remove_dir(const char *dir)
{
    char cmd[80];
    snprintf(cmd, sizeof cmd, "rm -r '%s'", dir);
    assert_int_equal(system(cmd), 0);
}

/* 0, or an error; all that can be done is done. */
static int do_study(const struct experiment *x, struct study_options o, struct study **out)
{
    struct study *s = NULL;
    int rc = study_new(x, &o, &s, &err);
    if (!rc) rc = study_start(s, &err);
    while (!rc && (rc = study_wait(s, 0.05, &err)) > 0) rc = 0;
    if (!rc) rc = study_report(s, &err);
    if (out && !rc)
        *out = s;
    else
        study_free(s);
    return rc;
}

static struct str read_in(const char *dir, const char *name)
{
    char path[100];
    struct str s = {0};
    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_int_equal(file_read(path, &s, &err), 0);
    return s;
}

static const char *const files[] = {"epochs.csv", "ends.csv", "summary.md", "settings.json",
                                    "loss.svg",   "log.svg",  "worth.svg",  "runs/b-1-03.json"};

static void same_files(const char *a, const char *b)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct str x = read_in(a, files[i]), y = read_in(b, files[i]);
        assert_true(x.n > 0);
        assert_int_equal(x.n, y.n);
        assert_memory_equal(x.s, y.s, x.n);
        str_free(&x);
        str_free(&y);
    }
}

static void threads(void **state)
{
    (void)state;
    char one[24], two[24];
    new_dir(one);
    new_dir(two);
    assert_int_equal(
        do_study(&fake, (struct study_options){.runs = 3, .threads = 1, .dir = one}, NULL), 0);
    assert_int_equal(
        do_study(&fake, (struct study_options){.runs = 3, .threads = 2, .dir = two}, NULL), 0);
    same_files(one, two);
    struct str s = read_in(one, "summary.md");
    assert_non_null(strstr(s.s, "| b is less | worth, `b-*` less `a-*` | -2 [-2, -2] | 6 of 6 | "));
    assert_non_null(strstr(s.s, " | 0.016 | not shown |"));
    assert_non_null(strstr(s.s, "| a falls | worth of `a-*`, in their order | -1 |"));
    str_free(&s);
    remove_dir(one);
    remove_dir(two);
}

static void table(void **state)
{
    (void)state;
    char dir[24];
    new_dir(dir);
    assert_int_equal(
        do_study(&fake, (struct study_options){.runs = 2, .threads = 1, .dir = dir}, NULL), 0);
    struct str s = read_in(dir, "epochs.csv");
    assert_memory_equal(s.s, "run,variant,epoch,loss,other\n1,a-1,1,100,1.5\n1,a-1,2,101,\n", 58);
    int lines = 0, commas = 0;
    for (size_t i = 0; i < s.n; i++) {
        commas += s.s[i] == ',';
        if (s.s[i] != '\n') continue;
        assert_int_equal(commas, 4);
        commas = 0;
        lines++;
    }
    assert_int_equal(lines, 1 + 2 * 4 * 4);
    str_free(&s);
    remove_dir(dir);
}

static int with_spike(struct job *j, nami_err *e)
{
    int rc = 0;
    for (int i = 0; i < j->s->epochs && !rc; i++) {
        double v[2] = {i == 30 ? 1e6 : 1 + 0.1 * i, 1};
        rc = job_epoch(j, v, e);
    }
    job_end(j, "size", 1);
    job_end(j, "worth", 1);
    return rc;
}

/* An epoch that went wrong does not set the scale of a figure. */
static void spike(void **state)
{
    (void)state;
    char dir[24];
    new_dir(dir);
    struct experiment x = fake;
    x.run = with_spike;
    x.full.epochs = 40;
    assert_int_equal(
        do_study(&x, (struct study_options){.runs = 1, .threads = 1, .dir = dir}, NULL), 0);
    struct str s = read_in(dir, "loss.svg");
    assert_non_null(strstr(s.s, ">4</text>"));
    assert_null(strstr(s.s, "e+0"));
    str_free(&s);
    remove_dir(dir);
}

/* Killed in the middle of the 6th of 12 jobs: what was done stays, the rest follows. */
static void killed(void **state)
{
    (void)state;
    char cut[24], whole[24], path[60];
    new_dir(cut);
    new_dir(whole);
    struct study_options o = {.runs = 3, .threads = 1, .dir = cut};
    pid_t child = fork();
    if (child == 0) {
        die_at = 6;
        atomic_store(&jobs_run, 0);
        do_study(&fake, o, NULL);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    snprintf(path, sizeof path, "%s/runs/a-2-01.json", cut);
    assert_int_equal(truncate(path, 30), 0); /* and one is damaged */
    atomic_store(&jobs_run, 0);
    assert_int_equal(do_study(&fake, o, NULL), 0);
    assert_int_equal(atomic_load(&jobs_run), 12 - 5 + 1);
    o.dir = whole;
    assert_int_equal(do_study(&fake, o, NULL), 0);
    same_files(cut, whole);
    atomic_store(&jobs_run, 0);
    o.runs = 4; /* more of the same */
    assert_int_equal(do_study(&fake, o, NULL), 0);
    assert_int_equal(atomic_load(&jobs_run), 4);
    o.quick = 1;
    assert_int_equal(do_study(&fake, o, NULL), NAMI_EUSAGE);
    assert_non_null(strstr(err.msg, "other settings"));
    remove_dir(cut);
    remove_dir(whole);
}

static int slow(struct job *j, nami_err *e)
{
    double v[2] = {0};
    int rc = 0;
    (void)e;
    for (int i = 0; i < j->s->epochs && !rc; i++) {
        usleep(2000);
        rc = job_epoch(j, v, e);
    }
    return rc;
}

static int broken(struct job *j, nami_err *e)
{
    return j->run == 2 ? (strcpy(e->msg, "no luck"), NAMI_EINPUT) : pretend(j, e);
}

static void stopped(void **state)
{
    (void)state;
    char dir[24];
    struct study *s;
    int64_t done, total;
    int jobs, left;
    new_dir(dir);
    struct experiment x = fake;
    x.run = slow;
    x.full.epochs = 20000; /* 40 seconds */
    struct study_options o = {.runs = 2, .threads = 2, .dir = dir};
    assert_int_equal(study_new(&x, &o, &s, &err), 0);
    assert_int_equal(study_start(s, &err), 0);
    assert_int_equal(study_wait(s, 0.05, &err), 1);
    study_stop(s);
    while (study_wait(s, 1, &err) > 0) continue;
    study_progress(s, &done, &total, &jobs, &left);
    assert_true(jobs == 0 && left == 8 && done < total);
    assert_int_equal(study_report(s, &err), 0); /* of nothing */
    study_free(s);
    remove_dir(dir);
    new_dir(dir);
    x = fake;
    x.run = broken;
    o.threads = 1;
    assert_int_equal(do_study(&x, o, NULL), NAMI_EINPUT);
    assert_string_equal(err.msg, "a-1, run 2: no luck");
    remove_dir(dir);
}

/* ---- memory -------------------------------------------------------------------------------------
 */

static int read_and_report(void *dir)
{
    struct study *s = NULL;
    struct study_options o = {.runs = 2, .threads = 1, .dir = dir};
    int rc = study_new(&fake, &o, &s, &err);
    if (!rc) rc = study_report(s, &err);
    study_free(s);
    return rc;
}

static void nomem_report(void **state)
{
    (void)state;
    char dir[24];
    const char *why;
    new_dir(dir);
    assert_int_equal(
        do_study(&fake, (struct study_options){.runs = 2, .threads = 1, .dir = dir}, NULL), 0);
    if (nomem_each(read_and_report, dir, &why) < 10) fail_msg("%s", why);
    remove_dir(dir);
}

/* ---- the experiments, tiny
 * ------------------------------------------------------------------------ */

#define SMALL(n)                                                                                   \
    {                                                                                              \
        .family = &family_mixture, .size = 1, .arch = &arch_mlp, .nhidden = 1, .hidden = {n},      \
        .act = ACT_RELU                                                                            \
    }

static double end_of(const struct study *s, int job, const char *name)
{
    int k = measure_find(s->x->end, name);
    assert_true(k >= 0);
    return s->job[job].end[k];
}

/* The posterior is exact, so KL is known within its standard error; training is deterministic. */
static void tree(void **state)
{
    (void)state;
    static const struct variant v[] = {
        {.name = "heuristic", .what = "", .method = "stuhlmuller", .net = SMALL(24)},
        {.name = "reverse", .what = "", .method = "nami", .mode = "reverse", .net = SMALL(24)},
        {0}};
    static const struct claim no_claims[] = {{0}};
    struct experiment x = study_tree;
    struct study *s;
    char dir[24];
    x.variant = v;
    x.claim = no_claims;
    x.full = (struct settings){.epochs = 40,
                               .steps = 10,
                               .batch = 200,
                               .rate = 1e-2,
                               .cut = 30,
                               .size = 4,
                               .sets = 2,
                               .draws = 40,
                               .judge = 4000};
    new_dir(dir);
    if (do_study(&x, (struct study_options){.runs = 1, .threads = 2, .dir = dir}, &s))
        fail_msg("%s", err.msg);
    double best = end_of(s, 0, "best"), kl = end_of(s, 0, "kl"), se = end_of(s, 0, "kl_se");
    print_message("heuristic %.4f +- %.4f, at best %.4f; reverse %.4f +- %.4f\n", kl, se, best,
                  end_of(s, 1, "kl"), end_of(s, 1, "kl_se"));
    assert_true(best > 0.05 && kl > best - 6 * se && kl < best + 0.1);
    near(end_of(s, 1, "best"), 0, 0);
    assert_true(end_of(s, 1, "kl") > -6 * end_of(s, 1, "kl_se") && end_of(s, 1, "kl") < 0.05);
    assert_true(fabs(end_of(s, 1, "excess")) < 1);
    study_free(s);
    remove_dir(dir);
}

/* The counts of the paper; edges that are added leave the inverse faithful (or the job fails). */
static void counts(void **state)
{
    (void)state;
    static const double params[] = {160545, 0, 156021}, edges[] = {30, 135, 78, 345, 78, 78},
                        more[] = {35, 47, 51, 30, 77};
    struct experiment x = study_tree;
    struct study *s;
    char dir[24];
    new_dir(dir);
    x.full.epochs = x.full.steps = 1;
    x.full.batch = 8;
    x.full.judge = 16;
    struct study_options o = {.runs = 1, .threads = 2, .dir = dir};
    if (do_study(&x, o, &s)) fail_msg("%s", err.msg);
    for (int i = 0; i < 6; i++) {
        near(end_of(s, i, "edges"), edges[i], 0);
        if (i < 3 && params[i]) near(end_of(s, i, "parameters"), params[i], 0);
        near(end_of(s, i, "parameters"), 160000, 4000);
    }
    study_free(s);
    remove_dir(dir);
    new_dir(dir);
    x = study_skip;
    x.full.epochs = x.full.steps = 1;
    if (do_study(&x, o, &s)) fail_msg("%s", err.msg);
    for (int i = 0; i < 5; i++) {
        near(end_of(s, i, "edges"), more[i], 0);
        near(end_of(s, i, "best"), 0, 0);
        near(end_of(s, i, "parameters"), 77000, 800);
    }
    study_free(s);
    remove_dir(dir);
}

/* KL of the indices is not negative, and falls. */
static void gmm(void **state)
{
    (void)state;
    struct experiment x = study_gmm;
    struct study *s;
    char dir[24];
    new_dir(dir);
    x.full = (struct settings){.epochs = 8,
                               .steps = 4,
                               .batch = 50,
                               .rate = 5e-3,
                               .size = 8,
                               .judge = 200,
                               .params = 12000};
    if (do_study(&x, (struct study_options){.runs = 1, .threads = 2, .dir = dir}, &s))
        fail_msg("%s", err.msg);
    for (int i = 0; i < s->njob; i++) {
        const double *first = s->job[i].epoch.a, *last = first + 7 * 3;
        print_message("%-14s test %.3f to %.3f, indices %.3f to %.3f\n", s->job[i].v->name,
                      first[1], last[1], first[2], last[2]);
        assert_true(last[2] > 0 && last[2] < first[2] && last[1] < first[1]);
    }
    study_free(s);
    remove_dir(dir);
}

/* Killed while it trains, it goes on from what was saved, to the same numbers. */
static void vae(void **state)
{
    (void)state;
    static const struct variant v[] = {
        {.name = "mean-field-20",
         .what = "",
         .method = "mean-field",
         .net = {.arch = &arch_made, .nhidden = 1, .hidden = {1}, .act = ACT_TANH},
         .at = 20},
        {.name = "faithful-20",
         .what = "",
         .method = "nami",
         .net = {.arch = &arch_made, .nhidden = 1, .hidden = {1}, .act = ACT_TANH, .skip = 1},
         .at = 20},
        {0}};
    struct experiment x = study_vae;
    struct study *s;
    char whole[24], cut[24], part[60];
    x.variant = v;
    x.full = (struct settings){.epochs = 20,
                               .steps = 5,
                               .batch = 40,
                               .rate = 5e-3,
                               .sets = 8,
                               .judge = 40,
                               .temps = 10,
                               .chains = 4,
                               .leapfrog = 2,
                               .percent = 50};
    new_dir(whole);
    new_dir(cut);
    struct study_options o = {.runs = 1, .threads = 1, .dir = whole, .save = 1000};
    if (do_study(&x, o, &s)) fail_msg("%s", err.msg);
    for (int i = 0; i < 2; i++) {
        print_message("%s: test %.3f to %.3f; -ELBO %.3f, -log p(x) %.3f\n", v[i].name,
                      s->job[i].epoch.a[1], s->job[i].epoch.a[39], end_of(s, i, "elbo"),
                      end_of(s, i, "ais"));
        assert_true(s->job[i].epoch.a[39] < s->job[i].epoch.a[1] - 1);
        near(end_of(s, i, "gap"), end_of(s, i, "elbo") - end_of(s, i, "ais"), 1e-9);
    }
    study_free(s);
    o.dir = cut;
    o.save = 0;
    pid_t child = fork();
    if (child == 0) {
        do_study(&x, o, NULL);
        _exit(0);
    }
    snprintf(part, sizeof part, "%s/runs/%s-01.part", cut, v[0].name);
    for (int i = 0; i < 60000 && access(part, F_OK); i++) usleep(1000);
    kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(access(part, F_OK), 0);
    if (do_study(&x, o, NULL)) fail_msg("%s", err.msg);
    assert_int_not_equal(access(part, F_OK), 0);
    for (int i = 0; i < 2; i++) {
        struct str a = read_in(whole, i ? "epochs.csv" : "ends.csv"),
                   b = read_in(cut, i ? "epochs.csv" : "ends.csv");
        assert_string_equal(a.s, b.s);
        str_free(&a);
        str_free(&b);
    }
    remove_dir(whole);
    remove_dir(cut);
}

/* Settings by name. */
static void changed(void **state)
{
    (void)state;
    static const char *const good[] = {"epochs=3", "size=7"}, *const bad[] = {"epoch=3"},
                             *const none[] = {"epochs=0"};
    struct study *s;
    char dir[24];
    new_dir(dir);
    struct study_options o = {.runs = 1, .threads = 1, .dir = dir, .set = good, .nset = 2};
    assert_int_equal(study_new(&fake, &o, &s, &err), 0);
    assert_true(s->s.epochs == 3 && s->s.size == 7);
    study_free(s);
    o.set = bad, o.nset = 1;
    assert_int_equal(study_new(&fake, &o, &s, &err), NAMI_EUSAGE);
    assert_non_null(strstr(err.msg, "there is no setting 'epoch', but these: epochs, steps"));
    study_free(s);
    o.set = none;
    assert_int_equal(study_new(&fake, &o, &s, &err), NAMI_EUSAGE);
    study_free(s);
    remove_dir(dir);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(vae),          cmocka_unit_test(changed), cmocka_unit_test(student),
    cmocka_unit_test(signs),        cmocka_unit_test(falling), cmocka_unit_test(threads),
    cmocka_unit_test(table),        cmocka_unit_test(killed),  cmocka_unit_test(stopped),
    cmocka_unit_test(nomem_report), cmocka_unit_test(tree),    cmocka_unit_test(counts),
    cmocka_unit_test(gmm),          cmocka_unit_test(spike)};

RUN(tests)
