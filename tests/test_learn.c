/* test_learn.c: learning a model: bounds on log p(x) hold on linear Gaussian models, where log
   p(x) is known.  Training is deterministic (fixed seed). */
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/dense.h"
#include "model/eval.h"
#include "model/model.h"
#include "train/samples.h"

enum { POINTS = 6000, P = 6, K = 2 };
static const double SIGMA = 0.5;

/* Probabilistic PCA: the decoder is linear. */
static const char learnt[] = "const P = 6\n"
                             "network dec : real[2] -> real[6] { dense(6) }\n"
                             "model {\n"
                             "  for (k in 1:2) { z[k] ~ normal(0, 1) }\n"
                             "  a[1:P] <- dec(z[1:2])\n"
                             "  for (p in 1:P) { x[p] ~ normal(a[p], 0.5) }\n"
                             "}\nobserve x\nlearn dec\n";
static const double W[P][K] = {{1.1, 0.4},  {-0.3, 0.9}, {0.7, 0.7},
                               {0.2, -1.2}, {0.9, 0.1},  {-0.5, 0.8}};

static void put_truth(struct model *m)
{
    for (int p = 0; p < P; p++) {
        for (int k = 0; k < K; k++) m->programs.weights.a[p * K + k] = W[p][k];
        m->programs.weights.a[P * K + p] = 0.3 * p - 0.5;
    }
}

/* log p(x) of a point of the model with weights w, by its normal distribution. */
static void log_px(const struct model *m, const double *w, size_t n, const double *x, double *out)
{
    double S[P * P], d[P];
    int row = m->ir.row[0];
    for (int e = 0; e < m->ir.num_elements; e++)
        if (m->ir.observed[e] && m->ir.state[e] == E_RANDOM) {
            row = m->ir.row[e];
            break;
        }
    for (int i = 0; i < P; i++)
        for (int j = 0; j < P; j++) {
            S[i * P + j] = i == j ? SIGMA * SIGMA : 0;
            for (int k = 0; k < K; k++) S[i * P + j] += w[i * K + k] * w[j * K + k];
        }
    assert_int_equal(dense_chol(P, S), 0);
    for (size_t i = 0; i < n; i++) {
        for (int p = 0; p < P; p++) d[p] = x[(size_t)(row + p) * n + i] - w[P * K + p];
        dense_lower(P, S, d);
        out[i] = -0.5 * (dense_dot(P, d, d) + dense_logdet(P, S) + P * log(2 * acos(-1)));
    }
}

static double mean(size_t n, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] / (double)n;
    return sum;
}

/* Trains on draws of the truth; the last tenth of which is for validation. */
static void learn(struct training *r, const char *text, const char *method, int particles,
                  int steps, double **data)
{
    nami_err err = {0};
    struct source *s;
    int checked;
    memset(r, 0, sizeof *r);
    r->net.model = r->net.own_model = model_new();
    r->net.plan = (struct plan){.invert = {.method = method, .mode = "forward", .exact = "none"},
                            .net = {.family = family_find("mixture", 7),
                                    .size = 1,
                                    .arch = &arch_made,
                                    .nhidden = 1,
                                    .hidden = {32},
                                    .act = ACT_TANH,
                                    .skip = -1},
                            .train = {.steps = steps,
                                      .batch = 200,
                                      .rate = 5e-3,
                                      .check = steps,
                                      .valid = POINTS / 10,
                                      .patience = 100,
                                      .cooldown = 0.5,
                                      .particles = particles,
                                      .seed = 1},
                            .elbo = 1,
                            .samples = POINTS};
    int rc = model_parse(r->net.model, "model", text, strlen(text), NATIVE, NULL, &err);
    double *start = malloc(sizeof *start * (r->net.model->programs.weights.n + 1));
    *data = malloc(sizeof(double) * (size_t)r->net.model->ir.num_rows * POINTS);
    r->points = malloc(sizeof(double) * (size_t)r->net.model->ir.num_rows * POINTS);
    assert_true(start && *data && r->points);
    if (r->net.model->programs.weights.n)
        memcpy(start, r->net.model->programs.weights.a, sizeof *start * r->net.model->programs.weights.n);
    if (r->net.model->programs.weights.n) put_truth(r->net.model);
    if (!rc) rc = model_simulate(r->net.model, 3, 0, POINTS, 1, *data, &err);
    if (r->net.model->programs.weights.n)
        memcpy(r->net.model->programs.weights.a, start, sizeof *start * r->net.model->programs.weights.n);
    memcpy(r->points, *data, sizeof(double) * (size_t)r->net.model->ir.num_rows * POINTS);
    free(start);
    if (!rc) rc = training_prepare(r, 2, &err);
    if (!rc) rc = samples_source(r, 1, &s, &err);
    if (!rc) rc = training_start(r, s, 2, &err);
    while (!rc && !r->train.done) rc = train_step(&r->train, &checked, &err);
    if (rc) fail_msg("%s", err.msg);
    if (r->net.model->programs.weights.n) elbo_model(&r->net.elbo, r->train.best_param);
}

/* The bound on the validation data, by the best weights and 20 draws of each point. */
static double bound_now(struct training *r)
{
    struct trainer *t = &r->train.t;
    double sum = 0;
    int n = source_nvalid(r->train.source);
    memcpy(t->param, r->train.best_param, sizeof(float) * t->nparam);
    for (int rep = 0; rep < 20; rep++)
        for (int k = 0; k < n; k++) {
            struct batch b;
            source_valid(r->train.source, k, &b);
            b.seed = 100 + (uint64_t)rep;
            b.first = (uint64_t)k * trainer_stride(t);
            trainer_loss(t, &b);
            sum -= t->total / (20 * n);
        }
    return sum;
}

/* ---- probabilistic PCA -------------------------------------------------------------- */

static void check_pca(const char *method, int particles)
{
    struct training r;
    double *x, *lp = malloc(sizeof *lp * POINTS), truth[P * (K + 1)];
    learn(&r, learnt, method, particles, 3000, &x);
    log_px(r.net.model, r.net.model->programs.weights.a, POINTS, x, lp);
    double own = mean(POINTS / 10, lp + POINTS - POINTS / 10), all = mean(POINTS, lp);
    put_truth(r.net.model);
    memcpy(truth, r.net.model->programs.weights.a, sizeof truth);
    log_px(r.net.model, truth, POINTS, x, lp);
    double best = mean(POINTS, lp), bound = bound_now(&r);
    printf("%s, %d draws: bound %.4f, log p(x) of the learnt model %.4f; on all data %.4f, of the "
           "truth %.4f\n",
           method, particles, bound, own, all, best);
    assert_true(bound < own + 0.005 && bound > own - 0.05);
    assert_true(all > best - 0.05);
    training_free(&r);
    free(x);
    free(lp);
}

static void test_pca(void **state)
{
    (void)state;
    check_pca("nami", 1);
    check_pca("nami", 5);
    check_pca("mean-field", 1); /* the decoder can turn until the posterior has no correlation */
}

/* ---- a fixed model: mean field stays below, by the analytic amount ------------------- */

/* The posterior of (z1, z2) has precision I + W'W / sigma^2; the best q without correlation has
   its diagonal: the gap is half of the difference of log determinants. */
static void test_mean_field(void **state)
{
    struct str text = {0};
    double A[K][K] = {{1, 0}, {0, 1}}, bound[2];
    (void)state;
    str_put(&text, "model {\n  for (k in 1:2) { z[k] ~ normal(0, 1) }\n");
    for (int p = 0; p < P; p++) {
        str_printf(&text, "  x[%d] ~ normal(%g * z[1] + %g * z[2], 0.5)\n", p + 1, W[p][0],
                   W[p][0] + W[p][1]);
        double w[K] = {W[p][0], W[p][0] + W[p][1]};
        for (int i = 0; i < K; i++)
            for (int j = 0; j < K; j++) A[i][j] += w[i] * w[j] / (SIGMA * SIGMA);
    }
    str_put(&text, "}\nobserve x\n");
    double gap = 0.5 * (log(A[0][0] * A[1][1]) - log(A[0][0] * A[1][1] - A[0][1] * A[1][0]));
    for (int k = 0; k < 2; k++) {
        struct training r;
        double *x;
        learn(&r, text.s, k ? "mean-field" : "nami", 1, 2000, &x);
        bound[k] = bound_now(&r);
        training_free(&r);
        free(x);
    }
    printf("fixed model: bound %.4f, mean field %.4f: %.4f below; analytic %.4f\n", bound[0],
           bound[1], bound[0] - bound[1], gap);
    assert_true(gap > 0.2 && fabs(bound[0] - bound[1] - gap) < 0.05);
    str_free(&text);
}

/* ---- discrete latents ---------------------------------------------------------------- */

/* A mixture: gone through state by state, or (too many states together) drawn. */
static void check_states(const char *text, int configs, double tol)
{
    struct training r;
    double *x, want = 0;
    learn(&r, text, "nami", 1, 2000, &x);
    for (int e = 0; e < r.net.model->ir.num_elements; e++) /* .3 N(-2, 1) + .7 N(1.5, .5) each */
        for (size_t i = POINTS - POINTS / 10; r.net.model->ir.observed[e] && i < POINTS; i++) {
            double y = x[(size_t)r.net.model->ir.row[e] * POINTS + i], a = y + 2, b = (y - 1.5) / 0.5;
            want += log((0.3 * exp(-0.5 * a * a) + 1.4 * exp(-0.5 * b * b)) / sqrt(2 * acos(-1)));
        }
    want /= POINTS / 10;
    double bound = bound_now(&r);
    printf("%d configurations: bound %.4f, log p(x) %.4f\n", r.net.elbo.configs, bound, want);
    assert_int_equal(r.net.elbo.configs, configs);
    assert_true(bound < want + 0.005 && bound > want - tol);
    training_free(&r);
    free(x);
}

static void test_states(void **state)
{
    (void)state;
    check_states("model { for (i in 1:2) { k[i] ~ bernoulli(0.7)\n"
                 "x[i] ~ normal(-2 + 3.5 * k[i], 1 - 0.5 * k[i]) } } observe x",
                 4, 0.02);
    check_states("model { for (i in 1:8) { k[i] ~ bernoulli(0.7)\n"
                 "x[i] ~ normal(-2 + 3.5 * k[i], 1 - 0.5 * k[i]) } } observe x",
                 0, 0.1);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_pca),
    cmocka_unit_test(test_mean_field),
    cmocka_unit_test(test_states),
};

RUN(tests)
