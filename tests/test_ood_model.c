/* test_ood_model.c: data sets against the draws of a model (test_diagnose.c has what compares). */
#include "infer/ood_model.h"
#include "malloc_fail.h"
#include "model/model.h"
#include "model_at.h"

static nami_err err;

static struct ood_answer query(const struct ood_model *o, const struct model *m, const double *x,
                               size_t nset, size_t s)
{
    struct ood_answer a;
    assert_int_equal(ood_model_query(o, m, x, nset, s, &a, &err), 0);
    return a;
}

static const char line[] = "model { a ~ normal(0, 1)\n for (i in 1:3) { y[i] ~ normal(a, 1) }\n"
                           " n ~ poisson(exp(a)) }\nobserve y, n\n";

/* The second of three data sets is spoilt. */
static void inside_and_out(void **state)
{
    enum { SETS = 3 };
    struct ood_model o;
    struct model m;
    (void)state;
    build(&m, line, NULL);
    double *x = draw(&m, SETS, 1);
    assert_int_equal(ood_model_fit(&m, 2, &o, &err), 0);
    assert_int_equal(o.k, 4);
    assert_null(o.why);
    for (size_t s = 0; s < SETS; s++) assert_true(query(&o, &m, x, SETS, s).p > 0.01);
    double *y = x + (size_t)row_of(&m, "y", 1) * SETS;
    y[1] = 30;
    struct ood_answer a = query(&o, &m, x, SETS, 1);
    assert_true(a.p < OOD_ALARM &&
                o.elem[a.top[0].scalar] == m.ir.arrays.a[array_find(&m, "y")].first + 1);
    assert_true(query(&o, &m, x, SETS, 0).p > 0.01);
    x[(size_t)row_of(&m, "a", 0) * SETS + 1] = (double)NAN; /* is not compared */
    y[1] = INFINITY;
    assert_true(isnan(query(&o, &m, x, SETS, 1).p));
    ood_model_free(&o);
    free(x);
    model_fini(&m);
}

/* An infinite draw now and then is left out; too many, and it cannot tell, nor without draws. */
static void cannot_tell(void **state)
{
    static const char *const text[] = {
        "model { a ~ normal(0, 1)\n y ~ normal(a, exp(250 * a)) }\nobserve y\n",
        "model { a ~ normal(0, 1)\n y ~ normal(a, exp(2000 * a)) }\nobserve y\n",
        "model { a ~ normal(0, 1)\n y ~ simulated(a) }\nobserve y\n",
    };
    static const char *const why[] = {NULL, "too many", "simulator"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct ood_model o;
        struct model m;
        double x[8] = {0};
        build(&m, text[i], NULL);
        if (ood_model_fit(&m, 1, &o, &err)) fail_msg("%s", err.msg);
        if (why[i] ? !o.why || !strstr(o.why, why[i]) : o.why != NULL)
            fail_msg("%d: %s", i, o.why ? o.why : "no reason");
        assert_int_equal(isnan(query(&o, &m, x, 1, 0).p), why[i] != NULL);
        ood_model_free(&o);
        model_fini(&m);
    }
}

/* Of 5000 scalars, 2000 are compared, from the first to the last. */
static void large(void **state)
{
    struct ood_model o;
    struct model m;
    (void)state;
    build(&m, "model { a ~ normal(0, 1)\n for (i in 1:5000) { y[i] ~ normal(a, 1) } }\nobserve y\n",
          NULL);
    double *x = draw(&m, 1, 1);
    assert_int_equal(ood_model_fit(&m, 2, &o, &err), 0);
    assert_int_equal(o.k, 2000);
    for (int j = 1; j < o.k; j++)
        assert_true(o.elem[j] > o.elem[j - 1] && o.elem[j] <= o.elem[j - 1] + 3);
    int first = m.ir.arrays.a[array_find(&m, "y")].first;
    assert_true(o.elem[0] < first + 3 && o.elem[1999] >= first + 4997);
    assert_true(query(&o, &m, x, 1, 0).p > 0.01);
    x[m.ir.row[o.elem[1000]]] = 40;
    assert_true(query(&o, &m, x, 1, 0).p < OOD_ALARM);
    ood_model_free(&o);
    free(x);
    model_fini(&m);
}

static int all(void *ctx)
{
    struct model *m = ctx;
    struct ood_model o;
    struct ood_answer a;
    double x[16] = {0};
    int rc = ood_model_fit(m, 1, &o, NULL);
    if (!rc) rc = ood_model_query(&o, m, x, 1, 0, &a, NULL);
    ood_model_free(&o);
    return rc;
}

static void nomem_ood(void **state)
{
    struct model m;
    const char *why;
    (void)state;
    build(&m, line, NULL);
    long n = nomem_each(all, &m, &why);
    if (n < 10) fail_msg("%s", why ? why : "too few allocations");
    model_fini(&m);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(inside_and_out),
    cmocka_unit_test(cannot_tell),
    cmocka_unit_test(large),
    cmocka_unit_test(nomem_ood),
};

RUN(tests)
