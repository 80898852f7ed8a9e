/* test_model.c: programs of the model language have the right graph, draws and densities. */
#include <time.h>

#include "model/model.h"
#include "model_at.h"

/* The graph: each node with its parents; * is observed. */
static void graph_is(enum dialect dialect, const char *text, const char *data, const char *want)
{
    struct model m;
    struct str got = {0};
    build_opt(&m, dialect, text, data, NULL);
    graph_text(m.ir.bn, &got);
    if (strcmp(got.s, want) != 0) fail_msg("%s\nexpected %s\nbut got  %s", text, want, got.s);
    str_free(&got);
    model_fini(&m);
}

/* log p where the named scalars have these values. */
static double logp_at(const char *text, const char *data, const char *const *name,
                      const double *value, int n)
{
    struct model m;
    double out;
    build(&m, text, data);
    double *x = draw(&m, 1, 1);
    for (int i = 0; i < n; i++) x[row_of(&m, name[i], 0)] = value[i];
    logp(&m, 1, x, 1, (struct density){.logp = &out});
    free(x);
    model_fini(&m);
    return out;
}

/* The value of a deterministic scalar `y` in a model where x[k] is what was drawn. */
static void computes(const char *text, const char *data, const char *name, const double *want,
                     int n)
{
    struct model m;
    build(&m, text, data);
    double *x = draw(&m, 1, 1);
    const struct array *a = &m.ir.arrays.a[array_find(&m, name)];
    assert_int_equal(a->n, n);
    for (int i = 0; i < n; i++) {
        int e = a->first + i;
        double got = m.ir.state[e] == E_CONST ? m.ir.value[e] : x[m.ir.row[e]];
        if (!(fabs(got - want[i]) <= 1e-12 * fmax(1, fabs(want[i]))))
            fail_msg("%s\n%s: element %d is %.17g, not %.17g", text, name, i, got, want[i]);
    }
    free(x);
    model_fini(&m);
}

#define COMPUTES(text, name, ...)                                                                  \
    computes(text, NULL, name, (const double[]){__VA_ARGS__},                                      \
             (int)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)))

/* ---- graphs ------------------------------------------------------------------------- */

static const struct {
    enum dialect dialect;
    const char *text, *data, *graph;
} graphs[] = {
    {NATIVE, "model { x ~ normal(0, 1)\n y ~ normal(x, 1) }", NULL, "x; y x"},
    {NATIVE, "model { y ~ normal(x, 1)\n x ~ normal(0, 1) }\n observe y", NULL, "y* x; x"},
    /* deterministic nodes are substituted away */
    {NATIVE,
     "model { a ~ normal(0, 1); b ~ normal(0, 1); c <- a * b; d <- c + 1; e ~ normal(d, 1) }", NULL,
     "a; b; e a b"},
    {NATIVE, "model { a ~ normal(0, 1); c <- 3; e ~ normal(c, exp(a)) }", NULL, "a; e a"},
    {BUGS, "model { logit(p) <- a + b\n a ~ dnorm(0, 1)\n b ~ dnorm(0, 1)\n y ~ dbern(p) }",
     "{\"y\": 1}", "a; b; y* a b"},
    /* a random subscript: all that it may select are parents */
    {NATIVE,
     "model { z ~ categorical(c(0.5, 0.5)); for (k in 1:3) { mu[k] ~ normal(0, 1) }\n y ~ "
     "normal(mu[z], 1) }",
     NULL, "z; mu[1]; mu[2]; mu[3]; y z mu[1] mu[2]"},
    {NATIVE,
     "model { z ~ categorical(c(0.5, 0.5)); for (k in 1:3) { mu[k] ~ normal(0, 1) }\n y ~ "
     "normal(mu[z + 1], 1) }",
     NULL, "z; mu[1]; mu[2]; mu[3]; y z mu[2] mu[3]"},
    {NATIVE,
     "model { a ~ categorical(c(0.5, 0.5)); for (i in 1:2) { z[i] ~ categorical(c(0.5, 0.5)); m[i] "
     "~ normal(0, 1) }\n"
     "y ~ normal(m[z[a]], 1) }",
     NULL, "a; z[1]; z[2]; m[1]; m[2]; y a z[1] z[2] m[1] m[2]"},
    {NATIVE,
     "model { a ~ bernoulli(0.5); b ~ bernoulli(0.5); for (i in 1:2) { for (j in 1:2) { w[i,j] ~ "
     "normal(0, 1) } }\n"
     "y ~ normal(w[a + 1, b + 1], 1); v ~ normal(w[1, a + 1], 1) }",
     NULL,
     "a; b; w[1,1]; w[1,2]; w[2,1]; w[2,2]; y a b w[1,1] w[1,2] w[2,1] w[2,2]; v a w[1,1] w[1,2]"},
    /* data blocks make data; what is missing is latent */
    {BUGS,
     "data { for (i in 1:3) { y[i] <- w[i] * 2 } }\n model { m ~ dnorm(0, 1)\n for (i in 1:3) { "
     "y[i] ~ dnorm(m, 1) } }",
     "{\"w\": [1, 2, 3]}", "m; y[1]* m; y[2]* m; y[3]* m"},
    {BUGS, "model { m ~ dnorm(0, 1)\n for (i in 1:3) { y[i] ~ dnorm(m, 1) } }",
     "{\"y\": [1, null, 3]}", "m; y[1]* m; y[2] m; y[3]* m"},
    {NATIVE, "const n = 4\n model { x[1] <- 0\n for (t in 2:n) { x[t] ~ normal(x[t - 1], 1) } }",
     NULL, "x[2]; x[3] x[2]; x[4] x[3]"},
    /* ragged ranges */
    {NATIVE,
     "const off[3] = c(1, 3, 4)\n model { for (j in 1:3) { x[j] ~ normal(0, 1) }\n"
     "for (i in 1:2) { y[i] ~ normal(sum(x[off[i]:(off[i + 1] - 1)]), 1) } }",
     NULL, "x[1]; x[2]; x[3]; y[1] x[1] x[2]; y[2] x[3]"},
    /* slices of two and three dimensions */
    {NATIVE,
     "model { for (i in 1:2) { for (j in 1:2) { x[i,j] ~ normal(0, 1) }\n y[i] ~ "
     "normal(sum(x[i,]), 1) }\n"
     "z ~ normal(sum(x[,2]), 1); a ~ normal(sum(x[]), 1); b ~ normal(sum(x), 1) }",
     NULL,
     "x[1,1]; x[1,2]; x[2,1]; x[2,2]; y[1] x[1,1] x[1,2]; y[2] x[2,1] x[2,2]; z x[1,2] x[2,2]; "
     "a x[1,1] x[1,2] x[2,1] x[2,2]; b x[1,1] x[1,2] x[2,1] x[2,2]"},
    {NATIVE,
     "model { for (i in 1:2) { for (j in 1:1) { for (k in 1:2) { x[i,j,k] ~ normal(0, 1) } } }\n"
     "y ~ normal(sum(x[2,,]), 1); z ~ normal(x[1,1,2], 1) }",
     NULL, "x[1,1,1]; x[1,1,2]; x[2,1,1]; x[2,1,2]; y x[2,1,1] x[2,1,2]; z x[1,1,2]"},
    /* vectors are one node */
    {NATIVE, "model { p[1:3] ~ dirichlet(rep(1, 3))\n z ~ categorical(p)\n q ~ normal(p[2], 1) }",
     NULL, "p; z p; q p"},
    {NATIVE,
     "model { for (i in 1:2) { x[i,1:2] ~ multi_normal(c(0, 0), diag(c(1, 1))) }\n y ~ "
     "normal(x[2,1], 1) }",
     NULL, "x[1,1:2]; x[2,1:2]; y x[2,1:2]"},
    {NATIVE, "model { p ~ dirichlet(rep(1, 3))\n y ~ normal(p[3], 1) }", NULL, "p; y p"},
    {NATIVE,
     "const X[3,2] = 1\n model { for (j in 1:2) { b[j] ~ normal(0, 1) }\n mu <- X %*% b\n"
     "for (i in 1:3) { y[i] ~ normal(mu[i], 1) } }",
     NULL, "b[1]; b[2]; y[1] b[1] b[2]; y[2] b[1] b[2]; y[3] b[1] b[2]"},
    /* loops */
    {NATIVE, "model { for (i in c(2, 5)) { x[i] ~ normal(0, 1) } }", NULL, "x[2]; x[5]"},
    {NATIVE, "model { y ~ normal(0, 1)\n for (i in 1:0) { x[i] ~ normal(0, 1) } }", NULL, "y"},
    {NATIVE, "model { for (i in 1:3) { for (j in i:2) { x[i,j] ~ normal(0, 1) } } }", NULL,
     "x[1,1]; x[1,2]; x[2,2]"},
    {BUGS, "model { for (i in 1:length(y)) { y[i] ~ dnorm(m, 1) }\n m ~ dnorm(0, 1) }",
     "{\"y\": [1, 2]}", "y[1]* m; y[2]* m; m"},
    {BUGS,
     "data { D <- dim(y) }\n model { for (i in 1:D[1]) { for (j in 1:D[2]) { y[i,j] ~ dnorm(0, 1) "
     "} } }",
     "{\"y\": [[1, 2]]}", "y[1,1]*; y[1,2]*"},
    /* names and aliases */
    {BUGS, "model { T ~ dnorm(0, 1)\n y ~ dnorm(T, 1) T(0, T)\n z ~ dnorm(0, sd = 2) }", NULL,
     "T; y T; z"},
    {NATIVE, "model { x ~ normal(sigma = 1, mu = a); a ~ normal(0, 1) }", NULL, "x a; a"},
    {NATIVE, "model { a ~ gamma(2, 1); x ~ normal(0, 1) T(-a, a) }", NULL, "a; x a"},
    {BUGS, "model { y[1] ~ dnorm(0, 1) }", "{\"y\": 5}",
     "y*"}, /* a single number may be called y[1] */
    {NATIVE,
     "network f : real[2] -> real[2] { dense(3, tanh); dense(2) }\n"
     "model { for (i in 1:2) { h[i] ~ normal(0, 1) }\n m <- f(h)\n for (i in 1:2) { y[i] ~ "
     "normal(m[i], 1) } }",
     NULL, "h[1]; h[2]; y[1] h[1] h[2]; y[2] h[1] h[2]"},
};

static void test_graphs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++)
        graph_is(graphs[i].dialect, graphs[i].text, graphs[i].data, graphs[i].graph);
}

static void test_roles(void **state)
{
    (void)state;
    struct model m;
    build(&m,
          "model { a ~ normal(0, 1); b ~ normal(a, 1); c ~ normal(b, 1); y ~ normal(c, 1) }\n"
          "observe y\n infer a, b\n stages b; a",
          NULL);
    const struct bn_node *v = m.ir.bn->node.a;
    assert_true(v[3].observed && v[2].nuisance && !v[0].nuisance && !v[1].nuisance);
    assert_int_equal(v[1].stage, 0);
    assert_int_equal(v[0].stage, 1);
    model_fini(&m);
    const struct model_options other = {.observe = "c"};
    build_opt(&m, NATIVE,
              "model { a ~ normal(0, 1); c ~ normal(a, 1); y ~ normal(c, 1) }\n observe y", NULL,
              &other);
    assert_true(m.ir.bn->node.a[1].observed && !m.ir.bn->node.a[2].observed);
    model_fini(&m);
}

static void test_settings(void **state)
{
    (void)state;
    struct model m;
    const char *const set[] = {"d=3", "e=2.5"}, *const unknown[] = {"f=1"},
                      *const wrong[] = {"d=x"};
    const char *text = "const d = 2\n const e = 1\n const n = 2^d - 1\n model { for (i in 1:n) { "
                       "x[i] ~ normal(e, 1) } }";
    build_opt(&m, NATIVE, text, NULL, &(struct model_options){.set = set, .nset = 2});
    assert_int_equal(bn_n(m.ir.bn), 7);
    model_fini(&m);
    m = (struct model){0};
    assert_int_equal(
        build_with(&m, NATIVE, text, NULL, &(struct model_options){.set = unknown, .nset = 1}),
        NAMI_EINPUT);
    assert_string_equal(m.source.diags.list.a[0].msg, "f=1 is set, but the model has no such constant");
    model_fini(&m);
    assert_int_equal(
        build_with(&m, NATIVE, text, NULL, &(struct model_options){.set = wrong, .nset = 1}),
        NAMI_EINPUT);
    model_fini(&m);
    const char *const free_name[] = {"nothing"};
    assert_int_equal(
        build_with(&m, NATIVE, text, NULL, &(struct model_options){.free = free_name, .nfree = 1}),
        NAMI_EINPUT);
    model_fini(&m);
}

/* ---- values ------------------------------------------------------------------------- */

static void test_values(void **state)
{
    (void)state;
#define X " x ~ normal(0, 1) }"
    COMPUTES("model { y <- 7 %/% 2 + 7 %% 4 - 2^2" X, "y", 2);
    COMPUTES("model { y <- -2^2" X, "y", -4);
    COMPUTES("model { y <- rep(c(1, 2), 2)" X, "y", 1, 2, 1, 2);
    COMPUTES("model { y[1:3] <- 5" X, "y", 5, 5, 5);
    COMPUTES("model { y <- c(1, 2, 3) * 2 + 1" X, "y", 3, 5, 7);
    COMPUTES("const A[2,3] = c(1, 2, 3, 4, 5, 6)\n model { y <- A %*% c(1, 0, 2)" X, "y", 7, 16);
    COMPUTES("const A[2,3] = c(1, 2, 3, 4, 5, 6)\n model { y <- A[,2]" X, "y", 2, 5);
#undef X
}

/* Turns of a loop that differ in what they read are not mixed up. */
static void test_turns(void **state)
{
    (void)state;
#define X "model { x[1] ~ uniform(2, 2.0000000001)\n x[2] <- 3\n b ~ binomial(1, 1)\n "
    static const double sums[] = {2, 4, 6}, ranges[] = {2, 6, 12}, both[] = {2, 5, 3};
    static const struct {
        const char *text;
        const double *want;
    } cases[] = {
        {X "for (i in 1:3) { y[i] <- round(sum(rep(x[1], i))) } }", sums},
        {X "for (i in 1:3) { y[i] <- round(sum((1:i) * x[1])) } }", ranges},
        {X "lo[1] <- 1; lo[2] <- 1; lo[3] <- 2\n hi[1] <- 1; hi[2] <- 2; hi[3] <- 2\n"
           "for (i in 1:3) { y[i] <- round(sum(x[lo[i]:hi[i]])) } }",
         both},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        computes(cases[i].text, NULL, "y", cases[i].want, 3);
    /* two choices each: x[1:2, 32:33] and x[2:3, 1:2] */
    COMPUTES("model { b ~ binomial(1, 1)\n for (i in 1:3) { for (j in 1:33) { A[i,j] <- 100 * i + "
             "j + 0 * b } }\n"
             "r[1] <- 2; r[2] <- 1\n c[1] <- 1; c[2] <- 32\n"
             "for (k in 1:2) { y[k] <- A[r[k] + b, c[k] + b] } }",
             "y", 302, 233);
    COMPUTES("network f : real[2] -> real[2] { dense(2) }\n model { y <- 0 * f(c(1, 2)) + 3; x ~ "
             "normal(y[1], 1) }",
             "y", 3, 3);
#undef X
}

/* The same formulas with constants and with random numbers, which take different ways. */
static const struct {
    const char *formula;
} formulas[] = {
    {"a + b * c"},
    {"a %/% b"},
    {"-a^2"},
    {"exp(a) / (1 + exp(a))"},
    {"ilogit(a)"},
    {"max(a, b)"},
    {"sum(v)"},
    {"inprod(v, w)"},
    {"v[2] + w[1]"},
    {"sum(v * w + a)"},
    {"mean(c(a, b, c))"},
    {"sum(rep(a, 3))"},
    {"ifelse(a > b, a, c)"},
    {"equals(round(b), 2)"},
    {"sum(M %*% v)"},
    {"sum(M[1,])"},
    {"sum(M[,2])"},
    {"M[2,1]"},
    {"sum(M[1:2,2])"},
    {"sum(M)"},
    {"sum(t(M) %*% M)"},
    {"logdet(M)"},
    {"sum(inverse(M))"},
    {"pow(abs(a), b)"},
    {"step(a - b)"},
    {"phi(a)"},
    {"length(v) * a"},
    {"sum(dim(M)) * b"},
    {"sum(v[1:2]) - a"},
    {"sum(sort(v))"},
    {"a == b || b < c"},
};

static void test_ways(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++) {
        struct str text[2] = {{0}};
        double got[2];
        for (int random = 0; random < 2; random++) {
            struct model m = {0};
            const char *eps = random ? "0 * z + " : "";
            str_printf(
                &text[random],
                "model {\n z ~ normal(0, 1)\n a <- %s0.7\n b <- %s2\n c <- %s-1.3\n"
                "v[1] <- %s1\n v[2] <- %s0.25\n w[1] <- %s-2\n w[2] <- %s3\n"
                "M[1,1] <- %s2\n M[1,2] <- %s0.5\n M[2,1] <- %s0.5\n M[2,2] <- %s1\n y <- %s\n}",
                eps, eps, eps, eps, eps, eps, eps, eps, eps, eps, eps, formulas[i].formula);
            if (build_with(&m, NATIVE, text[random].s, NULL, NULL)) {
                struct str out = {0};
                messages(&m, &out);
                fail_msg("%s\n%s", text[random].s, out.s);
            }
            double *x = draw(&m, 1, 1);
            int e = m.ir.arrays.a[array_find(&m, "y")].first;
            assert_true(!random || m.ir.state[e] == E_RANDOM ||
                        strstr(formulas[i].formula, "length"));
            got[random] = m.ir.state[e] == E_CONST ? m.ir.value[e] : x[m.ir.row[e]];
            free(x);
            model_fini(&m);
        }
        if (!(fabs(got[0] - got[1]) < 1e-12 * fmax(1, fabs(got[0]))))
            fail_msg("%s is %.17g as a constant, but %.17g as a variable", formulas[i].formula,
                     got[0], got[1]);
        str_free(&text[0]);
        str_free(&text[1]);
    }
}

static double lnorm(double x, double mu, double sigma)
{
    double z = (x - mu) / sigma;
    return -0.5 * z * z - log(sigma) - 0.5 * log(2 * 3.14159265358979323846);
}

static void test_densities(void **state)
{
    (void)state;
    static const char *const xy[] = {"x", "y"};
    near(logp_at("model { x ~ normal(0, 1)\n y ~ normal(2 * x + 1, 0.5) }", NULL, xy,
                 (double[]){0.3, 1.2}, 2),
         lnorm(0.3, 0, 1) + lnorm(1.2, 1.6, 0.5));
    near(logp_at("model { x ~ dnorm(0, 4)\n y ~ dexp(exp(x)) }", NULL, xy, (double[]){0.3, 1.2}, 2),
         lnorm(0.3, 0, 0.5) + 0.3 - exp(0.3) * 1.2);
    near(logp_at("model { x ~ bernoulli(0.3)\n y ~ normal(m[x + 1], 1); m[1] <- -1; m[2] <- 4 }",
                 NULL, xy, (double[]){1, 1.2}, 2),
         log(0.3) + lnorm(1.2, 4, 1));
    near(logp_at("model { x ~ categorical(c(0.2, 0.3, 0.5))\n y ~ poisson(c[x]); for (i in 1:3) { "
                 "c[i] <- i + 1 } }",
                 NULL, xy, (double[]){3, 2}, 2),
         log(0.5) + 2 * log(4) - 4 - log(2));
    near(logp_at("model { x ~ normal(0, 1) T(0, )\n logit(p) <- x\n y ~ dbern(p) }", NULL, xy,
                 (double[]){0.5, 0}, 2),
         lnorm(0.5, 0, 1) + log(2) - log1p(exp(0.5)));
    near(logp_at("model { x ~ normal(0, 1)\n y ~ normal(A[1,2] * x, A[2,2]) }",
                 "{\"A\": [[1, 2], [3, 4]]}", xy, (double[]){0.3, 1.2}, 2),
         lnorm(0.3, 0, 1) + lnorm(1.2, 0.6, 4));
}

/* Moments of draws: within six standard errors. */
static void test_draws(void **state)
{
    (void)state;
    enum { N = 40000 };
    struct model m;
    build(&m,
          "model { z ~ categorical(c(0.25, 0.75))\n mu[1] <- -1\n mu[2] <- 3\n x ~ normal(mu[z], "
          "0.5)\n"
          "t ~ normal(0, 1) T(1, )\n d <- x * 2 }",
          NULL);
    double *x = draw(&m, N, 1), mean[4] = {0};
    const char *const name[] = {"z", "x", "t", "d"};
    const double want[] = {1.75, 2, 1.5251352761609812, 4}, sd[] = {0.433, 1.81, 0.45, 3.62};
    for (int k = 0; k < 4; k++) {
        const double *row = x + (size_t)row_of(&m, name[k], 0) * N;
        for (int i = 0; i < N; i++) mean[k] += row[i] / N;
        if (!(fabs(mean[k] - want[k]) < 6 * sd[k] / sqrt(N)))
            fail_msg("the mean of %s is %g, not %g", name[k], mean[k], want[k]);
    }
    free(x);
    model_fini(&m);
}

/* ---- size --------------------------------------------------------------------------- */

static double seconds(void) /* of processor time */
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void test_large(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        int nodes;
    } large[] = {
        {"chain",
         "model { x[1] ~ normal(0, 1)\n for (t in 2:100000) { x[t] ~ normal(0.9 * x[t - 1], 1) } }",
         100000},
        {"plate",
         "model { m ~ normal(0, 1); s ~ gamma(2, 1)\n for (i in 1:100000) { x[i] ~ normal(m, s) } "
         "}",
         100002},
        {"tree",
         "model { x[1] ~ normal(0, 1)\n for (i in 2:100000) { x[i] ~ normal(x[i %/% 2], 1) } }",
         100000},
        {"computed",
         "model { x[1] ~ normal(0, 1)\n for (t in 2:50000) { m[t] <- 0.9 * x[t - 1]; x[t] ~ "
         "normal(m[t], 1) } }",
         50000},
        {"constants",
         "model { c[100000] <- 1\n for (i in 1:99999) { c[i] <- c[i + 1] + 1 }\n x ~ normal(c[1], "
         "1) }",
         1},
        {"scales",
         "model { s[50000] ~ gamma(2, 1)\n for (i in 1:49999) { s[i] <- s[i + 1] + 1 }\n"
         "x ~ normal(0, s[1]); z ~ categorical(c(1, 1) / 2); y ~ normal(s[z], 1) }",
         4},
    };
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        struct model m;
        double t = seconds();
        build(&m, large[i].text, NULL);
        t = seconds() - t;
        print_message("%s: %.3f s\n", large[i].name, t);
        assert_int_equal(bn_n(m.ir.bn), large[i].nodes);
        assert_true(t < 5);
        model_fini(&m);
    }
    COMPUTES("model { c[20000] <- 1\n for (i in 1:19999) { c[i] <- c[i + 1] + 1 }\n d <- c[1]; x ~ "
             "normal(0, 1) }",
             "d", 20000);
}

/* A long cycle of constants ends, with a message. */
static void test_long_cycle(void **state)
{
    (void)state;
    struct model m = {0};
    assert_int_equal(
        build_with(&m, NATIVE,
                   "model { c[20000] <- c[1]\n for (i in 1:19999) { c[i] <- c[i + 1] + 1 }\n"
                   "x ~ normal(c[1], 1) }",
                   NULL, NULL),
        NAMI_EINPUT);
    assert_non_null(strstr(m.source.diags.list.a[0].msg, "depends on itself"));
    model_fini(&m);
}

static void test_limit(void **state)
{
    (void)state;
    struct model m = {0};
    assert_int_equal(build_with(&m, NATIVE, "model { for (i in 1:100) { x[i] ~ normal(0, 1) } }",
                                NULL, &(struct model_options){.limit = 50}),
                     NAMI_EINPUT);
    model_fini(&m);
}

/* A number and an array of one element are alike in data, as R writes them: declarations decide. */
static void one_element_has_the_declared_shape(void **state)
{
    (void)state;
    static const char text[] = "const J; const s[J]; const t[1, 1]\n"
                               "model { m ~ normal(0, 1)\n"
                               "        for (j in 1:J) { y[j] ~ normal(m, s[j] + t[1, 1]) } }";
    static const char *const data[] = {"{\"J\": 1, \"s\": 2, \"t\": 3, \"y\": 4}",
                                       "{\"J\": [1], \"s\": [2], \"t\": [[3]], \"y\": [4]}"};
    double density[2];
    struct model m;
    for (int k = 0; k < 2; k++) {
        build(&m, text, data[k]);
        assert_int_equal(m.ir.arrays.a[array_find(&m, "J")].ndim, 0);
        assert_int_equal(m.ir.arrays.a[array_find(&m, "s")].ndim, 1);
        assert_int_equal(m.ir.arrays.a[array_find(&m, "t")].ndim, 2);
        double x[2] = {0};
        x[row_of(&m, "y", 0)] = 4;
        logp(&m, 1, x, 1, (struct density){.logp = &density[k]});
        model_fini(&m);
    }
    assert_true(density[0] == density[1] && isfinite(density[0]));
    m = (struct model){0};
    assert_int_equal(build_with(&m, NATIVE, text, "{\"J\": 2, \"s\": 2, \"t\": 3, \"y\": [4, 4]}", NULL),
                     NAMI_EINPUT);
    model_fini(&m);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_graphs),    cmocka_unit_test(test_roles),
    cmocka_unit_test(test_settings),  cmocka_unit_test(test_values),
    cmocka_unit_test(test_turns),     cmocka_unit_test(test_ways),
    cmocka_unit_test(test_densities), cmocka_unit_test(test_draws),
    cmocka_unit_test(test_large),     cmocka_unit_test(test_long_cycle),
    cmocka_unit_test(test_limit),     cmocka_unit_test(one_element_has_the_declared_shape),
};
RUN(tests)
