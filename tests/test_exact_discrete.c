/* test_exact_discrete.c: exact inference in discrete networks with tables agrees with
   enumeration of all states, and so do draws; networks from files, if present, with times and
   clique sizes. */
#include <unistd.h>

#include "base/clock.h"
#include "exact_states.h"

static void some_evidence(const struct dnet *d, struct rng *r, int *state)
{
    int one_in = 1 + (int)rng_below(r, 6);
    for (int v = 0; v < d->n; v++)
        state[v] =
            rng_below(r, (uint32_t)one_in + 1) ? -1 : (int)rng_below(r, (uint32_t)d->card[v]);
}

/* ---- random networks ---------------------------------------------------------------- */

/* Variables of one to four states, tables with zeros. */
static struct bn *random_bn(struct rng *r, int n)
{
    struct bn *bn = bn_new();
    nami_err err = {0};
    for (int v = 0; v < n; v++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", v);
        assert_int_equal(bn_node(bn, name, strlen(name), 0, NULL, &err), v);
        bn->node.a[v].nstate = 1 + (int)rng_below(r, CARD);
    }
    for (int v = 0; v < n; v++) {
        int parent[3], np = 0, c = bn->node.a[v].nstate;
        for (int u = n - 1; u > v && np < 3; u--) /* against the numbers */
            if (rng_below(r, 3) == 0) parent[np++] = u;
        if (bn_table(bn, v, parent, np, 0, 0, &err)) fail_msg("%s", err.msg);
        struct cpt *t = bn->node.a[v].cpt;
        for (size_t i = 0; i < t->n; i += (size_t)c) {
            double s = 0;
            for (int k = 0; k < c; k++)
                s += t->p[i + (size_t)k] = rng_below(r, 5) || k == c - 1 ? 0.01 + rng_unit(r) : 0;
            for (int k = 0; k < c; k++) t->p[i + (size_t)k] /= s;
        }
    }
    if (bn_finish(bn, &err)) fail_msg("%s", err.msg);
    return bn;
}

static void test_random(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 11, 0);
    for (int i = 0; i < 300; i++) {
        struct bn *bn = random_bn(&r, 1 + (int)rng_below(&r, 8));
        struct dnet d;
        nami_err err = {0};
        int given[8];
        if (dnet_tables(bn, &d, &err)) fail_msg("%s", err.msg);
        for (int k = 0; k < 3; k++) {
            some_evidence(&d, &r, given);
            is_exact(&d, given, 1);
        }
        dnet_free(&d);
        bn_free(bn);
    }
    say("900 random queries");
}

/* Every state is drawn as often as it is probable; pieces are the same. */
static void test_draws(void **state)
{
    (void)state;
    enum { N = 40000, V = 6 };
    struct rng r;
    rng_init(&r, 5, 0);
    for (int i = 0; i < 10; i++) {
        struct bn *bn = random_bn(&r, V);
        struct dnet d;
        struct ctree t;
        struct sums s;
        nami_err err = {0};
        int given[V] = {-1, -1, -1, -1, -1, -1}, *x = calloc(V * N, sizeof *x), y[V * 50];
        if (dnet_tables(bn, &d, &err)) fail_msg("%s", err.msg);
        given[rng_below(&r, V)] = 0;
        if (sum_up(&d, given, &s) > 0) {
            tree_of(&d, given, CTREE_MOST, &t);
            calibrate(&t);
            assert_int_equal(ctree_draw(&t, 3, 0, N, x, &err), 0);
            for (int u = 0; u < V; u++)
                for (int v = 0; v < V; v++) {
                    double count[CARD * CARD] = {0};
                    for (int k = 0; k < N; k++) count[x[u * N + k] * CARD + x[v * N + k]]++;
                    for (int k = 0; k < CARD * CARD; k++) {
                        double p = s.pair[(u * V + v) * CARD * CARD + k];
                        assert_true(fabs(count[k] - N * p) <= 5.5 * sqrt(N * p * (1 - p)) + 1e-6);
                    }
                }
            assert_int_equal(ctree_draw(&t, 3, 1000, 50, y, &err), 0);
            for (int v = 0; v < V; v++)
                assert_memory_equal(y + v * 50, x + v * N + 1000, sizeof(int) * 50);
            ctree_free(&t);
        }
        free(s.one);
        free(s.pair);
        free(x);
        dnet_free(&d);
        bn_free(bn);
    }
}

/* ---- networks from files ------------------------------------------------------------ */

static struct bn *read_bn(const char *name)
{
    char path[512];
    nami_err err = {0};
    nami_bn *bn = NULL;
    snprintf(path, sizeof path, SOURCE_DIR "/../shared/data/bif/%s.bif", name);
    if (access(path, R_OK)) return NULL;
    if (nami_bn_read(path, NULL, &bn, &err)) fail_msg("%s: %s", path, err.msg);
    return bn;
}

static void test_small_files(void **state)
{
    (void)state;
    static const char *const names[] = {"asia", "cancer", "earthquake", "survey", "sachs"};
    struct rng r;
    rng_init(&r, 8, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct bn *bn = read_bn(names[i]);
        struct dnet d;
        nami_err err = {0};
        int given[16];
        if (!bn) continue;
        if (dnet_tables(bn, &d, &err)) fail_msg("%s", err.msg);
        for (int k = 0; k < 5; k++) {
            for (int v = 0; v < d.n; v++) given[v] = -1;
            if (k) some_evidence(&d, &r, given);
            is_exact(&d, given, k < 2);
        }
        say(names[i]);
        dnet_free(&d);
        bn_free(bn);
    }
}

/* Nothing to compare with: families agree with marginals, with and without evidence, and evidence
   that is drawn has the probability that its parts have one after another. */
static void test_large_files(void **state)
{
    (void)state;
    static const char *const names[] = {"alarm",    "child", "insurance", "hailfinder", "hepar2",
                                        "win95pts", "andes", "pigs",      "water",      "munin1"};
    enum { MOST = 1 << 23 };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct bn *bn = read_bn(names[i]);
        struct dnet d;
        struct ctree t;
        nami_err err = {0};
        if (!bn) continue;
        if (dnet_tables(bn, &d, &err)) fail_msg("%s", err.msg);
        int *given = calloc((size_t)d.n, sizeof *given), *x = calloc((size_t)d.n, sizeof *x);
        for (int v = 0; v < d.n; v++) given[v] = -1;
        double t0 = clock_now();
        if (ctree_new(&d, given, MOST, &t, &err)) {
            print_message("%-10s %5d nodes  refused: %s\n", names[i], d.n, err.msg);
            goto next;
        }
        double t1 = clock_now();
        calibrate(&t);
        print_message("%-10s %5d nodes %9zu entries %9zu largest  tree %.3f s  calibrated %.3f s\n",
                      names[i], d.n, t.total, t.largest, t1 - t0, clock_now() - t1);
        assert_true(fabs(t.log_evidence) < 1e-9);
        families_agree(&t);
        assert_int_equal(ctree_draw(&t, 1, 0, 1, x, &err), 0);
        double chain = 0; /* log p(x1) + log p(x2 | x1) + ... */
        for (int v = 0, k = 0; v < d.n && k < 4; v += d.n / 4, k++) {
            double *p = calloc((size_t)d.card[v], sizeof *p);
            ctree_marginal(&t, v, p);
            chain += log(p[x[v]]);
            given[v] = x[v];
            free(p);
            ctree_free(&t);
            tree_of(&d, given, MOST, &t);
            calibrate(&t);
            close_to(t.log_evidence, chain);
        }
        families_agree(&t);
        int *best = calloc((size_t)d.n, sizeof *best);
        double logp;
        if (ctree_mpe(&t, best, &logp, &err)) fail_msg("%s", err.msg);
        close_to(log_p(&d, best), logp);
        assert_true(logp >= log_p(&d, x) - 1e-9 && logp <= chain + 1e-9);
        free(best);
        ctree_free(&t);
    next:
        free(given);
        free(x);
        dnet_free(&d);
        bn_free(bn);
    }
    say("large files");
}

/* Too large for the bound: says how large. */
static void test_size(void **state)
{
    (void)state;
    struct rng r;
    struct bn *bn;
    struct dnet d;
    struct ctree t;
    nami_err err = {0};
    int given[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    rng_init(&r, 21, 0);
    bn = random_bn(&r, 8);
    if (dnet_tables(bn, &d, &err)) fail_msg("%s", err.msg);
    assert_int_equal(ctree_new(&d, given, 3, &t, &err), NAMI_ELIMIT);
    assert_non_null(strstr(err.msg, "in the largest clique"));
    dnet_free(&d);
    bn_free(bn);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_random),      cmocka_unit_test(test_draws),
    cmocka_unit_test(test_small_files), cmocka_unit_test(test_large_files),
    cmocka_unit_test(test_size),
};

RUN(tests)
