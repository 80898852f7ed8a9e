/* test_api_query.c: questions about models and structures by nami.h alone: the prior predictive
   check, draws to files, densities, exact posteriors, exports. */

#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "api_at.h"
#include "malloc_fail.h"
#include "nami.h"

#define MODELS SOURCE_DIR "/examples/models/"
#define ASIA   SOURCE_DIR "/examples/asia.bif"

static nami_model *read_model(const char *path, const char *data)
{
    nami_data *values = data_at(data);
    nami_model_options opt = {.data = values};
    nami_model *m;
    nami_err err;
    if (nami_model_read(path, &opt, &m, &err)) fail_msg("%s: %s", path, err.msg);
    nami_data_free(values);
    return m;
}

static nami_model *parse_model(const char *text)
{
    nami_model *m;
    nami_err err;
    if (nami_model_parse(text, strlen(text), NULL, NULL, &m, &err)) fail_msg("%s", err.msg);
    return m;
}

/* What a watch was told: one message a line. */
static char told[4096];

static void listen(int level, const char *text, void *user)
{
    size_t n = strlen(told);
    snprintf(told + n, sizeof told - n, "%s%s\n", level == NAMI_WARNING ? "warning: " : "", text);
    (void)user;
}

static const nami_watch watch = {.message = listen};

/* A file of this process, which the test removes. */
static const char *file_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "/tmp/nami_query_%ld_%s", (long)getpid(), name);
    return path;
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("no '%s' in: %s", part, text);
}

/* ---- the prior predictive check ----------------------------------------------------------- */

static void check_finds_problems(void **state)
{
    (void)state;
    nami_model *m = parse_model("const k = 3\nmodel { a ~ normal(0, 1)\n  y ~ normal(0, 2 * a) }\n"
                                "observe y\n");
    nami_check_options opt = {.draws = 200, .threads = 1};
    nami_check *c;
    nami_err err;
    char *text;
    assert_int_equal(nami_check_new(m, &opt, &c, &err), 0);
    assert_int_equal(nami_check_problems(c), 2);
    has(nami_check_messages(c), "model:3:");
    has(nami_check_messages(c), "gets parameters outside of their support");
    has(nami_check_messages(c), "const k is never used");
    assert_int_equal(nami_check_describe(c, "text", &text, &err), 0);
    has(text, "2 nodes, 1 edge, 1 observed; 200 draws from the prior predictive");
    has(text, "2 problems");
    has(text, "no data");
    nami_free(text);
    assert_int_equal(nami_check_describe(c, "json", &text, &err), 0);
    has(text, "\"ok\":false");
    has(text, "\"message\":\"const k is never used\"");
    nami_free(text);
    assert_int_equal(nami_check_describe(c, "dot", &text, &err), NAMI_EUSAGE);
    assert_null(text);
    nami_check_free(c);

    assert_string_equal(nami_model_messages(m), ""); /* the model stays as it was */
    nami_model_free(m);
    m = read_model(MODELS "schools.nami", MODELS "schools.json");
    assert_int_equal(nami_check_new(m, NULL, &c, &err), 0);
    assert_int_equal(nami_check_problems(c), 0);
    assert_string_equal(nami_check_messages(c), "");
    nami_check_free(c);
    nami_model_free(m);
    nami_check_free(NULL);
}

/* ---- draws -------------------------------------------------------------------------------- */

/* The numbers are those of nami_model_simulate, and a file holds what the text holds. */
static void draws_are_those_of_simulate(void **state)
{
    (void)state;
    nami_model *m = read_model(MODELS "schools.nami", MODELS "schools.json");
    nami_simulate_options opt = {.draws = 5, .seed = 3, .only = "y,tau"};
    nami_draws *d;
    nami_data *again;
    nami_variable v;
    nami_err err;
    char *text;
    size_t len;
    int size = nami_model_size(m), y = nami_model_scalar_find(m, "y[1]");
    double *x = malloc(sizeof(double) * 5 * (size_t)size);
    assert_int_equal(nami_model_simulate(m, 3, 5, 1, x, &err), 0);
    assert_int_equal(nami_model_draws(m, &opt, &d, &err), 0);
    assert_int_equal(nami_draws_size(d), 5);
    assert_int_equal(nami_draws_variables(d), 2);
    assert_int_equal(nami_draws_variable(d, 2, &v), NAMI_EUSAGE);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(nami_draws_variable(d, i, &v), 0);
        if (strcmp(v.name, "tau") == 0) assert_int_equal(v.num_dims, 0);
        if (strcmp(v.name, "tau") == 0) continue;
        assert_string_equal(v.name, "y");
        assert_int_equal(v.num_elements, 8);
        assert_int_equal(v.dim[0], 8);
        for (size_t k = 0; k < 8 * 5; k++)
            assert_true(nami_draws_values(d)[v.first_row * 5 + k] == x[(size_t)y * 5 + k]);
    }
    assert_int_equal(nami_draws_describe(d, "csv", &text, &len, &err), 0);
    assert_int_equal(len, strlen(text));
    has(text, "y[8]");
    nami_free(text);
    assert_int_equal(nami_draws_describe(d, "yaml", &text, NULL, &err), NAMI_EUSAGE);
    assert_int_equal(nami_draws_check("x.yaml", &err), NAMI_EUSAGE);
    assert_int_equal(nami_draws_check("x.png", &err), 0);
    assert_int_equal(nami_draws_write(d, "x.yaml", &err), NAMI_EUSAGE);
    assert_int_equal(nami_draws_write(d, "/nowhere/x.csv", &err), NAMI_EFILE);
    assert_int_equal(nami_draws_write(d, file_of("x.png"), &err), NAMI_EUSAGE); /* no image */
    assert_int_equal(nami_draws_write(d, file_of("x.json"), &err), 0);
    assert_int_equal(nami_data_new(&again, &err), 0);
    assert_int_equal(nami_data_read(again, file_of("x.json"), &err), 0);
    assert_int_equal(nami_data_size(again), 5);
    unlink(file_of("x.json"));
    nami_data_free(again);
    nami_draws_free(d);

    opt.only = "nothing";
    assert_int_equal(nami_model_draws(m, &opt, &d, &err), NAMI_EINPUT);
    assert_null(d);
    nami_draws_free(NULL);
    nami_model_free(m);
    free(x);
}

/* Images of an observed variable: draws, or their mean given the latents, which is gray. */
static void images(void **state)
{
    (void)state;
    nami_model *m = parse_model("model { a ~ beta(1, 1)\n"
                                "  for (i in 1:3) { for (j in 1:3) { x[i, j] ~ bernoulli(a) } } }\n"
                                "observe x\n");
    nami_simulate_options opt = {.draws = 9, .image_mean = 16};
    nami_draws *d;
    nami_err err;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(nami_model_draws(m, &opt, &d, &err), 0);
        if (nami_draws_write(d, file_of("x.png"), &err)) fail_msg("%s", err.msg);
        assert_int_equal(unlink(file_of("x.png")), 0);
        nami_draws_free(d);
        opt.image_mean = 0;
    }
    nami_model_free(m);
}

static void simulators_are_named(void **state)
{
    (void)state;
    nami_model *m =
        parse_model("simulator \"echo '{\\\"a\\\": 40}'\"\nmodel { a ~ simulated() }\n");
    nami_simulate_options opt = {.draws = 1, .watch = &watch};
    nami_draws *d;
    nami_err err;
    *told = 0;
    has(nami_model_simulator(m), "'echo '");
    assert_int_equal(nami_model_draws(m, &opt, &d, &err), 0);
    assert_true(nami_draws_values(d)[0] == 40);
    has(told, "this runs the simulator 'echo '");
    nami_draws_free(d);
    nami_model_free(m);
}

/* ---- densities ---------------------------------------------------------------------------- */

static void densities_of_data_sets(void **state)
{
    (void)state;
    static const char points[] = "[{\"a\": 1, \"b\": [2, 3]}, {\"a\": 0, \"b\": [0, 0], \"c\": 1}]";
    nami_model *m = parse_model("const s = 1\nmodel { a ~ normal(0, s)\n  b[1] ~ normal(a, 1)\n"
                                "  b[2] <- 2 * b[1] }\n");
    nami_logp_options opt = {.gradient = 1, .watch = &watch};
    nami_data *at;
    nami_err err;
    char *text;
    double x[3] = {0}, logp, first;
    assert_int_equal(nami_data_new(&at, &err), 0);
    assert_int_equal(nami_data_parse(at, points, sizeof points - 1, &err), 0);
    *told = 0;
    assert_int_equal(nami_model_describe_logp(m, at, &opt, "text", &text, &err), 0);
    assert_string_equal(told, "warning: the data give c, which the model does not know\n");
    assert_true(nami_model_set_point(m, at, 0, 1, 0, x, &err) > 0);
    assert_int_equal(nami_model_logp(m, 1, x, 1, &logp, NULL, &err), 0);
    assert_int_equal(sscanf(text, "%lf", &first), 1);
    assert_true(fabs(first - logp) < 1e-12);
    nami_free(text);
    assert_int_equal(nami_model_describe_logp(m, at, &opt, "json", &text, &err), 0);
    has(text, "\"grad\":[");
    has(text, "\"a\":0"); /* -a + (b[1] - a) at 1, 2 */
    has(text, "\"b\":[-1,0]");
    nami_free(text);
    assert_int_equal(nami_model_describe_logp(m, at, NULL, "json", &text, &err), 0);
    assert_null(strstr(text, "grad"));
    nami_free(text);
    assert_int_equal(nami_model_describe_logp(m, at, NULL, "csv", &text, &err), NAMI_EUSAGE);
    nami_data_free(at);

    assert_int_equal(nami_data_new(&at, &err), 0);
    assert_int_equal(nami_data_parse(at, "{\"a\": 1}", 8, &err), 0);
    assert_int_equal(nami_model_describe_logp(m, at, NULL, "text", &text, &err), NAMI_EINPUT);
    has(err.msg, "no value for b");
    nami_data_free(at);
    nami_model_free(m);
}

/* ---- exact posteriors --------------------------------------------------------------------- */

/* z ~ N(0, 1), x ~ N(z, 1): z given x = 2 is N(1, 1/2). */
static void exact_gaussian(void **state)
{
    (void)state;
    nami_model *m = parse_model("model { z ~ normal(0, 1)\n  x ~ normal(z, 1)\n  s <- z + x }\n"
                                "observe x\n");
    const char *given[] = {"x=2"}, *wrong[] = {"x=a"};
    nami_exact_options opt = {.given = given, .num_given = 1, .draws = 2000, .watch = &watch};
    nami_exact *e;
    nami_draws *d;
    nami_err err;
    char *text;
    double mean, sd, want = -0.25 * 4 - 0.5 * log(4 * 3.14159265358979323846);
    *told = 0;
    assert_int_equal(nami_exact_new(m, NULL, 0, &opt, &e, &err), 0);
    has(told, "1 of 1 observed variables have no value");
    assert_string_equal(nami_exact_kind(e), "gaussian");
    assert_true(fabs(nami_exact_log_evidence(e) - want) < 1e-12);
    assert_true(fabs(nami_exact_entropy(e) - (1.41893853320467274178 - 0.5 * log(2))) < 1e-12);
    assert_int_equal(nami_exact_moments(e, "z", &mean, &sd, &err), 0);
    assert_true(fabs(mean - 1) < 1e-12 && fabs(sd * sd - 0.5) < 1e-12);
    assert_int_equal(nami_exact_moments(e, "x", &mean, &sd, &err), 0);
    assert_true(mean == 2 && sd == 0);
    assert_int_equal(nami_exact_moments(e, "y", &mean, &sd, &err), NAMI_EINPUT);
    assert_int_equal(nami_exact_states(e, "z", 0, NULL, &err), NAMI_EUSAGE);
    assert_true(isnan(nami_exact_mpe_logp(e)));
    assert_int_equal(nami_exact_draws(e, &d, &err), 0);
    assert_int_equal(nami_draws_size(d), 2000);
    assert_int_equal(nami_draws_variables(d), 2); /* not s, without the option `all` */
    nami_draws_free(d);
    assert_int_equal(nami_exact_describe(e, "text", &text, &err), 0);
    has(text, "linear Gaussian: 2 numbers, 1 observed");
    nami_free(text);
    assert_int_equal(nami_exact_describe(e, "json", &text, &err), 0);
    has(text, "{\"name\":\"z\",\"mean\":");
    nami_free(text);
    nami_exact_free(e);

    opt.given = wrong;
    assert_int_equal(nami_exact_new(m, NULL, 0, &opt, &e, &err), NAMI_EUSAGE);
    has(err.msg, "'a' is no number for x");
    assert_null(e);
    opt.given = given, opt.mpe = 1;
    assert_int_equal(nami_exact_new(m, NULL, 0, &opt, &e, &err), NAMI_EUSAGE);
    assert_int_equal(nami_exact_new(m, NULL, 1, NULL, &e, &err), NAMI_EUSAGE);
    nami_model_free(m);

    m = read_model(MODELS "schools.nami", MODELS "schools.json");
    assert_int_equal(nami_exact_new(m, NULL, 0, NULL, &e, &err), NAMI_EINPUT);
    has(err.msg, "only linear Gaussian and discrete models");
    nami_model_free(m);
    nami_exact_free(NULL);
}

/* Data sets by number, of which the model knew nothing when it was read. */
static void exact_data_sets(void **state)
{
    (void)state;
    static const char sets[] = "[{\"x\": 2}, {\"x\": -4, \"z\": 1, \"u\": 0}]";
    nami_model *m = parse_model("model { z ~ normal(0, 1)\n  x ~ normal(z, 1) }\nobserve x\n");
    nami_exact_options opt = {.watch = &watch};
    nami_data *data;
    nami_exact *e;
    nami_err err;
    double mean, sd;
    assert_int_equal(nami_data_new(&data, &err), 0);
    assert_int_equal(nami_data_parse(data, sets, sizeof sets - 1, &err), 0);
    for (size_t set = 0; set < 2; set++) {
        *told = 0;
        assert_int_equal(nami_exact_new(m, data, set, &opt, &e, &err), 0);
        assert_string_equal(told, "warning: the data give u, which the model does not know\n"
                                  "the data give values of z, which the model infers: they are not "
                                  "used\n");
        assert_int_equal(nami_exact_moments(e, "z", &mean, &sd, &err), 0);
        assert_true(fabs(mean - (set ? -2 : 1)) < 1e-12);
        nami_exact_free(e);
    }
    assert_int_equal(nami_exact_new(m, data, 2, &opt, &e, &err), NAMI_EUSAGE);
    nami_data_free(data);
    nami_model_free(m);
}

static void exact_structure(void **state)
{
    (void)state;
    const char *by_hand[] = {"asia=1", "dysp=yes"}, *file[1], *wrong[] = {"smok=yes"};
    nami_exact_options opt = {.given = by_hand, .num_given = 2, .mpe = 1, .draws = 50};
    nami_exact *e, *f;
    nami_draws *d;
    nami_variable v;
    nami_bn *bn;
    nami_err err;
    char *text, at[160];
    double p[2], mean, sd;
    snprintf(at, sizeof at, "@%s", file_of("e.json"));
    file[0] = at;
    static const char json[] = "{\"asia\": \"yes\", \"dysp\": 1, \"xray\": null}";
    assert_int_equal(nami_file_write(file_of("e.json"), json, sizeof json - 1, &err), 0);
    assert_int_equal(nami_bn_read(ASIA, NULL, &bn, &err), 0);
    assert_int_equal(nami_exact_tables(bn, &opt, &e, &err), 0);
    opt.given = file, opt.num_given = 1;
    assert_int_equal(nami_exact_tables(bn, &opt, &f, &err), 0);
    assert_string_equal(nami_exact_kind(e), "discrete");
    assert_true(fabs(nami_exact_log_evidence(e) + 5.40337237) < 1e-8);
    assert_true(nami_exact_log_evidence(f) == nami_exact_log_evidence(e));
    assert_int_equal(nami_exact_states(e, "bronc", 2, p, &err), 2);
    assert_true(fabs(p[0] - 0.8114) < 1e-4 && fabs(p[0] + p[1] - 1) < 1e-12);
    assert_int_equal(nami_exact_moments(e, "bronc", &mean, &sd, &err), 0);
    assert_true(fabs(mean - (1 + p[1])) < 1e-12 && fabs(sd * sd - p[0] * p[1]) < 1e-12);
    assert_int_equal(nami_exact_states(e, "asia", 1, p, &err), 2);
    assert_true(p[0] == 1);
    assert_int_equal(nami_exact_states(e, "smok", 0, NULL, &err), NAMI_EINPUT);
    assert_string_equal(nami_exact_state_name(e, "bronc", 1), "no");
    assert_null(nami_exact_state_name(e, "bronc", 2));
    assert_int_equal(nami_exact_mpe_state(e, "bronc", &err), 0);
    assert_true(nami_exact_mpe_logp(e) < nami_exact_log_evidence(e));
    assert_int_equal(nami_exact_draws(e, &d, &err), 0);
    assert_int_equal(nami_draws_variables(d), 8);
    assert_int_equal(nami_draws_variable(d, 0, &v), 0);
    assert_string_equal(v.name, nami_bn_name(bn, 0));
    nami_draws_free(d);
    assert_int_equal(nami_exact_describe(e, "text", &text, &err), 0);
    has(text, "bronc     yes  yes 0.8114  no 0.1886");
    nami_free(text);
    nami_exact_free(e), nami_exact_free(f);
    unlink(file_of("e.json"));

    opt.given = wrong;
    assert_int_equal(nami_exact_tables(bn, &opt, &e, &err), NAMI_EINPUT);
    has(err.msg, "did you mean 'smoke'?");
    opt.given = file;
    assert_int_equal(nami_exact_tables(bn, &opt, &e, &err), NAMI_EFILE);
    has(err.msg, "e.json: ");
    opt.num_given = 0, opt.only = "nothing";
    assert_int_equal(nami_exact_tables(bn, &opt, &e, &err), NAMI_EINPUT);
    nami_bn_free(bn);
}

/* ---- exports ------------------------------------------------------------------------------ */

static void exports(void **state)
{
    (void)state;
    nami_model *m = read_model(MODELS "tree.nami", MODELS "tree.json");
    nami_err err;
    char *text;
    size_t len;
    assert_int_equal(nami_model_describe(m, "jags", &text, &len, &err), 0);
    assert_int_equal(len, strlen(text));
    has(text, "x[i] ~ dnorm(w[i] * x[trunc(i / 2)], 1)");
    nami_free(text);
    assert_int_equal(nami_model_describe(m, "jags-messages", &text, NULL, &err), 0);
    assert_string_equal(text, "");
    nami_free(text);
    assert_int_equal(nami_model_describe(m, "rdump", &text, NULL, &err), 0);
    has(text, "\"w\" <- c(");
    nami_free(text);
    assert_int_equal(nami_model_describe(m, "json", &text, NULL, &err), 0);
    has(text, "\"dist\":\"normal\"");
    nami_free(text);
    assert_int_equal(nami_model_describe(m, "dot", &text, NULL, &err), 0);
    has(text, "digraph");
    nami_free(text);
    assert_int_equal(nami_model_describe(m, "stan", &text, NULL, &err), NAMI_EUSAGE);
    nami_model_free(m);

    m = read_model(MODELS "gmm.nami", NULL);
    assert_int_equal(nami_model_describe(m, "jags", &text, NULL, &err), NAMI_EINPUT);
    assert_null(text);
    assert_int_equal(nami_model_describe(m, "jags-messages", &text, NULL, &err), 0);
    has(text, "JAGS has no distribution inv_wishart()");
    nami_free(text);
    assert_int_equal(nami_model_describe(m, "json", &text, NULL, &err), 0); /* as it was */
    nami_free(text);
    nami_model_free(m);
}

/* ---- models that were not read; options --------------------------------------------------- */

static void bad_models_are_refused(void **state)
{
    (void)state;
    nami_model *m;
    nami_err err;
    nami_check *c;
    nami_draws *d;
    nami_exact *e;
    char *text;
    assert_int_equal(nami_model_parse("model {", 7, NULL, NULL, &m, &err), NAMI_EINPUT);
    assert_int_equal(nami_check_new(m, NULL, &c, &err), NAMI_EUSAGE);
    assert_int_equal(nami_model_draws(m, NULL, &d, &err), NAMI_EUSAGE);
    assert_int_equal(nami_exact_new(m, NULL, 0, NULL, &e, &err), NAMI_EUSAGE);
    assert_int_equal(nami_model_describe(m, "json", &text, NULL, &err), NAMI_EUSAGE);
    assert_int_equal(nami_model_describe_logp(m, NULL, NULL, "text", &text, &err), NAMI_EUSAGE);
    nami_model_free(m);

    m = parse_model("const k\nmodel { y ~ normal(k, 1) }\n");
    assert_int_equal(nami_model_draws(m, NULL, &d, &err), NAMI_EINPUT);
    has(err.msg, "const k has no value");
    assert_null(strstr(err.msg, "--"));
    nami_model_free(m);

    assert_string_equal(nami_option_at("check", 0)->name, "draws");
    assert_string_equal(nami_option_at("simulate", 1)->name, "only");
    assert_string_equal(nami_option_at("exact", 2)->name, "mpe");
}

/* ---- memory ------------------------------------------------------------------------------- */

static int ask_text(int (*f)(const void *, const char *, char **, nami_err *), const void *of)
{
    nami_err err;
    char *text = NULL;
    int rc = f(of, "text", &text, &err);
    nami_free(text);
    if (!rc) rc = f(of, "json", &text, &err);
    if (!rc) nami_free(text);
    return rc;
}

static int check_as(const void *c, const char *as, char **text, nami_err *err)
{
    return nami_check_describe(c, as, text, err);
}

static int exact_as(const void *e, const char *as, char **text, nami_err *err)
{
    return nami_exact_describe(e, as, text, err);
}

static int logp_as(const void *m, const char *as, char **text, nami_err *err)
{
    nami_logp_options opt = {.gradient = 1, .threads = 1};
    return nami_model_describe_logp(m, NULL, &opt, as, text, err);
}

static int print_draws(const nami_draws *d)
{
    static const char *const forms[] = {"json", "csv"};
    char *text = NULL;
    int rc = 0;
    for (int i = 0; i < 2 && !rc; i++) {
        rc = nami_draws_describe(d, forms[i], &text, NULL, NULL);
        if (!rc) nami_free(text);
    }
    return rc;
}

static int ask_exact(nami_exact *e)
{
    nami_draws *d = NULL;
    double mean, sd;
    int rc = ask_text(exact_as, e);
    if (!rc) rc = nami_exact_draws(e, &d, NULL);
    if (!rc) rc = print_draws(d);
    if (!rc) rc = nami_exact_moments(e, nami_exact_kind(e)[0] == 'd' ? "D" : "z", &mean, &sd, NULL);
    nami_draws_free(d);
    nami_exact_free(e);
    return rc;
}

static int ask_all(void *ctx)
{
    const nami_model *const *m = ctx;
    nami_check_options few = {.draws = 8, .threads = 1};
    nami_simulate_options simulate = {.draws = 8, .threads = 1};
    const char *given[] = {"x=1"};
    nami_exact_options exact = {.draws = 8, .threads = 1, .given = given, .num_given = 1};
    nami_check *c = NULL;
    nami_draws *d = NULL;
    nami_exact *e = NULL;
    char *text;
    int rc = nami_check_new(m[0], &few, &c, NULL);
    if (!rc) rc = ask_text(check_as, c);
    nami_check_free(c);
    if (!rc) rc = nami_model_draws(m[0], &simulate, &d, NULL);
    if (!rc) rc = print_draws(d);
    nami_draws_free(d);
    if (!rc) rc = ask_text(logp_as, m[0]);
    if (!rc && !(rc = nami_model_describe(m[0], "jags", &text, NULL, NULL))) nami_free(text);
    if (!rc && !(rc = nami_model_describe(m[0], "rdump", &text, NULL, NULL))) nami_free(text);
    if (!rc && !(rc = nami_exact_new(m[0], NULL, 0, &exact, &e, NULL))) rc = ask_exact(e);
    exact.given = NULL, exact.num_given = 0, exact.mpe = 1;
    if (!rc && !(rc = nami_exact_new(m[1], NULL, 0, &exact, &e, NULL))) rc = ask_exact(e);
    return rc;
}

static void memory(void **state)
{
    (void)state;
    const char *why;
    static const char text[] = "const w = 1\nmodel { z ~ normal(0, 1)\n  x ~ normal(z, 1) }\n"
                               "observe x\n";
    nami_model *m[2];
    nami_model_options opt = {0};
    nami_data *data;
    nami_err err;
    assert_int_equal(nami_data_new(&data, &err), 0);
    assert_int_equal(nami_data_parse(data, "{\"z\": 1, \"x\": 2}", 16, &err), 0);
    opt.data = data;
    assert_int_equal(nami_model_parse(text, sizeof text - 1, NULL, &opt, &m[0], &err), 0);
    m[1] = parse_model("model { D ~ bernoulli(0.3)\n  y ~ bernoulli(0.2 + 0.5 * D) }\nobserve y\n");
    assert_int_equal(ask_all(m), 0);
    long n = nomem_each(ask_all, m, &why);
    if (n < 0) fail_msg("%s", why);
    assert_true(n > 50);
    nami_data_free(data);
    nami_model_free(m[0]), nami_model_free(m[1]);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(check_finds_problems),
    cmocka_unit_test(draws_are_those_of_simulate),
    cmocka_unit_test(images),
    cmocka_unit_test(simulators_are_named),
    cmocka_unit_test(densities_of_data_sets),
    cmocka_unit_test(exact_gaussian),
    cmocka_unit_test(exact_data_sets),
    cmocka_unit_test(exact_structure),
    cmocka_unit_test(exports),
    cmocka_unit_test(bad_models_are_refused),
    cmocka_unit_test(memory),
};

RUN(tests)
