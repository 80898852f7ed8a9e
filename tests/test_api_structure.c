/* test_api_structure.c: structures, inverses, options and lists of nami.h work for a program that
   includes only this header; running out of memory is an error, and leaves nothing behind. */
#include "run.h"

#include <stdlib.h>
#include <string.h>

#include "malloc_fail.h"
#include "nami.h"

static const char student[] =
    "{\"nodes\":[\"D\",\"I\",\"G\",\"S\",\"L\",\"J\",\"H\"],\"edges\":[[\"D\",\"G\"],[\"I\",\"G\"],"
    "[\"I\",\"S\"],[\"G\",\"L\"],[\"G\",\"H\"],[\"L\",\"J\"],[\"S\",\"J\"],[\"J\",\"H\"]],"
    "\"observed\":[\"J\",\"H\"]}";

static nami_bn *parse(const char *json)
{
    nami_bn *bn;
    nami_err err;
    if (nami_bn_parse(json, strlen(json), "json", &bn, &err)) fail_msg("%s", err.msg);
    return bn;
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("no '%s' in: %s", part, text);
}

static void has_not(const char *text, const char *part)
{
    if (strstr(text, part)) fail_msg("'%s' in: %s", part, text);
}

/* ---- descriptions of an inverse ------------------------------------------------------- */

static char *describe(const nami_inverse *inv, const char *as, const nami_inverse_view *view)
{
    char *text;
    size_t len;
    nami_err err;
    if (nami_inverse_describe(inv, as, view, &text, &len, &err)) fail_msg("%s: %s", as, err.msg);
    assert_int_equal(err.code, 0);
    if (strcmp(as, "png") != 0) assert_int_equal(strlen(text), len);
    return text;
}

/* The text in this form has these parts; NULL at the end. */
static void shows(const nami_inverse *inv, const char *as, const nami_inverse_view *view,
                  const char *const *part)
{
    char *text = describe(inv, as, view);
    for (; *part; part++) has(text, *part);
    nami_free(text);
}
#define SHOWS(inv, as, view, ...) shows(inv, as, view, (const char *const[]){__VA_ARGS__, NULL})

static void inverse_is_described_in_every_form(void **state)
{
    (void)state;
    nami_bn *bn = parse(student);
    nami_inverse *inv;
    nami_options forward = {.mode = "forward"};
    assert_int_equal(nami_invert(bn, &forward, &inv, NULL), 0);
    SHOWS(inv, "text", NULL, "structure: 7 nodes, 8 edges; 2 observed, 5 to infer", "q(z|x) = q(L|",
          "order        D I S G L", "✓  faithful  yes", "<- this one");
    SHOWS(inv, "text", &((nami_inverse_view){.file = "student"}), "student: 7 nodes");
    SHOWS(inv, "json", NULL, "\"mode\":\"forward\"", "\"parents\":[", "\"faithful\":true");
    SHOWS(inv, "json", &((nami_inverse_view){.runs = 1, .trace = 1}), "\"form\":\"runs\"",
          "\"trace\":[");
    SHOWS(inv, "dot", NULL, "digraph");
    SHOWS(inv, "svg", NULL, "</svg>");
    SHOWS(inv, "png", NULL, "PNG");
    nami_inverse_free(inv);
    nami_bn_free(bn);
}

static void sections_are_chosen(void **state)
{
    (void)state;
    nami_bn *bn = parse(student);
    nami_inverse *inv;
    nami_err err;
    char *text;
    assert_int_equal(nami_invert(bn, NULL, &inv, NULL), 0);
    for (int i = 0; nami_word("sections", i); i++) {
        nami_inverse_view one = {.show = nami_word("sections", i)};
        text = describe(inv, "text", &one);
        assert_true(*text || strcmp(one.show, "exact") == 0); /* that is of models */
        nami_free(text);
    }
    text = describe(inv, "text", &((nami_inverse_view){.show = "order,moral"}));
    has(text, "moral        11 edges");
    has(text, "order        ");
    has_not(text, "certificate");
    has_not(text, "frontier");
    nami_free(text);
    SHOWS(inv, "text", &((nami_inverse_view){.show = "order", .trace = 1}), "frontier:fill");
    assert_int_equal(nami_inverse_describe(inv, "text", &((nami_inverse_view){.show = "order,x"}),
                                           &text, NULL, &err),
                     NAMI_EUSAGE);
    has(err.msg, "no section 'x'");
    assert_null(text);
    assert_int_equal(nami_inverse_describe(inv, "yaml", NULL, &text, NULL, &err), NAMI_EUSAGE);
    has(err.msg, "choose from text, json, dot, svg, png");
    /* a caller that was compiled with a smaller struct: what lies behind it does not count */
    nami_inverse_view old = {.size = offsetof(nami_inverse_view, show), .file = "x", .show = "?"};
    SHOWS(inv, "text", &old, "x: 7 nodes", "certificate");
    nami_inverse_free(inv);
    nami_bn_free(bn);
}

/* ---- copies and texts of structures ------------------------------------------------------ */

static int count_observed(const nami_bn *bn)
{
    int n = 0;
    for (int v = 0; v < nami_bn_size(bn); v++) n += nami_bn_observed(bn, v);
    return n;
}

static void copy_changes_alone(void **state)
{
    (void)state;
    nami_bn *bn = parse(student), *copy;
    nami_err err;
    char why[100], *a, *b;
    assert_int_equal(nami_bn_copy(bn, &copy, &err), 0);
    assert_int_equal(nami_bn_print(bn, "json", &a, &err), 0);
    assert_int_equal(nami_bn_print(copy, "json", &b, &err), 0);
    assert_string_equal(a, b);
    nami_free(a);
    nami_free(b);
    assert_int_equal(nami_bn_observe(copy, "D,I,G", &err), 0);
    assert_int_equal(count_observed(copy), 3);
    assert_int_equal(count_observed(bn), 2);
    nami_bn_free(bn);
    assert_string_equal(nami_bn_name(copy, 2), "G");
    bn = parse(student);
    assert_int_equal(nami_bn_equivalent(bn, copy, why, sizeof why, &err), 1);
    nami_bn_free(bn);
    nami_bn_free(copy);
}

/* Tables, states and plates go along. */
static void copy_of_a_file_is_whole(void **state)
{
    (void)state;
    static const char *const files[] = {"examples/asia.bif", "examples/mixture.json"};
    static const char *const format[] = {"bif", "json"};
    for (int i = 0; i < 2; i++) {
        nami_bn *bn, *copy;
        nami_err err;
        char *a, *b;
        if (nami_bn_read(files[i], NULL, &bn, &err)) fail_msg("%s: %s", files[i], err.msg);
        assert_int_equal(nami_bn_print(bn, format[i], &a, &err), 0);
        assert_int_equal(nami_bn_copy(bn, &copy, &err), 0);
        nami_bn_free(bn);
        assert_int_equal(nami_bn_print(copy, format[i], &b, &err), 0);
        assert_string_equal(a, b);
        nami_free(a);
        nami_free(b);
        nami_bn_free(copy);
    }
}

static void print_refuses_formats(void **state)
{
    (void)state;
    nami_bn *bn = parse(student);
    nami_err err;
    char *text;
    assert_int_equal(nami_bn_print(bn, "nosuch", &text, &err), NAMI_EUSAGE);
    has(err.msg, "no format is called 'nosuch'");
    assert_null(text);
    assert_int_equal(nami_bn_print(bn, "bnlearn", &text, &err), 0);
    has(text, "[G|");
    nami_free(text);
    nami_bn_free(bn);
}

/* ---- options ---------------------------------------------------------------------------- */

static const nami_option *option(const char *group, const char *name)
{
    const nami_option *o;
    for (int i = 0; (o = nami_option_at(group, i)); i++)
        if (strcmp(o->name, name) == 0) return o;
    fail_msg("%s has no %s", group, name);
    return NULL;
}

/* Is the default one of the words? */
static int knows_default(const nami_option *o)
{
    const char *w;
    for (int i = 0; (w = nami_option_word(o, i)); i++)
        if (strcmp(w, o->def) == 0) return 1;
    return !*o->def;
}

/* Returns how many options the group has. */
static int check_group(const char *group)
{
    const nami_option *o, *other;
    int n = 0;
    for (; (o = nami_option_at(group, n)); n++) {
        assert_true(*o->name && *o->help && o->offset >= sizeof(size_t));
        assert_true((o->kind == NAMI_OPTION_FLAG) == !*o->arg);
        assert_true((o->kind == NAMI_OPTION_WORD) == (nami_option_word(o, 0) != NULL));
        if (o->kind == NAMI_OPTION_WORD && !knows_default(o)) fail_msg("%s: %s", o->name, o->def);
        for (int i = 0; i < n; i++) {
            other = nami_option_at(group, i);
            assert_string_not_equal(other->name, o->name);
            assert_true(!o->key || other->key != o->key);
        }
    }
    assert_null(nami_option_at(group, n + 7));
    return n;
}

static void rows_are_complete(void **state)
{
    (void)state;
    static const char *const groups[] = {"invert", "train", "query", "check", "simulate", "exact"};
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        assert_true(check_group(groups[g]) > 0);
    assert_null(nami_option_at("nosuch", 0));
}

static void every_kind_is_set_from_text(void **state)
{
    (void)state;
    nami_train_options t = {0};
    nami_options v = {0};
    nami_err err;
#define SET(group, into, member, text)                                                             \
    assert_int_equal(nami_option_set(option(group, #member), &(into), text, &err), 0)
    SET("train", t, no_share, "1");
    SET("train", t, hidden_shared, "12");
    SET("train", t, rate, "0.5");
    SET("train", t, clip, "0");
    SET("train", t, seed, "18446744073709551615");
    SET("train", t, hidden, "8,8");
    SET("invert", v, mode, "reverse");
    assert_int_equal(t.no_share, 1);
    assert_int_equal(t.hidden_shared, 12);
    assert_true(t.rate == 0.5 && t.clip < 0 && t.seed == UINT64_MAX);
    assert_string_equal(t.hidden, "8,8");
    assert_string_equal(v.mode, "reverse");
    SET("train", t, clip, "7.5");
    assert_true(t.clip == 7.5);
    SET("train", t, threads, "0"); /* its default is 0 */
}

static void bad_values_are_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *group, *name, *text, *message;
    } bad[] = {
        {"train", "steps", "many", "steps must be a whole number from 0 to 2147483647, not 'many'"},
        {"train", "steps", "-1", "whole number"},
        {"train", "steps", "2147483648", "whole number"},
        {"train", "steps", "", "whole number"},
        {"train", "batch", "0", "batch must be at least 1"}, /* 0 in the struct is the default */
        {"calibrate", "alpha", "0", "alpha must be more than 0"},
        {"train", "rate", "nan", "rate must be a number"},
        {"train", "clip", "-1", "clip must be a number"},
        {"train", "seed", "18446744073709551616", "whole number"},
        {"train", "no_share", "2", "from 0 to 1"},
        {"invert", "mode", "forwrd", "no mode is called 'forwrd'; did you mean 'forward'?"},
        {"invert", "method", "xyzzy", "choose from nami, paper"},
    };
    nami_train_options t = {.steps = 5, .rate = 3, .clip = 4, .seed = 6, .no_share = 1};
    nami_options v = {.mode = "free", .method = "paper"};
    nami_err err;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        void *into = strcmp(bad[i].group, "train") == 0 ? (void *)&t : (void *)&v;
        const nami_option *o = option(bad[i].group, bad[i].name);
        assert_int_equal(nami_option_set(o, into, bad[i].text, &err), NAMI_EUSAGE);
        has(err.msg, bad[i].message);
    }
    /* and all is as it was */
    assert_true(t.steps == 5 && t.rate == 3 && t.clip == 4 && t.seed == 6 && t.no_share == 1);
    assert_string_equal(v.mode, "free");
    assert_string_equal(v.method, "paper");
    nami_option renamed = *option("train", "hidden_shared");
    renamed.name = "--hidden-shared";
    assert_int_equal(nami_option_set(&renamed, &t, "x", &err), NAMI_EUSAGE);
    has(err.msg, "--hidden-shared must be");
}

/* ---- lists -------------------------------------------------------------------------------- */

static void every_list_is_described(void **state)
{
    (void)state;
    const char *list;
    nami_err err;
    char *text;
    for (int i = 0; (list = nami_word("lists", i)); i++) {
        assert_non_null(nami_word(list, 0));
        for (int k = 0; k < 2; k++) {
            if (nami_list(list, k ? "json" : "text", &text, &err)) fail_msg("%s", err.msg);
            for (int n = 0; nami_word(list, n); n++)
                if (!k) has(text, nami_word(list, n));
            nami_free(text);
        }
    }
    assert_null(nami_word("nosuch", 0));
    assert_int_equal(nami_list("nosuch", "text", &text, &err), NAMI_EUSAGE);
    assert_int_equal(nami_list("modes", "yaml", &text, &err), NAMI_EUSAGE);
    assert_null(text);
}

static void nearest_word_is_found(void **state)
{
    (void)state;
    static const char *const words[] = {"forward", "reverse", NULL};
    assert_string_equal(nami_nearest("forwrd", words), "forward");
    assert_null(nami_nearest("xyzzy", words));
}

/* ---- no memory ------------------------------------------------------------------------------ */

struct job {
    const nami_bn *bn;
    const nami_inverse *inv;
    const char *as;
};

/* Without modes, which inverts: elimination can do without some of its memory.  Graphviz, which
   draws pictures, does not go through our malloc. */
static int describe_once(void *ctx)
{
    struct job *j = ctx;
    nami_inverse_view view = {.trace = 1, .show = "model,moral,cliques,inverse,order,certificate"};
    char *text;
    nami_err err;
    int rc = nami_inverse_describe(j->inv, j->as, &view, &text, NULL, &err);
    nami_free(text);
    return rc;
}

static int list_once(void *ctx)
{
    char *text;
    int rc = nami_list("families", ((struct job *)ctx)->as, &text, NULL);
    nami_free(text);
    return rc;
}

static int copy_once(void *ctx)
{
    struct job *j = ctx;
    nami_bn *copy;
    char *text = NULL;
    int rc = nami_bn_copy(j->bn, &copy, NULL);
    if (!rc) rc = nami_bn_print(copy, "bif", &text, NULL);
    nami_free(text);
    nami_bn_free(copy);
    return rc;
}

static void each_fails(const char *what, int (*f)(void *), void *ctx)
{
    const char *why;
    long n = nomem_each(f, ctx, &why);
    if (n <= 0) fail_msg("%s: %s", what, why ? why : "no allocation");
}

static void no_memory(void **state)
{
    (void)state;
    nami_bn *bn = parse(student), *tables;
    nami_inverse *inv;
    assert_int_equal(nami_invert(bn, NULL, &inv, NULL), 0);
    assert_int_equal(nami_bn_read("examples/asia.bif", NULL, &tables, NULL), 0);
    each_fails("text", describe_once, &((struct job){.inv = inv, .as = "text"}));
    each_fails("json", describe_once, &((struct job){.inv = inv, .as = "json"}));
    each_fails("list as text", list_once, &((struct job){.as = "text"}));
    each_fails("list as json", list_once, &((struct job){.as = "json"}));
    each_fails("copy", copy_once, &((struct job){.bn = tables}));
    nami_inverse_free(inv);
    nami_bn_free(bn);
    nami_bn_free(tables);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(inverse_is_described_in_every_form),
    cmocka_unit_test(sections_are_chosen),
    cmocka_unit_test(copy_changes_alone),
    cmocka_unit_test(copy_of_a_file_is_whole),
    cmocka_unit_test(print_refuses_formats),
    cmocka_unit_test(rows_are_complete),
    cmocka_unit_test(every_kind_is_set_from_text),
    cmocka_unit_test(bad_values_are_refused_by_name),
    cmocka_unit_test(every_list_is_described),
    cmocka_unit_test(nearest_word_is_found),
    cmocka_unit_test(no_memory),
};

RUN(tests)
