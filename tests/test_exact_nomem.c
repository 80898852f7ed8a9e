/* test_exact_nomem.c: exact inference returns an error and leaks nothing when any one
   allocation fails. */
#include "infer/exact.h"

#include "malloc_fail.h"
#include "model/model.h"
#include "model/problem.h"
#include "model_at.h"

static const char gauss_text[] =
    "model { a ~ normal(1, 2)\n m[1] <- a  m[2] <- 2 * a\n v[1:2] ~ multi_normal(m[], S)\n"
    "w[1:2] ~ multi_normal_prec(v[], S)  k ~ normal(sum(w[]), 1)  b ~ normal(k, 1) }\n"
    "observe w, k\nconst S[2, 2]";
static const char gauss_data[] = "{\"S\": [[2, 1], [1, 3]], \"w\": [1, null], \"k\": 3}";
static const char chain_text[] =
    "model { z[1] ~ categorical(c(0.5, 0.5))\n for (t in 2:4) { z[t] ~ categorical(A[z[t-1], ]) }\n"
    "for (t in 1:4) { y[t] ~ bernoulli(b[z[t]]) } }\nobserve y\nconst A[2, 2], b[2]";
static const char chain_data[] =
    "{\"A\": [[0.9, 0.1], [0.2, 0.8]], \"b\": [0.3, 0.6], \"y\": [1, 0, null, 1]}";

struct job {
    struct model m;
    struct inverse *h;
};

static int gauss(void *ctx)
{
    struct job *j = ctx;
    struct gnet g, q = {0};
    struct gpost p = {0};
    nami_err err;
    double x[16], cov[256], out[16 * 8], kl;
    unsigned char given[16] = {0};
    int rc = gnet_read(&j->m, &g, &err);
    if (rc) return rc;
    rc = gnet_evidence(&g, &j->m, j->m.source.data.set.a, x, &err);
    for (int i = 0; i < g.n && !rc; i++) given[i] = !isnan(x[i]);
    if (!rc) rc = gpost_new(&g, x, &p, &err);
    if (!rc) rc = gpost_cov(&p, cov, &err);
    if (!rc) rc = gpost_variances(&p, cov, &err);
    if (!rc) rc = gpost_draw(&p, 1, 0, 8, 1, out, &err);
    if (!rc) rc = gnet_invert(&g, j->h, &q, &err);
    if (!rc) rc = gnet_kl(&g, &q, given, &kl, &err);
    gpost_free(&p);
    gnet_free(&q);
    gnet_free(&g);
    return rc;
}

static int discrete(void *ctx)
{
    struct job *j = ctx;
    struct dnet d;
    struct ctree t = {0};
    nami_err err;
    int state[8], best[8], x[8 * 16];
    double logp, joint[16];
    int rc = dnet_read(&j->m, &d, &err);
    if (rc) return rc;
    rc = dnet_evidence(&d, &j->m, j->m.source.data.set.a, state, &err);
    if (!rc) rc = ctree_new(&d, state, CTREE_MOST, &t, &err);
    if (!rc) rc = ctree_mpe(&t, best, &logp, &err);
    if (!rc) rc = ctree_calibrate(&t, &err);
    if (!rc) rc = ctree_joint(&t, (int[]){0, 3, 4}, 3, joint, &err); /* in no clique */
    if (!rc) rc = ctree_draw(&t, 1, 0, 16, x, &err);
    ctree_free(&t);
    dnet_free(&d);
    return rc;
}

static void each(struct job *j, int (*f)(void *))
{
    const char *why;
    if (f(j)) fail_msg("it fails without");
    long n = nomem_each(f, j, &why);
    if (n < 0) fail_msg("%s", why);
    print_message("%ld allocations failed\n", n);
    assert_true(n > 10);
}

static void test_gauss(void **state)
{
    (void)state;
    struct job j = {0};
    struct inversion v;
    nami_options opt = {.mode = "reverse"};
    nami_err err = {0};
    build(&j.m, gauss_text, gauss_data);
    if (inversion_init(&v, j.m.ir.bn, &opt, &err) || inversion_run(&v, &j.h, &err))
        fail_msg("%s", err.msg);
    inversion_fini(&v);
    assert_int_equal(j.h->nmodel, 1); /* b is barren */
    each(&j, gauss);
    inverse_free(j.h);
    model_fini(&j.m);
}

static void test_discrete(void **state)
{
    (void)state;
    struct job j = {0};
    build(&j.m, chain_text, chain_data);
    each(&j, discrete);
    model_fini(&j.m);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_gauss),
    cmocka_unit_test(test_discrete),
};

RUN(tests)
