/* test_report.c: the reports of an inverse have the right layout, and survive failing
   allocations. */

#include "run.h"

#include <string.h>

#include "malloc_fail.h"
#include "report/draw.h"
#include "report/json.h"
#include "report/names.h"
#include "report/show.h"
#include "report/sketch.h"
#include "report/table.h"

/* Barren, nuisance and awkward names, a plate in a plate, and one that crosses. */
static const char model[] =
    "{\"nodes\":[\"a \\\"b\\\"\",\"ünï\",\"n\",\"b1\",\"b2\",\"x\",\"y\","
    "{\"name\":\"k\",\"size\":3}],"
    "\"edges\":[[\"a \\\"b\\\"\",\"x\"],[\"ünï\",\"x\"],[\"ünï\",\"n\"],[\"n\",\"y\"],"
    "[\"x\",\"b1\"],[\"b1\",\"b2\"],[\"k\",\"y\"],[\"k\",\"x\"]],"
    "\"observed\":[\"x\",\"y\"],\"nuisance\":[\"n\"],"
    "\"plates\":[{\"label\":\"N\",\"nodes\":[\"n\",\"y\",\"k\"]},"
    "{\"label\":\"M\",\"nodes\":[\"n\",\"y\"]},{\"label\":\"crossing\",\"nodes\":[\"k\",\"x\"]}]}";

enum { MODES = 1 << 8 }; /* the last of sections[] */

struct fixture {
    nami_bn *bn;
    struct inversion v;
    struct inverse *h;
    struct view w;
};

static void setup_with(struct fixture *f, const char *text, const char *format, const char *method,
                       const char *mode)
{
    nami_options opt = {.method = method, .mode = mode};
    nami_err err;
    if (nami_bn_parse(text, strlen(text), format, &f->bn, &err) ||
        inversion_init(&f->v, f->bn, &opt, &err) || inversion_run(&f->v, &f->h, &err))
        fail_msg("%s", err.msg);
    f->w = (struct view){"test", f->bn, &f->v, f->h, 80};
}

static void setup(struct fixture *f, const char *method)
{
    setup_with(f, model, "json", method, "forward");
}

static void teardown(struct fixture *f)
{
    inverse_free(f->h);
    inversion_fini(&f->v);
    nami_bn_free(f->bn);
}

static int all_sections(void *ctx)
{
    struct fixture *f = ctx;
    struct str out = {0};
    nami_err err;
    int rc = show(&f->w, ~0u & ~MODES, &out, &err);
    str_free(&out);
    return rc;
}

/* This one inverts, and elimination can do without some of its memory. */
static int modes(void *ctx)
{
    struct fixture *f = ctx;
    struct str out = {0};
    nami_err err;
    int rc = show(&f->w, MODES, &out, &err);
    str_free(&out);
    return rc ? rc : -nomem.failed;
}

static int json_full(void *ctx)
{
    struct fixture *f = ctx;
    struct str out = {0};
    nami_err err;
    int rc = inverse_json(&f->w, INVERSE_TRACE, &out, &err);
    str_free(&out);
    return rc;
}

static int json_runs(void *ctx)
{
    struct fixture *f = ctx;
    struct str out = {0};
    nami_err err;
    int rc = inverse_json(&f->w, INVERSE_RUNS, &out, &err);
    str_free(&out);
    return rc;
}

/* Graphviz's own allocations are out of reach: it ends the program when it has none. */
static int as_dot(void *ctx)
{
    struct fixture *f = ctx;
    struct str out = {0};
    nami_err err;
    int rc = draw(&f->w, "dot", &out, &err);
    str_free(&out);
    return rc;
}

static void test_nomem(void **state)
{
    static int (*const report[])(void *) = {all_sections, modes, json_full, json_runs, as_dot};
    static const char *const method[] = {"nami", "reverse-edges", "mean-field"};
    (void)state;
    assert_string_equal(sections[8].name, "modes");
    for (size_t m = 0; m < sizeof method / sizeof *method; m++) {
        struct fixture f = {0};
        setup(&f, method[m]);
        for (size_t i = 0; i < sizeof report / sizeof *report; i++) {
            const char *why;
            long n = nomem_each(report[i], &f, &why);
            if (n < 0) fail_msg("%s, report %zu: %s", method[m], i, why);
            assert_true(n > 0 || report[i] == modes);
        }
        teardown(&f);
    }
}

/* ---- plates: a node for each statement ---------------------------------------------- */

/* Nested plates, a chain, a partly observed array, a nuisance, a barren latent. */
static const char plates[] = "const N = 60; const M = 2\n"
                             "model {\n"
                             "  s ~ gamma(2, 1)\n"
                             "  x[1] ~ normal(0, s)\n"
                             "  for (t in 2:N) { x[t] ~ normal(x[t-1], s) }\n"
                             "  for (t in 1:N) {\n"
                             "    mu[t] <- 2 * x[t]\n"
                             "    u[t] ~ normal(0, 1)\n"
                             "    for (j in t:(t+M)) { y[t, j-t+1] ~ normal(mu[t] + u[t], 1) }\n"
                             "  }\n"
                             "  for (k in 1:M) { p[k] ~ normal(s, 1) }\n"
                             "}\n"
                             "observe y, x[3:5]\n"
                             "infer s, x, p\n";

static int find(const struct sketch *s, const char *name)
{
    for (int i = 0; i < s->n; i++)
        if (strcmp(s->node[i].name, name) == 0) return i;
    fail_msg("no node %s", name);
    return -1;
}

/* The edges are those between members, found one by one. */
static void check_edges(const struct fixture *f, const struct sketch *s)
{
    const struct bn *bn = f->bn;
    unsigned char want[2][16][16] = {{{0}}};
    assert_true(s->n <= 16);
    for (int v = 0; v < bn_n(bn); v++) {
        int is_model = 0, to = bn->node.a[v].cls;
        for (int i = 0; i < f->h->nmodel; i++) is_model |= f->h->model[i] == v;
        for_parents (&bn->dag, v, u) {
            want[MODEL][bn->node.a[u].cls][to] = 1;
            if (is_model) want[INVERSE][bn->node.a[u].cls][to] = 1;
        }
    }
    for (int i = 0; i < f->h->nlatent; i++)
        for (struct inverse_it it = inverse_it(f->h, i); inverse_next(&it);)
            want[INVERSE][bn->node.a[it.node].cls][bn->node.a[f->h->perm[i]].cls] = 1;
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < s->edge[side].n; i++) {
            const struct sketch_edge *e = &s->edge[side].a[i];
            assert_int_equal(want[side][e->from][e->to], 1);
            want[side][e->from][e->to] = 0;
            if (!(e->look >> BOTH & 1)) continue;
            assert_int_equal(want[side][e->to][e->from], 1);
            want[side][e->to][e->from] = 0;
        }
        for (int i = 0; i < 256; i++) assert_int_equal(want[side][i / 16][i % 16], 0);
    }
}

static void test_sketch(void **state)
{
    static const char *const mode[] = {"forward", "reverse", "free"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct fixture f = {0};
        struct sketch s;
        nami_err err;
        setup_with(&f, plates, "nami", "nami", mode[i]);
        assert_int_equal(sketch_init(&s, &f.w, &err), 0);
        assert_int_equal(s.n, 6);
        assert_int_equal(s.nplate, 4);
        assert_int_equal(s.node[find(&s, "x[1]")].plate, -1);
        assert_int_equal(s.node[find(&s, "x[t]")].look, 1u << PARTLY);
        assert_int_equal(s.node[find(&s, "y[t,j-t+1]")].look, 1u << OBSERVED);
        assert_int_equal(s.node[find(&s, "u[t]")].look, 1u << NUISANCE);
        assert_int_equal(s.node[find(&s, "u[t]")].in_inverse, 0);
        assert_int_equal(s.node[find(&s, "p[k]")].model_factor, 1);
        const struct sketch_plate *p = &s.plate[s.node[find(&s, "y[t,j-t+1]")].plate];
        assert_string_equal(p->label, "j in t:(t + M)");
        assert_string_equal(s.plate[p->outer].label, "t in 1:60");
        assert_int_equal(s.plate[p->outer].outer, -1);
        check_edges(&f, &s);
        sketch_fini(&s);
        teardown(&f);
    }
}

static void test_plates(void **state)
{
    struct fixture f = {0};
    struct str out = {0};
    nami_err err;
    const char *why;
    (void)state;
    setup_with(&f, plates, "nami", "nami", "forward");
    assert_int_equal(draw(&f.w, "dot", &out, &err), 0);
    assert_non_null(strstr(out.s, "cluster_inverse_plate0"));
    assert_non_null(strstr(out.s, "label=\"t in 2:60\""));
    assert_non_null(strstr(out.s, "half shaded"));
    assert_null(strstr(out.s, "x[2]"));
    if (nomem_each(as_dot, &f, &why) <= 0) fail_msg("%s", why);
    teardown(&f);
    str_free(&out);
    /* few nodes, no loop: as any other structure */
    static const char small[] = "model { a ~ normal(0, 1)\n b ~ normal(a, 1) }\nobserve b\n";
    struct sketch s;
    setup_with(&f, small, "nami", "nami", "forward");
    assert_int_equal(sketch_init(&s, &f.w, &err), 0);
    assert_int_equal(s.by_class, 0);
    sketch_fini(&s);
    teardown(&f);
}

static void test_table(void **state)
{
    struct table t = {.align = "lrl"};
    struct str out = {0};
    (void)state;
    static const char *const cell[] = {"ä", "1", "x", "bcd", "1234", ""};
    for (int i = 0; i < 6; i++) table_cell(&t, cell[i]);
    table_put(&t, 1, &out);
    assert_string_equal(out.s, " ä       1  x\n bcd  1234\n");
    str_free(&out);
}

static void test_wrap(void **state)
{
    struct str out = {0};
    (void)state;
    struct wrap w = wrap_head(&out, "to", 4, 12);
    wrap_text(&w, "one  two three änd-a-long-word x");
    wrap_end(&w);
    assert_string_equal(out.s, "to  one two\n    three\n    änd-a-long-word\n    x\n");
    str_free(&out);
}

static void test_counts(void **state)
{
    (void)state;
    assert_string_equal(count_text(0).s, "0");
    assert_string_equal(count_text(999).s, "999");
    assert_string_equal(count_text(-1234567).s, "-1,234,567");
    assert_string_equal(count_text(INT64_MAX).s, "9,223,372,036,854,775,807");
}

static void test_text(void **state)
{
    struct fixture f = {0};
    struct str out = {0};
    nami_err err;
    (void)state;
    setup(&f, "nami");
    assert_int_equal(show(&f.w, ~0u, &out, &err), 0);
    assert_non_null(strstr(out.s, "2 observed, 3 to infer, 2 barren, 1 nuisance"));
    assert_non_null(strstr(out.s, "q(\"a \\\"b\\\"\"|"));
    assert_non_null(strstr(out.s, "p(b1|x) p(b2|b1)"));
    out.n = 0;
    assert_int_equal(inverse_json(&f.w, 0, &out, &err), 0);
    assert_non_null(strstr(out.s, "\"size\":3"));
    assert_non_null(strstr(out.s, "{\"node\":\"b1\",\"parents\":[\"x\"],\"kind\":\"model\"}"));
    out.n = 0;
    assert_int_equal(draw(&f.w, "dot", &out, &err), 0);
    assert_null(strstr(out.s, "crossing"));
    assert_non_null(strstr(out.s, "cluster_plate1"));
    teardown(&f);
    str_free(&out);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_table),  cmocka_unit_test(test_wrap),  cmocka_unit_test(test_counts),
    cmocka_unit_test(test_text),   cmocka_unit_test(test_nomem), cmocka_unit_test(test_sketch),
    cmocka_unit_test(test_plates),
};

RUN(tests)
