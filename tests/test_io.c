/* test_io.c: readers and writers. */
#include "run.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "io/format.h"
#include "model/bn.h"

/* ---- helpers ------------------------------------------------------------------------ */

/* Reads n bytes that have nothing behind them, so that sanitizers see overruns. */
static int parse_n(const char *format, const char *text, size_t n, nami_bn **bn, nami_err *err)
{
    char *copy = malloc(n ? n : 1);
    assert_non_null(copy);
    memcpy(copy, text, n);
    int rc = nami_bn_parse(copy, n, format, bn, err);
    free(copy);
    return rc;
}

static nami_bn *parse(const char *format, const char *text)
{
    nami_err err;
    nami_bn *bn;
    if (parse_n(format, text, strlen(text), &bn, &err))
        fail_msg("%s: %d:%d: %s\n%s", format, err.line, err.col, err.msg, text);
    return bn;
}

/* Reading must fail with this piece of a message, on this line (-1: any). */
static void refuse(const char *format, const char *text, const char *piece, int line)
{
    nami_err err;
    nami_bn *bn;
    int rc = parse_n(format, text, strlen(text), &bn, &err);
    if (rc >= 0) fail_msg("%s accepts %s", format, text);
    assert_null(bn);
    assert_int_equal(rc, err.code);
    if (!strstr(err.msg, piece) || (line >= 0 && err.line != line))
        fail_msg("%s: line %d: '%s' lacks '%s' on line %d", format, err.line, err.msg, piece, line);
}

/* Whatever happens: no crash, and a message if it fails. */
static void survive(const char *format, const char *text, size_t n)
{
    nami_err err;
    nami_bn *bn;
    if (parse_n(format, text, n, &bn, &err)) {
        assert_true(err.msg[0] && err.code < 0);
        assert_null(bn);
        assert_null(strchr(err.msg, '\n'));
    }
    nami_bn_free(bn);
}

static char *text_of(const nami_bn *bn, const char *format)
{
    struct str out = {0};
    nami_err err = {0};
    if (format_by_name(format)->write(bn, &out, &err)) fail_msg("%s: %s", format, err.msg);
    assert_false(out.oom);
    return out.s;
}

static void refuse_write(const nami_bn *bn, const char *format, const char *piece)
{
    struct str out = {0};
    nami_err err = {0};
    assert_int_equal(format_by_name(format)->write(bn, &out, &err), NAMI_EINPUT);
    if (!strstr(err.msg, piece)) fail_msg("%s: '%s' lacks '%s'", format, err.msg, piece);
    str_free(&out);
}

static int has(const nami_bn *bn, const char *from, const char *to)
{
    int a = nami_bn_find(bn, from), b = nami_bn_find(bn, to);
    assert_true(a >= 0 && b >= 0);
    return dag_has_edge(&bn->dag, a, b);
}

static int observed(const nami_bn *bn, const char *name)
{
    return nami_bn_observed(bn, nami_bn_find(bn, name));
}

static void same_graph(const nami_bn *a, const nami_bn *b, int with_observed)
{
    assert_int_equal(nami_bn_size(a), nami_bn_size(b));
    for (int v = 0; v < nami_bn_size(a); v++) {
        const int *p, *q;
        assert_string_equal(nami_bn_name(a, v), nami_bn_name(b, v));
        if (with_observed) assert_int_equal(nami_bn_observed(a, v), nami_bn_observed(b, v));
        int n = nami_bn_parents(a, v, &p);
        assert_int_equal(n, nami_bn_parents(b, v, &q));
        for (int i = 0; i < n; i++) assert_int_equal(p[i], q[i]);
    }
}

static void round_trip(const nami_bn *bn, const char *format)
{
    char *text = text_of(bn, format);
    nami_bn *back = parse(format, text);
    same_graph(bn, back, strcmp(format, "bnlearn") != 0);
    nami_bn *sniffed = parse(NULL, text); /* what is written is recognised */
    same_graph(bn, sniffed, strcmp(format, "bnlearn") != 0);
    char *again = text_of(back, format);
    assert_string_equal(text, again);
    free(text);
    free(again);
    nami_bn_free(back);
    nami_bn_free(sniffed);
}

static const char *const all[] = {"json", "dot", "bnlearn", "dagitty", "edges"};
enum { NALL = sizeof all / sizeof *all };

/* A small sample with everything a format knows. */
static const char *sample(const char *format)
{
    if (!strcmp(format, "json"))
        return "{\"nodes\": [\"A\", {\"name\": \"B\", \"states\": [\"y\", \"n\"], \"size\": 2},\n"
               " {\"name\": \"C\", \"states\": 2, \"observed\": true}],\n"
               "\"edges\": [[\"B\", \"C\"], [\"A\", \"B\"]], \"observed\": [\"C\"], \"infer\": "
               "[\"A\"],\n"
               "\"stages\": [[\"A\"]], \"plates\": [{\"label\": \"i in 1:N\", \"nodes\": "
               "[\"B\"]}],\n"
               "\"x\": {}, \"y\": 1}";
    if (!strcmp(format, "dot"))
        return "/* c */ strict digraph \"g\" {\n node [shape=circle]; A -> B -> \"C d\" "
               "[label=<b<i>>];"
               " \"C d\" [style=\"rounded,filled\"]; // x\n subgraph cluster_1 { label=\"i in "
               "1:N\"; B }\n"
               " {A B} -> C:n }\n";
    if (!strcmp(format, "bnlearn")) return "[A][B|A]\r\n[C d|A:B] ";
    if (!strcmp(format, "dagitty"))
        return "dag g {\nbb=\"0,0,1,1\"\nA [outcome,pos=\"-1,2\"]\n\"C \\\"d\" [adjusted] /* c */\n"
               "A -> B -> \"C \\\"d\" [beta=-0.5]; {A B} -> D <- E\n}\n";
    return "# observed: B \"C d\"\nA -> B\nB,\"C d\" # why\n\nA\t\"q\\\"q\"\nalone\n";
}

/* ---- cases -------------------------------------------------------------------------- */

static void round_trips(void **state)
{
    (void)state;
    for (int f = 0; f < NALL; f++) {
        nami_bn *bn = parse(all[f], sample(all[f]));
        for (int g = 0; g < NALL; g++) round_trip(bn, all[g]);
        nami_bn_free(bn);
    }
}

/* Random graphs, so that edge lists meet every order of first use. */
static void round_trip_random(void **state)
{
    (void)state;
    unsigned seed = 1;
    for (int t = 0; t < 200; t++) {
        struct bn *bn = bn_new();
        int n = 1 + t % 12, order[12];
        char name[16];
        for (int v = 0; v < n; v++) {
            snprintf(name, sizeof name, "n%d", v);
            assert_int_equal(bn_node(bn, name, strlen(name), 0, NULL, NULL), v);
            order[v] = v;
            bn->node.a[v].observed = (seed = seed * 1103515245 + 12345) >> 16 & 1;
        }
        for (int v = n - 1; v > 0; v--) {
            int u = (int)((seed = seed * 1103515245 + 12345) >> 16) % (v + 1), x = order[v];
            order[v] = order[u];
            order[u] = x;
        }
        for (int i = 0; i < n; i++)
            for (int k = 0; k < i; k++)
                if (((seed = seed * 1103515245 + 12345) >> 16) % 4 == 0)
                    assert_int_equal(bn_edge(bn, order[k], order[i], 0, 0, NULL), 0);
        assert_int_equal(bn_finish(bn, NULL), 0);
        for (int g = 0; g < NALL; g++) round_trip(bn, all[g]);
        nami_bn_free(bn);
    }
}

static nami_bn *pair(const char *a, const char *b)
{
    struct bn *bn = bn_new();
    assert_int_equal(bn_node(bn, a, strlen(a), 0, NULL, NULL), 0);
    assert_int_equal(bn_node(bn, b, strlen(b), 0, NULL, NULL), 1);
    assert_int_equal(bn_edge(bn, 1, 0, 0, 0, NULL), 0);
    bn->node.a[0].observed = 1;
    assert_int_equal(bn_finish(bn, NULL), 0);
    return bn;
}

static void odd_names(void **state)
{
    (void)state;
    static const char *const odd[] = {
        "a b",
        "a,b",
        "a\"b",
        "\"",
        "\"q\"",
        "Größe",
        "水",
        "a->b",
        "->",
        "#a",
        "a#",
        "-",
        "digraph",
        "node",
        "1a",
        "a\\b",
        "a\\\\",
        "it's",
        "<b>",
        "{x}",
        "x;y",
        "//",
        "/* a */",
        "a=b",
        "dag",
        " lead",
        "tail ",
        "@file",
        "none",
        "a\tb",
        "\xEF\xBB\xBF\x62om", /* a byte-order mark, then "bom" */
        "'",
        "a.b",
        "$",
        "a%s%n",
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        nami_bn *bn = pair(odd[i], "other");
        for (int g = 0; g < NALL; g++)
            if (strcmp(all[g], "bnlearn") != 0 || (!strchr(odd[i], '\t') && *odd[i] != '"'))
                round_trip(bn, all[g]);
        nami_bn_free(bn);
    }
}

static void names_refused(void **state)
{
    (void)state;
    static const char *const no_bnlearn[] = {"a]", "[a", "a|b", "a:b", "x[1]", "a\nb"};
    for (size_t i = 0; i < sizeof no_bnlearn / sizeof *no_bnlearn; i++) {
        nami_bn *bn = pair(no_bnlearn[i], "other");
        refuse_write(bn, "bnlearn", "cannot hold");
        round_trip(bn, "json");
        round_trip(bn, "dagitty");
        if (!strchr(no_bnlearn[i], '\n')) round_trip(bn, "dot");
        nami_bn_free(bn);
    }
    nami_bn *bn = pair("a\nb", "\xff\xfe");
    refuse_write(bn, "edges", "control character");
    refuse_write(bn, "dot", "line's end");
    refuse_write(bn, "json", "not UTF-8");
    nami_bn_free(bn);
    bn = pair("end\\", "x");
    refuse_write(bn, "dot", "backslash");
    nami_bn_free(bn);
    bn = pair("%a", "x");
    refuse_write(bn, "dot", "'%'");
    round_trip(bn, "json");
    nami_bn_free(bn);
    bn = pair("a\\\"b", "x");
    refuse_write(bn, "dot", "backslash");
    round_trip(bn, "edges");
    round_trip(bn, "dagitty");
    nami_bn_free(bn);
}

static void cycles(void **state)
{
    (void)state;
    refuse("json", "{\"edges\": [[\"A\",\"B\"],[\"B\",\"C\"],[\"C\",\"A\"]]}", "cycle", -1);
    refuse("dot", "digraph { A -> B -> C -> A }", "cycle", -1);
    refuse("bnlearn", "[A|C][B|A][C|B]", " -> ", 1);
    refuse("dagitty", "dag { A -> B\n B -> C\n C -> A }", "cycle", -1);
    refuse("edges", "A B\nB C\nC A\n", "cycle", -1);
    refuse("edges", "A B\nB A\n", " -> B", -1);
}

static void self_loops(void **state)
{
    (void)state;
    refuse("json", "{\"edges\": [[\"A\",\"A\"]]}", "own parent", -1);
    refuse("dot", "digraph { A -> A }", "own parent", -1);
    refuse("bnlearn", "[A|A]", "own parent", 1);
    refuse("dagitty", "dag {\nA -> A }", "own parent", 2);
    refuse("edges", "\nA A\n", "own parent", 2);
}

static void empty(void **state)
{
    (void)state;
    for (int f = 0; f < NALL; f++) {
        refuse(all[f], "", "", -1);
        refuse(all[f], " \r\n\n", "", -1);
        refuse(all[f], "\xEF\xBB\xBF", "", -1);
    }
    refuse(NULL, "", "empty", -1);
    refuse("json", "{\"nodes\": [], \"edges\": []}", "empty", -1);
    refuse("json", "{}", "neither", -1);
    refuse("dot", "digraph {}", "empty", -1);
    refuse("dagitty", "dag {}", "empty", -1);
    refuse("edges", "# nothing\n", "empty", -1);
}

static void truncated(void **state)
{
    (void)state;
    for (int f = 0; f < NALL; f++)
        for (int g = 0; g < NALL; g++) {
            const char *s = sample(all[f]);
            for (size_t n = 0; n <= strlen(s); n++) survive(all[g], s, n);
        }
    for (int f = 0; f < NALL; f++) nami_bn_free(parse(all[f], sample(all[f])));
}

/* One byte of a sample at a time becomes something else. */
static void damaged(void **state)
{
    (void)state;
    static const char bytes[] = "\0\1\t\n\"\\[]{}|:;,#<>-=\x7f\x80\xff";
    for (int f = 0; f < NALL; f++) {
        char s[1024];
        size_t n = strlen(sample(all[f]));
        for (size_t i = 0; i < n; i++)
            for (size_t b = 0; b < sizeof bytes; b++) {
                memcpy(s, sample(all[f]), n);
                s[i] = bytes[b];
                survive(all[f], s, n);
                survive(NULL, s, n);
            }
    }
}

static void junk(void **state)
{
    (void)state;
    unsigned char s[4096];
    unsigned seed = 7;
    for (int t = 0; t < 20; t++) {
        for (size_t i = 0; i < sizeof s; i++) s[i] = (seed = seed * 1103515245 + 12345) >> 16 & 255;
        for (int f = 0; f < NALL; f++) {
            nami_err err;
            nami_bn *bn;
            assert_true(parse_n(all[f], (char *)s, sizeof s, &bn, &err) < 0);
            assert_true(err.msg[0]);
        }
        survive(NULL, (char *)s, sizeof s);
    }
    refuse("edges", "A B\nC\x01 D\n", "0x01", 2);
    refuse("edges", "A B\n\"C\x02\" D\n", "0x02", 2);
    for (int f = 0; f < NALL; f++) survive(all[f], "A\0B", 3);
}

static void nested(void **state)
{
    (void)state;
    static const char *const open[] = {"[",  "{",   "(",   "<",       "\"", "[[\"",       "{A ",
                                       "/*", "A->", "[A|", "{\"a\":", "A[", "{subgraph{", "\\"};
    static const char *const before[] = {
        "", "{", "dag {", "digraph {", "digraph { A [x=<", "{\"nodes\":[", "[A]"};
    enum { DEEP = 1000000 };
    char *s = malloc(DEEP + 64);
    assert_non_null(s);
    for (size_t b = 0; b < sizeof before / sizeof *before; b++)
        for (size_t o = 0; o < sizeof open / sizeof *open; o++) {
            size_t n = strlen(before[b]), k = strlen(open[o]);
            memcpy(s, before[b], n);
            for (; n < DEEP; n += k) memcpy(s + n, open[o], k);
            for (int f = 0; f < NALL; f++) survive(all[f], s, n);
            nami_bn_free(parse("dot", sample("dot")));
        }
    free(s);
}

static void line_endings(void **state)
{
    (void)state;
    for (int f = 0; f < NALL; f++) {
        char crlf[2048], *c = crlf;
        for (const char *s = sample(all[f]); *s; s++) {
            if (*s == '\n' && (c == crlf || c[-1] != '\r')) *c++ = '\r';
            *c++ = *s;
        }
        *c = 0;
        nami_bn *a = parse(all[f], sample(all[f])), *b = parse(all[f], crlf);
        same_graph(a, b, 1);
        nami_bn_free(a);
        nami_bn_free(b);
    }
}

static void json(void **state)
{
    (void)state;
    nami_bn *bn = parse(NULL, sample("json"));
    assert_int_equal(nami_bn_size(bn), 3);
    assert_true(has(bn, "A", "B") && has(bn, "B", "C") && !has(bn, "A", "C"));
    assert_true(observed(bn, "C") && !observed(bn, "A"));
    assert_true(!bn->node.a[0].nuisance && bn->node.a[1].nuisance && !bn->node.a[2].nuisance);
    assert_int_equal(bn->node.a[1].size, 2);
    assert_int_equal(bn->node.a[1].nstate, 2);
    assert_string_equal(bn->node.a[1].state[1], "n");
    assert_int_equal(bn->node.a[0].stage, 0);
    assert_int_equal(bn->node.a[1].stage, 1);
    char *text = text_of(bn, "json");
    nami_bn *back = parse("json", text);
    assert_int_equal(back->node.a[1].size, 2);
    assert_string_equal(back->node.a[1].state[0], "y");
    assert_null(back->node.a[2].state);
    assert_int_equal(back->node.a[2].nstate, 2);
    assert_int_equal(back->node.a[1].stage, 1);
    assert_true(back->node.a[1].nuisance);
    assert_int_equal(back->plate.n, 1);
    assert_string_equal(back->plate.a[0].label, "i in 1:N");
    assert_int_equal(back->plate.a[0].node[0], 1);
    free(text);
    nami_bn_free(back);
    nami_bn_free(bn);

    bn = parse("json", "{\"edges\": [[\"x\", \"y\"], [\"a\", \"y\"]]}"); /* nodes by first use */
    assert_string_equal(nami_bn_name(bn, 0), "x");
    assert_string_equal(nami_bn_name(bn, 2), "a");
    nami_bn_free(bn);
}

static void json_tables(void **state)
{
    (void)state;
    nami_bn *bn = parse("json", "{\"nodes\": [{\"name\": \"A\", \"states\": 2},"
                                "{\"name\": \"B\", \"states\": 3}],"
                                "\"tables\": {\"A\": {\"p\": [0.25, 0.75]}, \"B\": {\"parents\": "
                                "[\"A\"], \"p\": [1, 0, 0, 0.1, 0.2, 0.7]}}}");
    assert_true(has(bn, "A", "B"));
    char *text = text_of(bn, "json");
    nami_bn *back = parse("json", text);
    for (int v = 0; v < 2; v++) {
        struct cpt *s = bn->node.a[v].cpt, *t = back->node.a[v].cpt;
        assert_int_equal(s->n, t->n);
        for (size_t i = 0; i < s->n; i++) assert_true(s->p[i] - t->p[i] < 1e-15);
    }
    free(text);
    nami_bn_free(bn);
    nami_bn_free(back);
#define AB                                                                                         \
    "{\"nodes\": [{\"name\": \"A\", \"states\": 2}, {\"name\": \"B\", \"states\": 2}, \"C\"],"
    refuse("json", AB "\"tables\": {\"A\": {\"p\": [1]}}}", "1 numbers", -1);
    refuse("json", AB "\"tables\": {\"A\": {\"p\": [1, 1]}}}", "sums to 2", -1);
    refuse("json", AB "\"tables\": {\"A\": {\"p\": [\"x\", 1]}}}", "p[0]", -1);
    refuse("json", AB "\"tables\": {\"X\": {\"p\": [1]}}}", "'X'", -1);
    refuse("json", AB "\"tables\": {\"C\": {\"p\": [1]}}}", "states", -1);
    refuse("json", AB "\"tables\": {\"A\": {\"parents\": [\"A\"], \"p\": [1]}}}", "own parent", -1);
    refuse("json", AB "\"tables\": []}", "tables", -1);
    refuse("json", AB "\"tables\": {\"A\": 3}}", "table of 'A'", -1);
    refuse("json", AB "\"edges\": [[\"B\", \"A\"]], \"tables\": {\"A\": {\"p\": [1, 0]}}}",
           "an edge from 'B' to 'A'", -1);
}

static void json_errors(void **state)
{
    (void)state;
    refuse("json", "{\"nodes\": [\"A\"],\n \"edges\": }", "JSON", 2);
    refuse("json", "[1]", "object", -1);
    refuse("json", "{\"nodes\": [\"A\", \"A\"]}", "twice", -1);
    refuse("json", "{\"nodes\": [\"A\"], \"nodes\": [\"A\"]}", "duplicate", -1);
    refuse("json", "{\"nodes\": \"A\"}", "\"nodes\" must be a list", -1);
    refuse("json", "{\"nodes\": [3]}", "nodes[0]", -1);
    refuse("json", "{\"nodes\": [\"\"]}", "empty name", -1);
    refuse("json", "{\"nodes\": [\"A\\u0000\"]}", "JSON", 1);
    refuse("json", "{\"nodes\": [{\"name\": \"A\", \"size\": 0}]}", "size", -1);
    refuse("json", "{\"nodes\": [{\"name\": \"A\", \"states\": []}]}", "states", -1);
    refuse("json", "{\"nodes\": [{\"name\": \"A\", \"states\": [1]}]}", "states[0]", -1);
    refuse("json", "{\"nodes\": [{\"name\": \"A\", \"observed\": 1}]}", "true or false", -1);
    refuse("json", "{\"nodes\": [\"A\"], \"edges\": [[\"A\", \"B\"]]}", "'B'", -1);
    refuse("json", "{\"edges\": [[\"A\", \"B\"], [\"A\"]]}", "edges[1] must be a pair of names",
           -1);
    refuse("json", "{\"edges\": [[\"A\", 3]]}", "edges[0]", -1);
    refuse("json", "{\"nodes\": [\"A\"], \"observed\": [\"Z\"]}", "observed[0] is 'Z'", -1);
    refuse("json", "{\"nodes\": [\"A\"], \"observed\": \"A\"}", "list", -1);
    refuse("json", "{\"nodes\": [\"A\"], \"infer\": [], \"nuisance\": []}", "both", -1);
    refuse("json", "{\"nodes\": [\"A\"], \"observed\": [\"A\"], \"infer\": [\"A\"]}", "observed",
           -1);
    refuse("json", "{\"nodes\": [\"A\"], \"stages\": [[\"A\"], [\"A\"]]}", "second time", -1);
    refuse("json", "{\"nodes\": [\"A\"], \"stages\": [\"A\"]}", "stages[0]", -1);
    refuse("json", "{\"nodes\": [\"A\"], \"plates\": [{\"label\": 1}]}", "plates[0]", -1);
    refuse("json", "{\"nodes\": [\"A\"]} x", "after the end", 1);
    refuse("json", "{\"nodes\": [\"A\"", "cut off", 1);
    refuse("json", "{\"nodes\": [\"\xff\"]}", "UTF-8", 1);
}

static void dot(void **state)
{
    (void)state;
    nami_bn *bn = parse(NULL, sample("dot"));
    assert_int_equal(nami_bn_size(bn), 4);
    assert_true(has(bn, "A", "B") && has(bn, "B", "C d") && has(bn, "B", "C") && has(bn, "A", "C"));
    assert_true(observed(bn, "C d") && !observed(bn, "A"));
    assert_int_equal(bn->plate.n, 1);
    assert_string_equal(bn->plate.a[0].label, "i in 1:N");
    assert_int_equal(bn->plate.a[0].n, 1);
    char *text = text_of(bn, "dot");
    nami_bn *back = parse("dot", text);
    assert_int_equal(back->plate.n, 1);
    assert_int_equal(back->plate.a[0].node[0], bn->plate.a[0].node[0]);
    free(text);
    nami_bn_free(bn);
    nami_bn_free(back);

    bn = parse("dot",
               "digraph { a [observed=Yes]; b [observed=false, style=filled]; c [style=filled,"
               "fillcolor=white]; d [style=filled]; label=x; subgraph cluster_a { a b } }");
    assert_true(observed(bn, "a") && !observed(bn, "b") && !observed(bn, "c") && observed(bn, "d"));
    assert_int_equal(bn->plate.n, 0); /* no label of its own */
    nami_bn_free(bn);
    refuse("dot", "digraph { nami=picture; subgraph cluster_a { label=x; a b } }", "picture", -1);
    refuse("dot", "graph { a -- b }", "digraph", -1);
    refuse("dot", "digraph {\n a -- b }", "'--'", 2);
    refuse("dot", "digraph {\n\n a -> \"b }", "closing quote", -1);
    refuse("dot", "digraph {\n a -> 1b }", "double quotes", 2);
    refuse("dot", "digraph { a } digraph { b }", "more than one graph", -1);
    refuse("dot", "digraph { a -> \"\" }", "empty name", -1);
    refuse("dot", "digraph { a.b }", "double quotes", 1);
    refuse("dot", "digraph { a\n-> }", "a name", 2);
    refuse("dot", "digraph { a [x] }", "'='", 1);
    refuse("dot", "digraph { a } b", "nothing after", 1);
    refuse("dot", "digraph { a [x=<b<i>] }", "closing '>'", 1);
    refuse("dot", "digraph { a -> \"b\" + c }", "a string", 1);
    refuse("dot", "digraph { subgraph a }", "'{'", 1);

    bn = parse("dot",
               "# c\nDIGRAPH \"g\" + \"h\" { edge [a=b] [c=\"d\"; e=-.5,]; 1.5 -> -2, <b<i>> -> "
               "\"a\\\"b\" + \"c\\\nd\" -> {x; y:n:sw} -> subgraph z { x1; { x2 } x1 }\n"
               "subgraph cluster_a { node [observed=1]; graph [label=p]; k; {l x}; subgraph "
               "cluster_b { label=q m } }\n"
               "{ subgraph cluster_a { n } } subgraph cluster_a { o } \"%b\" }");
    assert_int_equal(nami_bn_size(bn), 14);
    assert_true(has(bn, "1.5", "-2") && has(bn, "1.5", "b<i>") && has(bn, "-2", "a\"bcd"));
    assert_true(has(bn, "a\"bcd", "y") && has(bn, "y", "x1") && has(bn, "x", "x2"));
    assert_true(!has(bn, "x1", "x2") && !has(bn, "-2", "b<i>"));
    assert_true(observed(bn, "k") && observed(bn, "l") && observed(bn, "m") && observed(bn, "o"));
    assert_true(!observed(bn, "x") && !observed(bn, "n")); /* x was there before */
    assert_int_equal(bn->plate.n, 2);
    assert_string_equal(bn->plate.a[0].label, "p");
    assert_int_equal(bn->plate.a[0].n,
                     5); /* k l x m o: the same subgraph twice, not the one in {} */
    assert_int_equal(bn->plate.a[1].n, 1);
    nami_bn_free(bn);

    static char deep[4000];
    memset(deep, '{', sizeof deep - 1);
    memcpy(deep, "digraph ", 8);
    refuse("dot", deep, "deeper than", 1);
}

static void bnlearn(void **state)
{
    (void)state;
    nami_bn *bn = parse(NULL, "[B|A:C d]\n [A] [C d|A]");
    assert_string_equal(nami_bn_name(bn, 0), "B");
    assert_true(has(bn, "A", "B") && has(bn, "C d", "B") && has(bn, "A", "C d"));
    nami_bn_free(bn);
    refuse("bnlearn", "[A]\n[B|X]", "add [X]", 2);
    refuse("bnlearn", "[A]\n[A]", "twice", 2);
    refuse("bnlearn", "[A", "cut off", 1);
    refuse("bnlearn", "[A][]", "a name", 1);
    refuse("bnlearn", "[A|]", "a name", 1);
    refuse("bnlearn", "[A:B]", "expected ']'", 1);
    refuse("bnlearn", "[A]B", "expected '['", 1);
    refuse("bnlearn", "[A][B\n]", "inside", 1);
    assert_int_equal(format_bnlearn.sniff("[\"A\"]", 5), 0);
}

static void dagitty(void **state)
{
    (void)state;
    nami_bn *bn = parse(NULL, sample("dagitty"));
    assert_int_equal(nami_bn_size(bn), 5);
    assert_true(has(bn, "A", "B") && has(bn, "B", "C \"d") && has(bn, "E", "D"));
    assert_true(has(bn, "A", "D") && has(bn, "B", "D"));
    assert_true(observed(bn, "C \"d") && !observed(bn, "A"));
    nami_bn_free(bn);
    bn = parse("dagitty", "{ A->B B<-C {x,y}->{z;w} Z [latent] }");
    assert_int_equal(nami_bn_size(bn), 8);
    assert_true(has(bn, "C", "B") && has(bn, "y", "w"));
    nami_bn_free(bn);
    refuse("dagitty", "dag {\nA <-> B }", "U -> A", 2);
    refuse("dagitty", "dag {\nA -- B }", "no direction", 2);
    refuse("dagitty", "dag {\n{A {B C}} -> D }", "one pair", 2);
    refuse("dagitty", "dag {\n{{A}} -> D }", "one pair", 2);
    refuse("dagitty", "pdag { A -> B }", "pdag", 1);
    refuse("dagitty", "dag { A - > B }", "'->'", 1);
    refuse("dagitty", "dag { A -> B", "cut off", 1);
    refuse("dagitty", "dag { A -> \"B }", "closing quote", 1);
    refuse("dagitty", "dag { A } B", "nothing after", 1);
    refuse("dagitty", "dag { \"\" -> B }", "empty name", 1);
}

static void edges(void **state)
{
    (void)state;
    nami_bn *bn = parse(NULL, sample("edges"));
    assert_int_equal(nami_bn_size(bn), 5);
    assert_true(has(bn, "A", "B") && has(bn, "B", "C d") && has(bn, "A", "q\"q"));
    assert_true(observed(bn, "B") && observed(bn, "C d") && !observed(bn, "alone"));
    nami_bn_free(bn);
    bn = parse("edges", "a->b\nb , c#1\n\"x\\\\\"->y #observed: y\n#observed:a,b\n");
    assert_true(has(bn, "a", "b") && has(bn, "b", "c#1") && has(bn, "x\\", "y"));
    assert_true(observed(bn, "a") && observed(bn, "b") && observed(bn, "y"));
    nami_bn_free(bn);
    refuse("edges", "A B\nA B C\n", "more than two names", 2);
    refuse("edges", "A <- B\n", "more than two names", 1);
    refuse("edges", "A ->\n", "missing", 1);
    refuse("edges", "A B\n,B\n", "missing", 2);
    refuse("edges", "A,,B\n", "missing", 1);
    refuse("edges", "\"A B\n", "closing quote", 1);
    refuse("edges", "\"A\"B\n", "behind the closing quote", 1);
    refuse("edges", "\"\" B\n", "missing", 1);
    refuse("edges", "A B\n  # observed: A Z\n", "'Z'", 2);
}

static void edges_fast(void **state)
{
    (void)state;
    enum { N = 1000000 };
    struct str text = {0};
    for (int i = 0; i < N; i++) str_printf(&text, "n%d n%d\n", i / 2, i + 1);
    struct bn *bn = bn_new();
    clock_t t = clock();
    assert_int_equal(format_edges.read(bn, text.s, text.n, NULL), 0);
    double s = (double)(clock() - t) / CLOCKS_PER_SEC;
    print_message("10^6 edges in %.2f s\n", s);
    assert_int_equal(bn_n(bn), N + 1);
    bn_free(bn);
    str_free(&text);
}

static void files(void **state)
{
    (void)state;
    static const char *const name[] = {"x.json", "x.gv", "x.modelstring.txt", "x.dag", "x.csv"};
    char dir[] = "/tmp/nami_test_XXXXXX", path[64];
    nami_err err;
    assert_non_null(mkdtemp(dir));
    for (int f = 0; f < NALL; f++) {
        nami_bn *bn = parse(all[f], sample(all[f])), *back;
        snprintf(path, sizeof path, "%s/%s", dir, name[f]);
        assert_int_equal(nami_bn_write(bn, path, NULL, &err), 0);
        assert_int_equal(nami_bn_read(path, NULL, &back, &err), 0);
        same_graph(bn, back, f != 2);
        unlink(path);
        nami_bn_free(bn);
        nami_bn_free(back);
    }
    rmdir(dir);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(round_trips), cmocka_unit_test(round_trip_random),
    cmocka_unit_test(odd_names),   cmocka_unit_test(names_refused),
    cmocka_unit_test(cycles),      cmocka_unit_test(self_loops),
    cmocka_unit_test(empty),       cmocka_unit_test(truncated),
    cmocka_unit_test(damaged),     cmocka_unit_test(junk),
    cmocka_unit_test(nested),      cmocka_unit_test(line_endings),
    cmocka_unit_test(json),        cmocka_unit_test(json_tables),
    cmocka_unit_test(json_errors), cmocka_unit_test(dot),
    cmocka_unit_test(bnlearn),     cmocka_unit_test(dagitty),
    cmocka_unit_test(edges),       cmocka_unit_test(edges_fast),
    cmocka_unit_test(files),
};

RUN(tests)
