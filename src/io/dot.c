/* dot.c: Graphviz DOT, read by libcgraph.

   Observed nodes have observed=true, or are filled with a colour that is not
   white (observed=false wins over that).  Subgraphs called cluster... with a
   label are plates. Our own pictures (nami=picture) are refused. */
#include <graphviz/cgraph.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "io/format.h"
#include "io/scan.h"

static int sniff(const char *text, size_t len)
{
    static const struct scan_rules rules = {.word = ".", .comment = "//", .block_comment = 1};
    static const struct scan_rules hash = {.word = ".", .comment = "#", .block_comment = 1};
    struct scan x;
    if (len > 4096) len = 4096;
    scan_init(&x, text, len, &rules);
    if (scan_is(&x, "#")) scan_init(&x, text, len, &hash);
    if (x.tok == TOK_WORD && x.n == 6 && strncasecmp(x.t, "strict", 6) == 0) scan_next(&x);
    if (x.tok != TOK_WORD || !((x.n == 7 && strncasecmp(x.t, "digraph", 7) == 0) ||
                               (x.n == 5 && strncasecmp(x.t, "graph", 5) == 0)))
        return 0;
    scan_next(&x);
    if (x.tok == TOK_WORD || x.tok == TOK_STRING) scan_next(&x);
    return scan_is(&x, "{") ? 95 : x.tok == TOK_END ? 50 : 5;
}

/* ---- reading ------------------------------------------------------------ */

/* libcgraph parses with global state and its error handler takes no argument,
   so reading holds this lock and messages go through `note`. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    char text[400];
    size_t n;
    int keep, bad; /* keep the text; was there an error (not only warnings)? */
} note;

static void clear_note(int keep)
{
    if (keep) note.text[note.n = 0] = 0;
    note.keep = keep;
    note.bad = 0;
}

static int take_note(char *s)
{
    size_t k = strlen(s), room = sizeof note.text - 1 - note.n;
    if (strcmp(s, "Error") == 0) note.bad = 1; /* comes before the message */
    if (!note.keep) return 0;
    if (k > room) k = room;
    memcpy(note.text + note.n, s, k);
    note.text[note.n += k] = 0;
    return 0;
}

typedef vec(Agraph_t *) graphs;

/* After an error libcgraph's scanner may be left inside a string or comment, in
   which it would begin the next file.  This closes them, the innermost things
   first: each text is absorbed where it does not belong, and an error takes the
   scanner back to its start.  `text` is overwritten. */
static void reset_scanner(char *text)
{
    static char comment[] = "*/;", string[] = "\"";
    size_t depth = 0;
    for (char *c = text; *c; c++) depth += *c == '<';
    memset(text, '>', depth); /* HTML-like strings nest */
    text[depth] = 0;
    agmemread(text);
    agmemread(comment);
    clear_note(0);
    for (int i = 0; i < 2 && !note.bad; i++) agmemread(string); /* no error: it opened one */
}

/* Parses text, which is overwritten, and leaves the parser clean.  It keeps what
   follows a graph for the next call, so it is called until nothing comes.  When
   its stack overflows it gives half a graph and keeps pointers into it; reading
   a good graph clears them, so nothing may be closed before that: all graphs
   come back in `all`, the first `found` of them from the text. */
static int parse(char *text, graphs *all, size_t *found, int *bad)
{
    static char good[] = "digraph {}", nothing[] = "";
    Agraph_t *g;
    agsetfile(NULL);                    /* line 1 */
    if (vec_reserve(all, 2)) return -1; /* a graph without a place would be lost */
    clear_note(1);
    g = agmemread(text);
    *bad = !g || note.bad || strstr(note.text, "badly delimited");
    clear_note(0);
    for (; g; g = agmemread(nothing)) {
        all->a[all->n++] = g;
        if (vec_reserve(all, all->n + 2)) return -1;
    }
    *found = all->n;
    reset_scanner(text);
    if ((g = agmemread(good))) all->a[all->n++] = g;
    return 0;
}

/* libcgraph's message, such as "syntax error in line 3 near 'x'", as ours. */
static int syntax(nami_err *err)
{
    const char *at = strstr(note.text, "in line "), *near = strstr(note.text, " near '");
    int line = at ? atoi(at + strlen("in line ")) : 0;
    if (strstr(note.text, "memory exhausted"))
        return err_at(
            err, NAMI_ELIMIT, line, 0,
            "a chain of edges too long or braces too deep for libcgraph; write one edge a "
            "statement");
    if (strstr(note.text, "badly delimited number"))
        return err_at(
            err, NAMI_EINPUT, line, 0,
            "a name that begins with a digit but is not a number; put it in double quotes");
    if (strstr(note.text, "scanning a quoted string"))
        return err_at(err, NAMI_EINPUT, line, 0, "this string has no closing quote");
    if (strstr(note.text, "scanning a HTML string"))
        return err_at(err, NAMI_EINPUT, line, 0, "this HTML-like string has no closing '>'");
    if (strstr(note.text, "scanning a /*"))
        return err_at(err, NAMI_EINPUT, line, 0, "this comment has no end; add */");
    if (near)
        return err_at(err, NAMI_EINPUT, line, 0, "not valid DOT near %.*s",
                      (int)strcspn(near + strlen(" near "), "\n"), near + strlen(" near "));
    if (*note.text) return err_at(err, NAMI_EINPUT, line, 0, "not valid DOT; is the file cut off?");
    return err_set(err, NAMI_EINPUT, "no graph in this file; DOT begins with 'digraph {'");
}

static const char *attr(void *obj, const char *name)
{
    const char *s = agget(obj, (char *)name);
    return s ? s : "";
}

static int is_observed(Agnode_t *n)
{
    const char *o = attr(n, "observed"), *colour = attr(n, "fillcolor");
    if (*o) return strcasecmp(o, "true") == 0 || strcmp(o, "1") == 0 || strcasecmp(o, "yes") == 0;
    return strstr(attr(n, "style"), "filled") && strcasecmp(colour, "white") != 0 &&
           strcasecmp(colour, "#ffffff") != 0;
}

static int number(struct bn *bn, Agnode_t *n)
{
    return bn_find(bn, agnameof(n), strlen(agnameof(n)));
}

static int read_plate(struct bn *bn, Agraph_t *g, const char *label, nami_err *err)
{
    struct bn_plate p = {
        .label = arena_strndup(&bn->mem, label, strlen(label)),
        .node = arena_array(&bn->mem, int, agnnodes(g)),
    };
    if (!p.label || !p.node) return err_nomem(err);
    for (Agnode_t *n = agfstnode(g); n; n = agnxtnode(g, n)) p.node[p.n++] = number(bn, n);
    return vec_push(&bn->plate, p) ? err_nomem(err) : 0;
}

/* Recursion is bounded by the stack of libcgraph's parser: some thousand. */
static int read_plates(struct bn *bn, Agraph_t *parent, nami_err *err)
{
    int rc;
    for (Agraph_t *g = agfstsubg(parent); g; g = agnxtsubg(g)) {
        const char *label = attr(g, "label");
        /* a subgraph inherits the label of the graph around it: not a plate's */
        if (strncmp(agnameof(g), "cluster", 7) == 0 && *label &&
            strcmp(label, attr(parent, "label")) != 0 && (rc = read_plate(bn, g, label, err)))
            return rc;
        if ((rc = read_plates(bn, g, err))) return rc;
    }
    return 0;
}

static int read_graph(struct bn *bn, Agraph_t *g, nami_err *err)
{
    int v, rc;
    if (!agisdirected(g))
        return err_set(err, NAMI_EINPUT,
                       "this graph is undirected; a Bayesian network needs "
                       "'digraph' for 'graph' and '->' for '--'");
    if (strcmp(attr(g, "nami"), "picture") == 0) /* see report/draw.c */
        return err_set(err, NAMI_EINPUT,
                       "this is NaMI's picture of a model and its inverse, not a "
                       "structure; read the file that it was made from");
    for (Agnode_t *n = agfstnode(g); n; n = agnxtnode(g, n)) {
        if (*agnameof(n) == '%')
            return err_set(err, NAMI_EINPUT,
                           "libcgraph forgets names that begin with '%%'; rename them");
        if ((v = bn_declare(bn, agnameof(n), strlen(agnameof(n)), 0, 0, err)) < 0) return v;
        bn->node.a[v].observed = is_observed(n);
    }
    for (Agnode_t *n = agfstnode(g); n; n = agnxtnode(g, n))
        for (Agedge_t *e = agfstout(g, n); e; e = agnxtout(g, e))
            if ((rc = bn_edge(bn, number(bn, n), number(bn, aghead(e)), 0, 0, err))) return rc;
    return read_plates(bn, g, err);
}

static int read(struct bn *bn, const char *text, size_t len, nami_err *err)
{
    graphs all = {0};
    size_t found = 0;
    int rc, bad;
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) text += 3, len -= 3;
    if (memchr(text, 0, len))
        return err_set(err, NAMI_EINPUT, "a zero byte in DOT; is this a text file?");
    char *copy = raw_array(char, len + 1); /* `text` may lack the NUL that libcgraph needs */
    if (!copy) return err_nomem(err);
    memcpy(copy, text, len);
    copy[len] = 0;

    pthread_mutex_lock(&lock);
    agusererrf before = agseterrf(take_note);
    if (parse(copy, &all, &found, &bad))
        rc = err_nomem(err);
    else if (bad)
        rc = syntax(err);
    else if (found > 1)
        rc = err_set(err, NAMI_EINPUT, "more than one graph in this file; keep one of them");
    else
        rc = read_graph(bn, all.a[0], err);
    for (size_t i = 0; i < all.n; i++) agclose(all.a[i]);
    agseterrf(before);
    pthread_mutex_unlock(&lock);

    vec_free(&all);
    free(copy);
    return rc;
}

/* ---- writing ------------------------------------------------------------ */

/* DOT's only escape is \": a backslash stands for itself, so a name in which an
   odd number of them comes before a quote or its own end cannot be written.  Of
   line ends libcgraph drops some. */
static int quote(struct str *out, const char *s, nami_err *err)
{
    size_t run = 0;
    str_put(out, "\"");
    for (const char *c = s;; c++) {
        if (*c == '\n' || *c == '\r')
            return err_set(err, NAMI_EINPUT,
                           "DOT cannot hold the line's end in '%s'; rename it or write JSON", s);
        if (run % 2 && (*c == '"' || !*c))
            return err_set(err, NAMI_EINPUT,
                           "DOT cannot hold the backslash in '%s'; rename it or write JSON", s);
        if (!*c) break;
        run = *c == '\\' ? run + 1 : 0;
        if (*c == '"') str_put(out, "\\");
        str_putn(out, c, 1);
    }
    str_put(out, "\"");
    return 0;
}

static int write_plate(const struct bn *bn, size_t i, struct str *out, nami_err *err)
{
    const struct bn_plate *p = &bn->plate.a[i];
    int rc;
    str_printf(out, "  subgraph \"cluster_%zu\" {\n    label=", i);
    if ((rc = quote(out, p->label ? p->label : "", err))) return rc;
    str_put(out, ";\n");
    for (int k = 0; k < p->n; k++) {
        str_put(out, "    ");
        if ((rc = quote(out, bn_name(bn, p->node[k]), err))) return rc;
        str_put(out, ";\n");
    }
    str_put(out, "  }\n");
    return 0;
}

static int write(const struct bn *bn, struct str *out, nami_err *err)
{
    int rc;
    str_put(out, "digraph {\n");
    for (int v = 0; v < bn_n(bn); v++) {
        if (*bn_name(bn, v) == '%')
            return err_set(err, NAMI_EINPUT,
                           "DOT cannot hold '%s', which begins with '%%'; rename it or write JSON",
                           bn_name(bn, v));
        str_put(out, "  ");
        if ((rc = quote(out, bn_name(bn, v), err))) return rc;
        str_put(out, bn->node.a[v].observed ? " [style=filled, fillcolor=lightgrey];\n" : ";\n");
    }
    for (int v = 0; v < bn_n(bn); v++)
        for_parents (&bn->dag, v, u) {
            str_put(out, "  ");
            if ((rc = quote(out, bn_name(bn, u), err))) return rc;
            str_put(out, " -> ");
            if ((rc = quote(out, bn_name(bn, v), err))) return rc;
            str_put(out, ";\n");
        }
    for (size_t i = 0; i < bn->plate.n; i++)
        if ((rc = write_plate(bn, i, out, err))) return rc;
    str_put(out, "}\n");
    return 0;
}

const struct format format_dot = {
    .name = "dot",
    .what = "Graphviz DOT; filled nodes are observed",
    .ends = ".dot .gv",
    .sniff = sniff,
    .read = read,
    .write = write,
};
