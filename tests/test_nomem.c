/* test_nomem.c: when any one allocation fails, an error is returned and nothing leaks. */

#include "run.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "base/file.h"
#include "graph/cliques.h"
#include "graph/elim_impl.h"
#include "graph/generate.h"
#include "graph/trace.h"
#include "io/format.h"
#include "malloc_fail.h"
#include "model/eval.h"
#include "model/lang/syntax.h"
#include "model/model.h"
#include "model/problem.h"

struct job {
    const char *format;
    struct str text;
    int rc; /* the last error */
};

static int read_and_write(void *ctx)
{
    struct job *j = ctx;
    struct str out = {0};
    nami_bn *bn;
    nami_err err;
    const struct format *f = format_by_name(j->format);
    int rc = nami_bn_parse(j->text.s, j->text.n, j->format, &bn, &err);
    if (!rc && f->write) {
        rc = f->write(bn, &out, &err);
        if (!rc && out.oom) rc = NAMI_ENOMEM;
    }
    bn_free(bn);
    str_free(&out);
    return j->rc = rc;
}

/* The seeds of the fuzzer that can be read and written. */
static void test_formats(void **state)
{
    (void)state;
    for (int i = 0; formats[i]; i++) {
        char pattern[512];
        glob_t g;
        long fails = 0;
        snprintf(pattern, sizeof pattern, "%s/fuzz/corpus/%s/*", SOURCE_DIR, formats[i]->name);
        if (glob(pattern, 0, NULL, &g)) fail_msg("no samples in %s", pattern);
        for (size_t k = 0; k < g.gl_pathc; k++) {
            struct job j = {.format = formats[i]->name};
            const char *why;
            nami_err err;
            if (file_read(g.gl_pathv[k], &j.text, &err)) fail_msg("%s: %s", g.gl_pathv[k], err.msg);
            if (read_and_write(&j) == 0) {
                long n = nomem_each(read_and_write, &j, &why);
                if (n < 0) fail_msg("%s: %s (last code %d)", g.gl_pathv[k], why, j.rc);
                fails += n;
            }
            str_free(&j.text);
        }
        globfree(&g);
        print_message("%s: %ld allocations failed\n", formats[i]->name, fails);
        assert_true(fails > 0);
    }
}

/* ---- the model language ------------------------------------------------------------- */

struct program_job {
    struct str text;
    enum dialect dialect;
};

/* Read, printed, with its messages; errors of the program are none of ours. */
static int parse_and_print(void *ctx)
{
    struct program_job *j = ctx;
    struct syntax s;
    struct diags d = {0};
    struct str out = {0};
    int rc = syntax_parse(&s, j->text.s, j->text.n, j->dialect, &d);
    if (!rc) {
        diags_print(&d, "f", j->text.s, j->text.n, &out);
        syntax_put(&s, j->dialect, &out);
        if (out.oom) rc = NAMI_ENOMEM;
    }
    str_free(&out);
    syntax_free(&s);
    diags_free(&d);
    return rc;
}

static void test_language(void **state)
{
    (void)state;
    static const char *const where[] = {"good/*.nami", "good/*.bug", "bad/*.nami", "bad/*.bug"};
    long fails = 0;
    for (int i = 0; i < 4; i++) {
        char pattern[512];
        glob_t g;
        snprintf(pattern, sizeof pattern, "%s/tests/models/%s", SOURCE_DIR, where[i]);
        if (glob(pattern, 0, NULL, &g)) fail_msg("no models %s", pattern);
        for (size_t k = 0; k < g.gl_pathc; k++) {
            struct program_job j = {.dialect = i % 2 ? BUGS : NATIVE};
            const char *why;
            nami_err err;
            str_put(&j.text, "");
            if (file_read(g.gl_pathv[k], &j.text, &err)) fail_msg("%s", err.msg);
            long n = nomem_each(parse_and_print, &j, &why);
            if (n < 0) fail_msg("%s: %s", g.gl_pathv[k], why);
            fails += n;
            str_free(&j.text);
        }
        globfree(&g);
    }
    print_message("%ld allocations failed\n", fails);
    assert_true(fails > 500);
}

/* ---- models ------------------------------------------------------------------------- */

struct model_job {
    const char *text, *data;
    enum dialect dialect;
    struct model_options opt;
};

/* From the text to draws, densities and files. */
static int run_model(void *ctx)
{
    enum { N = 5 };
    const struct model_job *j = ctx;
    struct model m = {0};
    nami_err err = {0};
    double *x = NULL, *grad = NULL, *by = NULL, logp[N], *dw = NULL;
    size_t nw = 0;
    struct arena mem = {0};
    struct draws d;
    int rc = j->data ? data_parse(&m.source.data, j->data, strlen(j->data), &err) : 0;
    if (!rc) rc = model_parse(&m, "f", j->text, strlen(j->text), j->dialect, &j->opt, &err);
    if (!rc) {
        for (size_t i = 0; i < m.ir.networks.n; i++) nw += m.ir.networks.a[i].nw;
        x = calloc((size_t)m.ir.num_rows * N, sizeof *x);
        grad = calloc((size_t)m.ir.num_rows * N, sizeof *grad);
        by = calloc(m.ir.statements.n * N, sizeof *by);
        dw = calloc(nw + 1, sizeof *dw);
        if (!x || !grad || !by || !dw) rc = NAMI_ENOMEM;
    }
    if (!rc)
        rc = (m.ir.improper ? model_simulate_training : model_simulate)(&m, 1, 0, N, 1, x, &err);
    const struct density out = {
        .logp = logp, .grad = grad, .by_stmt = by, .dweights = nw ? dw : NULL};
    if (!rc) rc = model_logp(&m, N, x, 1, &out, &err);
    if (!rc) rc = model_draws(&m, N, x, NULL, 1, &mem, &d, &err);
    if (!rc && j->data) rc = model_point(&m, &m.source.data.set.a[0], N, 0, 1, x, &err);
    free(x);
    free(grad);
    free(by);
    free(dw);
    arena_free(&mem);
    model_fini(&m);
    return rc;
}

static const char *const free_names[] = {"w"};
static const struct model_job model_jobs[] = {
    {"const K = 2\n const w[K] = c(0.5, 2)\n network f : real[2] -> real[2] { dense(3, tanh); "
     "dense(2) }\n"
     "model { p[1:K] ~ dirichlet(rep(1, K))\n for (k in 1:K) { mu[k,1:2] ~ multi_normal(c(0, 0), "
     "diag(c(1, 1))) }\n"
     "for (i in 1:3) { z[i] ~ categorical(p); y[i,1:2] ~ multi_normal(mu[z[i],], diag(w)) }\n"
     "h <- f(p)\n v ~ normal(h[1] + inprod(w, p), exp(h[2])) T(-9, 9)\n for (j in 1:0) { e[j] ~ "
     "normal(0, 1) } }\n"
     "observe y\n infer mu\n stages z; p\n learn f\n"
     "embed y : real[3, 1, K] { conv(4, 2, relu); dense(2 * K, act = tanh) }",
     "{\"y\": [[1, 2], [3, 4], [5, 6]], \"other\": 3}",
     NATIVE,
     {.free = free_names, .nfree = 1}},
    {"var x[4];\n data { for (i in 1:4) { c[i] <- i * 2 }\n n <- length(c)\n"
     "for (i in 1:2) { w[i] <- log(z[i]) } }\n"
     "model { tau ~ dgamma(2, 1)\n x[1] <- 0\n for (t in 2:n) { x[t] ~ dnorm(x[t - 1] + c[t], "
     "tau)\n"
     "logit(q[t]) <- x[t] / 10\n y[t] ~ dbin(q[t], 5) }\n s <- sum(x[2:4]) + mean(c)\n"
     "r ~ dnorm(s, 1.0E-6)\n for (i in 1:2) { w[i] ~ dnorm(r, 1) }\n a[4] <- 1\n for (i in 1:3) { a[i] <- a[i + 1] * 2 } }",
     "[{\"y\": [0, 1, null, 3], \"z\": [1, 2]}, {\"y\": [0, 1, null, 3], \"z\": [3, 4]}]",
     BUGS,
     {0}},
    {"const w[2] = c(1, 2)\nmodel { mu ~ flat()\n for (i in 1:2) { b[i] ~ normal(0, 1000) }\n"
     "s ~ uniform(0, 9)\n y ~ normal(mu + b[1] + b[2], s) }\nobserve y\n"
     "train { b ~ normal(w, 1); for (i in 1:1) { s ~ gamma(2, 1) T(0, 9) } }",
     "{\"y\": 3}",
     NATIVE,
     {.train_priors = "mu ~ normal(0, 1)"}},
};

static void test_models(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof model_jobs / sizeof *model_jobs; i++) {
        struct model_job j = model_jobs[i];
        const char *why;
        assert_int_equal(run_model(&j), 0);
        long n = 0;
        int more;
        while ((more = nomem_at(run_model, &j, ++n, &why)) == 1) continue;
        if (more < 0) fail_msg("model %zu, allocation %ld: %s", i, n, why);
        print_message("%ld allocations failed\n", n);
        assert_true(n > 100);
    }
}

static int run_bad_model(void *ctx)
{
    int rc = run_model(ctx);
    return rc == NAMI_EINPUT && *nomem.failed ? NAMI_ENOMEM : rc; /* bad it is, memory or not */
}

/* A message costs memory too; a name may be missing in it, but an error comes back. */
static void test_bad_models(void **state)
{
    (void)state;
    long fails = 0;
    for (int i = 0; i < 2; i++) {
        glob_t g;
        if (glob(i ? SOURCE_DIR "/tests/models/bad/sem_*.bug"
                   : SOURCE_DIR "/tests/models/bad/sem_*.nami",
                 0, NULL, &g))
            fail_msg("no bad models");
        for (size_t k = 0; k < g.gl_pathc; k++) {
            struct str text = {0};
            const char *why;
            nami_err err;
            if (strstr(g.gl_pathv[k], "huge") || strstr(g.gl_pathv[k], "limit"))
                continue; /* slow */
            if (file_read(g.gl_pathv[k], &text, &err)) fail_msg("%s", err.msg);
            struct model_job j = {.text = text.s, .dialect = i ? BUGS : NATIVE};
            int more;
            long n = 0;
            while ((more = nomem_at(run_bad_model, &j, ++n, &why)) == 1) fails++;
            if (more < 0 && strcmp(why, "an error without a failed allocation") != 0)
                fail_msg("%s, allocation %ld: %s", g.gl_pathv[k], n, why);
            str_free(&text);
        }
        globfree(&g);
    }
    print_message("%ld allocations failed\n", fails);
}

/* ---- inversion ---------------------------------------------------------------------- */

struct inversion_job {
    const nami_bn *bn;
    nami_options opt;
    int64_t edges; /* what a run without failures gave; -1: not yet */
    int bad;       /* a result that is none, or an error that is not NAMI_ENOMEM */
};

/* The inverse with its certificate, and what is made from it. */
static int invert_all(void *ctx)
{
    struct inversion_job *j = ctx;
    struct inversion v = {0};
    nami_inverse *h;
    struct trace t = {0};
    struct cliques c = {0};
    struct ugraph g = {0};
    nami_err err = {0};
    int rc = nami_invert(j->bn, &j->opt, &h, &err);
    if (rc ? h != NULL || err.code != rc : j->edges >= 0 && h->h->edges != j->edges) j->bad = 1;
    if (!rc) j->edges = h->h->edges;
    if (!rc) rc = inversion_init(&v, j->bn, &j->opt, &err);
    if (!rc && nami_bn_size(j->bn) < 50) /* it is slow */
        rc = trace_new(&v.p, h->h, v.method == &method_paper, &t, &err);
    if (!rc) rc = cliques_new(h->h, 1000000, &c, &err);
    if (rc == NAMI_EUSAGE) rc = 0; /* some inverses have no clique tree */
    if (!rc) rc = induced_init(&g, h->h, 1000000, &err);
    if (rc && rc != NAMI_ENOMEM) j->bad = 1;
    ugraph_fini(&g);
    cliques_free(&c);
    trace_free(&t);
    inversion_fini(&v);
    nami_inverse_free(h);
    return rc;
}

/* Each stride-th allocation.  A few may fail without harm (memory that could have
   been used again is not, a bound is not tightened): then the result is the same. */
static long fail_inversion(struct inversion_job *j, long stride)
{
    long n = 0;
    const char *why;
    j->edges = -1;
    assert_int_equal(invert_all(j), 0);
    for (long k = 1;; k += stride) {
        int more = nomem_at(invert_all, j, k, &why);
        if (more < 0 && strcmp(why, "a failed allocation without an error") == 0) more = 1;
        if (more < 0 || j->bad)
            fail_msg("%s %s %s, allocation %ld: %s", j->opt.method, j->opt.mode, j->opt.criterion,
                     k, j->bad ? "a wrong result or error" : why);
        if (!more) return n;
        n++;
    }
}

/* A random graph as a structure; sinks and each 10th node are observed. */
static nami_bn *random_bn(int n, double density, const char *more)
{
    struct str s = {0};
    struct dag g;
    nami_bn *bn;
    nami_err err;
    assert_int_equal(generate_random(&g, n, density, 5, NULL), 0);
    str_put(&s, "{\"nodes\":[");
    for (int v = 0; v < n; v++)
        str_printf(&s, "%s{\"name\":\"%d\",\"size\":%d,\"observed\":%s}", v ? "," : "", v,
                   1 + v % 7, v % 10 == 9 || g.cp[v] == g.cp[v + 1] ? "true" : "false");
    str_put(&s, "],\"edges\":[");
    for (int v = 0, k = 0; v < n; v++)
        for_parents (&g, v, u) str_printf(&s, "%s[\"%d\",\"%d\"]", k++ ? "," : "", u, v);
    str_printf(&s, "]%s}", more);
    if (nami_bn_parse(s.s, s.n, "json", &bn, &err)) fail_msg("%s", err.msg);
    str_free(&s);
    dag_fini(&g);
    return bn;
}

static void test_inversion(void **state)
{
    (void)state;
    nami_bn *bn = random_bn(14, 0.25,
                            ",\"stages\":[[\"0\",\"1\",\"2\"],[\"3\",\"4\"]],"
                            "\"nuisance\":[\"5\",\"6\",\"7\"]");
    long n = 0;
    for (int m = 0; methods[m]; m++)
        for (int mode = 0; mode_names[mode]; mode++)
            for (int k = 0; k < 4; k++) {
                struct inversion_job j = {.bn = bn,
                                          .opt = {.method = methods[m]->name,
                                                  .mode = mode_names[mode],
                                                  .criterion = criteria[k].name,
                                                  .verify = "full",
                                                  .barren = k % 2 ? "keep" : "aside",
                                                  .restarts = k / 2}};
                n += fail_inversion(&j, 1);
            }
    nami_bn_free(bn);
    print_message("%ld allocations failed\n", n);
}

/* Long lists, merging and the dense core. */
static void test_large_inversion(void **state)
{
    (void)state;
    static const double density[] = {0.02, 0.08, 0.25};
    long n = 0, cores = 0;
    for (int d = 0; d < 3; d++) {
        nami_bn *bn = random_bn(180, density[d], d == 1 ? ",\"nuisance\":[\"1\",\"2\",\"3\"]" : "");
        for (int mode = 0; mode_names[mode]; mode++) {
            struct inversion_job j = {.bn = bn,
                                      .opt = {.method = "nami",
                                              .mode = mode_names[mode],
                                              .criterion = criteria[mode % 2 * 3].name,
                                              .verify = "full"}};
            struct inversion v;
            struct elim *e;
            unsigned char role[180];
            int inexact;
            assert_int_equal(inversion_init(&v, bn, &j.opt, NULL), 0);
            assert_int_equal(roles(&v.p, role, &inexact, NULL), 0);
            assert_int_equal(eliminate(&v.p, role, 0, &e, NULL), 0);
            cores += e->core != NULL;
            elim_free(e);
            inversion_fini(&v);
            n += fail_inversion(&j, 5);
        }
        nami_bn_free(bn);
    }
    print_message("%ld allocations failed; %ld dense cores\n", n, cores);
    assert_true(cores > 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_formats),   cmocka_unit_test(test_language),
    cmocka_unit_test(test_models),    cmocka_unit_test(test_bad_models),
    cmocka_unit_test(test_inversion), cmocka_unit_test(test_large_inversion),
};

RUN(tests)
