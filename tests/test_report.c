/* test_report.c: the reports of an inverse have the right layout, and survive failing
   allocations. */

#include "run.h"

#include <string.h>

#include "api/api.h"
#include "base/rng.h"
#include "malloc_fail.h"
#include "model/inverse_read.h"
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

enum { MODES = 1 << 9 }; /* the last of sections[] */

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
    f->w = (struct view){"test", f->bn, &f->v, f->h, NULL, 80};
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
    return rc ? rc : -*nomem.failed;
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
    int rc = draw_here(&f->w, "dot", &out, &err);
    str_free(&out);
    return rc;
}

static void test_nomem(void **state)
{
    static int (*const report[])(void *) = {all_sections, modes, json_full, json_runs, as_dot};
    static const char *const method[] = {"nami", "reverse-edges", "mean-field"};
    (void)state;
    assert_string_equal(sections[9].name, "modes");
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

/* ---- exact factors ------------------------------------------------------------------ */

static const char *const exact_names[] = {"normal", "enumerated", "gamma", "quadrature"};

/* Inverts again; latents in `which` (by name, one letter each) are exact, of the kinds in turn. */
static void make_exact(struct fixture *f, const char *which)
{
    int n = bn_n(f->bn), found = 0;
    nami_err err;
    f->v.exact = new_array(unsigned char, n);
    f->v.exact_kind = new_array(const char *, n);
    for (int v = 0; v < n; v++) {
        const char *name = bn_name(f->bn, v);
        if (strlen(name) != 1 || !strchr(which, name[0])) continue;
        f->v.exact[v] = 1;
        f->v.exact_kind[v] = exact_names[found++ % 2];
    }
    inverse_free(f->h);
    f->h = NULL;
    if (inversion_run(&f->v, &f->h, &err)) fail_msg("%s", err.msg);
    f->w.h = f->h;
}

static const char three[] = "[m][s][a|m:s][b|m:s][c|m:s][x|a][y|b][z|c][p|a]";

static void setup_three(struct fixture *f)
{
    nami_err err;
    if (nami_bn_parse(three, strlen(three), "bnlearn", &f->bn, &err) ||
        nami_bn_observe(f->bn, "x,y,z", &err) ||
        inversion_init(&f->v, f->bn, &(nami_options){.mode = "reverse"}, &err))
        fail_msg("%s", err.msg);
    f->w = (struct view){"test", f->bn, &f->v, NULL, NULL, 80};
    make_exact(f, "abc");
}

static void exact_factors_are_marked(void **state)
{
    struct fixture f = {0};
    struct str out = {0};
    nami_err err;
    (void)state;
    setup_three(&f);
    for (int k = 0; k < NPROPERTY; k++) assert_int_equal(f.h->cert.is[k], 1);
    assert_int_equal(show(&f.w, ~0u, &out, &err), 0);
    assert_non_null(strstr(out.s, "3 observed, 5 to infer (3 exactly), 1 barren"));
    assert_non_null(strstr(out.s, "p(c|m,s,z) p(b|m,s,y) p(a|m,s,x) p(p|a)"));
    assert_non_null(strstr(out.s, "\nexact        normal: a c\n             enumerated: b\n"));
    out.n = 0;
    assert_int_equal(inverse_json(&f.w, 0, &out, &err), 0);
    assert_non_null(strstr(out.s, "{\"node\":\"b\",\"parents\":[\"m\",\"s\",\"y\"],"
                                  "\"kind\":\"exact\",\"exact\":\"enumerated\"}"));
    assert_non_null(strstr(out.s, "\"kind\":\"network\"}"));
    assert_non_null(strstr(out.s, "\"edges\":16,\"width\":4")); /* 3 + 3 + 3, and 4 + 3 */
    nami_inverse inv = {.bn = f.bn, .h = f.h};
    assert_string_equal(nami_inverse_exact(&inv, bn_find(f.bn, "a", 1)), "normal");
    assert_null(nami_inverse_exact(&inv, bn_find(f.bn, "m", 1)));
    assert_null(nami_inverse_exact(&inv, bn_find(f.bn, "x", 1)));
    assert_null(nami_inverse_exact(&inv, bn_find(f.bn, "p", 1)));
    assert_null(nami_inverse_exact(&inv, -1));
    teardown(&f);
    str_free(&out);
}

static int count_of(const char *text, const char *what)
{
    int n = 0;
    while ((text = strstr(text, what))) n++, text++;
    return n;
}

static void exact_factors_are_drawn(void **state)
{
    static int (*const report[])(void *) = {all_sections, modes, json_full, json_runs, as_dot};
    struct fixture f = {0};
    struct str out = {0};
    nami_err err;
    const char *why;
    (void)state;
    setup_three(&f);
    assert_int_equal(draw(&f.w, "dot", &out, &err), 0);
    assert_int_equal(count_of(out.s, "peripheries=2"), 3); /* not on the model's side */
    assert_int_equal(count_of(out.s, "double outline: exact factor"), 1);
    for (size_t i = 0; i < sizeof report / sizeof *report; i++)
        if (nomem_each(report[i], &f, &why) < 0) fail_msg("report %zu: %s", i, why);
    teardown(&f);
    f = (struct fixture){0};
    setup(&f, "nami");
    out.n = 0;
    assert_int_equal(draw(&f.w, "dot", &out, &err), 0);
    assert_int_equal(count_of(out.s, "peripheries"), 0);
    teardown(&f);
    str_free(&out);
}

/* An exact latent without a kind cannot be stored. */
static void exact_factors_need_kinds(void **state)
{
    struct fixture f = {0};
    struct inverse *h;
    nami_err err;
    (void)state;
    setup_three(&f);
    f.v.exact_kind[bn_find(f.bn, "b", 1)] = "two words";
    assert_int_equal(inversion_run(&f.v, &h, &err), NAMI_EBUG);
    assert_null(h);
    teardown(&f);
}

static void same_inverse(const struct inverse *a, const struct inverse *b)
{
    assert_int_equal(a->nlatent, b->nlatent);
    assert_int_equal(a->nobserved, b->nobserved);
    assert_int_equal(a->nexact, b->nexact);
    assert_int_equal(a->edges, b->edges);
    assert_int_equal(a->width, b->width);
    for (int i = 0; i < a->nlatent + a->nobserved; i++) assert_int_equal(a->perm[i], b->perm[i]);
    for (int i = 0; i < a->nexact; i++) assert_string_equal(a->exact[i], b->exact[i]);
    for (int i = 0; i <= a->nlatent; i++) assert_int_equal(a->ptr[i], b->ptr[i]);
    assert_int_equal(a->run.n, b->run.n);
    for (size_t i = 0; i < a->run.n; i++) {
        assert_int_equal(a->run.a[i].start, b->run.a[i].start);
        assert_int_equal(a->run.a[i].count, b->run.a[i].count);
    }
}

static void text_of(struct fixture *f, struct str *out)
{
    nami_err err;
    out->n = 0;
    assert_int_equal(inverse_json(&f->w, INVERSE_RUNS, out, &err), 0);
}

/* A random structure of nodes a, b, ...: each depends on earlier ones. */
static void setup_random(struct fixture *f, struct rng *r, const char *mode)
{
    struct str s = {0}, observed = {0};
    nami_err err;
    int n = 3 + (int)rng_below(r, 20);
    for (int v = 0; v < n; v++) {
        const char *sep = "|";
        str_printf(&s, "[%c", 'a' + v);
        for (int u = 0; u < v; u++)
            if (rng_below(r, 4) == 0) str_printf(&s, "%s%c", sep, 'a' + u), sep = ":";
        str_put(&s, "]");
        if (v % 3 == 2 || rng_below(r, 4) == 0)
            str_printf(&observed, "%s%c", observed.n ? "," : "", 'a' + v);
    }
    nami_options o = {.mode = mode};
    if (nami_bn_parse(s.s, s.n, "bnlearn", &f->bn, &err) ||
        nami_bn_observe(f->bn, observed.s, &err) || inversion_init(&f->v, f->bn, &o, &err))
        fail_msg("%s", err.msg);
    f->w = (struct view){"test", f->bn, &f->v, NULL, NULL, 80};
    str_free(&s);
    str_free(&observed);
}

/* Through the text of network files, also if the exact latents are not natural. */
static void exact_factors_survive_files(void **state)
{
    struct rng r;
    int some = 0, all = 0;
    (void)state;
    rng_init(&r, 8, 0);
    for (int rep = 0; rep < 500; rep++) {
        struct fixture f = {0};
        struct str text = {0}, again = {0};
        struct inverse *h;
        char which[27] = "";
        nami_err err;
        setup_random(&f, &r, mode_names[rep % 4]);
        for (int v = 0; v < 26; v++)
            if (rng_below(&r, 3) == 0) which[strlen(which)] = (char)('a' + v);
        for (int v = 0; v < bn_n(f.bn); v++) /* observed ones are not looked at */
            if (rep % 10 == 0) which[v] = (char)('a' + v), which[v + 1] = 0;
        make_exact(&f, which);
        some += f.h->nexact > 0 && f.h->nexact < f.h->nlatent;
        all += f.h->nexact > 0 && f.h->nexact == f.h->nlatent;
        text_of(&f, &text);
        assert_int_equal(inverse_read(f.bn, text.s, &h, &err), 0);
        same_inverse(f.h, h);
        inverse_free(f.h);
        f.w.h = f.h = h;
        text_of(&f, &again);
        assert_string_equal(text.s, again.s);
        str_free(&text);
        str_free(&again);
        teardown(&f);
    }
    assert_true(some > 100 && all > 10);
}

struct stored {
    const struct bn *bn;
    const char *text;
};

static int read_and_split(void *ctx)
{
    struct stored *s = ctx;
    struct inverse *h, *rest = NULL;
    nami_err err;
    int rc = inverse_read(s->bn, s->text, &h, &err);
    if (!rc && !(rest = inverse_rest(h))) rc = NAMI_ENOMEM;
    inverse_free(rest);
    inverse_free(h);
    return rc;
}

static void broken_exact_factors_are_refused(void **state)
{
    static const char *const change[][2] = {
        {"\"kind\":\"exact\",\"exact\":\"normal\"", "\"kind\":\"network\""}, /* not first */
        {"\"kind\":\"exact\",\"exact\":\"normal\"", "\"kind\":\"exact\""},
        {"\"kind\":\"exact\",\"exact\":\"normal\"", "\"kind\":\"guess\""},
        {"\"kind\":\"exact\",\"exact\":\"normal\"", "\"runs\":[]"},
        {"\"exact\":\"normal\"", "\"exact\":\"\""},
        {"\"exact\":\"normal\"", "\"exact\":7"},
        {"\"exact\":\"normal\"", "\"exact\":\"not normal\""},
        {"\"exact\":\"normal\"", "\"exact\":\"a_name_of_21_characters\""},
    };
    struct fixture f = {0};
    struct str text = {0}, bad = {0};
    struct inverse *h;
    nami_err err;
    const char *why;
    (void)state;
    setup_three(&f);
    text_of(&f, &text);
    for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
        const char *at = strstr(text.s, change[i][0]);
        assert_non_null(at);
        bad.n = 0;
        str_putn(&bad, text.s, (size_t)(at - text.s));
        str_printf(&bad, "%s%s", change[i][1], at + strlen(change[i][0]));
        if (inverse_read(f.bn, bad.s, &h, &err) != NAMI_EINPUT) fail_msg("%s", change[i][1]);
        assert_null(h);
        assert_string_equal(err.msg, "the stored inverse has no usable 'factors'");
    }
    struct stored s = {f.bn, text.s};
    if (nomem_each(read_and_split, &s, &why) <= 0) fail_msg("%s", why);
    str_free(&text);
    str_free(&bad);
    teardown(&f);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_table),
    cmocka_unit_test(test_wrap),
    cmocka_unit_test(test_counts),
    cmocka_unit_test(test_text),
    cmocka_unit_test(test_nomem),
    cmocka_unit_test(test_sketch),
    cmocka_unit_test(test_plates),
    cmocka_unit_test(exact_factors_are_marked),
    cmocka_unit_test(exact_factors_are_drawn),
    cmocka_unit_test(exact_factors_need_kinds),
    cmocka_unit_test(exact_factors_survive_files),
    cmocka_unit_test(broken_exact_factors_are_refused),
};

RUN(tests)
