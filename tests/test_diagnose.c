/* test_diagnose.c: random points, the classifier, recovery, unusual data.  False alarm rates and
   power as in test_sbc.c. */
#include "infer/c2st.h"
#include "infer/coverage.h"
#include "infer/ood.h"
#include "infer/recovery.h"
#include "infer/sbc.h"
#include "infer/tarp.h"
#include "sims_at.h"

#include "base/clock.h"
#include "malloc_fail.h"

static nami_err err;

static void show(const char *what, const char *test, double x)
{
    if (getenv("SHOW_RATES")) printf("    %-24s %-24s %.3f\n", what, test, x);
}

/* ---- random points ------------------------------------------------------------------ */

static struct tarp tarp_of(const struct sims *s, double alpha, uint64_t seed)
{
    struct tarp t;
    assert_int_equal(tarp_run(s, NULL, alpha, seed, &t, &err), 0);
    assert_int_equal(t.test.inside, t.test.p > alpha);
    return t;
}

static void tarp_rate(void **state)
{
    (void)state;
    int alarms = 0, reps = repeat(2000);
    double atc = 0;
    for (int rep = 0; rep < reps; rep++) {
        struct made a = make_sims(3, 20, 60, RIGHT, (uint64_t)rep);
        struct tarp t = tarp_of(&a.s, 0.1, (uint64_t)rep);
        alarms += !t.test.inside;
        atc += t.atc / reps;
        tarp_free(&t);
        made_free(&a);
    }
    show("right", "tarp, mean atc * 1000", 1000 * atc);
    check_rate("tarp", alarms, reps, 0.1, 0.85);
    assert_true(fabs(atc) < 6 * 0.33 / sqrt(60. * reps));
}

static void tarp_power(void **state)
{
    (void)state;
    int reps = repeat(20);
    for (int i = 0; i < NWRONG; i++) {
        int alarms = 0;
        double atc = 0;
        for (int rep = 0; rep < reps; rep++) {
            struct made a = make_sims(2, 100, 500, WRONG[i].w, (uint64_t)rep);
            struct tarp t = tarp_of(&a.s, 0.05, (uint64_t)rep);
            alarms += !t.test.inside;
            atc += t.atc / reps;
            tarp_free(&t);
            made_free(&a);
        }
        show(WRONG[i].name, "tarp", (double)alarms / reps);
        show(WRONG[i].name, "tarp, atc", atc);
        if (i < 2) assert_true((WRONG[i].w.scale > 1) == (atc > 0));
        if (WRONG[i].w.shift == 0) assert_true(alarms >= 0.99 * reps);
    }
}

/* A posterior that ignores the data passes, but not with references that look at them. */
static void tarp_reference(void **state)
{
    (void)state;
    enum { N = 500, M = 100 };
    struct made a = make_sims(1, M, N, RIGHT, 3), b = make_sims(1, M, N, RIGHT, 4);
    struct rng r;
    rng_init(&r, 9, 9);
    for (int i = 0; i < N * M; i++) b.z[i] = rng_normal(&r); /* the prior */
    struct sims s = b.s;
    struct tarp t = tarp_of(&s, 0.01, 1);
    assert_true(t.test.inside);
    tarp_free(&t);
    assert_int_equal(tarp_run(&s, b.mean, 0.01, 1, &t, &err), 0);
    assert_false(t.test.inside);
    tarp_free(&t);
    assert_int_equal(tarp_run(&a.s, a.mean, 0.01, 1, &t, &err), 0);
    assert_true(t.test.inside);
    tarp_free(&t);
    a.theta[7] = INFINITY;
    assert_int_equal(tarp_run(&a.s, NULL, 0.01, 1, &t, &err), NAMI_EINPUT);
    tarp_free(&t);
    made_free(&a);
    made_free(&b);
}

/* ---- the classifier ----------------------------------------------------------------- */

/* (k, n) standard normals, the second column correlated with the first. */
static double *normals(int k, int n, double rho, uint64_t seed)
{
    struct rng r;
    double *x = new_array(double, (size_t)k *(size_t)n);
    assert_non_null(x);
    rng_init(&r, seed, 11);
    for (int i = 0; i < k * n; i++) x[i] = rng_normal(&r);
    for (int i = 0; k > 1 && i < n; i++) x[n + i] = rho * x[i] + sqrt(1 - rho * rho) * x[n + i];
    return x;
}

static void c2st_rate(void **state)
{
    (void)state;
    int alarms[2] = {0}, reps = repeat(800);
    double accuracy = 0;
    for (int rep = 0; rep < reps; rep++) {
        double *a = normals(3, 80, 0.5, 2 * (uint64_t)rep),
               *b = normals(3, 90, 0.5, 2 * (uint64_t)rep + 1);
        struct c2st t;
        assert_int_equal(c2st_run(a, 80, b, 90, 3, 0, 0, (uint64_t)rep, &t, &err), 0);
        assert_int_equal(t.n, 64);
        alarms[0] += t.p <= 0.1;
        accuracy += t.accuracy / reps;
        /* (theta, x) and (draw, x): paired */
        struct made m = make_sims(1, 1, 80, RIGHT, (uint64_t)rep);
        for (int i = 0; i < 80; i++) {
            a[i] = m.theta[i];
            b[i] = m.z[i];
            a[80 + i] = b[80 + i] = m.mean[i];
        }
        assert_int_equal(c2st_run(a, 80, b, 80, 2, 1, 0, (uint64_t)rep, &t, &err), 0);
        alarms[1] += t.p <= 0.1;
        made_free(&m);
        free(a);
        free(b);
    }
    int least = 64; /* wins that are an alarm */
    while (binomial_upper(64, 0.5, 0.5, least - 1) <= 0.1) least--;
    double level = binomial_upper(64, 0.5, 0.5, least);
    check_rate("c2st", alarms[0], reps, level, 1);
    check_rate("c2st, paired", alarms[1], reps, level, 1);
    assert_true(fabs(accuracy - 0.5) < 0.01);
}

static void c2st_power(void **state)
{
    (void)state;
    enum { N = 500 };
    int reps = repeat(10), alarms = 0;
    for (int i = 0; i < NWRONG; i++) {
        double accuracy = 0;
        for (int rep = alarms = 0; rep < reps; rep++) {
            struct made m = make_sims(2, 1, 4 * N, WRONG[i].w, (uint64_t)rep);
            double *a = new_array(double, 16 * N), *b = new_array(double, 16 * N);
            struct c2st t;
            for (int j = 0; j < 8 * N; j++) { /* theta[2], x[2] */
                a[j] = m.theta[j];
                b[j] = m.z[j];
                a[8 * N + j] = b[8 * N + j] = m.mean[j];
            }
            assert_int_equal(c2st_run(a, 4 * N, b, 4 * N, 4, 1, 0, (uint64_t)rep, &t, &err), 0);
            alarms += t.p <= 0.05;
            accuracy += t.accuracy / reps;
            made_free(&m);
            free(a);
            free(b);
        }
        show(WRONG[i].name, "c2st, n = 2000", (double)alarms / reps);
        show(WRONG[i].name, "c2st accuracy", accuracy);
        assert_true(alarms >= 0.99 * reps);
    }
    alarms = 0;
    for (int rep = 0; rep < reps; rep++) { /* products tell; more features than are kept */
        double *a = normals(30, N, 0, 2 * (uint64_t)rep),
               *b = normals(30, N, 0.8, 2 * (uint64_t)rep + 1);
        struct c2st t, again;
        assert_int_equal(c2st_run(a, N, b, N, 30, 0, 0, 1, &t, &err), 0);
        if (!rep) {
            assert_int_equal(c2st_run(a, N, b, N, 30, 0, 0, 1, &again, &err), 0);
            assert_memory_equal(&t, &again, sizeof t);
        }
        alarms += t.p <= 0.05;
        free(a);
        free(b);
    }
    show("correlation 0.8, k = 30", "c2st, n = 500", (double)alarms / reps);
    assert_true(alarms >= 0.99 * reps);
    struct c2st t;
    double bad[40] = {0};
    bad[3] = NAN;
    assert_int_equal(c2st_run(bad, 20, bad, 20, 2, 1, 2, 1, &t, &err), NAMI_EINPUT);
    assert_int_equal(c2st_run(bad, 5, bad, 20, 2, 0, 5, 1, &t, &err), NAMI_EUSAGE);
}

/* ---- recovery ----------------------------------------------------------------------- */

static void recovery(void **state)
{
    (void)state;
    enum { N = 4000, M = 200 };
    struct made a = make_sims(2, M, N, RIGHT, 1);
    struct recovery r[2];
    double *mean = new_array(double, 2 * N), *sd = new_array(double, 2 * N), work[2 * M], lo, hi;
    assert_int_equal(recovery_run(&a.s, r, mean, sd, &err), 0);
    for (int k = 0; k < 2; k++) {
        assert_true(fabs(r[k].corr - sqrt(0.5)) < 0.05);
        assert_true(fabs(r[k].rmse - sqrt(0.5)) < 0.05);
        assert_true(fabs(r[k].contraction - 0.5) < 0.05);
        assert_true(fabs(r[k].z_mean) < 0.1 && fabs(r[k].z_sd - 1) < 0.07);
        assert_int_equal(r[k].nflat, 0);
    }
    assert_true(fabs(mean[N] - a.mean[N]) < 0.5 && fabs(sd[0] - POST_SD) < 0.3);
    recovery_interval(&a.s, 1, 0, 0.9, work, &lo, &hi);
    int in = 0;
    for (int m = 0; m < M; m++) in += a.z[(M + m) * N] >= lo && a.z[(M + m) * N] <= hi;
    assert_true(abs(in - M * 9 / 10) < 3);
    double *logw = new_array(double, M *N); /* only the first draw counts */
    for (int i = N; i < M * N; i++) logw[i] = -INFINITY;
    a.s.logw = logw;
    assert_int_equal(recovery_run(&a.s, r, mean, sd, &err), 0);
    assert_true(mean[5] == a.z[5] && sd[5] == 0 && r[0].nflat == N && isnan(r[0].z_sd));
    recovery_interval(&a.s, 0, 5, 0.9, work, &lo, &hi);
    assert_true(lo == a.z[5] && hi == lo);
    a.theta[N + 1] = NAN;
    assert_int_equal(recovery_run(&a.s, r, NULL, NULL, &err), NAMI_EINPUT);
    free(logw);
    free(mean);
    free(sd);
    made_free(&a);
}

/* ---- unusual data ------------------------------------------------------------------- */

static void ood_rate(void **state)
{
    (void)state;
    enum { N = 200, K = 4 };
    int alarms = 0, heavy = 0, reps = repeat(3000);
    for (int rep = 0; rep < reps; rep++) {
        double *x = normals(K, N + 1, 0.9, (uint64_t)rep), fit[K * N], q[K];
        for (int tail = 0; tail < 2; tail++) { /* normal; then cubes and a coin */
            struct ood o;
            struct ood_answer a;
            for (int j = 0; j < K; j++)
                for (int i = 0; i <= N; i++) {
                    double v = x[j * (N + 1) + i];
                    v = !tail ? v : j ? v * v * v : v > 1.5;
                    *(i < N ? &fit[j * N + i] : &q[j]) = v;
                }
            assert_int_equal(ood_fit(fit, K, N, (uint64_t)rep, &o, &err), 0);
            assert_int_equal(ood_query(&o, q, &a, &err), 0);
            *(tail ? &heavy : &alarms) += a.p <= 0.1;
            ood_free(&o);
        }
        free(x);
    }
    check_rate("ood", alarms, reps, 0.1, 0.95);
    check_rate("ood, heavy tails", heavy, reps, 0.1, 0.8);
}

static void ood_power(void **state)
{
    (void)state;
    enum { N = 3000, K = 20 };
    double *x = normals(K, N, 0.99, 5), q[K];
    struct ood o;
    struct ood_answer a;
    for (int i = 0; i < N; i++) x[19 * N + i] = 3; /* always */
    assert_int_equal(ood_fit(x, K, N, 1, &o, &err), 0);
    for (int j = 0; j < K; j++) q[j] = x[j * N];
    assert_int_equal(ood_query(&o, q, &a, &err), 0);
    assert_true(a.p > 0.01);
    assert_int_equal(a.ntop, OOD_TOP);
    q[7] = -6; /* one is far out */
    assert_int_equal(ood_query(&o, q, &a, &err), 0);
    assert_true(a.p < 0.01 && a.top[0].scalar == 7 && a.top[0].z < -5);
    q[7] = 0; /* a relation is broken, no scalar is unusual */
    q[0] = 1.2;
    q[1] = -0.5;
    assert_int_equal(ood_query(&o, q, &a, &err), 0);
    assert_true(a.p < 0.01 && a.p_largest > 0.05 && a.top[0].scalar < 2 && a.top[1].scalar < 2);
    q[1] = q[0];
    q[19] = 3.5; /* what never varies does */
    assert_int_equal(ood_query(&o, q, &a, &err), 0);
    assert_true(a.p < 0.01 && a.top[0].scalar == 19);
    q[3] = NAN;
    assert_int_equal(ood_query(&o, q, &a, &err), NAMI_EINPUT);
    ood_free(&o);
    x[5] = INFINITY;
    assert_int_equal(ood_fit(x, K, N, 1, &o, &err), NAMI_EINPUT);
    ood_free(&o);
    assert_int_equal(ood_fit(x, K, 10, 1, &o, &err), NAMI_EUSAGE);
    free(x);
}

/* Too many to relate them: far out is far out. */
static void ood_many(void **state)
{
    (void)state;
    enum { N = 600, K = 300 };
    double *x = normals(K, N, 0, 6), q[K];
    struct ood o;
    struct ood_answer a;
    assert_int_equal(ood_fit(x, K, N, 1, &o, &err), 0);
    assert_null(o.factor);
    for (int j = 0; j < K; j++) q[j] = x[j * N];
    assert_int_equal(ood_query(&o, q, &a, &err), 0);
    assert_true(a.p > 0.01);
    q[123] = 9;
    assert_int_equal(ood_query(&o, q, &a, &err), 0);
    assert_true(a.p < 0.01 && a.top[0].scalar == 123 && a.top[0].given == 0);
    for (int j = 0; j < K; j++) q[j] = 1.3; /* all a little */
    assert_int_equal(ood_query(&o, q, &a, &err), 0);
    assert_true(a.p < 0.01 && a.p_largest > 0.9);
    ood_free(&o);
    free(x);
}

/* ---- all together ------------------------------------------------------------------- */

static int everything(void *ctx)
{
    struct made *a = ctx;
    struct sbc b = {0};
    struct coverage c = {0};
    struct tarp t = {0};
    struct c2st f;
    struct ood o = {0};
    struct ood_answer q;
    struct recovery r[4];
    int n = a->s.n, rc = sbc_run(&a->s, 0.05, 0, 1, &b, NULL);
    if (!rc) rc = coverage_run(&a->s, a->logq, a->logq0, 0.05, COVERAGE_LEVELS, 1, &c, NULL);
    if (!rc) rc = tarp_run(&a->s, NULL, 0.05, 1, &t, NULL);
    if (!rc) rc = c2st_run(a->theta, n, a->mean, n, a->s.d, 1, 2, 1, &f, NULL);
    if (!rc) rc = recovery_run(&a->s, r, NULL, NULL, NULL);
    if (!rc) rc = ood_fit(a->theta, a->s.d, n, 1, &o, NULL);
    if (!rc) rc = ood_query(&o, a->theta, &q, NULL);
    sbc_free(&b);
    coverage_free(&c);
    tarp_free(&t);
    ood_free(&o);
    return rc;
}

static void no_memory(void **state)
{
    (void)state;
    struct made a = make_sims(2, 5, 24, RIGHT, 1);
    const char *why;
    long n = nomem_each(everything, &a, &why);
    if (n < 0) fail_msg("%s", why);
    assert_true(n > 40);
    made_free(&a);
}

static void speed(void **state)
{
    (void)state;
    struct made a = make_sims(50, 500, 1000, RIGHT, 1);
    struct sbc b;
    struct coverage c;
    struct tarp t;
    struct recovery r[50];
    double at[5] = {clock_now()};
    assert_int_equal(sbc_run(&a.s, 0.05, 0, 1, &b, &err), 0), at[1] = clock_now();
    assert_int_equal(coverage_run(&a.s, a.logq, a.logq0, 0.05, COVERAGE_LEVELS, 1, &c, &err), 0),
        at[2] = clock_now();
    assert_int_equal(tarp_run(&a.s, NULL, 0.05, 1, &t, &err), 0), at[3] = clock_now();
    assert_int_equal(recovery_run(&a.s, r, NULL, NULL, &err), 0), at[4] = clock_now();
    for (int i = 0; i < 4; i++)
        show((const char *[]){"sbc", "coverage", "tarp", "recovery"}[i], "seconds",
             at[i + 1] - at[i]);
    assert_true(at[4] - at[0] < 20); /* 2, on a quiet machine without sanitizers */
    assert_true(b.inside && c.inside && t.test.inside);
    sbc_free(&b);
    coverage_free(&c);
    tarp_free(&t);
    made_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(tarp_rate), cmocka_unit_test(tarp_power), cmocka_unit_test(tarp_reference),
    cmocka_unit_test(c2st_rate), cmocka_unit_test(c2st_power), cmocka_unit_test(recovery),
    cmocka_unit_test(ood_rate),  cmocka_unit_test(ood_power),  cmocka_unit_test(ood_many),
    cmocka_unit_test(no_memory), cmocka_unit_test(speed),
};
RUN(tests)
