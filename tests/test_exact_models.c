/* test_exact_models.c: exact inference in discrete models: tables agree with densities,
   posteriors with enumeration and a forward-backward pass; which models are refused, and why.
   */
#include "base/clock.h"
#include "exact_states.h"
#include "model/model.h"

/* ---- models ------------------------------------------------------------------------- */

/* Tables are those of model_logp at every point. */
static void model_is(struct model *m, const struct dnet *d)
{
    int *x = calloc((size_t)d->n, sizeof *x), *none = calloc((size_t)d->n, sizeof *none);
    double *row = calloc((size_t)m->ir.num_rows, sizeof *row), lp;
    for (int v = 0; v < d->n; v++) none[v] = -1;
    do {
        for (int v = 0; v < d->n; v++) row[d->row[v]] = d->low[v] + x[v];
        logp(m, 1, row, 1, (struct density){.logp = &lp});
        close_to(log_p(d, x), lp);
    } while (next(d, none, x));
    free(x);
    free(none);
    free(row);
}

static void test_models(void **state)
{
    (void)state;
    static const struct {
        const char *text, *data;
    } t[] = {
        {"model { a ~ bernoulli(0.3)  k <- 1 + a  b ~ categorical(p[k, ])  c ~ binomial(3, q[b])\n"
         "d ~ dbern(ilogit(c - a))  e ~ poisson(2 + d) T(1, 4) }\nobserve d\nconst p[2, 3], q[3]",
         "{\"p\": [[0.2, 0.5, 0.3], [0.1, 0, 0.9]], \"q\": [0.1, 0.5, 0.8], \"d\": 1}"},
        {"model { z[1] ~ categorical(c(0.5, 0.5))\n for (t in 2:6) { z[t] ~ categorical(A[z[t-1], "
         "]) }\n"
         "for (t in 1:6) { y[t] ~ bernoulli(b[z[t]]) } }\nobserve y\nconst A[2, 2], b[2]",
         "{\"A\": [[0.9, 0.1], [0.2, 0.8]], \"b\": [0.3, 0.6], \"y\": [1, 0, null, 1, 1, 0]}"},
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct model m;
        struct dnet d;
        nami_err err = {0};
        int given[16];
        build(&m, t[i].text, t[i].data);
        if (dnet_read(&m, &d, &err)) fail_msg("%s", err.msg);
        model_is(&m, &d);
        if (dnet_evidence(&d, &m, m.source.data.set.a, given, &err)) fail_msg("%s", err.msg);
        is_exact(&d, given, 1);
        dnet_free(&d);
        model_fini(&m);
    }
    struct model m = {0};
    struct dnet d;
    nami_err err = {0};
    const char *data = "examples/models/student.json";
    int given[8];
    if (model_read(&m, "examples/models/student.nami", &data, 1, NULL, &err))
        fail_msg("%s", err.msg);
    if (dnet_read(&m, &d, &err)) fail_msg("%s", err.msg);
    model_is(&m, &d);
    if (dnet_evidence(&d, &m, m.source.data.set.a, given, &err)) fail_msg("%s", err.msg);
    is_exact(&d, given, 1);
    dnet_free(&d);
    model_fini(&m);
    say("models");
}

/* 3000 times of a hidden Markov chain: forwards and backwards, in logarithms. */
static void test_chain(void **state)
{
    (void)state;
    enum { T = 3000 };
    struct model m;
    struct dnet d;
    struct ctree t;
    struct str data = {0};
    nami_err err = {0};
    static double f[T][2], b[T][2];
    static int y[T];
    struct rng r;
    double A[2][2] = {{0.99, 0.01}, {0.02, 0.98}}, E[2][2] = {{0.6, 0.4}, {0.1, 0.9}};
    rng_init(&r, 1, 0);
    str_put(&data, "{\"A\": [[0.99, 0.01], [0.02, 0.98]], \"b\": [0.4, 0.9], \"y\": [");
    for (int i = 0; i < T; i++) {
        y[i] = rng_below(&r, 100) < (i / 500 % 2 ? 90 : 40);
        str_printf(&data, "%s%d", i ? ", " : "", y[i]);
    }
    str_put(&data, "]}");
    build(&m,
          "model { z[1] ~ categorical(c(0.5, 0.5))\n"
          "for (t in 2:3000) { z[t] ~ categorical(A[z[t-1], ]) }\n"
          "for (t in 1:3000) { y[t] ~ bernoulli(b[z[t]]) } }\nobserve y\nconst A[2, 2], b[2]",
          data.s);
    int *given = calloc(2 * T, sizeof *given);
    double t0 = clock_now();
    if (dnet_read(&m, &d, &err)) fail_msg("%s", err.msg);
    double t1 = clock_now();
    if (dnet_evidence(&d, &m, m.source.data.set.a, given, &err)) fail_msg("%s", err.msg);
    tree_of(&d, given, CTREE_MOST, &t);
    double t2 = clock_now(), logz = 0;
    calibrate(&t);
    print_message("3000 times: tables %.3f s, tree %.3f s, calibrated %.3f s\n", t1 - t0, t2 - t1,
                  clock_now() - t2);
    for (int i = 0; i < T; i++) {
        double s = 0;
        for (int k = 0; k < 2; k++) {
            f[i][k] = i ? f[i - 1][0] * A[0][k] + f[i - 1][1] * A[1][k] : 0.5;
            s += f[i][k] *= E[k][y[i]];
        }
        for (int k = 0; k < 2; k++) f[i][k] /= s;
        logz += log(s);
    }
    close_to(t.log_evidence, logz);
    for (int i = T - 1; i >= 0; i--) {
        double s = 0, p[2];
        for (int k = 0; k < 2; k++) {
            b[i][k] = i == T - 1 ? 1 : 0;
            for (int j = 0; j < 2 && i < T - 1; j++)
                b[i][k] += A[k][j] * E[j][y[i + 1]] * b[i + 1][j];
        }
        for (int k = 0; k < 2; k++) s += b[i][k];
        for (int k = 0; k < 2; k++) b[i][k] /= s;
        s = f[i][0] * b[i][0] + f[i][1] * b[i][1];
        int v = 0;
        while (d.row[v] != row_of(&m, "z", i)) v++;
        ctree_marginal(&t, v, p);
        for (int k = 0; k < 2; k++) close_to(p[k], f[i][k] * b[i][k] / s);
    }
    say("hidden Markov chain");
    free(given);
    str_free(&data);
    ctree_free(&t);
    dnet_free(&d);
    model_fini(&m);
}

/* A class with 3000 observed children, first against it and then for it: nothing is lost on the
 * way. */
static void test_no_underflow(void **state)
{
    (void)state;
    struct model m;
    struct dnet d;
    struct ctree t;
    struct str data = {0};
    nami_err err = {0};
    double p[2];
    build(&m,
          "model { z ~ bernoulli(0.5)\n for (i in 1:3000) { y[i] ~ bernoulli(ifelse(z > 0, 0.001, "
          "0.999)) } }\nobserve y",
          NULL);
    if (dnet_read(&m, &d, &err)) fail_msg("%s", err.msg);
    int *given = calloc((size_t)d.n, sizeof *given);
    for (int v = 0; v < d.n; v++) given[v] = v < 1500; /* node 0 is z */
    given[0] = -1;
    given[d.n - 1] = 1;
    tree_of(&d, given, CTREE_MOST, &t);
    calibrate(&t);
    ctree_marginal(&t, 0, p);
    assert_true(fabs(p[1] - 0.5) < 1e-8); /* 1499 + 1 ones, 1500 zeros; logarithms of 10^4 */
    str_free(&data);
    free(given);
    ctree_free(&t);
    dnet_free(&d);
    model_fini(&m);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
        int line;
    } t[] = {
        {"model { a ~ bernoulli(0.5)\n b ~ normal(a, 1) }", "b ~ normal is continuous", 2},
        {"model { a ~ poisson(3) }", "a ~ poisson has infinitely many values", 1},
        {"model { a[1:3] ~ multinomial(5, c(0.2, 0.3, 0.5)) }", "a[1:3] ~ multinomial is a vector",
         1},
        {"model { a ~ categorical(c(0.5, 0.5))\n b ~ bernoulli(2 * a) }", "sum to", 2},
    };
    struct model m;
    struct dnet d;
    nami_err err = {0};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        m = (struct model){0};
        if (build_with(&m, NATIVE, t[i].text, NULL, NULL) == 0) {
            assert_int_equal(dnet_read(&m, &d, &err), NAMI_EINPUT);
            if (!strstr(err.msg, t[i].why) || err.line != t[i].line)
                fail_msg("%s\nline %d: %s", t[i].text, err.line, err.msg);
        }
        model_fini(&m);
    }
    build(&m,
          "model { for (i in 1:30) { a[i] ~ bernoulli(0.5) }  s <- sum(a)  b ~ bernoulli(s / 30) }",
          NULL);
    assert_int_equal(dnet_read(&m, &d, &err), NAMI_ELIMIT);
    assert_non_null(strstr(err.msg, "the table of b has 2.15e+09 entries"));
    model_fini(&m);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_models),
    cmocka_unit_test(test_chain),
    cmocka_unit_test(test_no_underflow),
    cmocka_unit_test(test_refused),
};

RUN(tests)
