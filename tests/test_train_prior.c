/* test_train_prior.c: training distributions change what networks learn from, and nothing else:
   draws, densities, files, refusals; a posterior of a model with vague priors, which is known. */

#include "run.h"

#include "api_at.h"
#include "base/file.h"
#include "infer/ood_model.h"
#include "model/export.h"
#include "model/reads.h"
#include "model_at.h"

enum { N = 40000 };

static double *draw_training(const struct model *m, size_t n, int threads)
{
    double *x = calloc((size_t)m->ir.num_rows * n + 1, sizeof *x);
    nami_err err = {0};
    assert_non_null(x);
    if (model_simulate_training(m, 7, 0, n, threads, x, &err)) fail_msg("%s", err.msg);
    return x;
}

/* Mean and sd of a row, within 5 standard errors (of a distribution with light tails). */
static void has_moments(const struct model *m, const double *x, const char *name, int k,
                        double mean, double sd)
{
    const double *row = x + (size_t)row_of(m, name, k) * N;
    double sum = 0, sum2 = 0;
    for (size_t i = 0; i < N; i++) sum += row[i], sum2 += row[i] * row[i];
    double got = sum / N, got_sd = sqrt(sum2 / N - got * got);
    if (fabs(got - mean) > 5 * sd / sqrt(N) || fabs(got_sd / sd - 1) > 10 / sqrt(N))
        fail_msg("%s[%d]: %g, sd %g; not %g, sd %g", name, k, got, got_sd, mean, sd);
}

static void read_train(struct model *m)
{
    struct str text = {0};
    nami_err err;
    if (file_read(SOURCE_DIR "/tests/models/good/train.nami", &text, &err))
        fail_msg("%s", err.msg);
    build(m, text.s, NULL);
    str_free(&text);
}

/* ---- draws and densities -------------------------------------------------------------------- */

static void draws_are_from_training_distributions(void **state)
{
    (void)state;
    struct model m;
    read_train(&m);
    double *x = draw_training(&m, N, 1);
    has_moments(&m, x, "mu", 0, 3, 2);
    has_moments(&m, x, "sigma", 0, 2, sqrt(2));
    has_moments(&m, x, "b", 0, 1, 1);
    has_moments(&m, x, "b", 1, 2, 2);
    for (int k = 0; k < 3; k++) has_moments(&m, x, "c", k, k + 1, 0.5);
    for (int k = 0; k < 2; k++) has_moments(&m, x, "v", k, 0, 2);
    has_moments(&m, x, "p", 0, 1. / 3, sqrt(2. / 63));
    has_moments(&m, x, "n", 0, 5, sqrt(5));
    has_moments(&m, x, "theta", 0, 3, sqrt(4 + 4 + 6)); /* given them */
    free(x);
    model_fini(&m);
}

static void draws_are_the_same_for_any_number_of_threads_and_any_batch(void **state)
{
    (void)state;
    enum { FEW = 200 };
    struct model m;
    nami_err err = {0};
    read_train(&m);
    size_t rows = (size_t)m.ir.num_rows;
    double *x = draw_training(&m, FEW, 1), *y = draw_training(&m, FEW, 3);
    assert_memory_equal(x, y, sizeof *x * rows * FEW);
    assert_int_equal(model_simulate_training(&m, 7, 8, 16, 1, y, &err), 0);
    for (size_t r = 0; r < rows; r++)
        assert_memory_equal(y + r * 16, x + r * FEW + 8, sizeof *x * 16);
    free(x);
    free(y);
    model_fini(&m);
}

static const char plain[] = "model {\n"
                            "  mu ~ normal(0, 1000)\n"
                            "  for (i in 1:2) { b[i] ~ normal(mu, 1) }\n"
                            "  y ~ normal(b[1] + b[2], 1)\n"
                            "}\n"
                            "observe y\n";

/* Density, graph and the model's own draws do not depend on train statements. */
static void model_is_unchanged(void **state)
{
    (void)state;
    enum { FEW = 64 };
    struct model_options opt = {.train_priors = "mu ~ normal(5, 2)"};
    struct model m, t;
    struct str a = {0}, b = {0};
    build(&m, plain, NULL);
    build_opt(&t, NATIVE, plain, NULL, &opt);
    assert_false(model_has_train_priors(&m));
    assert_true(model_has_train_priors(&t));
    double *x = draw(&m, FEW, 1), *y = draw(&t, FEW, 1), *z = draw_training(&t, FEW, 1);
    assert_memory_equal(x, y, sizeof *x * (size_t)m.ir.num_rows * FEW);
    assert_memory_not_equal(x, z, sizeof *x * (size_t)m.ir.num_rows * FEW);
    double p[FEW], q[FEW];
    logp(&m, FEW, z, 1, (struct density){.logp = p});
    logp(&t, FEW, z, 1, (struct density){.logp = q});
    assert_memory_equal(p, q, sizeof p);
    graph_text(m.ir.bn, &a), graph_text(t.ir.bn, &b);
    assert_string_equal(a.s, b.s);
    str_free(&a), str_free(&b);
    free(x), free(y), free(z);
    model_fini(&m);
    model_fini(&t);
}

/* Without train statements, both kinds of draws are the same. */
static void without_statements_training_draws_are_draws(void **state)
{
    (void)state;
    struct model m;
    build(&m, plain, NULL);
    double *x = draw(&m, 80, 1), *y = draw_training(&m, 80, 1);
    assert_memory_equal(x, y, sizeof *x * (size_t)m.ir.num_rows * 80);
    free(x), free(y);
    model_fini(&m);
}

/* Constants of the data, of one that only a train statement uses. */
static void parameters_may_be_data(void **state)
{
    (void)state;
    struct model m;
    build_opt(&m, BUGS,
              "data { s <- 2 * half }\n"
              "model { for (i in 1:2) { b[i] ~ dnorm(0, 1.0E-3)\n y[i] ~ dnorm(b[i], 1) } }\n"
              "train b ~ normal(at, s)",
              "{\"y\": [1, 2], \"at\": [10, 20], \"half\": 1.5}", NULL);
    assert_int_equal(m.source.diags.list.n, 0); /* no warning */
    double *x = draw_training(&m, N, 1);
    has_moments(&m, x, "b", 0, 10, 3);
    has_moments(&m, x, "b", 1, 20, 3);
    free(x);
    model_fini(&m);
}

static void improper_priors_are_usable(void **state)
{
    (void)state;
    enum { FEW = 8 };
    static const char flat[] = "model { mu ~ dflat()\n y ~ dnorm(mu, 1) }\ntrain mu ~ dnorm(4, 1)";
    struct model m;
    nami_err err = {0};
    double p[FEW], grad[2 * FEW];
    build_opt(&m, BUGS, flat, "{\"y\": 3}", NULL);
    double *x = draw_training(&m, FEW, 1);
    logp(&m, FEW, x, 1, (struct density){.logp = p, .grad = grad});
    for (int i = 0; i < FEW; i++) {
        double e = x[row_of(&m, "y", 0) * FEW + i] - x[row_of(&m, "mu", 0) * FEW + i];
        near(p[i], -0.5 * e * e - 0.5 * log(2 * M_PI));
        near(grad[row_of(&m, "mu", 0) * FEW + i], e);
    }
    assert_int_equal(model_simulate(&m, 1, 0, FEW, 1, x, &err), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "improper"));
    free(x);
    model_fini(&m);
}

/* ---- who shares networks ---------------------------------------------------------------------- */

/* Latents with different training distributions have different posteriors in training. */
static void different_training_distributions_are_not_shared(void **state)
{
    (void)state;
    static const char text[] =
        "model { for (i in 1:4) { b[i] ~ normal(0, 1000)\n y[i] ~ normal(b[i], 1) } }\nobserve y\n"
        "train b[1:2] ~ normal(0, 5)\n train b[3] ~ normal(1, 5)\n train b[4] ~ cauchy(0, 5)";
    struct model m;
    struct reads r;
    struct numbers c = {0};
    nami_err err;
    build(&m, text, NULL);
    assert_int_equal(reads_make(&m, NULL, &r, &err), 0);
    int k[4];
    for (int i = 0; i < 4; i++) k[i] = m.ir.defined_by[m.ir.arrays.a[array_find(&m, "b")].first + i];
    assert_true(r.own[k[0]] == r.own[k[1]] && r.kind[k[0]] == r.kind[k[1]]);
    assert_true(r.own[k[0]] != r.own[k[2]] && r.kind[k[0]] == r.kind[k[2]]);
    assert_true(r.own[k[0]] != r.own[k[3]] && r.kind[k[0]] != r.kind[k[3]]);
    assert_int_equal(reads_constants(&m, k[2], &c), 0);
    assert_int_equal(c.n, 2);
    near(c.a[0], 1), near(c.a[1], 5);
    vec_free(&c);
    reads_free(&r);
    model_fini(&m);
}

/* ---- texts -------------------------------------------------------------------------------------- */

static void exports_keep_or_drop_them(void **state)
{
    (void)state;
    struct model_options opt = {.train_priors = "mu ~ normal(5, 2)"};
    struct model m, again;
    struct str out = {0};
    struct diags diags = {0};
    nami_err err;
    build_opt(&m, NATIVE, plain, NULL, &opt);
    model_train_priors(&m, &out);
    assert_string_equal(out.s, "mu ~ normal(5, 2)");
    out.n = 0;
    assert_int_equal(model_json(&m, &out, &err), 0);
    assert_non_null(strstr(out.s, "\"train\":[\"mu ~ normal(5, 2)\"]"));
    out.n = 0;
    assert_int_equal(model_jags(&m, NULL, &out, &diags, &err), 0);
    assert_null(strstr(out.s, "train"));
    assert_null(strstr(out.s, "(5"));
    diags_free(&diags);
    build(&again, model_text(&m), NULL); /* the text holds them */
    assert_true(model_has_train_priors(&again));
    model_fini(&again);
    model_fini(&m);
    str_free(&out);
}

/* Errors in what was given separately have a place in the text, too. */
static void errors_of_the_option_have_places(void **state)
{
    (void)state;
    struct model_options opt = {.train_priors = "mu ~ gamma(2, 1)"};
    struct model m = {0};
    struct str out = {0};
    assert_int_equal(build_with(&m, NATIVE, plain, NULL, &opt), NAMI_EINPUT);
    messages(&m, &out);
    assert_non_null(strstr(out.s, "model:7:14: error: the training distribution of mu"));
    assert_non_null(strstr(out.s, "train { mu ~ gamma(2, 1) }"));
    str_free(&out);
    model_fini(&m);
}

/* ---- inference ---------------------------------------------------------------------------------- */

static void must(int rc, const nami_err *err)
{
    if (rc < 0) fail_msg("%s", err->msg);
}

static const char vague[] = "model {\n"
                            "  mu ~ dnorm(0, 1.0E-6)\n"
                            "  tau ~ dgamma(0.001, 0.001)\n"
                            "  for (i in 1:N) { y[i] ~ dnorm(mu, tau) }\n"
                            "}\n";
static const char vague_data[] =
    "{\"N\": 20, \"y\": [5.6, 5.9, 3.1, 1.5, 0.8, 3.1, 0.9, 0.2, 3.4, 3.2, 5.4, 4.8, 4.1, 2.9, 3.0, "
    "4.4, 1.7, 4.2, 2.6, 1.4]}";

static nami_data *parse_data(const char *json)
{
    nami_data *data;
    nami_err err;
    must(nami_data_new(&data, &err), &err);
    must(nami_data_parse(data, json, strlen(json), &err), &err);
    return data;
}

/* Normal data with flat priors of mu and log tau: mu is Student's t, tau is gamma (those of the
   model differ by less than 0.1 %). */
static void check_vague(const nami_network *net, const char *name)
{
    static const double y[] = {5.6, 5.9, 3.1, 1.5, 0.8, 3.1, 0.9, 0.2, 3.4, 3.2,
                               5.4, 4.8, 4.1, 2.9, 3.0, 4.4, 1.7, 4.2, 2.6, 1.4};
    nami_query query = {.draws = 40000, .seed = 3, .threads = 1};
    nami_data *data = parse_data(vague_data);
    nami_posterior *post;
    nami_verdict verdict;
    nami_summary mu, tau;
    nami_err err;
    double n = 20, mean = 0, ss = 0;
    for (int i = 0; i < 20; i++) mean += y[i] / n;
    for (int i = 0; i < 20; i++) ss += (y[i] - mean) * (y[i] - mean);
    double sd = sqrt(ss / (n - 1) / n * (n - 1) / (n - 3)), rate = (n - 1) / ss;
    must(nami_posterior_new(net, data, &query, &post, &err), &err);
    must(nami_posterior_run(post, &err), &err);
    must(nami_posterior_verdict(post, 0, &verdict, &err), &err);
    must(nami_posterior_summary(post, 0, "mu", &mu, &err), &err);
    must(nami_posterior_summary(post, 0, "tau", &tau, &err), &err);
    print_message("%s: k-hat %g, mu %g (%g), sd %g (%g), tau %g (%g)\n", name, verdict.khat,
                  mu.mean, mean, mu.sd, sd, tau.mean, rate);
    assert_int_equal(verdict.verdict, NAMI_TRUSTED);
    assert_true(fabs(mu.mean - mean) < 0.03 * sd);
    assert_true(fabs(mu.sd / sd - 1) < 0.03);
    assert_true(fabs(tau.mean / rate - 1) < 0.02);
    assert_true(fabs(tau.sd / (rate * sqrt(2 / (n - 1))) - 1) < 0.04);
    nami_posterior_free(post);
    nami_data_free(data);
}

static nami_network *train_vague(const char *exact)
{
    nami_data *data = parse_data(vague_data);
    nami_model_options opt = {.data = data,
                              .dialect = "bugs",
                              .train_priors = "mu ~ dnorm(0, 0.01); tau ~ dgamma(2, 4)"};
    nami_options invert = {.exact = exact};
    nami_train_options how = {.steps = 3000, .seed = 2, .threads = 1};
    nami_model *m;
    nami_network *net;
    nami_err err;
    must(nami_model_parse(vague, strlen(vague), NULL, &opt, &m, &err), &err);
    assert_string_equal(nami_model_messages(m), ""); /* its priors are not drawn from */
    must(nami_train(m, &invert, &how, &net, &err), &err);
    nami_model_free(m);
    nami_data_free(data);
    return net;
}

static void vague_priors_are_trained_and_answered(void **state)
{
    (void)state;
    nami_network *net = train_vague("none"), *again;
    char *bytes;
    size_t len;
    nami_err err;
    check_vague(net, "learned");
    must(nami_network_print(net, &bytes, &len, &err), &err);
    must(nami_network_parse(bytes, len, NULL, &again, &err), &err);
    check_vague(again, "from a file");
    nami_calibrate_options how = {.sets = 200, .threads = 1};
    nami_calibration *c;
    must(nami_calibration_new(again, &how, &c, &err), &err);
    assert_int_equal(nami_calibration_verdict(c), 1);
    nami_calibration_free(c);
    how.method = "is"; /* weights are for other priors than the data sets are from */
    assert_int_equal(nami_calibration_new(again, &how, &c, &err), NAMI_EUSAGE);
    nami_free(bytes);
    nami_network_free(again);
    nami_network_free(net);
    net = train_vague("auto");
    check_vague(net, "mu exact");
    nami_network_free(net);
}

/* What is far from the training distribution is told apart, though the prior allows it. */
static void data_outside_of_training_are_unusual(void **state)
{
    (void)state;
    struct model_options opt = {.train_priors = "mu ~ dnorm(0, 0.01); tau ~ dgamma(2, 4)"};
    struct model m;
    struct ood_model ood;
    struct ood_answer in, out;
    nami_err err = {0};
    build_opt(&m, BUGS, vague, vague_data, &opt);
    must(ood_model_fit(&m, 1, &ood, &err), &err);
    double *x = calloc((size_t)m.ir.num_rows, sizeof *x);
    assert_non_null(x);
    for (int i = 0; i < 20; i++) x[row_of(&m, "y", i)] = 3 + 0.2 * i;
    must(ood_model_query(&ood, &m, x, 1, 0, &in, &err), &err);
    for (int i = 0; i < 20; i++) x[row_of(&m, "y", i)] += 500;
    must(ood_model_query(&ood, &m, x, 1, 0, &out, &err), &err);
    assert_true(in.p > 0.05 && out.p < 0.01);
    free(x);
    ood_model_free(&ood);
    model_fini(&m);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(draws_are_from_training_distributions),
    cmocka_unit_test(draws_are_the_same_for_any_number_of_threads_and_any_batch),
    cmocka_unit_test(model_is_unchanged),
    cmocka_unit_test(without_statements_training_draws_are_draws),
    cmocka_unit_test(parameters_may_be_data),
    cmocka_unit_test(improper_priors_are_usable),
    cmocka_unit_test(different_training_distributions_are_not_shared),
    cmocka_unit_test(exports_keep_or_drop_them),
    cmocka_unit_test(errors_of_the_option_have_places),
    cmocka_unit_test(vague_priors_are_trained_and_answered),
    cmocka_unit_test(data_outside_of_training_are_unusual),
};
RUN(tests)
