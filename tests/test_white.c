/* test_white.c: the outputs of whitening layers are uncorrelated under the prior; the layers
   are where they should be, leave the parents of each factor unchanged, and help training. */
#include "malloc_fail.h"
#include "net_at.h"
#include "train/trainer.h"

static const struct net_options on = {.whiten = 1, .skip = -1, .act = ACT_RELU, .seed = 3};

/* A level that is far off, and noise whose size is asked for. */
static const char series[] = "model { level ~ normal(0, 10)\n s ~ lognormal(-1, 0.7)\n"
                             "for (i in 1:8) { y[i] ~ normal(level, s) } }\nobserve y\n";
/* Groups: what a factor of the plate sees, and what only those at the top see. */
static const char groups[] = "model { m ~ normal(0, 10)\n for (i in 1:6) { b[i] ~ normal(m, 1)\n"
                             "for (j in 1:3) { y[i, j] ~ normal(b[i], 0.5) } } }\nobserve y\n";

static const struct block *block_named(const struct qnet *q, const char *name)
{
    for (size_t i = 0; i < q->block.n; i++)
        if (strcmp(q->block.a[i].name, name) == 0) return &q->block.a[i];
    return NULL;
}

/* Units of a layer on fresh draws: means 0, variances 1, no correlations.  With 4,096 draws to
   learn from and 4,096 to try, a covariance is off by 0.13 = 6 standard errors once in 10^8. */
static void check_white(struct net_at *n, const char *name)
{
    enum { DRAWS = 4096 };
    const struct block *b = block_named(&n->q, name);
    struct exec x;
    if (!b) fail_msg("there is no layer %s", name);
    float *w = calloc(n->q.prog.nparam + 16, sizeof *w);
    assert_non_null(w);
    qnet_start(&n->q, 1, w);
    exec_at(&x, &n->q, DRAWS, EXEC_FLOAT, w);
    exec_run(&x);
    int m = b->layer->n * b->layer->out;
    const float *unit = (const float *)x.units.unit + (size_t)b->layer->to * (size_t)x.units.cap;
    for (int i = 0; i < m; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0, mean = 0;
            for (int k = 0; k < DRAWS; k++) {
                double u = unit[(size_t)i * (size_t)x.units.cap + (size_t)k];
                mean += u / DRAWS;
                sum += u * unit[(size_t)j * (size_t)x.units.cap + (size_t)k] / DRAWS;
            }
            if (!(fabs(mean) < 0.13)) fail_msg("%s: unit %d has the mean %g", name, i, mean);
            if (i / b->layer->out == j / b->layer->out && !(fabs(sum - (i == j)) < 0.13))
                fail_msg("%s: units %d and %d have the covariance %g", name, i, j, sum);
        }
    exec_fini(&x);
    free(w);
}

static void test_uncorrelated(void **state)
{
    struct net_at n;
    (void)state;
    net_at(&n, groups, NULL, NULL, &on);
    check_white(&n, "embed/y/0/white");
    check_white(&n, "b[i]/white");
    net_drop(&n);
}

/* Which factor reads what, and that nothing is there where it was not asked for. */
static void test_places(void **state)
{
    struct net_at n;
    (void)state;
    net_at(&n, groups, NULL, NULL, &on);
    const struct block *b = block_named(&n.q, "b[i]/white");
    assert_int_equal(b->layer->in, 4); /* y[i, 1:3] and m */
    assert_int_equal(b->layer->n, 6);
    assert_int_equal(block_named(&n.q, "embed/y/0/white")->layer->in, 18);
    net_drop(&n);
    net_at(&n, groups, NULL, NULL, &(struct net_options){.whiten = -1, .arch = &arch_made});
    assert_int_equal(n.q.nembed, 0);
    net_drop(&n);
    net_at(&n, groups, NULL, NULL, &(struct net_options){.whiten = -1});
    assert_int_equal(n.q.nembed, 1);
    net_drop(&n);
    net_at(&n, groups, NULL, NULL, &(struct net_options){.whiten = 0});
    assert_null(block_named(&n.q, "b[i]/white"));
    assert_int_equal(n.q.nembed, 0);
    net_drop(&n);
    /* an embedding of the model's own goes before */
    struct str text = {0};
    str_printf(&text, "%sembed y { whiten(); dense(5, relu) }\n", groups);
    net_at(&n, text.s, NULL, NULL, &on);
    assert_int_equal(n.q.nembed, 1);
    assert_int_equal(n.q.embedding[0].num_units, 5);
    net_drop(&n);
    str_free(&text);
}

/* In a plate whose factors see all of an array, each in its own order, it must not be whitened as
   one: all would see the same. */
static void test_roles(void **state)
{
    struct net_at n;
    (void)state;
    net_at(&n,
           "model { for (i in 1:4) { b[i] ~ normal(0, 1) }\n s <- sum(b)\n"
           "for (i in 1:4) { y[i] ~ normal(b[i] + s, 1) } }\nobserve y\n",
           NULL, &(nami_options){.method = "mean-field"}, &on);
    for (int f = 0; f < n.q.nfactor; f++) {
        const struct factor *x = &n.q.factor[f];
        if (n.q.group[x->group].num_factors > 1) assert_int_equal(x->nback, 0);
    }
    net_drop(&n);
}

/* The loss of a part after some steps. */
static double loss_of(const char *name, int whiten)
{
    enum { STEPS = 400, BATCH = 256 };
    struct net_at n;
    struct trainer t;
    nami_err err = {0};
    struct net_options opt = on;
    double loss = NAN;
    opt.whiten = whiten;
    net_at(&n, series, NULL, NULL, &opt);
    if (trainer_make(&t, &n.q, NULL, NULL, BATCH, 1, &err)) fail_msg("%s", err.msg);
    for (uint64_t s = 0; s < STEPS; s++) {
        trainer_gradient(&t, &(struct batch){.seed = 11, .first = s * trainer_stride(&t)});
        trainer_apply(&t, 2e-3, 100);
    }
    trainer_loss(&t, &(struct batch){.seed = 12});
    for (int p = 0; p < n.q.num_loss_terms; p++)
        if (strcmp(n.q.loss_term[p].name, name) == 0) loss = t.loss[p];
    trainer_free(&t);
    net_drop(&n);
    return loss;
}

/* The noise is a hundredth of the variance, and hides behind the level. */
static void test_helps(void **state)
{
    (void)state;
    double without = loss_of("s", 0), with = loss_of("s", 1);
    if (!(with < without - 0.3)) fail_msg("the loss is %g with, %g without", with, without);
}

static int make_and_free(void *ctx)
{
    struct net_at *n = ctx;
    nami_err err = {0};
    int rc = qnet_make(&n->q, &n->m, n->h, &on, NULL, 1, &err);
    qnet_free(&n->q);
    n->q = (struct qnet){0};
    return rc;
}

static void test_nomem(void **state)
{
    (void)state;
    struct net_at n = {0};
    nami_err err = {0};
    const char *why;
    build(&n.m, groups, NULL);
    assert_int_equal(inversion_init(&n.v, n.m.ir.bn, NULL, &err), 0);
    assert_int_equal(inversion_run(&n.v, &n.h, &err), 0);
    long fails = nomem_each(make_and_free, &n, &why);
    if (fails < 20) fail_msg("%ld failures: %s", fails, why ? why : "too few");
    net_drop(&n);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_uncorrelated), cmocka_unit_test(test_places),
    cmocka_unit_test(test_roles),        cmocka_unit_test(test_helps),
    cmocka_unit_test(test_nomem),
};
RUN(tests)
