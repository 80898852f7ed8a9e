/* test_ais.c: annealed importance sampling gives the evidence of models where it is known,
   from both initial distributions; is unbiased for any number of temperatures; gives the same
   bits for any number of threads. */
#include "infer/ais.h"
#include "infer/exact.h"
#include "net_at.h"

#include "malloc_fail.h"
#include "model/model.h"

/* A network as it starts: it knows the prior's moments, and no data. */
struct ais_at {
    struct net_at net;
    float *param;
    struct infer a;
    double *x; /* the data set, as often as asked for */
};

static void ais_at(struct ais_at *s, const char *text, const char *data, size_t nset)
{
    static const struct net_options opt = {
        .nhidden = 1, .hidden = {8}, .act = ACT_TANH, .skip = -1};
    nami_err err = {0};
    net_at(&s->net, text, data, NULL, &opt);
    s->param = calloc(s->net.q.prog.nparam + 1, sizeof *s->param);
    s->x = calloc((size_t)s->net.m.ir.num_rows * nset + 1, sizeof *s->x);
    qnet_start(&s->net.q, 1, s->param);
    if (infer_init(&s->a, &s->net.q, s->param, &err)) fail_msg("%s", err.msg);
    for (size_t i = 0; i < nset; i++)
        if (infer_data(&s->net.m, &s->net.m.source.data.set.a[i % s->net.m.source.data.set.n], nset,
                       i, s->x, &err))
            fail_msg("%s", err.msg);
}

static void ais_drop(struct ais_at *s)
{
    infer_fini(&s->a);
    net_drop(&s->net);
    free(s->param);
    free(s->x);
}

/* ---- models whose evidence is known ------------------------------------------------- */

static double gaussian(struct model *m)
{
    struct gnet g;
    struct gpost p;
    nami_err err = {0};
    if (gnet_read(m, &g, &err)) fail_msg("%s", err.msg);
    double *x = calloc((size_t)g.n, sizeof *x), z;
    if (gnet_evidence(&g, m, m->source.data.set.a, x, &err) || gpost_new(&g, x, &p, &err))
        fail_msg("%s", err.msg);
    z = p.log_evidence;
    gpost_free(&p);
    gnet_free(&g);
    free(x);
    return z;
}

/* Gamma-Poisson, beta-binomial, Dirichlet-categorical */
static double conjugate(struct model *m)
{
    (void)m;
    double z =
        3 * log(2.0) + lgamma(3 + 4 + 7) - lgamma(3) - 14 * log(2.0 + 2) - lgamma(5) - lgamma(8);
    z += lgamma(11) - lgamma(8) - lgamma(4) + lgamma(2 + 7) + lgamma(3 + 3) - lgamma(15) +
         lgamma(5) - lgamma(2) - lgamma(3);
    return z + lgamma(6) - lgamma(10) + log(3 * 4 * 2 * 5.0); /* k = 3, 3, 2, 3 */
}

/* Mean and sd on a grid, by the midpoint rule, which converges exponentially here. */
static double location_scale(struct model *m)
{
    static const double y[] = {0.3, 1.9, -0.4, 1.1};
    double h = 0.01, sum = 0;
    (void)m;
    for (double u = -9; u < 5; u += h) /* log s */
        for (double mu = -12; mu < 12; mu += 2 * h) {
            double s = exp(u), l = -s + u - 0.5 * mu * mu / 4 - 0.5 * log(2 * M_PI * 4);
            for (int i = 0; i < 4; i++)
                l -= 0.5 * pow((y[i] - mu) / s, 2) + u + 0.5 * log(2 * M_PI);
            sum += exp(l) * 2 * h * h;
        }
    return log(sum);
}

static const struct known {
    const char *name, *text, *data;
    double (*log_z)(struct model *m);
    int temps; /* enough */
} known[] = {
    {"line",
     "model { a ~ normal(0, 1)\n b ~ normal(0, 1)\n next ~ normal(a, 1)\n"
     " for (i in 1:6) { y[i] ~ normal(a + b * (i - 3) / 2, 1) } }\nobserve y\n",
     "{\"y\": [-1, 0.5, 0.2, 1.5, 1, 2.5]}", gaussian, 50},
    {"chain", /* an observed variable has a latent child */
     "model { w ~ normal(0, 2)\n z[1] ~ normal(w, 1)\n for (t in 2:8) { z[t] ~ normal(0.9 * "
     "z[t-1], 0.6) }\n"
     " for (t in 1:8) { y[t] ~ normal(z[t], 0.8) } }\nobserve y, w\n",
     "{\"w\": 1.5, \"y\": [0.5, 1.1, 2.0, 2.6, 1.9, 0.7, -0.6, -1.9]}", gaussian, 400},
    {"conjugate",
     "model { r ~ gamma(3, 2)\n c[1] ~ poisson(r)\n c[2] ~ poisson(r)\n"
     " p ~ beta(2, 3)\n n ~ binomial(10, p)\n"
     " q[1:3] ~ dirichlet(c(1, 2, 3))\n for (i in 1:4) { k[i] ~ categorical(q[1:3]) } }\n"
     "observe c, n, k\n",
     "{\"c\": [4, 7], \"n\": 7, \"k\": [3, 3, 2, 3]}", conjugate, 50},
    {"scale",
     "model { s ~ exponential(1)\n mu ~ normal(0, 2)\n for (i in 1:4) { y[i] ~ normal(mu, s) } }\n"
     "observe y\n",
     "{\"y\": [0.3, 1.9, -0.4, 1.1]}", location_scale, 50},
};
enum { NKNOWN = sizeof known / sizeof *known };

struct result {
    double *logw, *accept;
    struct diagnostics *found;
};

static struct result ask(const struct ais_at *s, struct ais_options o, size_t nset, size_t chains,
                         uint64_t seed, int threads)
{
    struct result r = {calloc(nset * chains, sizeof(double)), calloc(nset, sizeof(double)),
                       calloc(nset, sizeof *r.found)};
    struct query q = {.x = s->x, .nset = nset, .per = chains, .seed = seed};
    struct ais_out out = {r.logw, r.found, r.accept};
    struct ais ais;
    nami_err err = {0};
    if (ais_init(&ais, &s->a, &o, &err) || ais_sets(&ais, &q, 0, nset, threads, &out, &err))
        fail_msg("%s", err.msg);
    ais_fini(&ais);
    return r;
}

static void drop(struct result *r)
{
    free(r->logw);
    free(r->accept);
    free(r->found);
}

/* Weights of 512 chains, half of which count or more: with 6 standard errors, fewer than one of
   10^7 right programs fails in one of 8 comparisons. */
static void evidence(void **state)
{
    (void)state;
    for (int k = 0; k < NKNOWN; k++)
        for (int start = 0; start < 2; start++) {
            struct ais_at s;
            struct ais_options o = {(enum ais_start)start, known[k].temps, 3};
            ais_at(&s, known[k].text, known[k].data, 1);
            double want = known[k].log_z(&s.net.m);
            struct result r = ask(&s, o, 1, 512, 3, 2);
            const struct diagnostics *f = r.found;
            print_message("%-10s %-8s log Z %.4f, exact %.4f, se %.4f, ess %.0f, accepted %.2f\n",
                          known[k].name, ais_starts[start], f->log_z, want, f->log_se, f->ess,
                          r.accept[0]);
            assert_true(f->log_se < 0.06);
            assert_true(fabs(f->log_z - want) < 6 * f->log_se);
            assert_true(f->ess > 150 && f->ess <= 512);
            assert_true(isnan(f->khat));
            assert_true(r.accept[0] > 0.6 && r.accept[0] < 0.95);
            drop(&r);
            ais_drop(&s);
        }
}

/* E[w] = p(x) for 1, 2 and 4 temperatures and moves that are far too long: the mean of 8 times 2048
   weights, over p(x), is 1 within 6 standard errors.  Moves that leave f_b wrong shift it. */
static void unbiased(void **state)
{
    enum { SETS = 2048, CHAINS = 8, N = SETS * CHAINS };
    (void)state;
    for (int start = 0; start < 2; start++)
        for (int temps = 1; temps <= 4; temps *= 2) {
            const struct known *k = &known[temps == 2 ? 3 : 0];
            struct ais_at s;
            double mean = 0, var = 0;
            ais_at(&s, k->text, k->data, SETS);
            struct result r =
                ask(&s, (struct ais_options){(enum ais_start)start, temps, 3}, SETS, CHAINS, 5, 2);
            double want = k->log_z(&s.net.m);
            for (int i = 0; i < N; i++) mean += exp(r.logw[i] - want) / N;
            for (int i = 0; i < N; i++) var += pow(exp(r.logw[i] - want) - mean, 2) / N;
            double se = sqrt(var / N);
            print_message("%-6s %-8s %d temperatures: mean of w / p(x) %.4f, se %.4f\n", k->name,
                          ais_starts[start], temps, mean, se);
            assert_true(se < 0.1);
            assert_true(fabs(mean - 1) < 6 * se);
            drop(&r);
            ais_drop(&s);
        }
}

/* More temperatures, better weights. */
static void temperatures(void **state)
{
    struct ais_at s;
    double last = 0;
    (void)state;
    ais_at(&s, known[0].text, known[0].data, 1);
    for (int temps = 1; temps <= 512; temps *= 8) {
        struct result r = ask(&s, (struct ais_options){AIS_NETWORK, temps, 3}, 1, 256, 3, 2);
        assert_true(r.found->ess > last * 1.2);
        last = r.found->ess;
        drop(&r);
    }
    assert_true(last > 220);
    ais_drop(&s);
}

static const char decoder[] =
    "network dec : real[2] -> real[9] { dense(5, tanh); dense(9) }\n"
    "model { for (l in 1:2) { h[l] ~ normal(0, 1) }\n a[1:9] <- dec(h[1:2])\n"
    " for (p in 1:9) { x[p] ~ bernoulli_logit(a[p]) } }\nobserve x\nlearn dec\n";

/* A model with a network inside, on float. */
static void threads(void **state)
{
    enum { SETS = 13, CHAINS = 8 };
    (void)state;
    for (int start = 0; start < 2; start++) {
        struct ais_at s;
        struct ais_options o = {(enum ais_start)start, 20, 4};
        nami_err err = {0};
        struct ais ais;
        ais_at(&s, decoder, "[{\"x\": [1,0,1,1,0,0,1,0,1]}, {\"x\": [0,0,0,1,1,1,0,1,1]}]", SETS);
        struct result one = ask(&s, o, SETS, CHAINS, 7, 1), other = ask(&s, o, SETS, CHAINS, 8, 1);
        assert_true(memcmp(one.logw, other.logw, sizeof(double)) != 0);
        for (int t = 2; t <= 3; t++) {
            struct result many = ask(&s, o, SETS, CHAINS, 7, t);
            assert_memory_equal(one.logw, many.logw, sizeof(double) * SETS * CHAINS);
            assert_memory_equal(one.found, many.found, sizeof *one.found * SETS);
            drop(&many);
        }
        /* sets 5 .. 10 alone */
        struct query q = {.x = s.x, .nset = SETS, .per = CHAINS, .seed = 7};
        struct ais_out out = {other.logw, other.found, NULL};
        if (ais_init(&ais, &s.a, &o, &err) || ais_sets(&ais, &q, 5, 6, 2, &out, &err))
            fail_msg("%s", err.msg);
        assert_memory_equal(one.logw + 5 * CHAINS, other.logw, sizeof(double) * 6 * CHAINS);
        ais_fini(&ais);
        drop(&one);
        drop(&other);
        ais_drop(&s);
    }
}

/* What float makes of it is what double makes of it: by quadrature over both latents. */
static void inside(void **state)
{
    struct ais_at s;
    enum { SIDE = 120 };
    double h = 0.1, sum = 0;
    (void)state;
    ais_at(&s, decoder, "{\"x\": [1,0,1,1,0,0,1,0,1]}", 1);
    size_t n = (size_t)SIDE * SIDE, rows = (size_t)s.net.m.ir.num_rows;
    double *x = calloc(rows * n, sizeof *x), *lp = calloc(n, sizeof *lp);
    for (size_t i = 0; i < n; i++) {
        for (size_t r = 0; r < rows; r++) x[r * n + i] = s.x[r];
        x[(size_t)row_of(&s.net.m, "h", 0) * n + i] = h * ((double)(i / SIDE) - SIDE / 2);
        x[(size_t)row_of(&s.net.m, "h", 1) * n + i] = h * ((double)(i % SIDE) - SIDE / 2);
    }
    logp(&s.net.m, n, x, 2, (struct density){.logp = lp});
    for (size_t i = 0; i < n; i++) sum += h * h * exp(lp[i]);
    struct result r = ask(&s, (struct ais_options){AIS_NETWORK, 50, 3}, 1, 512, 3, 2);
    assert_true(r.found->log_se < 0.02);
    assert_true(fabs(r.found->log_z - log(sum)) < 6 * r.found->log_se);
    drop(&r);
    free(x);
    free(lp);
    ais_drop(&s);
}

/* Data that the model cannot have made: p(x) = 0, and not an error */
static void impossible(void **state)
{
    struct ais_at s;
    (void)state;
    ais_at(&s, "model { a ~ uniform(0, 1)\n y ~ uniform(0, a) }\nobserve y\n", "{\"y\": 2}", 1);
    for (int start = 0; start < 2; start++) {
        struct result r = ask(&s, (struct ais_options){(enum ais_start)start, 10, 2}, 1, 16, 1, 1);
        assert_true(r.found->log_z == -INFINITY && r.found->ess == 0);
        drop(&r);
    }
    ais_drop(&s);
}

static void refused(void **state)
{
    struct ais_at s;
    struct ais ais;
    nami_err err = {0};
    struct ais_options o = {AIS_NETWORK, 10, 3};
    (void)state;
    ais_at(&s, "model { k ~ bernoulli(0.3)\n y ~ normal(k, 1) }\nobserve y\n", "{\"y\": 1}", 1);
    assert_int_equal(ais_init(&ais, &s.a, &o, &err), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "k is discrete"));
    ais_fini(&ais);
    ais_drop(&s);
    ais_at(&s, known[0].text, known[0].data, 1);
    static const struct ais_options bad[] = {{0, 0, 3}, {0, AIS_TEMPS + 1, 3}, {0, 10, 0}};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ais_init(&ais, &s.a, &bad[i], &err), NAMI_EUSAGE);
        ais_fini(&ais);
    }
    ais_drop(&s);
}

static int all_of_it(void *ctx)
{
    const struct ais_at *s = ctx;
    double logw[8], accept;
    struct diagnostics found;
    struct query q = {.x = s->x, .nset = 1, .per = 8, .seed = 1};
    struct ais_out out = {logw, &found, &accept};
    nami_err err = {0};
    int rc = 0;
    for (int start = 0; start < 2 && !rc; start++) {
        struct ais ais;
        struct ais_options o = {(enum ais_start)start, 2, 1};
        rc = ais_init(&ais, &s->a, &o, &err);
        if (!rc) rc = ais_sets(&ais, &q, 0, 1, 1, &out, &err);
        ais_fini(&ais);
        if (rc && rc != NAMI_ENOMEM) fail_msg("%d: %s", rc, err.msg);
    }
    return rc;
}

static void memory(void **state)
{
    struct ais_at s;
    const char *why;
    (void)state;
    ais_at(&s, known[2].text, known[2].data, 1);
    long n = nomem_each(all_of_it, &s, &why);
    if (n < 0) fail_msg("%s", why);
    assert_true(n > 20);
    ais_drop(&s);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(evidence), cmocka_unit_test(unbiased), cmocka_unit_test(temperatures),
    cmocka_unit_test(threads),  cmocka_unit_test(inside),   cmocka_unit_test(impossible),
    cmocka_unit_test(refused),  cmocka_unit_test(memory),
};
RUN(tests)
