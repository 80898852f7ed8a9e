/* test_infer.c: draws from networks have the density log q for any number of threads, and
   after training follow the model's posterior. */
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/blocks.h"
#include "infer/infer.h"
#include "model/eval.h"
#include "model/model.h"
#include "train/training.h"

/* ---- a network for a text, trained a little ---------------------------------------------------
 */

static void train_text(struct training *r, const char *text, const char *data, const char *family,
                       const struct arch *arch, int steps)
{
    nami_err err = {0};
    struct source *s;
    int checked, rc;
    memset(r, 0, sizeof *r);
    r->net.model = r->net.own_model = model_new();
    r->net.plan = (struct plan){.invert = {.exact = "none"},
                            .net = {.family = family_find(family, strlen(family)),
                                    .arch = arch,
                                    .nhidden = 2,
                                    .hidden = {24, 24},
                                    .act = ACT_RELU,
                                    .skip = 1},
                            .train = {.steps = steps,
                                      .batch = 100,
                                      .rate = 3e-3,
                                      .check = 500,
                                      .valid = 500,
                                      .patience = 100,
                                      .cooldown = 0.5}};
    rc = data ? data_parse(&r->net.model->source.data, data, strlen(data), &err) : 0;
    if (!rc) rc = model_parse(r->net.model, "model", text, strlen(text), NATIVE, NULL, &err);
    if (!rc) rc = training_prepare(r, 2, &err);
    if (!rc) rc = source_model(r->net.model, 1, 100, 500, &s, &err);
    if (!rc) rc = training_start(r, s, 2, &err);
    while (!rc && !r->train.done) rc = train_step(&r->train, &checked, &err);
    if (rc) fail_msg("%s", err.msg);
}

static const char zoo[] = "model {\n"
                          "  m[1:2] ~ multi_normal(c(0, 0), diag(c(1, 4)))\n"
                          "  p[1:3] ~ dirichlet(c(2, 2, 2))\n"
                          "  s ~ gamma(3, 2)\n"
                          "  u ~ uniform(2, 5)\n"
                          "  b ~ bernoulli(0.3)\n"
                          "  w ~ beta(2, 3)\n"
                          "  for (i in 1:4) { k[i] ~ categorical(p[1:3])\n"
                          "    y[i] ~ normal(m[1] + k[i] * u + b, s) }\n"
                          "  t ~ normal(m[2] * w, 1)\n"
                          "  n ~ poisson(u * 2)\n"
                          "  next ~ normal(m[1], s)\n"
                          "  half <- next / 2\n"
                          "}\n"
                          "observe y, t, n\n";

enum { SETS = 3, PER = 40, N = SETS * PER };

static int row_of(const struct model *m, const char *name)
{
    for (size_t a = 0; a < m->ir.arrays.n; a++)
        if (strcmp(m->ir.arrays.a[a].name, name) == 0) return m->ir.row[m->ir.arrays.a[a].first];
    fail_msg("no %s", name);
    return -1;
}

static void consistent(void **state)
{
    static const char *const family[] = {"match", "mixture", "spline", "naf"};
    (void)state;
    for (int f = 0; f < 4; f++)
        for (int kind = -1; kind < 0 || net_archs[kind]; kind++) {
            struct training r;
            struct infer a;
            nami_err err;
            const struct arch *arch = kind < 0 ? NULL : net_archs[kind];
            train_text(&r, zoo, NULL, family[f], arch, 20);
            size_t rows = (size_t)r.net.model->ir.num_rows;
            double *x = calloc(rows * SETS, sizeof *x), *z = calloc(rows * N, sizeof *z);
            double *z2 = calloc(rows * N, sizeof *z), q[N], q2[N];
            assert_true(x && z && z2);
            assert_int_equal(model_simulate(r.net.model, 5, 0, SETS, 1, x, &err), 0);
            assert_int_equal(infer_init(&a, &r.net.q, r.train.best_param, &err), 0);
            struct query ask = {.x = x, .nset = SETS, .per = PER, .seed = 9};
            assert_int_equal(infer_draws(&a, &ask, 0, N, 1, z, q, NULL, &err), 0);
            /* the density of the draws, from the other program */
            assert_int_equal(infer_logq(&a, N, z, 2, q2, &err), 0);
            for (int i = 0; i < N; i++) {
                if (!isfinite(q[i]) || fabs(q[i] - q2[i]) > 2e-3 * (1 + fabs(q[i])))
                    fail_msg("%s, %s: log q %g, but %g", family[f], arch_name(arch), q[i], q2[i]);
            }
            /* threads, and pieces, change nothing */
            assert_int_equal(infer_draws(&a, &ask, 0, N, 3, z2, q2, NULL, &err), 0);
            assert_memory_equal(z, z2, rows * N * sizeof *z);
            assert_memory_equal(q, q2, sizeof q);
            static const size_t from[] = {64, 5, 119, 0}, to[] = {N, 111, N, 3};
            for (int c = 0; c < 4; c++) {
                size_t n = to[c] - from[c];
                assert_int_equal(infer_draws(&a, &ask, from[c], n, 2, z2, q2, NULL, &err), 0);
                assert_memory_equal(q2, q + from[c], n * sizeof *q);
                for (size_t k = 0; k < rows; k++)
                    assert_memory_equal(z2 + k * n, z + k * N + from[c], n * sizeof *z);
            }
            /* inside the support; log p is finite; what is computed is computed */
            double lp[N];
            struct density d = {.logp = lp};
            assert_int_equal(model_logp(r.net.model, N, z, 1, &d, &err), 0);
            int next = row_of(r.net.model, "next"), half = row_of(r.net.model, "half"), y = row_of(r.net.model, "y");
            for (size_t i = 0; i < N; i++) {
                assert_true(isfinite(lp[i]));
                assert_true(z[(size_t)half * N + i] == z[(size_t)next * N + i] / 2);
                assert_true(z[(size_t)y * N + i] == x[(size_t)y * SETS + i / PER]);
            }
            free(x), free(z), free(z2);
            infer_fini(&a);
            training_free(&r);
        }
}

/* ---- block by block -------------------------------------------------------------------- */

/* All draws of a query, with everything that belongs to them, in blocks of about so many numbers.
 */
struct fed {
    double *z, *pred, *logw, *logp, *logq; /* z[row * n + i] */
    struct diagnostics found[SETS];
    int blocks;
};

static double *copy_rows(double *to, const double *from, size_t rows, size_t n,
                         const struct answer *a)
{
    if (!from) return to;
    if (!to) assert_non_null(to = calloc(rows * n, sizeof *to));
    for (size_t r = 0; r < rows; r++)
        memcpy(to + r * n + a->first, from + r * a->n, a->n * sizeof *to);
    return to;
}

static struct fed feed_all(const struct infer *a, const struct query *q, const struct infer_method *method,
                           int threads, size_t numbers)
{
    size_t rows = (size_t)a->q->model->ir.num_rows, n = q->nset * q->per, at = 0;
    struct fed r = {0};
    struct blocks f;
    nami_err err;
    assert_int_equal(blocks_init(&f, a, q, method, 1, threads, numbers, &err), 0);
    while (blocks_more(&f)) {
        struct answer x;
        if (blocks_next(&f, &x, &err)) fail_msg("%s", err.msg);
        assert_true(x.n == 0 || (x.first == at && x.n <= f.block + q->per));
        r.z = copy_rows(r.z, x.n ? x.z : NULL, rows, n, &x);
        r.pred = copy_rows(r.pred, x.n ? x.pred : NULL, rows, n, &x);
        r.logw = copy_rows(r.logw, x.n ? x.logw : NULL, 1, n, &x);
        r.logp = copy_rows(r.logp, x.n ? x.logp : NULL, 1, n, &x);
        r.logq = copy_rows(r.logq, x.n ? x.logq : NULL, 1, n, &x);
        at += x.n;
        r.blocks++;
        answer_free(&x);
    }
    assert_true(at == n && f.done == f.work);
    memcpy(r.found, f.found, sizeof r.found);
    blocks_fini(&f);
    return r;
}

static void free_fed(struct fed *r)
{
    free(r->z), free(r->pred), free(r->logw), free(r->logp), free(r->logq);
}

/* Pieces of data sets or many at once, on any number of threads: the same bits. */
static void blocks(void **state)
{
    enum { EACH = 1001, ALL = SETS * EACH };
    struct training r;
    struct infer a;
    nami_err err;
    (void)state;
    train_text(&r, zoo, NULL, "match", NULL, 20);
    size_t rows = (size_t)r.net.model->ir.num_rows;
    double *x = calloc(rows * SETS, sizeof *x);
    assert_non_null(x);
    assert_int_equal(model_simulate(r.net.model, 5, 0, SETS, 1, x, &err), 0);
    assert_int_equal(infer_init(&a, &r.net.q, r.train.best_param, &err), 0);
    struct query ask = {.x = x, .nset = SETS, .per = EACH, .seed = 9};
    for (int i = 0; infer_methods[i]; i++) {
        const struct infer_method *method = infer_methods[i];
        struct answer whole;
        if (!method->streams) continue;
        assert_int_equal(answer_sets(&a, &ask, method, 0, SETS, 1, 1, &whole, &err), 0);
        for (int c = 0; c < 4; c++) {
            static const size_t numbers[] = {1 << 22, 110000, 40000, 4000};
            struct fed f = feed_all(&a, &ask, method, 1 + c % 3, numbers[c]);
            assert_int_equal(f.blocks > 1, c > 0);
            assert_memory_equal(f.z, whole.z, rows * ALL * sizeof *x);
            assert_memory_equal(f.pred, whole.pred, rows * ALL * sizeof *x);
            assert_memory_equal(f.logq, whole.logq, ALL * sizeof *x);
            assert_int_equal(f.logw != NULL, method == &infer_is);
            if (f.logw) {
                assert_memory_equal(f.logw, whole.logw, ALL * sizeof *x);
                assert_memory_equal(f.logp, whole.logp, ALL * sizeof *x);
                assert_memory_equal(f.found, whole.found, sizeof f.found);
            } else
                assert_true(isnan(f.found[SETS - 1].khat));
            free_fed(&f);
        }
        answer_free(&whole);
    }
    free(x);
    infer_fini(&a);
    training_free(&r);
}

/* ---- a posterior that is known ------------------------------------------------------------------
 */

/* a ~ N(0,1), y_i ~ N(a, 1): a | y ~ N(sum / (n + 1), 1 / (n + 1)); next | y follows. */
static void known(void **state)
{
    enum { M = 40000 };
    struct training r;
    struct infer a;
    nami_err err;
    (void)state;
    train_text(&r,
               "model { a ~ normal(0, 1)\n for (i in 1:4) { y[i] ~ normal(a, 1) }\n"
               " next ~ normal(a, 1) }\nobserve y\n",
               NULL, "match", NULL, 3000);
    size_t rows = (size_t)r.net.model->ir.num_rows;
    double *x = calloc(rows, sizeof *x), *z = calloc(rows * M, sizeof *z),
           *pred = calloc(rows * M, sizeof *pred);
    assert_true(x && z && pred);
    for (int i = 0; i < 4; i++) x[row_of(r.net.model, "y") + i] = 0.5 * i;
    assert_int_equal(infer_init(&a, &r.net.q, r.train.best_param, &err), 0);
    struct query ask = {.x = x, .nset = 1, .per = M, .seed = 4};
    assert_int_equal(infer_draws(&a, &ask, 0, M, 2, z, NULL, pred, &err), 0);
    const char *name[] = {"a", "next", "y"};
    const double mean[] = {0.6, 0.6, 0.6}, var[] = {0.2, 1.2, 1.2};
    for (int k = 0; k < 3; k++) {
        const double *v = (k == 2 ? pred : z) + (size_t)row_of(r.net.model, name[k]) * M;
        double s = 0, ss = 0;
        for (int i = 0; i < M; i++) s += v[i] / M;
        for (int i = 0; i < M; i++) ss += (v[i] - s) * (v[i] - s) / M;
        print_message("%-5s mean %.4f (%.4f), variance %.4f (%.4f)\n", name[k], s, mean[k], ss,
                      var[k]);
        assert_true(fabs(s - mean[k]) < 0.03 && fabs(ss / var[k] - 1) < 0.06);
    }
    /* given draws, the same is predicted; other numbers predict anew */
    const double *was = pred + (size_t)row_of(r.net.model, "y") * M;
    double *again = calloc(rows * M, sizeof *again);
    assert_non_null(again);
    for (uint64_t first = 0; first < 2 * M; first += M) {
        const double *now = again + (size_t)row_of(r.net.model, "y") * M;
        int same = 0;
        assert_int_equal(infer_predict(&a, M, z, 4, first, first ? 1 : 3, again, &err), 0);
        for (int i = 0; i < 4 * M; i++) same += now[i] == was[i];
        assert_true(first ? same < 10 : same == 4 * M);
    }
    free(again);
    free(x), free(z), free(pred);
    infer_fini(&a);
    training_free(&r);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(consistent), cmocka_unit_test(blocks),
                                          cmocka_unit_test(known)};
RUN(tests)
