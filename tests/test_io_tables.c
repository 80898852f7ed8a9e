/* test_io_tables.c: the formats with probability tables (bif, xmlbif, uai, hugin) read and
   write them correctly. */

#include "run.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/format.h"

static const char *const NAMES[] = {"bif", "xmlbif", "uai", "hugin"};
enum { NFORMAT = sizeof NAMES / sizeof *NAMES };

/* One network in every format.  The counts of states differ, so that no order
   of the entries but the right one agrees. */

static const char BIF[] =
    "// a comment\n"
    "network \"wet grass\" { property author = nobody ; property \"a ; b\" ; }\n"
    "probability ( slip | grass ) { (w) 1.25e-1, .375, 5E-1; default 0.5 0.25 0.25; }\n"
    "variable rain { type discrete [ 2 ] { yes, no }; property position = (1, 2) ; }\n"
    "variable season { /* three\n of them */ type discrete[3]{<7.5, 5-12, 12+/*}; };*/};}\n"
    "variable grass { type discrete [ 2 ] { g, \"w\" }; }\n"
    "variable slip { type discrete [ 3 ] { lo mid hi }; }\n"
    "probability ( rain ) { table 0.2, 0.8; }\n"
    "probability ( season ) { table 0.5 0.3 0.2; }\n"
    "probability ( grass | rain, season ) {\n"
    "  (yes, <7.5) 0.1, 0.9;\n"
    "  (no, <7.5) 0.6, 0.4;\n"
    "  (yes, 5-12) 0.2, 0.8;\n"
    "  (no, 5-12) 0.7, 0.3;\n"
    "  (yes, 12+) 0.3, 0.7;\n"
    "  (no, 12+) 0.9, 0.1;\n"
    "}\n";

/* The same with `table`: the child's index slowest, the last parent's fastest. */
static const char BIF_TABLE[] =
    "variable rain { type discrete [ 2 ] { yes, no }; }\n"
    "variable season { type discrete [ 3 ] { <7.5, 5-12, 12+ }; }\n"
    "variable grass { type discrete [ 2 ] { g, w }; }\n"
    "variable slip { type discrete [ 3 ] { lo, mid, hi }; }\n"
    "probability ( \"rain\" ) { table 0.2 0.8; }\n"
    "probability ( season ) { table 0.5 0.3 0.2; }\n"
    "probability ( grass rain season ) {\n"
    "  table 0.1 0.2 0.3 0.6 0.7 0.9\n"
    "        0.9 0.8 0.7 0.4 0.3 0.1; }\n"
    "probability ( slip grass ) { table 0.5 0.125 0.25 0.375 0.25 0.5; }\n";

static const char XMLBIF[] =
    "<?xml version=\"1.0\"?>\n"
    "<!DOCTYPE BIF [ <!ELEMENT BIF (NETWORK)*> <!ELEMENT NETWORK ANY>\n"
    "  <!ATTLIST BIF VERSION CDATA #REQUIRED> ]>\n"
    "<BIF VERSION=\"0.3\"><NETWORK><NAME>wet</NAME>\n"
    "<DEFINITION><FOR>slip</FOR><GIVEN>grass</GIVEN><TABLE>0.5 0.25 0.25\n"
    " 0.125<!-- w -->0.375 0.5</TABLE></DEFINITION>\n"
    "<VARIABLE TYPE=\"nature\"><NAME> rain </NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME>\n"
    "  <PROPERTY>position = (1, 2)</PROPERTY></VARIABLE>\n"
    "<VARIABLE><NAME>season</NAME><OUTCOME>&lt;7.5</OUTCOME><OUTCOME>5-12</OUTCOME>\n"
    "  <OUTCOME>12+</OUTCOME></VARIABLE>\n"
    "<VARIABLE><NAME>grass</NAME><OUTCOME>g</OUTCOME><OUTCOME>&#119;</OUTCOME></VARIABLE>\n"
    "<VARIABLE><NAME>slip</NAME><OUTCOME>lo</OUTCOME><OUTCOME>mid</OUTCOME>\n"
    "  <OUTCOME>hi</OUTCOME></VARIABLE>\n"
    "<DEFINITION><FOR>rain</FOR><TABLE>0.2 0.8</TABLE></DEFINITION>\n"
    "<DEFINITION><FOR>season</FOR><TABLE>0.5 0.3 0.2</TABLE></DEFINITION>\n"
    "<DEFINITION><FOR>grass</FOR><GIVEN>rain</GIVEN><GIVEN>season</GIVEN><TABLE>\n"
    "  0.1 0.9 0.2 0.8 0.3 0.7  0.6 0.4 0.7 0.3 0.9 0.1</TABLE></DEFINITION>\n"
    "</NETWORK></BIF>\n";

static const char UAI[] = "BAYES\n4\n2 3 2 3\n4\n1 0\n1 1\n3 0 1 2\n2 2 3\n\n"
                          "2\n 0.2 0.8\n3\n 0.5 0.3 0.2\n"
                          "12\n 0.1 0.9 0.2 0.8 0.3 0.7 0.6 0.4 0.7 0.3 0.9 0.1\n"
                          "6\n 0.5 0.25 0.25 0.125 0.375 0.5\n";

static const char HUGIN[] =
    "% comment { \" \n"
    "net { name = \"wet % grass\"; node_size = (50 50); }\n"
    "potential ( slip | grass ) { data = ((0.5 0.25 0.25) % g\n (.125 3.75e-1 0.5)); }\n"
    "node rain { label = \"a \\\" b\"; states = (\"yes\" \"no\"); position = (1 (2)); }\n"
    "discrete node season { states = (\"<7.5\" \"5-12\" \"12+\"); }\n"
    "node grass { states = (\"g\" \"w\"); }\n"
    "node slip { states = (\"lo\" \"mid\" \"hi\"); }\n"
    "potential (rain) { data = (0.2 0.8); experience = (1 2); }\n"
    "potential ( season | ) { model_nodes = (); data = ( 0.5 0.3 0.2 ); }\n"
    "potential ( grass | rain season ) { data = (((0.1 0.9)(0.2 0.8)(0.3 0.7))\n"
    "  ((0.6 0.4)(0.7 0.3)(0.9 0.1))); }\n";

static const char *sample(const char *format)
{
    const char *const text[] = {BIF, XMLBIF, UAI, HUGIN};
    for (int i = 0; i < NFORMAT; i++)
        if (strcmp(NAMES[i], format) == 0) return text[i];
    return NULL;
}

/* ---- helpers ------------------------------------------------------------------------ */

static nami_bn *must_parse(const char *text, size_t len, const char *format)
{
    nami_bn *bn;
    nami_err err;
    if (nami_bn_parse(text, len, format, &bn, &err))
        fail_msg("%s %d:%d: %s", format ? format : "?", err.line, err.col, err.msg);
    return bn;
}

static nami_bn *parse(const char *text, const char *format)
{
    return must_parse(text, strlen(text), format);
}

static struct str must_write(const nami_bn *bn, const char *format)
{
    struct str s = {0};
    nami_err err = {0};
    if (format_by_name(format)->write(bn, &s, &err)) fail_msg("%s: %s", format, err.msg);
    assert_false(s.oom);
    return s;
}

static void same(const struct bn *a, const struct bn *b, int names, double eps)
{
    assert_int_equal(bn_n(a), bn_n(b));
    for (int v = 0; v < bn_n(a); v++) {
        const struct bn_node *x = &a->node.a[v], *y = &b->node.a[v];
        assert_int_equal(x->nstate, y->nstate);
        if (names) assert_string_equal(bn_name(a, v), bn_name(b, v));
        for (int s = 0; names && x->state && s < x->nstate; s++)
            assert_string_equal(x->state[s], y->state[s]);
        assert_int_equal(x->cpt != NULL, y->cpt != NULL);
        if (a->dag.n && b->dag.n) {
            assert_int_equal(a->dag.pp[v + 1], b->dag.pp[v + 1]);
            for (int i = a->dag.pp[v]; i < a->dag.pp[v + 1]; i++)
                assert_int_equal(a->dag.p[i], b->dag.p[i]);
        }
        if (!x->cpt) continue;
        assert_int_equal(x->cpt->nparent, y->cpt->nparent);
        assert_int_equal(x->cpt->n, y->cpt->n);
        for (int i = 0; i < x->cpt->nparent; i++)
            assert_int_equal(x->cpt->parent[i], y->cpt->parent[i]);
        for (size_t i = 0; i < x->cpt->n; i++)
            if (!(fabs(x->cpt->p[i] - y->cpt->p[i]) <= eps))
                fail_msg("%s[%zu]: %.17g, %.17g", bn_name(a, v), i, x->cpt->p[i], y->cpt->p[i]);
    }
}

/* Writes and reads in `format`.  Without bn_finish, which scales the rows
   anew, every bit must come back. */
static void round_trip(const struct bn *bn, const char *format)
{
    int names = strcmp(format, "uai") != 0;
    struct str s = must_write(bn, format);
    struct bn *raw = bn_new();
    nami_err err;
    assert_non_null(raw);
    if (format_by_name(format)->read(raw, s.s, s.n, &err)) fail_msg("%s: %s", format, err.msg);
    same(bn, raw, names, 0);
    bn_free(raw);
    nami_bn *back = must_parse(s.s, s.n, format), *sniffed = must_parse(s.s, s.n, NULL);
    same(bn, back, names, 1e-15);
    same(back, sniffed, 1, 0);
    bn_free(back);
    bn_free(sniffed);
    str_free(&s);
}

static void check_error(int rc, const nami_bn *bn, const nami_err *err)
{
    assert_true(rc < 0);
    assert_null(bn);
    assert_int_equal(err->code, rc);
    assert_true(err->msg[0]);
    assert_null(strchr(err->msg, '\n'));
}

/* ---- what is right ------------------------------------------------------------------ */

static void test_known(void **state)
{
    static const double grass[] = {.1, .9, .2, .8, .3, .7, .6, .4, .7, .3, .9, .1};
    static const double slip[] = {.5, .25, .25, .125, .375, .5};
    (void)state;
    for (int f = 0; f < NFORMAT; f++) {
        nami_bn *bn = parse(sample(NAMES[f]), NAMES[f]);
        assert_int_equal(bn_n(bn), 4);
        assert_string_equal(bn_name(bn, 2), f == 2 ? "x2" : "grass");
        assert_int_equal(bn->dag.pp[3] - bn->dag.pp[2], 2);
        const struct cpt *t = bn->node.a[2].cpt;
        assert_int_equal(t->n, 12);
        assert_int_equal(t->parent[0], 0);
        assert_int_equal(t->parent[1], 1);
        for (int i = 0; i < 12; i++) assert_true(fabs(t->p[i] - grass[i]) < 1e-15);
        for (int i = 0; i < 6; i++) assert_true(bn->node.a[3].cpt->p[i] == slip[i]);
        bn_free(bn);
    }
}

static void test_agree(void **state)
{
    (void)state;
    nami_bn *a = parse(BIF, "bif"), *b = parse(BIF_TABLE, "bif");
    same(a, b, 1, 0);
    bn_free(b);
    for (int f = 0; f < NFORMAT; f++) {
        b = parse(sample(NAMES[f]), NULL);
        same(a, b, f != 2, 0);
        bn_free(b);
        round_trip(a, NAMES[f]);
    }
    bn_free(a);
}

static void test_structure_only(void **state)
{
    (void)state;
    nami_bn *bn = parse("variable a { } variable b { type discrete [ 2 ] { x, y }; }\n"
                        "variable c { } probability ( c | a, b ) { property p; }",
                        "bif");
    assert_int_equal(bn->dag.m, 2);
    assert_null(bn->node.a[2].cpt);
    round_trip(bn, "bif");
    round_trip(bn, "xmlbif");
    round_trip(bn, "hugin");
    bn_free(bn);

    bn = parse("BAYES 3 2 2 3 2 1 0 3 1 0 2", "uai");
    assert_int_equal(bn->dag.m, 2);
    for (int f = 0; f < NFORMAT; f++) {
        struct str s = must_write(bn, NAMES[f]);
        nami_bn *back = must_parse(s.s, s.n, NAMES[f]);
        same(bn, back, 1, 0);
        bn_free(back);
        str_free(&s);
    }
    bn_free(bn);

    bn = parse("continuous node a { } node b { states = (\"x\"); }\n"
               "continuous node c { } potential (c | a b) { data = (normal(1 + a, 2)); }\n"
               "potential (a) { data = (normal(0, 1)); } potential (b) { data = (1); }",
               "hugin");
    assert_int_equal(bn->dag.m, 2);
    assert_int_equal(bn->node.a[2].nstate, 0);
    assert_non_null(bn->node.a[1].cpt);
    round_trip(bn, "hugin");
    bn_free(bn);
}

static void test_names(void **state)
{
    (void)state;
    nami_bn *bn =
        parse("variable \"a b\" { type discrete [2] { \"x \\\"y\\\"\", \"\\\\\" }; }\n"
              "variable \"\\u0009//,|{\" { type discrete [2] { gr\xC3\xBC\xC3\x9F, \"\" }; }\n"
              "variable 3% { type discrete [3] { table, default, property }; }\n"
              "probability ( 3% | \"a b\" ) { default 1 0 0; (\"\\\\\") 0 0.5 0.5; }\n",
              "bif");
    assert_string_equal(bn_name(bn, 1), "\t//,|{");
    assert_string_equal(bn->node.a[0].state[0], "x \"y\"");
    assert_true(bn->node.a[2].cpt->p[3] == 0 && bn->node.a[2].cpt->p[0] == 1);
    round_trip(bn, "bif");
    round_trip(bn, "hugin");
    struct str s = {0};
    nami_err err;
    assert_int_equal(format_by_name("xmlbif")->write(bn, &s, &err), NAMI_EINPUT); /* the tab */
    str_free(&s);
    bn_free(bn);

    bn = parse("variable \"<a> & b\tc\nd\" { type discrete [1] { \xE2\x82\xAC }; }\n"
               "variable \"\xF0\x9F\x90\x8E\" { }\n"
               "probability ( \"\xF0\x9F\x90\x8E\" | \"<a> & b\\u0009c\\u000ad\" ) { }",
               "bif");
    round_trip(bn, "xmlbif");
    bn_free(bn);

    const char *const bad[] = {"\x80", "\xC3", "\xED\xA0\x80", "\xEF\xBF\xBF", "\xF4\x90\x80\x80",
                               "\x01"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[80];
        snprintf(text, sizeof text, "variable \"a%s\" { }", bad[i]);
        bn = parse(text, "bif");
        check_error(format_by_name("xmlbif")->write(bn, &s, &err), NULL, &err);
        str_free(&s);
        bn_free(bn);
    }
}

static void test_unwritable(void **state)
{
    struct str s = {0};
    nami_err err;
    (void)state;
    nami_bn *bn = parse("variable a { }", "bif");
    assert_int_equal(format_by_name("uai")->write(bn, &s, &err), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "states"));
    bn_free(bn);
    bn = parse("variable a { type discrete [1] { x }; } variable b { type discrete [1] { x }; }\n"
               "probability (a) { table 1; }",
               "bif");
    assert_int_equal(format_by_name("uai")->write(bn, &s, &err), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "'b'"));
    bn_free(bn);
    str_free(&s);
}

/* ---- the repository's networks ------------------------------------------------------ */

static void test_repository(void **state)
{
    static const struct {
        const char *name;
        int nodes, edges;
    } known[] = {{"alarm", 37, 46},      {"andes", 223, 338}, {"asia", 8, 8},
                 {"cancer", 5, 4},       {"child", 20, 25},   {"earthquake", 5, 4},
                 {"hailfinder", 56, 66}, {"hepar2", 70, 123}, {"insurance", 27, 52},
                 {"munin1", 186, 273},   {"pigs", 441, 592},  {"sachs", 11, 17},
                 {"survey", 6, 6},       {"water", 32, 66},   {"win95pts", 76, 112}};
    glob_t g;
    (void)state;
    if (glob(SOURCE_DIR "/../shared/data/bif/*.bif", 0, NULL, &g)) {
        print_message("no ../shared/data/bif: skipped\n");
        skip();
    }
    for (size_t i = 0; i < g.gl_pathc; i++) {
        nami_bn *bn;
        nami_err err;
        if (nami_bn_read(g.gl_pathv[i], NULL, &bn, &err))
            fail_msg("%s:%d: %s", g.gl_pathv[i], err.line, err.msg);
        const char *base = strrchr(g.gl_pathv[i], '/') + 1;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            if (strncmp(base, known[k].name, strcspn(base, ".")) == 0) {
                assert_int_equal(bn->dag.n, known[k].nodes);
                assert_int_equal(bn->dag.m, known[k].edges);
            }
        for (int v = 0; v < bn_n(bn); v++) {
            const struct cpt *t = bn->node.a[v].cpt;
            int k = bn->node.a[v].nstate;
            assert_non_null(t);
            for (size_t r = 0; r < t->n; r += (size_t)k) {
                double sum = 0;
                for (int s = 0; s < k; s++) sum += t->p[r + (size_t)s];
                assert_true(fabs(sum - 1) < 1e-14 * k);
            }
        }
        for (int f = 0; f < NFORMAT; f++) round_trip(bn, NAMES[f]);
        bn_free(bn);
    }
    globfree(&g);
}

/* ---- what is wrong ------------------------------------------------------------------ */

#define V2(x)        "variable " x " { type discrete [ 2 ] { y, n }; }\n"
#define N2(x)        "node " x " { states = (\"y\" \"n\"); }\n"
#define X2(x)        "<VARIABLE><NAME>" x "</NAME><OUTCOME>y</OUTCOME><OUTCOME>n</OUTCOME></VARIABLE>\n"
#define DEF(x, y, t) "<DEFINITION><FOR>" x "</FOR>" y "<TABLE>" t "</TABLE></DEFINITION>\n"
#define GIVEN(x)     "<GIVEN>" x "</GIVEN>"
#define NET(x)       "<BIF><NETWORK>\n" x "</NETWORK></BIF>"

static const struct {
    const char *format, *text, *says;
    int line;
} BROKEN[] = {
    {"bif", "", "empty", 0},
    {"bif", "network x {", "cut off", 1},
    {"bif", V2("a") V2("a"), "twice", 2},
    {"bif", V2("a") V2("b") "probability (a|b) { } probability (b|a) { }", "cycle", 3},
    {"bif", V2("a") "probability (a|a) { }", "its own parent", 2},
    {"bif", V2("a") "probability (b) { table 1 0; }", "'b' is used here but declared", 2},
    {"bif", V2("a") "\nprobability (a | c) { }", "'c' is used here", 3},
    {"bif", V2("a") "probability (a) { table 1; }", "1 numbers but needs 2", 2},
    {"bif", V2("a") "probability (a) { table 1 0 0; }", "3 numbers but needs 2", 2},
    {"bif", V2("a") "probability (a) { table 2 -1; }", "must be 0 or more", 1},
    {"bif", V2("a") "probability (a) { table 0.5 0.6; }", "sums to 1.1", 1},
    {"bif", V2("a") "probability (a) { table 0.5 nan; }", "expected a number", 2},
    {"bif", V2("a") "probability (a) { table 1 0 }", "';'", 2},
    {"bif", V2("a") "probability (a) { table 1 0; table 1 0; }", "given twice", 2},
    {"bif", V2("a") "probability (a) { }\nprobability (a) { }", "given twice", 3},
    {"bif", V2("a") V2("b") "probability (a|b) { (y) 1 0; }", "no row (n)", 3},
    {"bif", V2("a") V2("b") "probability (a|b) { (y) 1 0; (y) 1 0; }", "given twice", 3},
    {"bif", V2("a") V2("b") "probability (a|b) { (z) 1 0; }", "'z' is not a state of 'b'", 3},
    {"bif", V2("a") V2("b") "probability (a|b) { (y, n) 1 0; }", "one state of each parent", 3},
    {"bif", V2("a") V2("b") "probability (a|b,b) { default 1 0; }", "twice as a parent", 3},
    {"bif", V2("a") "variable b {}\nprobability (a|b) { default 1 0; }", "states of 'b'", 3},
    {"bif", "variable a { type discrete [ 3 ] { y, n }; }", "2 states but declares 3", 1},
    {"bif", "variable a { type discrete [ 2 ] { y, y }; }", "two states 'y'", 1},
    {"bif", "variable a { type discrete [ 0 ] { }; }", "out of range", 1},
    {"bif", "variable a { type gaussian; }", "'discrete'", 1},
    {"bif", "variable a { colour red; }", "'property'", 1},
    {"bif", "variable \"\" { }", "empty name", 1},
    {"bif", "\n/* no end", "comment has no end", 2},
    {"bif", "variable \"no end\n\n", "closing quote", 1},
    {"bif", "variable a \"", "closing quote", 1},
    {"xmlbif", "<BIF>", "no element found", 1},
    {"xmlbif", "<HTML></HTML>", "<BIF>", 1},
    {"xmlbif", "<BIF><NETWORK></BIF>", "mismatched", 1},
    {"xmlbif", "<BIF/>", "empty", 0},
    {"xmlbif", "<!DOCTYPE BIF [\n<!ENTITY a \"b\">]><BIF>&a;</BIF>", "entity", 2},
    {"xmlbif", "<!DOCTYPE BIF [\n<!ENTITY a SYSTEM \"/etc/passwd\">]><BIF>&a;</BIF>", "entity", 2},
    {"xmlbif", "<?xml version=\"1.0\" encoding=\"klingon\"?><BIF/>", "UTF-8", 1},
    {"xmlbif", NET(X2("a") X2("a")), "twice", 3},
    {"xmlbif", NET(X2("a") DEF("b", "", "1 0")), "'b' is used here", 3},
    {"xmlbif", NET(X2("a") DEF("a", GIVEN("b"), "1 0")), "'b' is used here", 3},
    {"xmlbif", NET(X2("a") DEF("a", "", "1 0 0")), "3 numbers", 3},
    {"xmlbif", NET(X2("a") DEF("a", "", "1 O")), "'O'", 3},
    {"xmlbif", NET(X2("a") DEF("a", "", "0.7 0.7")), "sums to", 2},
    {"xmlbif", NET(X2("a") DEF("a", "", "1.5 -0.5")), "0 or more", 2},
    {"xmlbif", NET(X2("a") DEF("a", "", "1 0") DEF("a", "", "1 0")), "second definition", 4},
    {"xmlbif", NET(X2("a") "<DEFINITION></DEFINITION>"), "<FOR>", 3},
    {"xmlbif", NET("<VARIABLE></VARIABLE>"), "<NAME>", 2},
    {"xmlbif", NET("<VARIABLE><NAME>a<NAME/></NAME></VARIABLE>"), "close that one", 2},
    {"xmlbif", NET("<VARIABLE TYPE=\"utility\"><NAME>a</NAME></VARIABLE>"), "chance", 2},
    {"xmlbif", NET(X2("a") X2("b") DEF("a", GIVEN("b"), "") DEF("b", GIVEN("a"), "")), "cycle", 5},
    {"uai", "MARKOV 1 2 0", "has no direction", 1},
    {"uai", "BAYES 0", "out of range", 1},
    {"uai", "BAYES 2 2", "cut off", 1},
    {"uai", "BAYES 1 2147483647 0", "out of range", 1},
    {"uai", "BAYES\n2 2 2\n3 1 0 1 1 1 1", "out of range", 3},
    {"uai", "BAYES\n2 2 2\n2 1 0\n1 0", "second factor", 4},
    {"uai", "BAYES\n2 2 2\n2 1 0\n1 2", "out of range", 4},
    {"uai", "BAYES\n2 2 2\n2 1 0\n2 1 1", "twice in this scope", 4},
    {"uai", "BAYES\n2 2 2\n2 2 0 1\n2 1 0", "cycle", 3},
    {"uai", "BAYES\n1 2\n1 1 0\n3 1 0 0", "3 numbers", 4},
    {"uai", "BAYES\n1 2\n1 1 0\n2 1", "cut off", 4},
    {"uai", "BAYES\n1 2\n1 1 0\n2 1 0 0", "end of the file", 4},
    {"uai", "BAYES\n1 2\n1 1 0\n2 1 1", "sums to", 2},
    {"uai", "BAYES\n1 2\n1 1 0\n2 2 -1", "0 or more", 2},
    {"uai",
     "BAYES\n30 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9\n1 30 0 1 2 3 4 5 "
     "6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29\n1 1",
     "more than", 4},
    {"hugin", "net { } class x { }", "object-oriented", 1},
    {"hugin", "node a { } decision b { }", "chance nodes", 1},
    {"hugin", "node a { }\nutility b { }", "chance nodes", 2},
    {"hugin", N2("a") N2("a"), "twice", 2},
    {"hugin", N2("a") "potential (b) { }", "'b' is used here", 2},
    {"hugin", N2("a") "potential (a | b) { }", "'b' is used here", 2},
    {"hugin", N2("a") N2("b") "potential (a b) { }", "several nodes", 3},
    {"hugin", N2("a") N2("b") "potential (a | b) { } potential (b | a) { }", "cycle", 3},
    {"hugin", N2("a") "potential (a) { data = (1); }", "1 numbers", 2},
    {"hugin", N2("a") "potential (a) { data = (1 x); }", "expected a number", 2},
    {"hugin", N2("a") "potential (a) { data = (1 1); }", "sums to 2", 1},
    {"hugin", N2("a") "potential (a) { data = (2 -1); }", "0 or more", 1},
    {"hugin", N2("a") "potential (a) { data = (1 0) }", "';'", 2},
    {"hugin", N2("a") "potential (a) { }\npotential (a) { }", "second potential", 3},
    {"hugin", "node a { states = (\"x\" \"x\"); }", "two states", 1},
    {"hugin", "node a { label = \"x }", "closing quote", 1},
};

static void test_broken(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof BROKEN / sizeof *BROKEN; i++) {
        nami_bn *bn;
        nami_err err;
        int rc = nami_bn_parse(BROKEN[i].text, strlen(BROKEN[i].text), BROKEN[i].format, &bn, &err);
        if (!rc) fail_msg("accepted: %s", BROKEN[i].text);
        check_error(rc, bn, &err);
        if (!strstr(err.msg, BROKEN[i].says) || err.line != BROKEN[i].line)
            fail_msg("%s: '%s'\nsays %d: %s\nnot %d: %s", BROKEN[i].format, BROKEN[i].text,
                     err.line, err.msg, BROKEN[i].line, BROKEN[i].says);
    }
}

/* Anything may come back but a crash or an error without words. */
static void survive(const char *text, size_t len, const char *format)
{
    char *copy = malloc(len + 1); /* exactly: a reader that goes too far is caught */
    nami_bn *bn;
    nami_err err;
    assert_non_null(copy);
    memcpy(copy, text, len);
    copy[len] = 0;
    int rc = nami_bn_parse(copy, len, format, &bn, &err);
    if (rc)
        check_error(rc, bn, &err);
    else
        assert_non_null(bn);
    bn_free(bn);
    free(copy);
}

static void test_truncated(void **state)
{
    (void)state;
    for (int f = 0; f < NFORMAT; f++) {
        const char *text = sample(NAMES[f]);
        for (size_t n = 0; n <= strlen(text); n++) {
            survive(text, n, NAMES[f]);
            survive(text, n, NULL);
        }
    }
}

static void test_junk(void **state)
{
    char junk[512];
    (void)state;
    srand(1);
    for (int round = 0; round < 200; round++) {
        for (size_t i = 0; i < sizeof junk; i++) junk[i] = (char)(rand() >> 7);
        survive(junk, sizeof junk, NULL);
        for (int f = 0; f < NFORMAT; f++) {
            survive(junk, sizeof junk, NAMES[f]);
            char *text = strdup(sample(NAMES[f])); /* a few bytes of a good file are wrong */
            assert_non_null(text);
            size_t len = strlen(text);
            for (int i = 0; i < 3; i++) text[(size_t)rand() % len] = junk[i];
            survive(text, len, NAMES[f]);
            free(text);
        }
    }
}

static void test_nested(void **state)
{
    static const char *const part[][2] = {
        {"bif", "("},          {"bif", "{"},   {"bif", "variable a {"}, {"bif", "/*"},
        {"bif", "network { "}, {"hugin", "("}, {"hugin", "{"},          {"hugin", "net { x = "},
        {"xmlbif", "<BIF>"},   {"uai", "("}};
    enum { N = 1000000 };
    (void)state;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        struct str s = {0};
        for (int k = 0; k < N; k++) str_put(&s, part[i][1]);
        assert_false(s.oom);
        survive(s.s, s.n, part[i][0]);
        s.n = 0;
        str_put(&s, "net { x = ");
        for (int k = 0; k < N; k++) str_put(&s, "(");
        for (int k = 0; k < N; k++) str_put(&s, ")");
        str_put(&s, "; } node a { }");
        bn_free(must_parse(s.s, s.n, "hugin"));
        str_free(&s);
    }
}

/* `default` and long lists of parents must not make tables without bounds. */
static void test_huge(void **state)
{
    struct str s = {0};
    nami_bn *bn;
    nami_err err;
    (void)state;
    for (int i = 0; i < 40; i++)
        str_printf(&s, "variable x%d { type discrete [2] { a, b }; }\n", i);
    for (int c = 30; c < 40; c++) {
        str_printf(&s, "probability ( x%d |", c);
        for (int i = 0; i < (c == 39 ? 27 : 24); i++) str_printf(&s, " x%d", i);
        str_put(&s, " ) { default 1 0; }\n");
    }
    assert_int_equal(nami_bn_parse(s.s, s.n, "bif", &bn, &err), NAMI_ELIMIT);
    assert_true(err.line > 0);
    str_free(&s);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_known),          cmocka_unit_test(test_agree),
    cmocka_unit_test(test_structure_only), cmocka_unit_test(test_names),
    cmocka_unit_test(test_unwritable),     cmocka_unit_test(test_repository),
    cmocka_unit_test(test_broken),         cmocka_unit_test(test_truncated),
    cmocka_unit_test(test_junk),           cmocka_unit_test(test_nested),
    cmocka_unit_test(test_huge),
};

RUN(tests)
