/* test_api_ask.c: questions to trained networks by nami.h alone: the evidence, modes, calibration;
   and the paper's experiments.  The model is conjugate, so that answers are known. */

#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "malloc_fail.h"
#include "nami.h"

/* y[i] = z + noise, three times: z | y ~ normal(sum y / 4, 1 / 2) */
static const char conjugate[] = "model {\n"
                                "  z ~ normal(0, 1)\n"
                                "  for (i in 1:3) { y[i] ~ normal(z, 1) }\n"
                                "  next ~ normal(z, 1)\n"
                                "  twice <- 2 * z\n"
                                "}\n"
                                "observe y\n";
static const char two_sets[] = "[{\"y\": [1, 2, 0.6]}, {\"y\": [-0.3, 0.1, -0.7]}]";
static const double y[2][3] = {{1, 2, 0.6}, {-0.3, 0.1, -0.7}};

static double mean_of(int set) { return (y[set][0] + y[set][1] + y[set][2]) / 4; }

/* y ~ normal(0, I + 1 1'), whose determinant is 4 and inverse I - 1 1' / 4 */
static double log_evidence(int set)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < 3; i++) sum += y[set][i], squares += y[set][i] * y[set][i];
    return -1.5 * log(2 * M_PI) - log(2) - (squares - sum * sum / 4) / 2;
}

/* exact: the latents that have no network. */
static nami_network *train_with(const char *text, const char *exact, int steps)
{
    nami_options invert = {.exact = exact};
    nami_train_options opt = {.steps = steps,
                              .check = 1 + steps / 4,
                              .hidden = "16",
                              .valid = 500,
                              .seed = 2,
                              .threads = 1};
    if (steps == 1) opt.whiten = "no"; /* a poor network: inputs that are whitened know too much */
    nami_model *m;
    nami_network *net;
    char *bytes;
    size_t len;
    nami_err err;
    if (nami_model_parse(text, strlen(text), NULL, NULL, &m, &err)) fail_msg("%s", err.msg);
    if (nami_train(m, &invert, &opt, &net, &err)) fail_msg("%s", err.msg);
    nami_model_free(m);
    /* as a file would have it */
    assert_int_equal(nami_network_print(net, &bytes, &len, &err), 0);
    nami_network_free(net);
    if (nami_network_parse(bytes, len, NULL, &net, &err)) fail_msg("%s", err.msg);
    nami_free(bytes);
    return net;
}

static nami_network *train(const char *text, int steps) { return train_with(text, "none", steps); }

static nami_data *parse_data(const char *json)
{
    nami_data *data;
    nami_err err;
    if (nami_data_new(&data, &err) || nami_data_parse(data, json, strlen(json), &err))
        fail_msg("%s", err.msg);
    return data;
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("no '%s' in: %s", part, text);
}

static void near(double x, double want, double tol)
{
    if (!(fabs(x - want) <= tol)) fail_msg("%.17g is not %.17g", x, want);
}

/* What a watch was told. */
static struct heard {
    char text[2048];
    int calls, cancel;
    nami_progress last;
} heard;

static void on_message(int level, const char *text, void *user)
{
    size_t n = strlen(heard.text);
    (void)user;
    snprintf(heard.text + n, sizeof heard.text - n, "%s%s\n", level == NAMI_WARNING ? "!" : "",
             text);
}

static int on_progress(const nami_progress *p, void *user)
{
    (void)user;
    heard.calls++;
    heard.last = *p;
    return heard.cancel;
}

static const nami_watch watch = {.progress = on_progress, .message = on_message};

static void listen(int cancel) { heard = (struct heard){.cancel = cancel}; }

static void heard_all(const char *phase, double total)
{
    assert_true(heard.calls > 0);
    assert_string_equal(heard.last.phase, phase);
    assert_true(heard.last.done == total && heard.last.total == total);
    assert_true(isnan(heard.last.loss) && isnan(heard.last.valid) && isnan(heard.last.rate));
}

/* ---- the evidence --------------------------------------------------------------------------- */

/* Errors are below 6 standard errors but with probability 1e-8. */
static void evidence_is_exact(void **state)
{
    (void)state;
    nami_network *net = train(conjugate, 400);
    nami_data *data = parse_data(two_sets);
    nami_err err;
    const char *method;
    for (int i = 0; (method = nami_word("evidence", i)); i++) {
        nami_evidence_options opt = {.method = method,
                                     .draws = 4000,
                                     .temps = 100,
                                     .chains = 32,
                                     .seed = 7,
                                     .watch = &watch};
        nami_evidence *e;
        nami_verdict v;
        char *text;
        listen(0);
        if (nami_evidence_new(net, data, &opt, &e, &err)) fail_msg("%s: %s", method, err.msg);
        heard_all("data sets", 2);
        assert_int_equal(nami_evidence_sets(e), 2);
        for (int s = 0; s < 2; s++) {
            assert_int_equal(nami_evidence_verdict(e, (size_t)s, &v, &err), 0);
            assert_int_equal(v.verdict, NAMI_TRUSTED);
            assert_true(v.log_evidence_se < 0.1 && v.ess > 8 && v.ood_p > 1e-4);
            near(v.log_evidence, log_evidence(s), 6 * v.log_evidence_se + 1e-3);
            assert_true(strlen(v.reason) > 10);
        }
        assert_int_equal(nami_evidence_verdict(e, 2, &v, &err), NAMI_EUSAGE);
        assert_int_equal(nami_evidence_describe(e, "text", &text, &err), 0);
        has(text, "log p of all 2 data sets");
        nami_free(text);
        assert_int_equal(nami_evidence_describe(e, "json", &text, &err), 0);
        has(text, "\"verdict\":\"trusted\"");
        has(text, method);
        nami_free(text);
        assert_int_equal(nami_evidence_describe(e, "svg", &text, &err), NAMI_EUSAGE);
        assert_null(text);
        nami_evidence_free(e);
    }
    nami_data_free(data);
    nami_network_free(net);
}

static void evidence_of_poor_network(void **state)
{
    (void)state;
    nami_network *net = train(conjugate, 1);
    nami_data *data = parse_data("{\"y\": [9, 9.1, 8.9], \"Y\": 3, \"z\": 2}");
    nami_evidence_options opt = {.draws = 500, .method = "is", .watch = &watch};
    nami_evidence *e;
    nami_verdict v;
    nami_err err;
    char *text;
    listen(0);
    if (nami_evidence_new(net, data, &opt, &e, &err)) fail_msg("%s", err.msg);
    has(heard.text, "!the data give Y, which the model does not know");
    has(heard.text, "values of z, which the network infers");
    has(heard.text, "!these data are unlike what the model draws");
    assert_int_equal(nami_evidence_verdict(e, 0, &v, &err), 0);
    assert_int_equal(v.verdict, NAMI_NOT_TRUSTED);
    assert_true(v.ood_p < 0.01);
    assert_int_equal(nami_evidence_describe(e, "text", &text, &err), 0);
    has(text, "verdict      not trusted: ");
    has(text, "advice       ");
    assert_null(strstr(text, "--"));
    nami_free(text);
    nami_evidence_free(e);
    nami_data_free(data);
    nami_network_free(net);
}

/* ---- modes ----------------------------------------------------------------------------------- */

static void modes_are_exact(void **state)
{
    (void)state;
    nami_network *net = train(conjugate, 20);
    nami_data *data = parse_data(two_sets);
    nami_modes_options opt = {.searches = 3, .sd = 1, .all = 1, .watch = &watch};
    nami_modes *modes;
    nami_mode mode;
    nami_err err;
    double value, sd;
    char *text;
    listen(0);
    if (nami_modes_new(net, data, &opt, &modes, &err)) fail_msg("%s", err.msg);
    heard_all("searches", 6);
    assert_int_equal(nami_modes_sets(modes), 2);
    for (int s = 0; s < 2; s++) {
        assert_int_equal(nami_modes_get(modes, (size_t)s, &mode, &err), 0);
        assert_string_equal(mode.state, "maximum");
        assert_null(mode.reason);
        assert_int_equal(mode.agree, 3);
        near(mode.log_p, log_evidence(s) + 0.5 * log(4 / (2 * M_PI)), 1e-9); /* p(y) p(z | y) */
        assert_int_equal(nami_modes_value(modes, (size_t)s, "z", &value, &sd, &err), 0);
        near(value, mean_of(s), 1e-9);
        near(sd, 0.5, 1e-6);
        assert_int_equal(nami_modes_value(modes, (size_t)s, "twice", &value, NULL, &err), 0);
        near(value, 2 * mean_of(s), 1e-9);
    }
    assert_int_equal(nami_modes_value(modes, 0, "next", &value, NULL, &err), NAMI_EUSAGE);
    assert_int_equal(nami_modes_value(modes, 0, "y[1]", &value, NULL, &err), NAMI_EUSAGE);
    assert_int_equal(nami_modes_value(modes, 0, "zz", &value, NULL, &err), NAMI_EUSAGE);
    has(err.msg, "no estimate of 'zz'");
    assert_int_equal(nami_modes_value(modes, 2, "z", &value, NULL, &err), NAMI_EUSAGE);
    assert_int_equal(nami_modes_get(modes, 2, &mode, &err), NAMI_EUSAGE);
    assert_int_equal(nami_modes_describe(modes, "text", &text, &err), 0);
    has(text, "3 of 3  maximum");
    nami_free(text);
    assert_int_equal(nami_modes_describe(modes, "json", &text, &err), 0);
    has(text, "{\"name\":\"z\",\"mode\":");
    nami_free(text);
    nami_modes_free(modes);

    opt = (nami_modes_options){.sets = 1};
    assert_int_equal(nami_modes_new(net, data, &opt, &modes, &err), 0);
    assert_int_equal(nami_modes_sets(modes), 1);
    assert_int_equal(nami_modes_value(modes, 0, "twice", &value, NULL, &err), NAMI_EUSAGE);
    assert_int_equal(nami_modes_value(modes, 0, "z", &value, &sd, &err), NAMI_EUSAGE);
    has(err.msg, "not asked for");
    assert_int_equal(nami_modes_describe(modes, "text", &text, &err), 0);
    has(text, "8 of 8 ended there");
    nami_free(text);
    nami_modes_free(modes);
    nami_data_free(data);
    nami_network_free(net);
}

/* What is integrated out has its mean, and the density is that of the data alone. */
static void exact_latents_have_means(void **state)
{
    (void)state;
    nami_network *net = train_with(conjugate, "auto", 20);
    nami_data *data = parse_data(two_sets);
    nami_modes_options opt = {.sd = 1, .all = 1};
    nami_modes *modes;
    nami_mode mode;
    nami_evidence *e;
    nami_verdict v;
    nami_err err;
    double value, sd;
    if (nami_modes_new(net, data, &opt, &modes, &err)) fail_msg("%s", err.msg);
    if (nami_evidence_new(net, data, NULL, &e, &err)) fail_msg("%s", err.msg);
    for (int s = 0; s < 2; s++) {
        assert_int_equal(nami_modes_get(modes, (size_t)s, &mode, &err), 0);
        assert_string_equal(mode.state, "maximum");
        near(mode.log_p, log_evidence(s), 1e-9);
        assert_int_equal(nami_modes_value(modes, (size_t)s, "z", &value, &sd, &err), 0);
        near(value, mean_of(s), 1e-9);
        assert_true(isnan(sd));
        assert_int_equal(nami_modes_value(modes, (size_t)s, "twice", &value, NULL, &err), 0);
        near(value, 2 * mean_of(s), 1e-9);
        assert_int_equal(nami_evidence_verdict(e, (size_t)s, &v, &err), 0);
        assert_int_equal(v.verdict, NAMI_TRUSTED);
        has(v.reason, "the answer is exact");
        near(v.log_evidence, log_evidence(s), 1e-9);
        near(v.log_evidence_se, 0, 1e-9);
    }
    nami_modes_free(modes);
    nami_evidence_free(e);
    nami_data_free(data);
    nami_network_free(net);
}

static void no_mode_is_told(void **state)
{
    (void)state;
    nami_network *net =
        train("model {\n s ~ exponential(1)\n y ~ poisson(s + 1)\n}\nobserve y\n", 20);
    nami_data *data = parse_data("{\"y\": 0}");
    nami_modes *modes;
    nami_mode mode;
    nami_err err;
    if (nami_modes_new(net, data, NULL, &modes, &err)) fail_msg("%s", err.msg);
    assert_int_equal(nami_modes_get(modes, 0, &mode, &err), 0);
    assert_string_equal(mode.state, "edge");
    has(mode.reason, "edge of the support");
    nami_modes_free(modes);
    nami_data_free(data);
    nami_network_free(net);
}

/* ---- data that do not fit, and what is canceled ------------------------------------------------
 */

static void queries_are_refused(void **state)
{
    (void)state;
    nami_network *net = train(conjugate, 1);
    nami_data *data = parse_data(two_sets), *bad = parse_data("{\"y\": [1, null, 2]}");
    nami_evidence *e = (nami_evidence *)net;
    nami_modes *modes = (nami_modes *)net;
    nami_calibration *c = (nami_calibration *)net;
    nami_err err;
    assert_int_equal(nami_network_check_data(net, data, &err), 0);
    assert_int_equal(nami_network_check_data(net, bad, &err), NAMI_EINPUT);
    has(err.msg, "y[2]");
    assert_int_equal(nami_evidence_new(net, bad, NULL, &e, &err), NAMI_EINPUT);
    assert_null(e);
    assert_int_equal(nami_modes_new(net, bad, NULL, &modes, &err), NAMI_EINPUT);
    assert_null(modes);
    assert_int_equal(nami_evidence_new(net, NULL, NULL, &e, &err), NAMI_EUSAGE);
    has(err.msg, "there are no data");
    assert_int_equal(
        nami_evidence_new(net, data, &(nami_evidence_options){.method = "iss"}, &e, &err),
        NAMI_EUSAGE);
    has(err.msg, "did you mean 'is'");
    assert_int_equal(nami_evidence_new(net, data, &(nami_evidence_options){.draws = -1}, &e, NULL),
                     NAMI_EUSAGE);
    listen(1);
    assert_int_equal(
        nami_evidence_new(net, data, &(nami_evidence_options){.watch = &watch}, &e, &err),
        NAMI_ECANCEL);
    assert_null(e);
    assert_int_equal(
        nami_modes_new(net, data, &(nami_modes_options){.watch = &watch}, &modes, &err),
        NAMI_ECANCEL);
    assert_null(modes);
    assert_int_equal(
        nami_calibration_new(net, &(nami_calibrate_options){.sets = 40, .watch = &watch}, &c, &err),
        NAMI_ECANCEL);
    assert_null(c);
    assert_int_equal(heard.calls, 3);
    nami_evidence_free(NULL);
    nami_modes_free(NULL);
    nami_calibration_free(NULL);
    nami_data_free(data);
    nami_data_free(bad);
    nami_network_free(net);
}

/* ---- calibration ------------------------------------------------------------------------------
 */

/* A good network fails with probability alpha. */
static void good_network_is_calibrated(void **state)
{
    (void)state;
    nami_network *net = train(conjugate, 1500);
    nami_calibrate_options opt = {.sets = 200, .draws = 61, .alpha = 1e-7, .watch = &watch};
    nami_calibration *c;
    nami_calibrated z;
    nami_err err;
    const char *plot;
    char *text;
    listen(0);
    if (nami_calibration_new(net, &opt, &c, &err)) fail_msg("%s", err.msg);
    heard_all("data sets", 200);
    has(heard.text, "groups of 8: 64 for each data set");
    assert_int_equal(nami_calibration_verdict(c), 1);
    assert_int_equal(nami_calibration_scalars(c), 1);
    assert_int_equal(nami_calibration_scalar(c, 0, &z, &err), 0);
    assert_string_equal(z.name, "z");
    assert_string_equal(z.verdict, "ok");
    assert_true(z.inside && z.p >= 1e-7);
    near(z.coverage50, 0.5, 0.2);
    near(z.coverage80, 0.8, 0.2);
    near(z.coverage90, 0.9, 0.15);
    assert_true(z.coverage95 >= z.coverage90 && z.coverage90 >= z.coverage80);
    near(z.contraction, 0.75, 0.2);
    near(z.z_sd, 1, 0.35);
    assert_true(z.correlation > 0.7 && z.rmse < 0.8 && fabs(z.z_mean) < 0.5);
    assert_int_equal(nami_calibration_scalar(c, 1, &z, &err), NAMI_EUSAGE);
    assert_int_equal(nami_calibration_scalar(c, -1, &z, &err), NAMI_EUSAGE);
    assert_int_equal(nami_calibration_describe(c, "text", &text, &err), 0);
    has(text, "calibration  ok: ranks of 1 scalar are uniform");
    nami_free(text);
    assert_int_equal(nami_calibration_describe(c, "json", &text, &err), 0);
    has(text, "{\"calibrated\":true,\"sets\":200,\"draws\":64,\"method\":\"direct\"");
    nami_free(text);
    for (int i = 0; (plot = nami_word("plots", i)); i++) {
        assert_int_equal(nami_calibration_describe(c, plot, &text, &err), 0);
        has(text, "<svg ");
        nami_free(text);
    }
    assert_int_equal(nami_calibration_describe(c, "png", &text, &err), NAMI_EUSAGE);
    has(err.msg, "recovery");
    nami_calibration_free(c);
    nami_network_free(net);
}

/* The posterior has two modes, -sqrt(y) and sqrt(y), and the network's normal none: 50 % intervals
   around 0 miss them. */
static void wrong_network_is_not(void **state)
{
    (void)state;
    nami_network *net =
        train("model {\n z ~ normal(0, 1)\n y ~ normal(z * z, 0.1)\n}\nobserve y\n", 400);
    nami_calibrate_options opt = {.sets = 300, .draws = 40};
    nami_calibration *c;
    nami_err err;
    char *text;
    if (nami_calibration_new(net, &opt, &c, &err)) fail_msg("%s", err.msg);
    assert_int_equal(nami_calibration_verdict(c), 0);
    assert_int_equal(nami_calibration_describe(c, "text", &text, &err), 0);
    has(text, "calibration  not ok");
    assert_null(strstr(text, "--"));
    nami_free(text);
    nami_calibration_free(c);
    opt.method = "is"; /* of so few draws nothing can be told */
    opt.draws = 8;
    if (nami_calibration_new(net, &opt, &c, &err)) fail_msg("%s", err.msg);
    assert_int_equal(nami_calibration_verdict(c), -1);
    nami_calibration_free(c);
    nami_network_free(net);
}

static void refuses(const nami_network *net, nami_calibrate_options opt, int code, const char *say)
{
    nami_calibration *c;
    nami_err err;
    assert_int_equal(nami_calibration_new(net, &opt, &c, &err), code);
    assert_null(c);
    has(err.msg, say);
    assert_null(strstr(err.msg, "--"));
}

static void calibration_is_refused(void **state)
{
    (void)state;
    nami_network *net = train(conjugate, 1);
    refuses(net, (nami_calibrate_options){.sets = 19}, NAMI_EUSAGE, "too few");
    refuses(net, (nami_calibrate_options){.alpha = 1}, NAMI_EUSAGE, "between 0 and 1");
    refuses(net, (nami_calibrate_options){.draws = 1 << 25}, NAMI_EUSAGE, "too many");
    refuses(net, (nami_calibrate_options){.sets = 1 << 20, .draws = 1 << 20}, NAMI_EUSAGE,
            "too many");
    refuses(net, (nami_calibrate_options){.method = "smc"}, NAMI_EUSAGE, "no method is called");
    refuses(net, (nami_calibrate_options){.only = "y"}, NAMI_EINPUT, "does not infer y");
    refuses(net, (nami_calibrate_options){.only = "z,next"}, NAMI_EINPUT, "does not infer next");
    refuses(net, (nami_calibrate_options){.only = "zz"}, NAMI_EINPUT, "zz");
    nami_network_free(net);
}

/* ---- the paper's experiments --------------------------------------------------------------------
 */

static const char *const tiny[] = {"epochs=2", "steps=2", "judge=64", "draws=8", "batch=16"};

static void new_directory(char *path, size_t size)
{
    snprintf(path, size, "/tmp/nami_ask_XXXXXX");
    assert_non_null(mkdtemp(path));
}

static void remove_directory(const char *path)
{
    char command[200];
    snprintf(command, sizeof command, "rm -r '%s'", path);
    assert_int_equal(system(command), 0);
}

static void study_goes_on(void **state)
{
    (void)state;
    char dir[100], file[200];
    nami_study_options opt = {.quick = 1,
                              .runs = 2,
                              .only = "forward",
                              .threads = 2,
                              .set = tiny,
                              .num_set = 5,
                              .watch = &watch};
    nami_study *study;
    nami_err err;
    char *text, *again;
    int done, all, rc;
    new_directory(dir, sizeof dir);
    listen(0);
    if (nami_study_new("skip", dir, &opt, &study, &err)) fail_msg("%s", err.msg);
    nami_study_jobs(study, &done, &all);
    assert_true(done == 0 && all == 2);
    while ((rc = nami_study_step(study, &err)) > 0) continue;
    if (rc) fail_msg("%s", err.msg);
    assert_int_equal(nami_study_step(study, &err), 0);
    nami_study_jobs(study, &done, &all);
    assert_true(done == 2 && all == 2);
    assert_true(heard.calls > 0 && heard.last.total > 0 && heard.last.done == heard.last.total);
    assert_int_equal(nami_study_write(study, &err), 0);
    snprintf(file, sizeof file, "%s/summary.md", dir);
    assert_int_equal(access(file, F_OK), 0);
    assert_int_equal(nami_study_describe(study, "text", &text, &err), 0);
    has(text, "but for epochs=2, steps=2");
    nami_free(text);
    assert_int_equal(nami_study_describe(study, "epochs", &text, &err), 0);
    has(text, "\n2,forward,2,");
    nami_free(text);
    assert_int_equal(nami_study_describe(study, "ends", &text, &err), 0);
    has(text, "\n2,forward,");
    assert_int_equal(nami_study_describe(study, "json", &again, &err), NAMI_EUSAGE);
    nami_study_free(study);

    assert_int_equal(nami_study_new("skip", dir, &opt, &study, &err), 0); /* all is there */
    nami_study_jobs(study, &done, &all);
    assert_true(done == 2 && all == 2);
    assert_int_equal(nami_study_run(study, &err), 0);
    assert_int_equal(nami_study_describe(study, "ends", &again, &err), 0);
    assert_string_equal(text, again);
    nami_free(text);
    nami_free(again);
    nami_study_free(study);
    opt.num_set = 4;
    assert_int_equal(nami_study_new("skip", dir, &opt, &study, &err), NAMI_EUSAGE);
    assert_null(study);
    has(err.msg, "other settings");
    remove_directory(dir);
}

static void study_is_canceled(void **state)
{
    (void)state;
    static const char *const long_one[] = {"epochs=100000", "steps=2", "draws=8", "batch=16"};
    char dir[100];
    nami_study_options opt = {
        .quick = 1, .runs = 1, .set = long_one, .num_set = 4, .watch = &watch};
    nami_study *study = NULL;
    nami_err err;
    int done, all;
    new_directory(dir, sizeof dir);
    listen(1);
    if (nami_study_new("skip", dir, &opt, &study, &err)) fail_msg("%s", err.msg);
    assert_int_equal(nami_study_run(study, &err), NAMI_ECANCEL);
    assert_int_equal(nami_study_step(study, &err), NAMI_ECANCEL);
    assert_int_equal(err.code, NAMI_ECANCEL);
    nami_study_jobs(study, &done, &all);
    assert_true(done == 0 && all == 5);
    nami_study_free(study);
    nami_study_free(NULL);
    opt.watch = NULL;
    assert_int_equal(nami_study_new("skipp", dir, &opt, &study, &err), NAMI_EUSAGE);
    has(err.msg, "did you mean 'skip'");
    opt.runs = 100;
    assert_int_equal(nami_study_new("skip", dir, &opt, &study, &err), NAMI_EUSAGE);
    has(err.msg, "1 to 99");
    remove_directory(dir);
}

/* ---- memory -------------------------------------------------------------------------------------
 */

struct question {
    nami_network *net;
    nami_data *data;
};

static int describe_evidence(const nami_evidence *e)
{
    nami_verdict v;
    char *text;
    int rc = nami_evidence_verdict(e, 0, &v, NULL);
    if (!rc && !(rc = nami_evidence_describe(e, "text", &text, NULL))) nami_free(text);
    if (!rc && !(rc = nami_evidence_describe(e, "json", &text, NULL))) nami_free(text);
    return rc;
}

static int ask_evidence(void *question)
{
    const struct question *q = question;
    nami_evidence_options opt = {
        .draws = 32, .chains = 2, .temps = 3, .threads = 1, .watch = &watch};
    int rc = 0;
    for (int i = 0; !rc && (opt.method = nami_word("evidence", i)); i++) {
        nami_evidence *e;
        rc = nami_evidence_new(q->net, q->data, &opt, &e, NULL);
        if (!rc) rc = describe_evidence(e);
        nami_evidence_free(e);
    }
    return rc;
}

static int ask_modes(void *question)
{
    const struct question *q = question;
    nami_modes_options opt = {.searches = 2, .sd = 1, .threads = 1};
    nami_modes *modes;
    char *text;
    int rc = nami_modes_new(q->net, q->data, &opt, &modes, NULL);
    if (!rc && !(rc = nami_modes_describe(modes, "text", &text, NULL))) nami_free(text);
    if (!rc && !(rc = nami_modes_describe(modes, "json", &text, NULL))) nami_free(text);
    nami_modes_free(modes);
    return rc;
}

static int ask_calibration(void *question)
{
    static const char *const forms[] = {"text",     "json", "ecdf",    "ranks",
                                        "coverage", "tarp", "recovery"};
    const struct question *q = question;
    nami_calibrate_options opt = {.sets = 20, .draws = 8, .only = "z", .threads = 1};
    nami_calibration *c;
    char *text;
    int rc = nami_calibration_new(q->net, &opt, &c, NULL);
    for (int i = 0; i < 7 && !rc; i++)
        if (!(rc = nami_calibration_describe(c, forms[i], &text, NULL))) nami_free(text);
    nami_calibration_free(c);
    return rc;
}

static void fails_cleanly(int (*ask)(void *), struct question *q)
{
    const char *why;
    assert_int_equal(ask(q), 0);
    long n = nomem_each(ask, q, &why);
    if (n < 0) fail_msg("%s", why);
    assert_true(n > 20);
}

static void memory(void **state)
{
    (void)state;
    static const char *const exact[] = {"none", "auto"};
    for (int k = 0; k < 2; k++) {
        struct question q = {train_with(conjugate, exact[k], 20), parse_data(two_sets)};
        listen(0);
        fails_cleanly(ask_evidence, &q);
        fails_cleanly(ask_modes, &q);
        fails_cleanly(ask_calibration, &q);
        nami_data_free(q.data);
        nami_network_free(q.net);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(evidence_is_exact),
    cmocka_unit_test(evidence_of_poor_network),
    cmocka_unit_test(modes_are_exact),
    cmocka_unit_test(exact_latents_have_means),
    cmocka_unit_test(no_mode_is_told),
    cmocka_unit_test(queries_are_refused),
    cmocka_unit_test(good_network_is_calibrated),
    cmocka_unit_test(wrong_network_is_not),
    cmocka_unit_test(calibration_is_refused),
    cmocka_unit_test(study_goes_on),
    cmocka_unit_test(study_is_canceled),
    cmocka_unit_test(memory),
};

RUN(tests)
