/* test_share.c: factors share a network where they must, and do not where they must not. */
#include <time.h>
#include <unistd.h>

#include "malloc_fail.h"
#include "model/model.h"
#include "share_at.h"

static void example(struct shared *x, const char *name, const char *mode)
{
    char path[512], data[512];
    const char *const files[] = {data};
    nami_err err = {0};
    snprintf(path, sizeof path, SOURCE_DIR "/examples/models/%s.nami", name);
    snprintf(data, sizeof data, SOURCE_DIR "/examples/models/%s.json", name);
    x->m = (struct model){0};
    if (model_read(&x->m, path, files, access(data, R_OK) == 0, NULL, &err))
        fail_msg("%s: %s", path, err.msg);
    share(x, NULL, mode, 1);
}

static int factor_of(const struct shared *x, const char *name)
{
    int v = bn_find(x->m.ir.bn, name, strlen(name));
    if (v < 0 || x->h->pos[v] < 0 || x->h->pos[v] >= x->h->nlatent) fail_msg("no factor: %s", name);
    return x->h->pos[v];
}

static int networks(const struct shared *x)
{
    int n = 0;
    for (int i = 0; i < x->h->nlatent; i++) n += x->s.rep[i] == i;
    return n;
}

static void together(const struct shared *x, const char *a, const char *b, int want)
{
    int is = x->s.rep[factor_of(x, a)] == x->s.rep[factor_of(x, b)];
    if (is != want) fail_msg("%s and %s: %s", a, b, is ? "one network" : "two networks");
}

/* "z[1]: phi y[1]" */
static void parents_are(const struct shared *x, const char *name, const char *want)
{
    struct str got = {0};
    int i = factor_of(x, name);
    for (int64_t k = x->s.off[i]; k < x->s.off[i + 1]; k++)
        str_printf(&got, "%s%s", k > x->s.off[i] ? " " : "", bn_name(x->m.ir.bn, x->s.parent[k]));
    assert_string_equal(got.s, want);
    str_free(&got);
}

static void gmm(void **state)
{
    (void)state;
    struct shared x;
    example(&x, "gmm", "reverse");
    assert_int_equal(networks(&x), 8); /* z[]; phi; 3 mu, 3 Sigma: z tells these apart */
    together(&x, "z[1]", "z[200]", 1);
    together(&x, "mu[1,1:2]", "mu[2,1:2]", 0);
    parents_are(&x, "z[7]",
                "phi mu[1,1:2] mu[2,1:2] mu[3,1:2] Sigma[1,1:2,1:2] Sigma[2,1:2,1:2] "
                "Sigma[3,1:2,1:2] y[7,1:2]");
    drop(&x);
    share(&x, NULL, "reverse", 0);
    assert_int_equal(networks(&x), x.h->nlatent);
    drop(&x);
    model_fini(&x.m);
}

static void rats(void **state)
{
    (void)state;
    struct shared x;
    example(&x, "rats", "reverse");
    assert_int_equal(networks(&x), 7);
    together(&x, "alpha[1]", "alpha[30]", 1);
    together(&x, "beta[1]", "beta[17]", 1);
    together(&x, "alpha[1]", "beta[1]", 0);
    parents_are(&x, "alpha[4]", "beta[4] alpha.c sa sigma Y[4,1] Y[4,2] Y[4,3] Y[4,4] Y[4,5]");
    drop(&x);
    model_fini(&x.m);
}

static void examples(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int shared; /* factors beyond one for each network */
        const char *pair[2];
    } c[] = {
        {"schools", 2, {"theta[4]", "theta[6]"}}, /* both 11; and 2 and 7: 10 */
        {"pumps", 1, {"theta[7]", "theta[8]"}},   /* both 1.05 */
        {"surgical", 1, {"b[2]", "b[7]"}},        /* both 148 */
        {"dyes", 5, {"mu[1]", "mu[6]"}},
        {"epil", 0, {"b1[1]", NULL}},
        {"tree", 0, {"x[1]", NULL}},
        {"lgssm", 0, {"x[1]", NULL}},
        {"hmm", 0, {"z[1]", NULL}},
        {"hlogit", 0, {"mu[1]", NULL}},
        {"vae", 0, {"h[1]", NULL}},
        {"gk", 0, {"a", NULL}},
        {"seeds", 1, {"b[1]", "b[5]"}}, /* 39 seeds ... */
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct shared x;
        example(&x, c[i].name, "reverse");
        print_message("%s: %d factors, %d networks\n", c[i].name, x.h->nlatent, networks(&x));
        assert_int_equal(x.h->nlatent - networks(&x), c[i].shared);
        factor_of(&x, c[i].pair[0]);
        if (c[i].pair[1]) together(&x, c[i].pair[0], c[i].pair[1], 1);
        drop(&x);
        model_fini(&x.m);
    }
}

/* ---- small models, one by one ------------------------------------------------------- */

static const struct {
    const char *text, *data;
    int factors, networks;
} small[] = {
    /* schools: equal standard errors, and not */
    {"const s[4]\n model { mu ~ normal(0, 1)\n for (j in 1:4) { t[j] ~ normal(mu, 1)\n"
     "y[j] ~ normal(t[j], s[j]) } }\n observe y",
     "{\"s\": [2, 2, 2, 2]}", 5, 2},
    {"const s[4]\n model { mu ~ normal(0, 1)\n for (j in 1:4) { t[j] ~ normal(mu, 1)\n"
     "y[j] ~ normal(t[j], s[j]) } }\n observe y",
     "{\"s\": [2, 3, 2, 3]}", 5, 3},
    /* the counter by its value; as a subscript; in the size */
    {"model { for (j in 1:3) { t[j] ~ normal(j, 1)\n y[j] ~ normal(t[j], 1) } }\n observe y", NULL,
     3, 3},
    {"model { for (j in 1:3) { t[j] ~ normal(0, 1)\n y[j] ~ normal(t[j], j) } }\n observe y", NULL,
     3, 3},
    {"model { for (j in 1:3) { t[j] ~ normal(0, 1)\n y[4 - j] ~ normal(t[j], 1) } }\n observe y",
     NULL, 3, 1},
    {"const g[3] = c(3, 1, 2)\n model { for (j in 1:3) { t[j] ~ normal(0, 1)\n"
     "y[j] ~ normal(t[g[j]], 1) } }\n observe y",
     NULL, 3, 1},
    {"model { for (j in 1:3) { t[j] ~ normal(0, 1)\n y[j,1:j] ~ multi_normal(rep(t[j], j), "
     "diag(rep(1, j))) } }\n observe y",
     NULL, 3, 3},
    /* constants behind deterministic relations; computed ones; truncation */
    {"const w[3] = c(1, 2, 1)\n model { for (j in 1:3) { t[j] ~ normal(0, 1)\n m[j] <- w[j] * "
     "t[j]\n"
     "y[j] ~ normal(m[j], 1) } }\n observe y",
     NULL, 3, 2},
    {"const w[3] = c(1, 2, 1)\n model { for (j in 1:3) { v[j] <- w[j] + 1\n t[j] ~ normal(0, "
     "v[j])\n"
     "y[j] ~ normal(t[j], 1) } }\n observe y",
     NULL, 3, 2},
    {"const w[3] = c(1, 2, 1)\n model { for (j in 1:3) { t[j] ~ normal(0, 1) T(, w[j])\n"
     "y[j] ~ normal(t[j], 1) } }\n observe y",
     NULL, 3, 2},
    /* a table read at random */
    {"const c[3,2] = c(1, 2, 3, 4, 1, 2)\n model { for (j in 1:3) { z[j] ~ bernoulli(0.5)\n"
     "y[j] ~ normal(c[j, z[j] + 1], 1) } }\n observe y",
     NULL, 3, 2},
    {"const c[3] = c(1, 2, 1)\n const e[3] = c(1, 1.5, 2)\n model { for (j in 1:3) { z[j] ~ "
     "bernoulli(0.5)\n y[j] ~ normal(e[z[j] + c[j]], 1) } }\n observe y",
     NULL, 3, 2},
    /* how many see it; what is not observed; what depends on none matters to none */
    {"const g[5] = c(1, 1, 2, 2, 3)\n model { for (j in 1:3) { t[j] ~ normal(0, 1) }\n"
     "for (i in 1:5) { y[i] ~ normal(t[g[i]], 1) } }\n observe y",
     NULL, 3, 2},
    {"model { for (j in 1:3) { t[j] ~ normal(0, 1)\n y[j] ~ normal(t[j], 1)\n"
     "u[j] ~ normal(t[j], 1) } }\n observe y, u[1]",
     NULL, 3, 2},
    {"model { for (j in 1:3) { t[j] ~ normal(0, 1)\n y[j] ~ normal(t[j], 1) }\n"
     "u ~ normal(t[1], 1)\n d <- exp(t[2]) }\n observe y",
     NULL, 3, 1},
    /* vectors are one node, and their elements are told apart */
    {"model { for (j in 1:3) { t[j,1:2] ~ multi_normal(c(0, 0), diag(c(1, 1)))\n"
     "y[j] ~ normal(t[j,1] - t[j,2], 1) } }\n observe y",
     NULL, 3, 1},
    {"const k[3] = c(1, 2, 1)\n model { for (j in 1:3) { t[j,1:2] ~ multi_normal(c(0, 0), "
     "diag(c(1, "
     "1)))\n y[j] ~ normal(t[j,k[j]], 1) } }\n observe y",
     NULL, 3, 2},
    {"model { for (j in 1:3) { t[j] ~ normal(0, 1) }\n s[1:3] <- 2 * t[1:3]\n"
     "for (j in 1:3) { y[j] ~ normal(s[j], 1) } }\n observe y",
     NULL, 3, 1}, /* element by element: vectorize.c */
    /* plates in plates: x[i,j] share within and across */
    {"model { m ~ normal(0, 1)\n for (i in 1:3) { a[i] ~ normal(m, 1)\n for (j in 1:2) {\n"
     "b[i,j] ~ normal(a[i], 1)\n y[i,j] ~ normal(b[i,j], 1) } } }\n observe y",
     NULL, 10, 3},
    /* a tree of equal weights: one network a level */
    {"model { x[1] ~ normal(0, 1)\n for (i in 2:31) { x[i] ~ normal(x[i %/% 2], 1) } }\n"
     "observe x[16:31]",
     NULL, 15, 4},
    /* time: not unless the structure says so.  Two chains are alike */
    {"model { x[1] ~ normal(0, 1)\n for (t in 2:6) { x[t] ~ normal(x[t-1], 1) }\n"
     "for (t in 1:6) { y[t] ~ normal(x[t], 1) } }\n observe y",
     NULL, 6, 6},
    {"model { for (k in 1:2) { x[k,1] ~ normal(0, 1)\n for (t in 2:4) { x[k,t] ~ normal(x[k,t-1], "
     "1) "
     "}\n for (t in 1:4) { y[k,t] ~ normal(x[k,t], 1) } } }\n observe y",
     NULL, 8, 4},
    /* crossed: b shares given all of a; a does not, as each has others left */
    {"model { for (i in 1:3) { a[i] ~ normal(0, 1) }\n for (j in 1:4) { b[j] ~ normal(0, 2) }\n"
     "for (i in 1:3) { for (j in 1:4) { y[i,j] ~ normal(a[i] + b[j], 1) } } }\n observe y",
     NULL, 7, 4},
    /* only what is not behind the parents counts: groups of any size and spread */
    {"const g[6] = c(1, 1, 1, 2, 2, 3)\n const s[3] = c(1, 2, 3)\n"
     "model { for (i in 1:3) { a[i] ~ normal(0, s[i]) }\n"
     "for (i in 1:6) { b[i] ~ normal(a[g[i]], 1)\n y[i] ~ normal(b[i], 1) } }\n observe y",
     NULL, 9, 4},
    {"const p[6] = c(1, 1, 1, 2, 2, 3)\n const q[6] = c(2, 3, 4, 3, 4, 4)\n"
     "model { m ~ normal(0, 1)\n for (i in 1:4) { x[i] ~ normal(m, 1)\n z[i] ~ normal(x[i], 1) }\n"
     "for (e in 1:6) { y[e] ~ normal(z[p[e]] * z[q[e]], 1) } }\n observe y, z",
     NULL, 5, 2},
    /* topics: documents of 1 and 3 words */
    {"const d[4] = c(1, 2, 2, 2)\n const K = 2\n model { for (k in 1:K) { phi[k,1:5] ~ "
     "dirichlet(rep(1, 5)) }\n for (j in 1:2) { theta[j,1:K] ~ dirichlet(rep(1, K)) }\n"
     "for (i in 1:4) { z[i] ~ categorical(theta[d[i],1:K])\n w[i] ~ categorical(phi[z[i],1:5]) } "
     "}\n"
     "observe w",
     NULL, 8, 5},
    /* nobody knows how they are drawn */
    {"simulator \"./none\"\n model { for (j in 1:3) { t[j] ~ normal(0, 1)\n"
     "y[j] ~ simulated(t[j]) } }\n observe y",
     NULL, 3, 3},
};

static void small_models(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        struct shared x;
        build(&x.m, small[i].text, small[i].data);
        share(&x, NULL, "reverse", 1);
        if (x.h->nlatent != small[i].factors || networks(&x) != small[i].networks)
            fail_msg("%s\n%d factors, %d networks", small[i].text, x.h->nlatent, networks(&x));
        drop(&x);
        model_fini(&x.m);
    }
}

/* Constants that derivatives are wanted for may take any values. */
static void free_constants(void **state)
{
    (void)state;
    static const char *const names[] = {"s"};
    struct shared x;
    build_opt(&x.m, NATIVE, small[0].text, small[0].data,
              &(struct model_options){.free = names, .nfree = 1});
    share(&x, NULL, "reverse", 1);
    assert_int_equal(networks(&x), 5);
    drop(&x);
    model_fini(&x.m);
}

/* ---- large ones, and no memory ------------------------------------------------------ */

static const struct {
    const char *method, *text;
    int most; /* networks */
} large[] = {
    {NULL,
     "model { mu ~ normal(0, 1)\n s ~ gamma(2, 2)\n for (i in 1:10000) { t[i] ~ normal(mu, s)\n"
     "e[i] <- exp(t[i])\n for (j in 1:5) { y[i,j] ~ poisson(e[i]) } } }\n observe y",
     3},
    {NULL,
     "model { x[1] ~ normal(0, 1)\n for (i in 2:16383) { x[i] ~ normal(x[i %/% 2], 1) } }\n"
     "observe x[8192:16383]",
     13},
    {NULL, /* a ring: odd ones are eliminated, then every fourth, ... */
     "model { for (t in 1:10000) { x[t] ~ normal(0, 1)\n"
     "y[t] ~ normal(x[t] - x[t %% 10000 + 1], 1) } }\n observe y",
     50},
    {"stuhlmuller", /* every region is the whole chain */
     "model { x[1] ~ normal(0, 1)\n for (t in 2:5000) { x[t] ~ normal(x[t - 1], 1)\n"
     "y[t] ~ normal(x[t], 1) } }\n observe y",
     5000},
};

static void quick(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        struct shared x;
        nami_err err;
        build(&x.m, large[i].text, NULL);
        share(&x, large[i].method, "reverse", 1);
        share_free(&x.s);
        clock_t t = clock();
        assert_int_equal(share_find(&x.m, x.h, 1, &x.s, &err), 0);
        double seconds = (double)(clock() - t) / CLOCKS_PER_SEC;
        print_message("%d factors, %d networks: %.3f s\n", x.h->nlatent, networks(&x), seconds);
        assert_in_range(networks(&x), 1, large[i].most);
        assert_true(seconds < 30); /* sanitizers, valgrind */
        drop(&x);
        model_fini(&x.m);
    }
}

static int find(void *ctx)
{
    struct shared *x = ctx;
    struct share s;
    nami_err err;
    int rc = share_find(&x->m, x->h, 1, &s, &err);
    if (rc)
        assert_null(s.rep);
    else
        share_free(&s);
    return rc;
}

static void no_memory(void **state)
{
    (void)state;
    struct shared x;
    const char *why;
    example(&x, "rats", "reverse");
    if (nomem_each(find, &x, &why) <= 0) fail_msg("%s", why);
    drop(&x);
    model_fini(&x.m);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(gmm),
    cmocka_unit_test(rats),
    cmocka_unit_test(examples),
    cmocka_unit_test(small_models),
    cmocka_unit_test(quick),
    cmocka_unit_test(no_memory),
    cmocka_unit_test(free_constants),
};

RUN(tests)
