/* test_vector.c: relations over whole arrays, vectors as subscripts, functions and censored
   data have the graph and the density of the programs that they stand for. */
#include "model/model.h"
#include "model_at.h"

/* The same graph, and the same densities and derivatives at draws of the first. */
static void same_model(enum dialect dialect, const char *text, const char *loops, const char *data)
{
    enum { N = 8 };
    struct model a, b;
    struct str ga = {0}, gb = {0};
    double la[N], lb[N];
    build_opt(&a, dialect, text, data, NULL);
    build_opt(&b, dialect, loops, data, NULL);
    graph_text(a.ir.bn, &ga);
    graph_text(b.ir.bn, &gb);
    if (strcmp(ga.s, gb.s) != 0) fail_msg("%s\nhas %s\nnot %s", text, ga.s, gb.s);
    assert_int_equal(a.ir.num_rows, b.ir.num_rows);
    double *x = draw(&a, N, 1), *y = draw(&b, N, 1);
    double *dx = calloc((size_t)a.ir.num_rows * N, sizeof *dx),
           *dy = calloc((size_t)a.ir.num_rows * N, sizeof *dy);
    for (int e = 0; e < a.ir.num_elements; e++) { /* rows may have another order */
        struct str name = {0};
        elem_name(&a, e, &name);
        int f = 0;
        for (; f < b.ir.num_elements; f++) {
            struct str other = {0};
            elem_name(&b, f, &other);
            int same = strcmp(name.s, other.s) == 0;
            str_free(&other);
            if (same) break;
        }
        if (f == b.ir.num_elements) fail_msg("no %s", name.s);
        assert_int_equal(a.ir.state[e], b.ir.state[f]);
        if (a.ir.state[e] == E_RANDOM)
            memcpy(y + (size_t)b.ir.row[f] * N, x + (size_t)a.ir.row[e] * N, sizeof(double) * N);
        str_free(&name);
    }
    logp(&a, N, x, 1, (struct density){.logp = la, .grad = dx});
    logp(&b, N, y, 1, (struct density){.logp = lb, .grad = dy});
    for (int i = 0; i < N; i++) near(la[i], lb[i]);
    for (int e = 0; e < a.ir.num_elements; e++)
        for (int f = 0; f < b.ir.num_elements; f++) {
            struct str p = {0}, q = {0};
            elem_name(&a, e, &p);
            elem_name(&b, f, &q);
            int k = a.ir.state[e] == E_RANDOM ? a.ir.defined_by[e]
                                              : -1; /* of what is computed: 0 or not */
            int same = k >= 0 && instance_stmt(&a, k)->rel->stochastic && !strcmp(p.s, q.s);
            for (int i = 0; same && i < N; i++) {
                double g = dx[(size_t)a.ir.row[e] * N + (size_t)i];
                double want = dy[(size_t)b.ir.row[f] * N + (size_t)i];
                if (fabs(g - want) > 1e-9 * (1 + fabs(want)))
                    fail_msg("%s\nderivative by %s: %g, not %g", text, p.s, g, want);
            }
            str_free(&p);
            str_free(&q);
        }
    free(x), free(y), free(dx), free(dy);
    str_free(&ga), str_free(&gb);
    model_fini(&a), model_fini(&b);
}

/* Each program, and what it stands for. */
static const struct {
    const char *text, *loops, *data;
} pairs[] = {
    {"model { x[1:3] ~ normal(0, 1) }", "model { for (i in 1:3) { x[i] ~ normal(0, 1) } }", NULL},
    {"model { m[1:4] ~ normal(0, 1); y ~ normal(m, 2) }",
     "model { for (i in 1:4) { m[i] ~ normal(0, 1) }\n for (i in 1:4) { y[i] ~ normal(m[i], 2) } }",
     NULL},
    {"model { a ~ normal(0, 1); b ~ normal(0, 1); s ~ gamma(2, 1)\n"
     " y ~ normal(a + b * x, s) }\n const x[3] = c(1, 2, 4)",
     "model { a ~ normal(0, 1); b ~ normal(0, 1); s ~ gamma(2, 1)\n"
     " for (i in 1:3) { y[i] ~ normal(a + b * x[i], s) } }\n const x[3] = c(1, 2, 4)",
     NULL},
    /* groups, through a name: each y has one parent among them */
    {"model { a[1:3] ~ normal(0, 1); eta <- a[g] * 2; y ~ poisson(exp(eta)) }\n"
     "const g[5] = c(1, 3, 3, 2, 1)",
     "model { for (j in 1:3) { a[j] ~ normal(0, 1) }\n"
     " for (i in 1:5) { eta[i] <- a[g[i]] * 2 }\n for (i in 1:5) { y[i] ~ poisson(exp(eta[i])) } "
     "}\n"
     "const g[5] = c(1, 3, 3, 2, 1)",
     NULL},
    /* matrices, rows in a loop, truncation, arrays without subscripts to put in */
    {"model { m[1:2, 1:3] ~ normal(0, 1); y[1:2, 1:3] ~ normal(m, 1) T(0, ) }",
     "model { for (i in 1:2) { for (j in 1:3) { m[i, j] ~ normal(0, 1) } }\n"
     " for (i in 1:2) { for (j in 1:3) { y[i, j] ~ normal(m[i, j], 1) T(0, ) } } }",
     NULL},
    {"model { for (i in 1:2) { y[i, 2:4] ~ normal(u[1:3] + i, 1) }\n u[1:3] ~ normal(0, 1) }\n"
     "var y[2, 4]",
     "model { for (i in 1:2) { for (j in 1:3) { y[i, j + 1] ~ normal(u[j] + i, 1) } }\n"
     " for (j in 1:3) { u[j] ~ normal(0, 1) } }\n var y[2, 4]",
     NULL},
    {"model { b[1:2] ~ normal(0, c(1, 3)); y ~ normal(X %*% b, 1) }\n const X[3, 2]",
     "model { for (k in 1:2) { b[k] ~ normal(0, s[k]) }\n s <- c(1, 3)\n"
     " for (i in 1:3) { y[i] ~ normal(inprod(X[i, ], b), 1) } }\n const X[3, 2]",
     "{\"X\": [[1, 2], [3, 4], [5, 7]]}"},
    {"model { z[1:4] ~ normal(0, 1); s[1:4] <- sort(z); y[1:4] ~ normal(sort(z), 1) }",
     "model { for (i in 1:4) { z[i] ~ normal(0, 1) }\n s[1:4] <- sort(z)\n"
     " for (i in 1:4) { y[i] ~ normal(s[i], 1) } }",
     NULL},
    /* ragged: each turn has its own length */
    {"model { for (j in 1:3) { m[j] ~ normal(0, 1)\n y[o[j]:(o[j + 1] - 1)] ~ normal(m[j], 1) } }\n"
     "const o[4] = c(1, 3, 4, 7)",
     "model { for (j in 1:3) { m[j] ~ normal(0, 1) }\n"
     " for (i in 1:6) { y[i] ~ normal(m[g[i]], 1) } }\n"
     "const o[4] = c(1, 3, 4, 7)\n const g[6] = c(1, 1, 2, 3, 3, 3)",
     NULL},
    /* vectors as subscripts */
    {"model { x[1:5] ~ normal(0, 1); y ~ normal(sum(x[c(1, 4)]), 1); M[1:2, 1:3] ~ normal(0, 1)\n"
     " z ~ normal(M[2, c(3, 1)], 1) }",
     "model { for (i in 1:5) { x[i] ~ normal(0, 1) }\n y ~ normal(x[1] + x[4], 1)\n"
     " for (i in 1:2) { for (j in 1:3) { M[i, j] ~ normal(0, 1) } }\n"
     " for (k in 1:2) { z[k] ~ normal(M[2, ifelse(k == 1, 3, 1)], 1) } }",
     NULL},
    /* values of four dimensions */
    {"const A[2, 1, 2, 2]\nmodel { x[1:2, 1, 1:2, 1:2] ~ normal(0, 1); p <- x * A\n"
     " y ~ normal(sum(p), 1) }",
     "const A[2, 1, 2, 2]\nmodel { for (i in 1:2) { for (j in 1:2) { for (k in 1:2) {\n"
     " x[i, 1, j, k] ~ normal(0, 1)\n p[i, 1, j, k] <- x[i, 1, j, k] * A[i, 1, j, k] } } }\n"
     " y ~ normal(sum(p), 1) }",
     "{\"A\": [[[[1, 2], [3, 4]]], [[[5, 6], [7, 8]]]]}"},
    /* functions */
    {"function f(x, k) = x^k + g(x)\nfunction g(y) = 2 * y[1]\n"
     "model { a[1:2] ~ normal(0, 1); y ~ normal(f2(a), 1) }\nfunction f2(v) = v[2] * g(v)",
     "model { for (i in 1:2) { a[i] ~ normal(0, 1) }\n y ~ normal(a[2] * (2 * a[1]), 1) }", NULL},
};

static void arrays(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        same_model(NATIVE, pairs[i].text, pairs[i].loops, pairs[i].data);
}

/* ---- censored data ----------------------------------------------------------------------- */

static const char censored_text[] =
    "model {\n"
    " mu ~ dnorm(0, 1)\n"
    " for (i in 1:4) { t[i] ~ dnorm(mu, 0.25)\n  k[i] ~ dinterval(t[i], c[i, 1:2]) } }";
static const char apart_text[] = /* the same in loops of their own, in another order */
    "model {\n"
    " for (j in 1:4) { k[j] ~ dinterval(t[5 - j], c[j, 1:2]) }\n"
    " mu ~ dnorm(0, 1)\n"
    " for (i in 1:4) { t[i] ~ dnorm(mu, 0.25) } }";

/* log p of mu, t and k by hand. */
static double joint(double mu, const double *t)
{
    double l = -0.5 * mu * mu - 0.5 * log(2 * M_PI);
    for (int i = 0; i < 4; i++)
        l += -0.125 * (t[i] - mu) * (t[i] - mu) - 0.5 * log(2 * M_PI) - log(2);
    return l;
}

static void check_censored(const char *text, const char *data, const int *missing, int turned)
{
    enum { N = 64 };
    static const double cut[2] = {-0.3, 1.1};
    struct model m;
    double lp[N];
    build_opt(&m, BUGS, text, data, NULL);
    double *x = draw(&m, N, 1);
    logp(&m, N, x, 1, (struct density){.logp = lp});
    for (int i = 0; i < N; i++) {
        double t[4];
        for (int j = 0; j < 4; j++) {
            t[j] = x[(size_t)row_of(&m, "t", j) * N + (size_t)i];
            double k = x[(size_t)row_of(&m, "k", turned ? 3 - j : j) * N + (size_t)i];
            assert_true(k == (t[j] > cut[0]) + (t[j] > cut[1]));
        }
        double want = joint(x[(size_t)row_of(&m, "mu", 0) * N + (size_t)i], t);
        if (fabs(lp[i] - want) > 1e-9) fail_msg("%s: %g is not %g", text, lp[i], want);
    }
    /* what is not known is a prediction: it has no children, and k is not its child */
    for (int j = 0; j < 4; j++) {
        const struct array *a = &m.ir.arrays.a[array_find(&m, "t")];
        int v = m.ir.node[m.ir.defined_by[a->first + j]], children = 0;
        for (int u = 0; u < bn_n(m.ir.bn); u++)
            for_parents (&m.ir.bn->dag, u, w) children += w == v;
        assert_int_equal(m.ir.bn->node.a[v].observed, !missing[j]);
        assert_int_equal(children, missing[j] ? 0 : 1);
    }
    free(x);
    model_fini(&m);
}

static void censoring(void **state)
{
    (void)state;
#define CUTS "\"c\": [[-0.3, 1.1], [-0.3, 1.1], [-0.3, 1.1], [-0.3, 1.1]]"
    check_censored(censored_text, "{\"t\": [0.5, null, null, 2], \"k\": [1, 0, 2, 2], " CUTS "}",
                   (int[]){0, 1, 1, 0}, 0);
    check_censored(censored_text, "{\"k\": [1, 0, 2, 2], " CUTS "}", (int[]){1, 1, 1, 1}, 0);
    check_censored(apart_text, "{\"t\": [2, null, null, 0.5], \"k\": [1, 0, 2, 2], " CUTS "}",
                   (int[]){0, 1, 1, 0}, 1);
}

/* I(,) of WinBUGS and C(,) of OpenBUGS: known to lie between the bounds, where it is not given. */
static void bounds(void **state)
{
    (void)state;
    static const char *const text[] = {
        "model { mu ~ dnorm(0, 1)\n for (i in 1:2) { t[i] ~ dnorm(mu, 1) I(c[i], ) } }",
        "model { mu ~ dnorm(0, 1)\n for (i in 1:2) { t[i] ~ dnorm(mu, 1) C(c[i], ) } }",
    };
    for (int i = 0; i < 2; i++) {
        struct model m;
        struct str g = {0};
        build_opt(&m, BUGS, text[i], "{\"t\": [1, null], \"c\": [0, 2]}", NULL);
        graph_text(m.ir.bn, &g);
        assert_string_equal(g.s, "mu; t[1]* mu; t.within[1]* t[1]; t.within[2]* mu; "
                                 "t[2] mu t.within[2]");
        near(m.ir.value[m.ir.arrays.a[array_find(&m, "t.within")].first + 1], 1);
        str_free(&g);
        model_fini(&m);
    }
    struct model m; /* of constants: truncation */
    build_opt(&m, BUGS, "model { t ~ dnorm(0, 1) I(0, ) }", NULL, NULL);
    double lo, hi;
    model_support(&m, m.ir.arrays.a[array_find(&m, "t")].first, &lo, &hi);
    assert_true(lo == 0 && isinf(hi));
    model_fini(&m);
}

/* A latent whose indicator is not observed, or whose distribution cannot be cut, stays as it is. */
static void uncensored(void **state)
{
    (void)state;
    struct model m;
    struct str g = {0};
    build_opt(&m, BUGS, "model { t ~ dnorm(0, 1)\n k ~ dinterval(t, 1)\n y ~ dnorm(k, 1) }",
              "{\"y\": 1}", NULL);
    graph_text(m.ir.bn, &g);
    assert_string_equal(g.s, "t; k t; y* k");
    str_free(&g);
    model_fini(&m);
    build_opt(&m, BUGS, "model { t ~ dnorm(0, 1) T(0, )\n k ~ dinterval(t, 1) }", "{\"k\": 1}",
              NULL);
    graph_text(m.ir.bn, &g);
    assert_string_equal(g.s, "t; k* t");
    str_free(&g);
    model_fini(&m);
}

/* z <- log(y), z ~ dnorm(): the value is data. */
static void transformations(void **state)
{
    (void)state;
    struct model m;
    build_opt(
        &m, BUGS,
        "model { mu ~ dnorm(0, 1)\n for (i in 1:2) { z[i] <- log(y[i])\n z[i] ~ dnorm(mu, 1) } }",
        "{\"y\": [1, 3]}", NULL);
    const struct array *z = &m.ir.arrays.a[array_find(&m, "z")];
    for (int i = 0; i < 2; i++) {
        assert_true(m.ir.observed[z->first + i]);
        near(m.ir.value[z->first + i], log(i ? 3 : 1));
    }
    model_fini(&m);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(arrays), cmocka_unit_test(censoring),
                                          cmocka_unit_test(uncensored), cmocka_unit_test(bounds),
                                          cmocka_unit_test(transformations)};
RUN(tests)
