/* The reports of an inverse: their layout, and what they do without memory. */

#include "run.h"

#include <string.h>

#include "malloc_fail.h"
#include "report/draw.h"
#include "report/json.h"
#include "report/names.h"
#include "report/show.h"
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

static void setup(struct fixture *f, const char *method)
{
    nami_options opt = {.method = method, .mode = "forward"};
    nami_err err;
    if (nami_bn_parse(model, sizeof model - 1, "json", &f->bn, &err) ||
        inversion_init(&f->v, f->bn, &opt, &err) || inversion_run(&f->v, &f->h, &err))
        fail_msg("%s", err.msg);
    f->w = (struct view){"test", f->bn, &f->v, f->h, 80};
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
    cmocka_unit_test(test_table), cmocka_unit_test(test_wrap),  cmocka_unit_test(test_counts),
    cmocka_unit_test(test_text),  cmocka_unit_test(test_nomem),
};

RUN(tests)
