/* test_net.c: derivatives of log q by all weights are right for all kinds of networks,
   families and variables, in float as in double; networks have the stated sizes. */
#include "model/model.h"
#include "net/saved.h"
#include "net_at.h"

static const struct {
    const char *name, *text;
    int parts, embeddings;
} models[] = {
    {"tree",
     "model { x[1] ~ normal(0, 1)\n for (i in 2:7) { x[i] ~ normal(1.3 * x[i %/% 2], 0.7) } }\n"
     "observe x[4:7]",
     3, 0},
    {"zoo",
     "model { m ~ normal(1, 2)\n g ~ gamma(2, 1.5)\n b ~ beta(2, 3)\n l ~ lognormal(0.3, 0.5)\n"
     "u ~ uniform(2, 5)\n h ~ normal(0, 1) T(0, )\n p[1:3] ~ dirichlet(c(1.5, 2, 3))\n"
     "v[1:2] ~ multi_normal(c(m, 0.5), diag(c(1.5, 0.5)))\n k ~ categorical(p)\n"
     "t ~ bernoulli(b)\n c ~ poisson(g)\n"
     "y1 ~ normal(v[1] + v[2] * t + u + h, l)\n y2 ~ poisson(g * k)\n y3 ~ binomial(10, b)\n"
     "y4 ~ poisson(c + 0.5)\n y5 ~ categorical(p)\n y6[1:3] ~ multinomial(p, 7)\n"
     "y7 ~ poisson(100 + h)\n }\n observe y1, y2, y3, y4, y5, y6, y7",
     11, 0},
    {"plate",
     "model { mu ~ normal(0, 3)\n tau ~ half_normal(2)\n for (j in 1:3) {\n"
     "theta[j] ~ normal(mu, tau)\n k[j] ~ bernoulli(0.4)\n y[j] ~ normal(theta[j] + k[j], 1) } }\n"
     "observe y",
     0, 0},
    {"plates", /* one network each for z, g, k and the coordinates of v */
     "model { for (j in 1:4) { z[j] ~ normal(1, 2)\n g[j] ~ gamma(2, 1)\n k[j] ~ "
     "categorical(c(0.2, 0.3, 0.5))\n"
     "v[j, 1:2] ~ multi_normal(c(z[j], 1), diag(c(1, 2)))\n x[j] ~ normal(v[j, 1] + k[j], g[j])\n"
     "for (i in 1:3) { y[j, i] ~ normal(v[j, 2] * i, g[j]) } } }\n observe x, y",
     0, 0},
    {"series",
     "model { a ~ normal(0, 1)\n s ~ gamma(3, 2)\n w ~ normal(a, 1)\n"
     "for (i in 1:12) { y[i] ~ normal(a * i / 6, s) }\n"
     "for (i in 1:4) { for (j in 1:5) { im[i, j] ~ normal(w, s) } }\n x ~ normal(w, 1) }\n"
     "observe y, im, x\n"
     "embed y { conv(3, 4, 2, tanh); dense(4, softplus) }\n"
     "embed im { conv(2, 2, sigmoid); conv(2, 2, tanh); dense(3) }",
     3, 2},
    {"barren",
     "model { mu ~ normal(0, 1)\n s ~ gamma(2, 2)\n z ~ normal(mu, s)\n n ~ normal(z, 1)\n"
     "y ~ normal(z + n, 1)\n new ~ normal(z, s)\n more ~ poisson(exp(new / 3)) }\n"
     "observe y\n infer mu, s, z, new",
     3, 0},
    {"nuisance",
     "model { mu ~ normal(0, 1)\n s ~ gamma(2, 2)\n z ~ normal(mu, s)\n n ~ normal(z, 1)\n"
     "for (i in 1:3) { y[i] ~ normal(z + n, 1) }\n new ~ normal(z, s) }\n"
     "observe y\n infer mu, s, new",
     3, 0},
};
enum { NMODEL = sizeof models / sizeof *models };

static const struct {
    const struct family *family;
    int size, kinks; /* has it, in the outputs? */
} family_rows[] = {{&family_match, 0, 0},
                   {&family_mixture, 1, 0},
                   {&family_mixture, 3, 0},
                   {&family_spline, 4, 1},
                   {&family_naf, 3, 0}};
enum { NFAMILY = sizeof family_rows / sizeof *family_rows };

/* ---- derivatives against differences ------------------------------------------------ */

enum { LANES = 11 };
static const double weight[16] = {1, 0, -0.5, 2, 1, 0, 0.25, -1, 1, 3, 0.1};

static double objective(struct exec *x)
{
    double sum = 0;
    exec_run(x);
    for (int b = 0; b < x->lanes; b++) sum += weight[b] * x->total[b];
    return sum;
}

static double difference(struct exec *x, double *w, double h)
{
    double was = *w, f[4];
    for (int i = 0; i < 4; i++) {
        *w = was + h * (i < 2 ? i - 2 : i - 1);
        f[i] = objective(x);
    }
    *w = was;
    return (8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * h);
}

/* The parameters belong to one layer each. */
static void one_owner(const struct qnet *q)
{
    size_t at = 0;
    for (size_t i = 0; i < q->block.n; i++) {
        const struct dense *d = q->block.a[i].layer;
        assert_int_equal(d->w, at);
        at += ((size_t)d->in + 1) * (size_t)d->out;
    }
    assert_int_equal(at, q->prog.nparam);
}

static void parts_add_up(const struct exec *x, const struct qnet *q)
{
    for (int b = 0; b < x->lanes; b++) {
        double sum = 0;
        for (int k = 0; k < q->num_loss_terms; k++) sum += x->by_tag[k * x->cap + b];
        assert_true(isfinite(sum) && fabs(sum - x->total[b]) < 1e-10 * fmax(1, fabs(sum)));
    }
}

struct tally {
    long compared, unclear, zero;
};

/* All weights, or some `most` of them. */
static void check_gradient(const char *what, const struct qnet *q, int kinks, int most,
                           struct tally *t)
{
    double *w = random_weights(q, 3), *grad = calloc(q->prog.nparam + 1, sizeof *grad), big = 0;
    struct exec x;
    struct rng r;
    size_t n = q->prog.nparam;
    long unclear = 0;
    assert_non_null(grad);
    exec_at(&x, q, LANES, EXEC_GRAD, w);
    x.weight[0] = weight;
    rng_init(&r, 17, 0);
    double f0 = objective(&x);
    if (!isfinite(f0)) fail_msg("%s: log q is %g", what, f0);
    parts_add_up(&x, q);
    for (size_t i = 0; i < n; i++) grad[i] = NAN;
    gradient_at(&x, q, grad);
    for (size_t i = 0; i < n; i++) big = fmax(big, fabs(grad[i]));
    size_t count = n <= (size_t)most ? n : (size_t)most;
    for (size_t k = 0; k < count; k++) {
        size_t i = n <= (size_t)most ? k : rng_below(&r, (uint32_t)n);
        double h = kinks ? 5e-5 : 1e-4, d = difference(&x, &w[i], h),
               d2 = difference(&x, &w[i], h / 2);
        double tol = 1e-6 * fmax(fabs(grad[i]), 1e-3 * big) + 1e-13 * fmax(1, fabs(f0)) / h;
        if (kinks && !(fabs(d - d2) < tol)) {
            unclear++;
            continue;
        }
        if (!(fabs(d2 - grad[i]) <= tol))
            fail_msg("%s: the derivative by weight %zu of %zu is %.12g, differences give %.12g "
                     "(%.12g)",
                     what, i, n, grad[i], d2, d);
        t->zero += grad[i] == 0;
    }
    if (unclear > (long)count / 10) fail_msg("%s: %ld of %zu have kinks", what, unclear, count);
    t->compared += (long)count;
    t->unclear += unclear;
    exec_fini(&x);
    free(w);
    free(grad);
}

static void test_gradients(void **state)
{
    (void)state;
    static const int acts[] = {ACT_TANH, ACT_SOFTPLUS, ACT_SIGMOID, ACT_RELU};
    struct tally t = {0};
    int turn = 0, nets = 0, messages = 0;
    for (int i = 0; i < NMODEL; i++)
        for (int f = 0; f < NFAMILY; f++)
            for (int kind = -1; kind < 0 || net_archs[kind]; kind++)
                for (int skip = 0; skip < 2; skip++, turn++, nets++) {
                    char what[100];
                    struct net_at n;
                    int act = acts[(turn + turn / 6) % 4];
                    const struct arch *arch = kind < 0 ? NULL : net_archs[kind];
                    struct net_options o = {
                        .family = family_rows[f].family,
                        .size = family_rows[f].size,
                        .arch = arch,
                        .nhidden = 2 - turn / 3 % 2,
                        .hidden = {arch == &arch_mlp ? 6 : 40, arch == &arch_mlp ? 5 : 48},
                        .act = act,
                        .skip = skip};
                    snprintf(what, sizeof what, "%s, %s, %s %d, %s, skip %d", models[i].name,
                             arch_name(arch), o.family->name, o.size, act_names[act], skip);
                    if (!net_suits(&n, models[i].text, NULL, NULL, &o)) continue;
                    messages += arch == &arch_messages;
                    one_owner(&n.q);
                    if (models[i].parts && arch != &arch_messages)
                        assert_int_equal(n.q.num_loss_terms, models[i].parts);
                    assert_int_equal(n.m.ir.embeddings.n, models[i].embeddings);
                    check_gradient(what, &n.q, family_rows[f].kinks || act == ACT_RELU, 100, &t);
                    net_drop(&n);
                }
    print_message("%d networks, %ld derivatives, %ld at kinks, %ld are 0\n", nets, t.compared,
                  t.unclear, t.zero);
    assert_true(t.zero < t.compared / 2 && messages > nets / 8);
}

/* ---- plates ------------------------------------------------------------------------- */

/* The turns of a loop have one network, or one each; then they can be swapped: log q of a draw is
   that of the draw with turns 1 and 3 exchanged. */
static void test_plates(void **state)
{
    (void)state;
    static const char *const name[] = {"z", "g", "k", "v", "x", "y"};
    static const int size[] = {1, 1, 1, 2, 1, 3};
    const char *text = NULL;
    for (int i = 0; i < NMODEL; i++)
        if (strcmp(models[i].name, "plates") == 0) text = models[i].text;
    for (int turn = 0; turn < 6; turn++) {
        struct net_at n;
        struct exec x;
        int shared = turn % 3 < 2;
        net_at(&n, text, NULL, NULL,
               &(struct net_options){.family = turn / 3 ? &family_spline : NULL,
                                     .arch = turn % 3 == 0 ? NULL : &arch_mlp,
                                     .act = ACT_TANH,
                                     .skip = turn % 2,
                                     .no_share = !shared});
        assert_int_equal(n.q.nfactor, 4 * 5);
        assert_int_equal(n.q.ngroup, shared ? 5 : 20);
        assert_int_equal(n.q.num_loss_terms, shared ? 4 : 16);
        for (int g = 0; g < n.q.ngroup; g++)
            assert_int_equal(n.q.group[g].num_factors, shared ? 4 : 1);
        for (int k = 0; k < n.q.num_loss_terms; k++)
            if (shared && !strstr(n.q.loss_term[k].name, "[j"))
                fail_msg("%s", n.q.loss_term[k].name);
        double *w = random_weights(&n.q, 6);
        exec_at(&x, &n.q, 16, 0, w);
        for (int b = 0; b < 8; b++) /* lane 8 + b is lane b, exchanged */
            for (int a = 0; a < 6; a++)
                for (int j = 0; j < 4; j++)
                    for (int k = 0; k < size[a]; k++) {
                        int from = j == 0 ? 2 : j == 2 ? 0 : j;
                        x.row[row_of(&n.m, name[a], j * size[a] + k) * x.cap + 8 + b] =
                            x.row[row_of(&n.m, name[a], from * size[a] + k) * x.cap + b];
                    }
        exec_run(&x);
        for (int b = 0; b < 8; b++) {
            double d = fabs(x.total[b] - x.total[8 + b]);
            if (shared ? !(d < 1e-10 * fmax(1, fabs(x.total[b]))) : !(d > 1e-3))
                fail_msg("%s networks: exchanged, %.12g is %.12g", shared ? "shared" : "own",
                         x.total[b], x.total[8 + b]);
        }
        exec_fini(&x);
        free(w);
        net_drop(&n);
    }
}

/* ---- by hand ------------------------------------------------------------------------ */

/* q(z | y) with a Gaussian head and three tanh units, as a formula. */
static void test_by_hand(void **state)
{
    (void)state;
    struct net_at n;
    struct exec x;
    net_at(&n, "model { z ~ normal(2, 3)\n y ~ normal(z, 1) }\n observe y", NULL, NULL,
           &(struct net_options){.family = &family_mixture,
                                 .size = 1,
                                 .arch = &arch_mlp,
                                 .nhidden = 1,
                                 .hidden = {3},
                                 .act = ACT_TANH});
    assert_int_equal(n.q.prog.nparam, 3 * 2 + 3 * 4);
    double *w = random_weights(&n.q, 8), *bias = w + 3, *w2 = w + 6, *bias2 = w2 + 9;
    exec_at(&x, &n.q, 5, 0, w);
    exec_run(&x);
    int z = row_of(&n.m, "z", 0), y = row_of(&n.m, "y", 0);
    const struct encoding *cz =
        &n.q.encoding[n.m.ir.node[n.m.ir.defined_by[n.m.ir.arrays.a[array_find(&n.m, "z")].first]]];
    const struct encoding *cy =
        &n.q.encoding[n.m.ir.node[n.m.ir.defined_by[n.m.ir.arrays.a[array_find(&n.m, "y")].first]]];
    assert_true(fabs(cz->mean[0] - 2) < 0.2 && fabs(cz->sd[0] - 3) < 0.2);
    assert_true(fabs(cy->mean[0] - 2) < 0.2 && fabs(cy->sd[0] - sqrt(10)) < 0.2);
    for (int b = 0; b < 5; b++) {
        double in = (x.row[y * x.cap + b] - cy->mean[0]) / cy->sd[0], out[3];
        double at = (x.row[z * x.cap + b] - cz->mean[0]) / cz->sd[0];
        for (int k = 0; k < 3; k++) {
            out[k] = bias2[k];
            for (int j = 0; j < 3; j++) out[k] += w2[3 * k + j] * tanh(w[j] * in + bias[j]);
        }
        double c = out[2] < 0 ? 12 : 6, t = out[2] / c, r = t / pow(1 + t * t * t * t, 0.25) * c;
        double u = (at - out[1]) * exp(-r);
        near(x.total[b], -0.5 * u * u - r - 0.5 * log(2 * 3.14159265358979323846) - log(cz->sd[0]));
    }
    exec_fini(&x);
    free(w);
    net_drop(&n);
}

/* ---- what networks read ------------------------------------------------------------- */

/* The features of a variable, and what they should be of a value: (x - mean) / sd of a coordinate,
   drawn in beyond 6; a state as 0 or 1 for each, or -1 and 1. */
static void check_features(const struct encoding *c, const struct exec *x, int b,
                           const double *want)
{
    for (int k = 0; k < c->nfeature; k++) {
        double got =
            ((const double *)x->units.unit)[(size_t)(c->feature + k) * (size_t)x->cap + (size_t)b];
        double u = c->kind == ENCODING_STATES ? want[k] : (want[k] - c->mean[k]) / c->sd[k];
        double far = fabs(u) - 6;
        if (c->kind != ENCODING_STATES && far > 0) u = copysign(6 + log1p(far), u);
        near(got, u);
    }
}

static void test_features(void **state)
{
    (void)state;
    static const char text[] =
        "model { z ~ normal(0, 1)\n a ~ normal(3 + z, 2)\n g ~ gamma(2, exp(z))\n"
        "b ~ beta(2 + z * z, 3)\n u ~ uniform(2, 5)\n h ~ normal(u + z, 1)\n k ~ "
        "categorical_logit(c(z, 0, 1))\n"
        "t ~ bernoulli(ilogit(z))\n n ~ poisson(exp(z))\n m ~ binomial(100, ilogit(z))\n"
        "p[1:2] ~ dirichlet(c(1 + z * z, 2)) }\n observe a, g, b, u, h, k, t, n, m, p";
    static const struct {
        const char *name;
        int nfeature;
        double x[2], want[3];
    } rows[] = {
        {"a", 1, {3.5}, {3.5}},
        {"a", 1, {1000}, {1000}},
        {"a", 1, {-500}, {-500}},
        {"g", 1, {0.25}, {-1.3862943611198906}},
        {"b", 1, {0.2}, {-1.3862943611198906}},
        {"u", 1, {2.6}, {-1.3862943611198906}},
        {"k", 3, {1}, {1, 0, 0}},
        {"k", 3, {3}, {0, 0, 1}},
        {"t", 1, {0}, {-1}},
        {"t", 1, {1}, {1}},
        {"n", 1, {6}, {1.9459101490553132}},
        {"m", 1, {99}, {4.605170185988092}},
        {"p", 1, {0.2, 0.8}, {-1.3862943611198906}},
    };
    enum { N = sizeof rows / sizeof *rows };
    struct net_at n;
    struct exec x;
    net_at(&n, text, NULL, &(nami_options){.method = "full"},
           &(struct net_options){.arch = &arch_mlp});
    double *w = random_weights(&n.q, 1);
    exec_at(&x, &n.q, N, 0, w);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < (rows[i].name[0] == 'p' ? 2 : 1); j++)
            x.row[row_of(&n.m, rows[i].name, j) * x.cap + i] = rows[i].x[j];
    exec_run(&x);
    for (int i = 0; i < N; i++) {
        const struct array *a = &n.m.ir.arrays.a[array_find(&n.m, rows[i].name)];
        const struct encoding *c = &n.q.encoding[n.m.ir.node[n.m.ir.defined_by[a->first]]];
        assert_int_equal(c->nfeature, rows[i].nfeature);
        check_features(c, &x, i, rows[i].want);
    }
    exec_fini(&x);
    free(w);
    net_drop(&n);
}

/* The first weights give outputs near 0: q is near the prior. */
static void test_start(void **state)
{
    (void)state;
    for (int kind = 0; net_archs[kind]; kind++)
        for (int act = ACT_TANH; act < NACT; act++) {
            struct net_at n;
            struct exec x;
            double sum = 0, most = 0;
            net_at(&n, models[1].text, NULL, NULL,
                   &(struct net_options){.arch = net_archs[kind], .act = act, .skip = -1});
            size_t np = n.q.prog.nparam, differ = 0;
            float *w = calloc(np, sizeof *w), *w2 = calloc(np, sizeof *w);
            assert_true(w && w2);
            qnet_start(&n.q, 2, w2);
            qnet_start(&n.q, 1, w);
            for (size_t i = 0; i < np; i++) differ += w[i] != w2[i];
            assert_true(differ > np / 2);
            qnet_start(&n.q, 1, w2);
            assert_memory_equal(w, w2, sizeof *w * np);
            exec_at(&x, &n.q, 64, EXEC_FLOAT, w);
            exec_run(&x);
            for (int f = 0; f < n.q.nfactor; f++)
                for (int k = 0; k < n.q.group[n.q.factor[f].group].nout; k++)
                    for (int b = 0; b < 64; b++)
                        most = fmax(most, fabs(x.row[(n.q.factor[f].out + k) * x.cap + b]));
            for (int b = 0; b < 64; b++) sum += x.total[b] / 64;
            if (!(most > 0 && most < 1.5)) fail_msg("%s: outputs up to %g", act_names[act], most);
            if (!(sum > -30 && sum < 0)) fail_msg("log q is %g", sum); /* of 13 numbers */
            exec_fini(&x);
            free(w);
            free(w2);
            net_drop(&n);
        }
}

/* What has no family is refused by name, if it is latent. */
static void test_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "model { counts[1:3] ~ multinomial(c(0.2, 0.3, 0.5), 9)\n y ~ normal(counts[1], 1) }\n "
        "observe y",
        "model { counts ~ censored(normal(0, 1), upper = 1)\n y ~ normal(counts, 1) }\n observe y",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct net_at n = {0};
        nami_err err = {0};
        build(&n.m, bad[i], NULL);
        if (net_try(&n, NULL, &(struct net_options){0}, &err) != NAMI_EINPUT ||
            !strstr(err.msg, "counts"))
            fail_msg("%s\n%s", bad[i], err.msg);
        net_drop(&n);
    }
}

/* Counts without a family of their own get a negative binomial. */
static void test_counts(void **state)
{
    (void)state;
    static const char *const good[] = {
        "model { k ~ poisson(4)\n counts ~ binomial(k, 0.5)\n y ~ normal(counts, 1) }\n observe y",
        "model { counts ~ poisson(4) T(2, )\n y ~ normal(counts, 1) }\n observe y",
        "model { counts ~ mixture(0.3, 0, poisson(4))\n y ~ normal(counts, 1) }\n observe y",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct net_at n;
        int found = 0;
        net_at(&n, good[i], NULL, NULL, &(struct net_options){0});
        for (int g = 0; g < n.q.ngroup; g++)
            found |= n.q.group[g].output.dist == &dist_neg_binomial;
        if (!found) fail_msg("%s", good[i]);
        net_drop(&n);
    }
}

/* match is a logistic for a relaxed Bernoulli, on the logit scale, and at zeros the prior; nothing
   else is read back from a file. */
static void test_logistic(void **state)
{
    (void)state;
    struct net_at n;
    nami_err err = {0};
    struct net_options o = {.nhidden = 1, .hidden = {3}, .act = ACT_TANH, .skip = -1};
    net_at(&n, "model { z ~ relaxed_bernoulli(0.7, 0.2)\n y ~ normal(z, 1) }\n observe y", NULL,
           NULL, &o);
    assert_ptr_equal(n.q.group[0].output.family, &family_logistic);
    double *w = calloc(n.q.prog.nparam + 1, sizeof *w), lp[5];
    struct str text = {0};
    assert_non_null(w);
    saved_print(&n.q, &text);
    struct exec x;
    exec_at(&x, &n.q, 8, 0, w);
    const double z[] = {1e-9, 0.01, 0.3, 0.9, 1 - 1e-9}, t[] = {0.7, 0.7, 0.7, 0.7, 0.7},
                 p[] = {0.2, 0.2, 0.2, 0.2, 0.2};
    dist_relaxed_bernoulli.logp(&dist_relaxed_bernoulli, 5, lp, (const double *[]){z, t, p});
    for (int b = 0; b < 5; b++) x.row[row_of(&n.m, "z", 0) * x.cap + b] = z[b];
    exec_run(&x);
    for (int b = 0; b < 5; b++) /* scales are those of 4,096 draws */
        if (!(fabs(x.total[b] - lp[b]) < 0.05 + 0.05 * fabs(log(z[b] / (1 - z[b])))))
            fail_msg("%g at %g, not %g", x.total[b], z[b], lp[b]);
    exec_fini(&x);
    for (int f = 0; net_families[f]; f++) {
        struct qnet q;
        struct saved saved;
        assert_int_equal(saved_open(&saved, text.s, &err), 0);
        json_t *output = json_array_get(saved.outputs, json_array_size(saved.outputs) - 1);
        json_object_set_new(output, "family", json_string(net_families[f]->name));
        int rc = qnet_make(&q, &n.m, n.h, &o, &saved, 1, &err);
        assert_int_equal(rc, net_families[f] == &family_logistic ? 0 : NAMI_EINPUT);
        qnet_free(&q);
        saved_close(&saved);
    }
    str_free(&text);
    free(w);
    net_drop(&n);
}

/* ---- float against double ----------------------------------------------------------- */

static void test_float(void **state)
{
    (void)state;
    for (int i = 0; i < NMODEL; i++)
        for (int f = 0; f < NFAMILY; f++)
            for (int kind = 0; net_archs[kind]; kind++) {
                struct net_at n;
                struct exec x, y;
                struct net_options o = {.family = family_rows[f].family,
                                        .size = family_rows[f].size,
                                        .arch = net_archs[kind],
                                        .act = ACT_TANH,
                                        .skip = -1};
                if (!net_suits(&n, models[i].text, NULL, NULL, &o)) continue;
                size_t np = n.q.prog.nparam;
                double *w = random_weights(&n.q, 9), *g = calloc(np, sizeof *g), num = 0, den = 0;
                float *wf = calloc(np, sizeof *wf), *gf = calloc(np, sizeof *gf);
                assert_true(g && wf && gf);
                for (size_t k = 0; k < np; k++) w[k] = wf[k] = (float)w[k];
                exec_at(&x, &n.q, LANES, EXEC_GRAD, w);
                exec_at(&y, &n.q, LANES, EXEC_GRAD | EXEC_FLOAT, wf);
                x.weight[0] = y.weight[0] = weight;
                exec_run(&x);
                exec_run(&y);
                gradient_at(&x, &n.q, g);
                gradient_at(&y, &n.q, gf);
                for (int b = 0; b < LANES; b++)
                    if (!(fabs(x.total[b] - y.total[b]) < 1e-3))
                        fail_msg("%s, %s: log q is %g in double and %g in float", models[i].name,
                                 family_rows[f].family->name, x.total[b], y.total[b]);
                for (size_t k = 0; k < np; k++) {
                    num += (gf[k] - g[k]) * (gf[k] - g[k]);
                    den += g[k] * g[k];
                }
                if (!(sqrt(num) < 1e-3 * sqrt(den)))
                    fail_msg("%s, %s: gradients in float differ by %g of their norm",
                             models[i].name, family_rows[f].family->name, sqrt(num / den));
                exec_fini(&x);
                exec_fini(&y);
                free(w);
                free(g);
                free(wf);
                free(gf);
                net_drop(&n);
            }
}

/* ---- sizes -------------------------------------------------------------------------- */

static void open_tree(struct net_at *n, const nami_options *invert, const struct net_options *o)
{
    const char *const data[] = {SOURCE_DIR "/examples/models/tree.json"};
    nami_err err = {0};
    *n = (struct net_at){0};
    if (model_read(&n->m, SOURCE_DIR "/examples/models/tree.nami", data, 1, NULL, &err) ||
        net_try(n, invert, o, &err))
        fail_msg("%s", err.msg);
}

/* Those that the paper gives for the tree of 31 nodes. */
static void test_sizes(void **state)
{
    (void)state;
    struct net_at n;
    struct net_options o = {.family = &family_mixture,
                            .size = 1,
                            .arch = &arch_mlp,
                            .nhidden = 2,
                            .hidden = {100, 100},
                            .act = ACT_RELU};
    open_tree(&n, &(nami_options){.method = "stuhlmuller"}, &o);
    assert_int_equal(n.q.prog.nparam, 160545);
    net_drop(&n);
    o.hidden[0] = o.hidden[1] = 97;
    open_tree(&n, &(nami_options){.mode = "reverse"}, &o);
    assert_int_equal(n.q.prog.nparam, 156021);
    assert_true(qnet_products(&n.q) > 150000);
    net_drop(&n);
    o = (struct net_options){.arch = &arch_made, .skip = -1};
    open_tree(&n, &(nami_options){.mode = "reverse"}, &o);
    assert_int_equal(n.q.nlabel, 36);
    net_drop(&n);
}

/* The number that is asked for is that of splines, too, that stand in for match. */
static void test_components_of_stand_ins(void **state)
{
    (void)state;
    static const char text[] = "model { u ~ uniform(2, 5)\n v[1:2] ~ multi_normal(c(0, 0), "
                               "diag(c(1, 1)))\n y ~ normal(u + v[1] * v[2], 1) }\n observe y";
    for (int size = 0; size < 8; size += 7) {
        struct net_at n;
        net_at(&n, text, NULL, NULL, &(struct net_options){.family = &family_match, .size = size});
        int splines = 0;
        for (int g = 0; g < n.q.ngroup; g++) {
            const struct output_dist *h = &n.q.group[g].output;
            int usual = h->family == &family_spline ? family_spline.size : 1;
            splines += h->family == &family_spline;
            assert_int_equal(h->size, size ? size : usual);
        }
        assert_int_equal(splines, 1);
        net_drop(&n);
    }
}

/* Each row of arch.def is complete and a word of the option; `auto` gives plates a network that
   they share and all other factors one masked network, if there are at least two. */
static void architectures_are_chosen_by_group(void **state)
{
    (void)state;
    static const char plate[] = "for (i in 1:3) { z[i] ~ normal(m, s)\n y[i] ~ normal(z[i], 1) } }";
    static const char *const start[] = {"model { m ~ normal(0, 1)\n s <- 1\n",
                                        "model { m ~ normal(0, 1)\n s ~ gamma(2, 2)\n"};
    assert_string_equal(nami_word("architectures", 0), "auto");
    assert_null(arch_find("auto"));
    for (int i = 0; net_archs[i]; i++) {
        const struct arch *a = net_archs[i];
        assert_true(a->name && a->what && a->suits && a->build);
        assert_ptr_equal(arch_find(a->name), a);
        assert_string_equal(nami_word("architectures", i + 1), a->name);
    }
    for (int two = 0; two < 2; two++) {
        struct net_at n;
        char text[300];
        snprintf(text, sizeof text, "%s%s\n observe y", start[two], plate);
        net_at(&n, text, NULL, &(nami_options){.mode = "reverse"},
               &(struct net_options){.skip = -1});
        assert_int_equal(n.q.ngroup, 2 + two);
        for (int g = 0; g < n.q.ngroup; g++) {
            const struct group *x = &n.q.group[g];
            assert_ptr_equal(x->arch, x->num_factors == 1 && two ? &arch_made : &arch_mlp);
        }
        net_drop(&n);
    }
}

/* Explicit inputs while there are not too many of them, then messages. */
static void messages_are_chosen_by_size(void **state)
{
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        struct net_at n;
        char text[200];
        snprintf(text, sizeof text,
                 "model { m ~ normal(0, 1)\n s ~ gamma(2, 2)\n for (i in 1:%d) { y[i] ~ "
                 "normal(m, s) } }\nobserve y",
                 turn ? 4100 : 40);
        net_at(&n, text, NULL, NULL, &(struct net_options){.skip = -1});
        for (int g = 0; g < n.q.ngroup; g++)
            assert_int_equal(n.q.group[g].arch == &arch_messages, turn);
        if (turn) assert_true(n.q.prog.nparam < 100000);
        net_drop(&n);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(messages_are_chosen_by_size),
    cmocka_unit_test(architectures_are_chosen_by_group),
    cmocka_unit_test(test_components_of_stand_ins),
    cmocka_unit_test(test_gradients),
    cmocka_unit_test(test_plates),
    cmocka_unit_test(test_by_hand),
    cmocka_unit_test(test_features),
    cmocka_unit_test(test_start),
    cmocka_unit_test(test_logistic),
    cmocka_unit_test(test_refused),
    cmocka_unit_test(test_counts),
    cmocka_unit_test(test_float),
    cmocka_unit_test(test_sizes),
};
RUN(tests)
