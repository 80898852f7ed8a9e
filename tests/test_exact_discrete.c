/* Discrete networks, exactly: against enumeration of all states, a forward-backward pass, and
   draws; networks from files, if they are there, with times and sizes of cliques. */
#include "infer/exact.h"

#include <unistd.h>

#include "base/clock.h"
#include "model_at.h"

static double worst;

static void close_to(double got, double want)
{
    double d = got == want ? 0 : fabs(got - want) / fmax(1, fabs(want));
    if (d > worst) worst = d;
    if (!(d <= 1e-10)) fail_msg("%.17g is not %.17g", got, want);
}

static void say(const char *what)
{
    print_message("%s: largest difference %.1e\n", what, worst);
    worst = 0;
}

static void tree_of(const struct dnet *d, const int *state, size_t most, struct ctree *t)
{
    nami_err err = {0};
    if (ctree_new(d, state, most, t, &err)) fail_msg("%s", err.msg);
}

static void calibrate(struct ctree *t)
{
    nami_err err = {0};
    if (ctree_calibrate(t, &err)) fail_msg("%s", err.msg);
}

/* ---- all states -------------------------------------------------------------------------------
 */

static double log_p(const struct dnet *d, const int *x)
{
    double s = 0;
    for (int v = 0; v < d->n; v++) {
        size_t at = 0;
        for (int k = 0; k < d->t[v].n; k++)
            at = at * (size_t)d->card[d->t[v].var[k]] + (size_t)x[d->t[v].var[k]];
        s += d->t[v].logp[at];
    }
    return s;
}

/* The next states of what is latent; 0 behind the last. */
static int next(const struct dnet *d, const int *state, int *x)
{
    int v = d->n - 1;
    for (; v >= 0; v--) {
        if (state[v] >= 0) continue;
        if (++x[v] < d->card[v]) return 1;
        x[v] = 0;
    }
    return 0;
}

struct sums { /* of exp(log p - shift) over all states */
    double total, entropy, best;
    double *one, *pair; /* (variable, state); (variables, states) */
};

enum { CARD = 4 };

static double sum_up(const struct dnet *d, const int *state, struct sums *s)
{
    int n = d->n, *x = calloc((size_t)n, sizeof *x);
    s->one = calloc((size_t)(n * CARD), sizeof(double));
    s->pair = calloc((size_t)(n * n * CARD * CARD), sizeof(double));
    s->total = s->entropy = 0;
    s->best = -INFINITY;
    for (int v = 0; v < n; v++) x[v] = state[v] < 0 ? 0 : state[v];
    do {
        double lp = log_p(d, x), p = exp(lp);
        s->total += p;
        if (p > 0) s->entropy -= p * lp;
        s->best = fmax(s->best, lp);
        for (int u = 0; u < n; u++) {
            s->one[u * CARD + x[u]] += p;
            for (int v = 0; v < n; v++) s->pair[((u * n + v) * CARD + x[u]) * CARD + x[v]] += p;
        }
    } while (next(d, state, x));
    for (int i = 0; i < n * CARD && s->total > 0; i++) s->one[i] /= s->total;
    for (int i = 0; i < n * n * CARD * CARD && s->total > 0; i++) s->pair[i] /= s->total;
    s->entropy = s->entropy / s->total + log(s->total);
    free(x);
    return s->total;
}

static void joints_are(const struct ctree *t, const struct sums *s, int pairs)
{
    const struct dnet *d = t->net;
    nami_err err = {0};
    for (int u = 0; u < d->n; u++)
        for (int v = 0; v < d->n && pairs; v++) {
            double p[CARD * CARD];
            if (u == v) continue;
            if (ctree_joint(t, (int[]){u, v}, 2, p, &err)) fail_msg("%s", err.msg);
            for (int i = 0; i < d->card[u]; i++)
                for (int j = 0; j < d->card[v]; j++)
                    close_to(p[i * d->card[v] + j],
                             s->pair[((u * d->n + v) * CARD + i) * CARD + j]);
        }
}

/* Families agree with the marginals of all their members. */
static void families_agree(const struct ctree *t)
{
    const struct dnet *d = t->net;
    nami_err err = {0};
    for (int v = 0; v < d->n; v++) {
        const struct dtable *f = &d->t[v];
        if (f->size > 100000) continue;
        double *p = calloc(f->size, sizeof *p);
        if (ctree_joint(t, f->var, f->n, p, &err)) fail_msg("%s", err.msg);
        size_t step = 1;
        for (int k = f->n - 1; k >= 0; k--) {
            int card = d->card[f->var[k]];
            double *own = calloc((size_t)card, sizeof *own),
                   *sum = calloc((size_t)card, sizeof *sum);
            ctree_marginal(t, f->var[k], own);
            for (size_t i = 0; i < f->size; i++) sum[i / step % (size_t)card] += p[i];
            for (int i = 0; i < card; i++) close_to(sum[i], own[i]);
            step *= (size_t)card;
            free(own);
            free(sum);
        }
        free(p);
    }
}

static void is_exact(const struct dnet *d, const int *state, int pairs)
{
    struct ctree t;
    struct sums s;
    nami_err err = {0};
    double logp;
    int *best = calloc((size_t)d->n, sizeof *best);
    tree_of(d, state, CTREE_MOST, &t);
    if (sum_up(d, state, &s) > 0) {
        if (ctree_mpe(&t, best, &logp, &err)) fail_msg("%s", err.msg);
        close_to(logp, s.best);
        close_to(log_p(d, best), s.best);
        for (int v = 0; v < d->n; v++) assert_true(state[v] < 0 || best[v] == state[v]);
        calibrate(&t);
        close_to(t.log_evidence, log(s.total));
        for (int v = 0; v < d->n; v++) {
            double p[CARD];
            ctree_marginal(&t, v, p);
            for (int i = 0; i < d->card[v]; i++) close_to(p[i], s.one[v * CARD + i]);
        }
        joints_are(&t, &s, pairs);
        families_agree(&t);
        close_to(ctree_entropy(&t), s.entropy);
    } else {
        assert_int_equal(ctree_calibrate(&t, &err), NAMI_EINPUT);
        assert_int_equal(ctree_mpe(&t, best, &logp, &err), NAMI_EINPUT);
    }
    free(best);
    free(s.one);
    free(s.pair);
    ctree_free(&t);
}

static void some_evidence(const struct dnet *d, struct rng *r, int *state)
{
    int one_in = 1 + (int)rng_below(r, 6);
    for (int v = 0; v < d->n; v++)
        state[v] =
            rng_below(r, (uint32_t)one_in + 1) ? -1 : (int)rng_below(r, (uint32_t)d->card[v]);
}

/* ---- random networks ----------------------------------------------------------------------------
 */

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

/* ---- networks from files
 * -------------------------------------------------------------------------- */

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

/* ---- models
 * -------------------------------------------------------------------------------------- */

/* Tables are those of model_logp at every point. */
static void model_is(struct model *m, const struct dnet *d)
{
    int *x = calloc((size_t)d->n, sizeof *x), *none = calloc((size_t)d->n, sizeof *none);
    double *row = calloc((size_t)m->nrow, sizeof *row), lp;
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
        if (dnet_evidence(&d, &m, m.data.set.a, given, &err)) fail_msg("%s", err.msg);
        is_exact(&d, given, 1);
        dnet_free(&d);
        model_free(&m);
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
    if (dnet_evidence(&d, &m, m.data.set.a, given, &err)) fail_msg("%s", err.msg);
    is_exact(&d, given, 1);
    dnet_free(&d);
    model_free(&m);
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
    if (dnet_evidence(&d, &m, m.data.set.a, given, &err)) fail_msg("%s", err.msg);
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
    model_free(&m);
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
    model_free(&m);
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
        model_free(&m);
    }
    build(&m,
          "model { for (i in 1:30) { a[i] ~ bernoulli(0.5) }  s <- sum(a)  b ~ bernoulli(s / 30) }",
          NULL);
    assert_int_equal(dnet_read(&m, &d, &err), NAMI_ELIMIT);
    assert_non_null(strstr(err.msg, "the table of b has 2.15e+09 entries"));
    model_free(&m);
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
    cmocka_unit_test(test_random),       cmocka_unit_test(test_draws),
    cmocka_unit_test(test_small_files),  cmocka_unit_test(test_large_files),
    cmocka_unit_test(test_models),       cmocka_unit_test(test_chain),
    cmocka_unit_test(test_no_underflow), cmocka_unit_test(test_refused),
    cmocka_unit_test(test_size),
};

RUN(tests)
