/* test_accuracy.c: trained networks are close to the exact posterior, on draws of the model.

   KL(p || q) = E[log p(z|x) - log q(z|x)] is estimated on draws of both; its standard error is
   below a fifth of every tolerance here, and training is deterministic (fixed seed), so that a test
   either always passes or never does on one machine. */
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/eval.h"
#include "model/model.h"
#include "train/training.h"

enum { DRAWS = 20000 };

/* ---- training ----------------------------------------------------------------------- */

struct setup {
    const char *file, *data, *text; /* a file with its data, or a text */
    const char *method, *mode, *family;
    const struct arch *arch;
    int hidden, size, skip, steps;
};

static void train_it(struct training *r, const struct setup *s)
{
    nami_err err = {0};
    struct source *src;
    int checked;
    memset(r, 0, sizeof *r);
    r->net.model = r->net.own_model = model_new();
    r->net.plan = (struct plan){.invert = {.method = s->method, .mode = s->mode, .exact = "none"},
                            .net = {.family = family_find(s->family, strlen(s->family)),
                                    .arch = s->arch,
                                    .size = s->size,
                                    .nhidden = 2,
                                    .hidden = {s->hidden, s->hidden},
                                    .act = ACT_RELU,
                                    .skip = s->skip},
                            .train = {.steps = s->steps,
                                      .batch = 250,
                                      .rate = 2e-3,
                                      .clip = 100,
                                      .check = 1000,
                                      .valid = 5000,
                                      .patience = 100,
                                      .cooldown = 0.5,
                                      .seed = 1}};
    int rc = s->file ? model_read(r->net.model, s->file, &s->data, s->data ? 1 : 0, NULL, &err)
                     : model_parse(r->net.model, "model", s->text, strlen(s->text), NATIVE, NULL, &err);
    if (!rc) rc = training_prepare(r, 2, &err);
    if (!rc) rc = source_model(r->net.model, 1, 250, 5000, &src, &err);
    if (!rc) rc = training_start(r, src, 2, &err);
    while (!rc && !r->train.done) rc = train_step(&r->train, &checked, &err);
    if (rc) fail_msg("%s", err.msg);
}

/* log q of n draws x[row * n + i] */
static void log_q(const struct training *r, size_t n, const double *x, double *out)
{
    struct exec e;
    assert_int_equal(exec_init(&e, &r->net.q.prog, 64, 0, EXEC_FLOAT, NULL), 0);
    e.param = r->train.best_param;
    for (size_t i = 0; i < n; i += 64) {
        e.lanes = n - i < 64 ? (int)(n - i) : 64;
        for (int k = 0; k < r->net.model->ir.num_rows; k++)
            memcpy(e.row + (size_t)k * (size_t)e.cap, x + (size_t)k * n + i,
                   sizeof(double) * (size_t)e.lanes);
        exec_run(&e);
        memcpy(out + i, e.total, sizeof(double) * (size_t)e.lanes);
    }
    exec_fini(&e);
}

struct sample {
    double *x, *q, *p;
};

static struct sample draw(struct training *r)
{
    struct sample s = {calloc((size_t)r->net.model->ir.num_rows * DRAWS, sizeof(double)),
                       calloc(DRAWS, sizeof(double)), calloc(DRAWS, sizeof(double))};
    nami_err err;
    assert_true(s.x && s.q && s.p);
    assert_int_equal(model_simulate(r->net.model, 77, 0, DRAWS, 2, s.x, &err), 0);
    log_q(r, DRAWS, s.x, s.q);
    return s;
}

/* The estimate and its standard error; frees all. */
static double kl(const char *what, struct training *r, struct sample s)
{
    double m = 0, v = 0;
    for (int i = 0; i < DRAWS; i++) m += (s.p[i] - s.q[i]) / DRAWS;
    for (int i = 0; i < DRAWS; i++) v += pow(s.p[i] - s.q[i] - m, 2) / DRAWS;
    print_message("%-34s KL(p || q) = %7.4f +- %.4f nats, %zu parameters\n", what, m,
                  sqrt(v / DRAWS), r->net.q.prog.nparam);
    free(s.x), free(s.q), free(s.p);
    training_free(r);
    return m;
}

/* ---- the tree, exactly -------------------------------------------------------------- */

enum { N = 31, LATENT = 15 };

/* The joint covariance, from the weights: x_i = w_i x_parent + e_i. */
static void covariance(const double *w, double c[N][N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++) {
            int pa = (i + 1) / 2 - 1;
            double v = i == 0   ? 1
                       : i == j ? w[i] * w[i] * c[pa][pa] + 1
                                : w[i] * (j <= pa ? c[pa][j] : c[j][pa]);
            c[i][j] = c[j][i] = v;
        }
}

/* Coefficients of v on its parents and what is left of its variance, by elimination. */
static double regress(double c[N][N], int v, const int *pa, int n, double *coef)
{
    double a[N][N + 1];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) a[i][j] = c[pa[i]][pa[j]];
        a[i][n] = c[pa[i]][v];
    }
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++) {
            double f = a[i][k] / a[k][k];
            for (int j = k; j <= n && i != k; j++) a[i][j] -= f * a[k][j];
        }
    double left = c[v][v];
    for (int i = 0; i < n; i++) {
        coef[i] = a[i][n] / a[i][i];
        left -= coef[i] * c[pa[i]][v];
    }
    return left;
}

/* Adds log of the best Gaussian factor of v given pa to out. */
static void add_factor(double c[N][N], int v, const int *pa, int n, const double *x, double *out)
{
    double coef[N], s = regress(c, v, pa, n, coef);
    for (int i = 0; i < DRAWS; i++) {
        double d = x[(size_t)v * DRAWS + (size_t)i];
        for (int k = 0; k < n; k++) d -= coef[k] * x[(size_t)pa[k] * DRAWS + (size_t)i];
        out[i] += -0.5 * log(2 * M_PI * s) - d * d / (2 * s);
    }
}

/* The entropy of the best factors, in closed form. */
static double entropy(double c[N][N], int v, const int *pa, int n)
{
    double coef[N];
    return 0.5 * log(2 * M_PI * M_E * regress(c, v, pa, n, coef));
}

static void trees(void **state)
{
    static const struct {
        const char *what, *method, *mode;
        const struct arch *arch;
        int hidden, faithful;
    } net[] = {
        {"tree, reverse, made 360", "nami", "reverse", &arch_made, 360, 1},
        {"tree, reverse, mlp 32", "nami", "reverse", &arch_mlp, 32, 1},
        {"tree, forward, mlp 32", "nami", "forward", &arch_mlp, 32, 1},
        {"tree, Stuhlmueller, to its best", "stuhlmuller", "best", &arch_mlp, 32, 0},
    };
    double c[N][N] = {{0}}, gap = 0;
    (void)state;
    for (size_t k = 0; k < sizeof net / sizeof *net; k++) {
        struct training r;
        train_it(&r, &(struct setup){.file = SOURCE_DIR "/examples/models/tree.nami",
                                     .data = SOURCE_DIR "/examples/models/tree.json",
                                     .method = net[k].method,
                                     .mode = net[k].mode,
                                     .family = "match",
                                     .arch = net[k].arch,
                                     .hidden = net[k].hidden,
                                     .skip = 1,
                                     .steps = 4000});
        const struct value *w = dataset_find(&r.net.model->source.data.set.a[0], "w", 1);
        covariance(w->x, c);
        struct sample s = draw(&r);
        gap = 0;
        for (int v = 0; v < LATENT; v++) {
            int pa[N], n = 0, two[2] = {2 * v + 1, 2 * v + 2};
            for (int j = LATENT; j < N; j++) pa[n++] = j;
            for (int j = 0; j < v; j++) pa[n++] = j;
            if (net[k].faithful)
                add_factor(c, v, pa, n, s.x, s.p);
            else
                add_factor(c, v, two, 2, s.x, s.p); /* the best it can do */
            gap += entropy(c, v, two, 2) - entropy(c, v, pa, n);
        }
        double d = kl(net[k].what, &r, s);
        assert_true(d > -0.005 && d < 0.02);
    }
    print_message("Stuhlmueller's best is %.4f nats from the posterior\n", gap);
    assert_true(gap > 0.5);
}

/* ---- universal families ------------------------------------------------------------------------
 */

static const char banana[] = "model {\n"
                             "  z[1] ~ normal(0, 1)\n"
                             "  z[2] ~ normal(0, 1)\n"
                             "  x ~ normal(z[2] + z[1]^2, 0.3)\n"
                             "}\n"
                             "observe x\n";

static double log_normal(double x, double m, double s)
{
    return -0.5 * log(2 * M_PI) - log(s) - 0.5 * (x - m) * (x - m) / (s * s);
}

/* z[2] is integrated in closed form, z[1] by the trapezoid rule. */
static double banana_evidence(double x)
{
    double sum = 0, h = 0.004;
    for (double z = -7; z <= 7; z += h)
        sum += exp(log_normal(z, 0, 1) + log_normal(x, z * z, sqrt(1.09)));
    return log(h * sum);
}

/* Two crescents, back to back, turned by 45 degrees. */
static const char moons[] = "model {\n"
                            "  z[1] ~ normal(0, 1)\n"
                            "  z[2] ~ normal(0, 1)\n"
                            "  x ~ normal(abs(z[1] + z[2]) / sqrt(2) - (z[1] - z[2])^2 / 2, 0.25)\n"
                            "}\n"
                            "observe x\n";

static double moons_evidence(double x)
{
    double sum = 0, h = 0.03;
    for (double u = h / 2; u <= 6; u += h)
        for (double v = h / 2; v <= 6; v += h) /* even in both */
            sum +=
                4 * exp(log_normal(u, 0, 1) + log_normal(v, 0, 1) + log_normal(x, u - v * v, 0.25));
    return log(h * h * sum);
}

/* Tabulated, since there are many draws. */
static void posterior(struct training *r, struct sample *s, double (*evidence)(double))
{
    enum { GRID = 1500 };
    static double table[GRID + 1];
    const double *x = NULL;
    double lo = 1e9, hi = -1e9;
    nami_err err;
    for (size_t a = 0; a < r->net.model->ir.arrays.n; a++)
        if (strcmp(r->net.model->ir.arrays.a[a].name, "x") == 0)
            x = s->x + (size_t)r->net.model->ir.row[r->net.model->ir.arrays.a[a].first] * DRAWS;
    assert_non_null(x);
    for (int i = 0; i < DRAWS; i++) lo = fmin(lo, x[i]), hi = fmax(hi, x[i]);
    for (int i = 0; i <= GRID; i++) table[i] = evidence(lo + (hi - lo) * i / GRID);
    struct density d = {.logp = s->p};
    assert_int_equal(model_logp(r->net.model, DRAWS, s->x, 2, &d, &err), 0);
    for (int i = 0; i < DRAWS; i++) {
        double t = (x[i] - lo) / (hi - lo) * GRID;
        int k = t < GRID ? (int)t : GRID - 1;
        s->p[i] -= table[k] + (t - k) * (table[k + 1] - table[k]);
    }
}

static void shapes(void **state)
{
    static const struct {
        const char *what, *text;
        double (*evidence)(double);
    } model[] = {{"banana", banana, banana_evidence}, {"two moons", moons, moons_evidence}};
    static const char *const family[] = {"match", "spline", "naf"};
    (void)state;
    for (int m = 0; m < 2; m++)
        for (int f = 0; f < 3; f++) {
            struct training r;
            char what[64];
            snprintf(what, sizeof what, "%s, %s", model[m].what, family[f]);
            train_it(&r, &(struct setup){.text = model[m].text,
                                         .family = family[f],
                                         .arch = &arch_mlp,
                                         .hidden = 64,
                                         .steps = 6000});
            struct sample s = draw(&r);
            posterior(&r, &s, model[m].evidence);
            double d = kl(what, &r, s);
            assert_true(d > -0.01);
            if (f)
                assert_true(d < 0.05);
            else
                assert_true(d > 0.1);
        }
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(trees), cmocka_unit_test(shapes)};

RUN(tests)
