/* test_exact_known.c: exact inference in linear Gaussian networks where the answer is known: a
   Kalman smoother, sums; draws; which models are refused, and why. */
#include "base/clock.h"
#include "base/file.h"
#include "exact_gauss_at.h"
#include "model/model.h"

/* ---- a Kalman smoother -------------------------------------------------------------- */

static void smoother_is(const struct model *m, int T, const double *y)
{
    enum { MOST_T = 10000 };
    struct gnet g;
    struct gpost p;
    nami_err err = {0};
    double a = 0.9, q = 0.25, r = 1, *variance = calloc((size_t)T, sizeof *variance);
    static double fm[MOST_T], fp[MOST_T], pm[MOST_T], pp[MOST_T], sm[MOST_T], sp[MOST_T];
    double logp = 0, t0 = clock_now();
    read_net((struct model *)m, &g);
    double t1 = clock_now();
    for (int t = 0; t < T; t++) {
        pm[t] = t ? a * fm[t - 1] : 0;
        pp[t] = t ? a * a * fp[t - 1] + q : q / (1 - a * a);
        double S = pp[t] + r, K = pp[t] / S, e = y[t] - pm[t];
        logp += -0.5 * (log(2 * M_PI * S) + e * e / S);
        fm[t] = pm[t] + K * e;
        fp[t] = (1 - K) * pp[t];
    }
    sm[T - 1] = fm[T - 1], sp[T - 1] = fp[T - 1];
    for (int t = T - 2; t >= 0; t--) {
        double J = fp[t] * a / pp[t + 1];
        sm[t] = fm[t] + J * (sm[t + 1] - pm[t + 1]);
        sp[t] = fp[t] + J * J * (sp[t + 1] - pp[t + 1]);
    }
    double *x = evidence(&g, m), t2 = clock_now();
    if (gpost_new(&g, x, &p, &err)) fail_msg("%s", err.msg);
    double t3 = clock_now();
    if (gpost_variances(&p, variance, &err)) fail_msg("%s", err.msg);
    print_message("%d times: recognised %.3f s, posterior %.3f s, its variances %.3f s\n", T,
                  t1 - t0, t3 - t2, clock_now() - t3);
    assert_int_equal(p.nz, T);
    for (int t = 0; t < T; t++) {
        assert_int_equal(g.row[p.z[t]], row_of(m, "x", t));
        close_to(p.x[p.z[t]], sm[t]);
        close_to(variance[t], sp[t]);
    }
    close_to(p.log_evidence, logp);
    free(x);
    free(variance);
    gpost_free(&p);
    gnet_free(&g);
}

static void test_kalman(void **state)
{
    (void)state;
    struct model m;
    read_file(&m, "examples/models/lgssm.nami", "examples/models/lgssm.json", NULL);
    smoother_is(&m, 100, dataset_find(m.source.data.set.a, "y", 1)->x);
    model_fini(&m);
    struct str data = {0};
    struct str text = {0};
    nami_err err = {0};
    struct rng rng;
    rng_init(&rng, 6, 0);
    str_put(&data, "{\"T\": 10000, \"y\": [");
    for (int t = 0; t < 10000; t++) str_printf(&data, "%s%.17g", t ? ", " : "", rng_normal(&rng));
    str_put(&data, "]}");
    if (file_read("examples/models/lgssm.nami", &text, &err)) fail_msg("%s", err.msg);
    build(&m, text.s, data.s);
    smoother_is(&m, 10000, dataset_find(m.source.data.set.a, "y", 1)->x);
    model_fini(&m);
    str_free(&data);
    str_free(&text);
    say("Kalman smoother");
}

/* n standard normals, of which the sum is seen with noise: dense, and known. */
static void test_dense(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    enum { N = 300 };
#else
    enum { N = 2000 };
#endif
    struct model m;
    struct gnet g;
    struct gpost p;
    nami_err err = {0};
    char text[128];
    snprintf(
        text, sizeof text,
        "model { for (i in 1:%d) { x[i] ~ normal(0, 1) }  y ~ normal(sum(x[]), 1) }\nobserve y", N);
    build(&m, text, "{\"y\": 7}");
    double t0 = clock_now();
    read_net(&m, &g);
    double *x = evidence(&g, &m), *cov = calloc((size_t)N * N, sizeof *cov), t1 = clock_now();
    if (gpost_new(&g, x, &p, &err)) fail_msg("%s", err.msg);
    double t2 = clock_now();
    if (gpost_cov(&p, cov, &err)) fail_msg("%s", err.msg);
    print_message("%d dense: recognised %.3f s, posterior %.3f s, its covariance %.3f s\n", N,
                  t1 - t0, t2 - t1, clock_now() - t2);
    for (int i = 0; i < N; i++) {
        close_to(p.x[p.z[i]], 7.0L / (N + 1));
        close_to(cov[i * N + i], 1 - 1.0L / (N + 1));
        if (i) close_to(cov[i * N], -1.0L / (N + 1));
    }
    close_to(p.log_evidence,
             -0.5L * (logl(2 * 3.14159265358979323846264338L * (N + 1)) + 49.0L / (N + 1)));
    say("dense");
    free(x), free(cov);
    gpost_free(&p);
    gnet_free(&g);
    model_fini(&m);
}

/* ---- draws -------------------------------------------------------------------------- */

/* The same for any threads and any piece; moments within five standard errors. */
static void test_draws(void **state)
{
    (void)state;
    enum { N = 40000 };
    struct model m;
    struct gnet g;
    struct gpost p;
    nami_err err = {0};
    build(&m,
          "model { a ~ normal(1, 2)  b ~ normal(3 * a, 1)  c ~ normal(a - b, 0.5)"
          "  y ~ normal(c + a, 1) }  observe y",
          "{\"y\": 4}");
    read_net(&m, &g);
    double *x = evidence(&g, &m), cov[9];
    double *u = calloc((size_t)g.n * N, sizeof *u), *v = calloc((size_t)g.n * N, sizeof *v);
    if (gpost_new(&g, x, &p, &err) || gpost_cov(&p, cov, &err)) fail_msg("%s", err.msg);
    assert_int_equal(gpost_draw(&p, 5, 0, N, 1, u, &err), 0);
    assert_int_equal(gpost_draw(&p, 5, 0, N, 3, v, &err), 0);
    assert_memory_equal(u, v, sizeof *u * (size_t)g.n * N);
    assert_int_equal(gpost_draw(&p, 5, 100, 50, 2, v, &err), 0);
    for (int i = 0; i < g.n; i++)
        for (int k = 0; k < 50; k++) assert_true(v[i * 50 + k] == u[i * N + 100 + k]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++) {
            double mi = p.x[p.z[i]], mj = p.x[p.z[j]], s = 0, mean = 0;
            for (int k = 0; k < N; k++) {
                mean += u[p.z[i] * N + k] / N;
                s += (u[p.z[i] * N + k] - mi) * (u[p.z[j] * N + k] - mj) / N;
            }
            assert_true(fabs(mean - mi) < 5 * sqrt(cov[i * 4] / N));
            assert_true(fabs(s - cov[i * 3 + j]) <
                        5 * sqrt((cov[i * 4] * cov[j * 4] + cov[i * 3 + j] * cov[i * 3 + j]) / N));
        }
    free(x), free(u), free(v);
    gpost_free(&p);
    gnet_free(&g);
    model_fini(&m);
}

/* ---- what is not -------------------------------------------------------------------- */

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
        int line;
    } t[] = {
        {"model { a ~ normal(0, 1)\n b ~ gamma(2, 1) }", "b is distributed as gamma", 2},
        {"model { a ~ normal(0, 1) T(0,) }", "a is a truncated normal", 1},
        {"model { a ~ normal(0, 1)\n for (i in 1:3) {\n b[i] ~ normal(exp(a), 1) } }",
         "the mean of b[i] is not affine in the random variables, because of exp", 3},
        {"model { a ~ normal(0, 1)\n m <- a * a\n b ~ normal(m, 1) }", "because of *", 3},
        {"model { a ~ normal(0, 1)\n m <- 1 / a\n k <- m + 2\n b ~ normal(3 * k, 1) }",
         "because of /", 4},
        {"model { a ~ normal(0, 1)\n b ~ normal(0, exp(a)) }",
         "the sd of b depends on random variables", 2},
        {"model { a ~ normal(0, 1)\n b ~ normal(max(a, 1000000), 1) }", "because of max", 2},
        {"model { a ~ normal(0, 1)\n b ~ normal(ifelse(a > 1.0E9, 1, a), 1) }", "because of >", 2},
        {"model { a ~ normal(0, 1)\n b[1:2] ~ multi_normal(c(a, a^2), diag(c(1, 1))) }",
         "because of square", 2},
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct model m;
        struct gnet g;
        nami_err err = {0};
        build(&m, t[i].text, NULL);
        assert_int_equal(gnet_read(&m, &g, &err), NAMI_EINPUT);
        if (!strstr(err.msg, t[i].why) || err.line != t[i].line)
            fail_msg("%s\nline %d: %s", t[i].text, err.line, err.msg);
        model_fini(&m);
    }
}

/* A small coefficient beside a large constant is not lost: the difference of b's means at a = 1 and
   0 would have but four digits. */
static void test_small_coefficients(void **state)
{
    (void)state;
    struct model m;
    struct gnet g;
    build(&m, "model { a ~ normal(0, 1)\n k <- 1.0E9 + 1.0E-3 * a\n b ~ normal(k / 3, 1) }", NULL);
    read_net(&m, &g);
    assert_true(g.f[1].b[0] == 1e-3 / 3);
    assert_true(g.f[1].a[0] == 1e9 / 3);
    gnet_free(&g);
    model_fini(&m);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_kalman),
    cmocka_unit_test(test_dense),
    cmocka_unit_test(test_draws),
    cmocka_unit_test(test_refused),
    cmocka_unit_test(test_small_coefficients),
};

RUN(tests)
