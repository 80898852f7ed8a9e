/* dot.c: Graphviz DOT.

   Observed nodes have observed=true, or are filled with a colour that is not
   white (observed=false wins over that).  Subgraphs called cluster... with a
   label of their own are plates. Our own pictures (nami=picture) are refused.
   The language is that of https://graphviz.org/doc/info/lang.html; the reader is
   ours, for libcgraph's has global state and ends the process if memory runs out. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "io/format.h"
#include "io/scan.h"

static const struct scan_rules rules = {
    .word = ".", .comment = "//", .hash = 1, .block_comment = 1};

/* Is the token this word, in capitals or not? */
static int is_key(const struct scan *x, const char *word)
{
    return x->tok == TOK_WORD && x->n == strlen(word) && strncasecmp(x->t, word, x->n) == 0;
}

static int sniff(const char *text, size_t len)
{
    struct scan x;
    scan_init(&x, text, len < 4096 ? len : 4096, &rules);
    if (is_key(&x, "strict")) scan_next(&x);
    if (!is_key(&x, "digraph") && !is_key(&x, "graph")) return 0;
    scan_next(&x);
    if (x.tok == TOK_WORD || x.tok == TOK_STRING) scan_next(&x);
    return scan_is(&x, "{") ? 95 : x.tok == TOK_END ? 50 : 5;
}

/* ---- reading ------------------------------------------------------------ */

enum { DEEPEST = 100, GROUP_MAX = 1 << 24 }; /* braces in braces; edges of {..} -> {..} */

typedef vec(int) ints;

/* What the attributes of a node say about being observed; observed: -1 nothing */
struct look {
    signed char observed;
    unsigned char filled, white;
};

/* The graph or a subgraph. */
struct part {
    struct look node;  /* the defaults of nodes to come */
    const char *label; /* its own, or NULL */
    int cluster;
    ints member; /* its nodes, perhaps more than once */
};

struct in {
    struct scan x;
    struct bn *bn;
    struct str name, value;
    vec(struct look) look; /* of each node */
    vec(struct part) part; /* in order of their beginnings; 0: the graph */
    struct dict known;     /* subgraphs with names, in their parents ... */
    ints known_part;       /* ... and their parts */
    ints seen;             /* by node: the number of the last call of once() that met it */
    int calls, depth;
    nami_err *err;
};

static int statements(struct in *d, int part);

/* <...>: angles nest; the token is the first. */
static int html(struct in *d, struct str *out)
{
    struct scan *x = &d->x;
    const char *t = x->s;
    for (int depth = 1; depth;) {
        if (x->s == x->end)
            return err_at(d->err, NAMI_EINPUT, x->tline, x->tcol,
                          "this HTML-like string has no closing '>'");
        char c = *x->s++;
        depth += c == '<' ? 1 : c == '>' ? -1 : 0;
        if (c == '\n') x->line++, x->line0 = x->s;
    }
    str_putn(out, t, (size_t)(x->s - t - 1));
    scan_next(x);
    return 0;
}

/* "..." + "...": \" is a quote and a backslash at a line's end joins lines; other backslashes stay.
 */
static int strings(struct in *d, struct str *out)
{
    struct scan *x = &d->x;
    do {
        if (x->tok != TOK_STRING) return scan_error(x, "a string after '+'", d->err);
        for (const char *c = x->t, *end = c + x->n; c < end; c++) {
            size_t left = (size_t)(end - c);
            if (left > 1 && memcmp(c, "\\\\", 2) == 0)
                str_putn(out, c++, 2);
            else if (left > 1 && memcmp(c, "\\\n", 2) == 0)
                c++;
            else if (left > 2 && memcmp(c, "\\\r\n", 3) == 0)
                c += 2;
            else if (left > 1 && memcmp(c, "\\\"", 2) == 0)
                str_putn(out, ++c, 1);
            else
                str_putn(out, c, 1);
        }
        scan_next(x);
    } while (scan_accept(x, "+"));
    return 0;
}

/* A word: a name, or a number such as -1.5. */
static int word(struct in *d, struct str *out)
{
    struct scan *x = &d->x;
    size_t sign = scan_is(x, "-");
    const char *t = x->t;
    if (sign) scan_next(x); /* its word comes at once, see id() */
    size_t dots = 0, digits = 0, n = x->n;
    for (size_t i = 0; i < n; i++) {
        dots += x->t[i] == '.';
        digits += x->t[i] >= '0' && x->t[i] <= '9';
    }
    int number = digits && dots <= 1 && digits + dots == n;
    if (!number && (sign || dots || (x->t[0] >= '0' && x->t[0] <= '9')))
        return err_at(d->err, NAMI_EINPUT, x->tline, x->tcol,
                      "'%.*s' is neither a name nor a number; put it in double quotes",
                      n > 40 ? 40 : (int)n, x->t);
    str_putn(out, t, n + sign);
    scan_next(x);
    return 0;
}

/* A name, number or string, of any kind; moves on. */
static int id(struct in *d, struct str *out)
{
    struct scan *x = &d->x;
    int rc, after = x->s < x->end ? *x->s : 0;
    int minus = scan_is(x, "-") && (after == '.' || (after >= '0' && after <= '9'));
    out->n = 0;
    if (x->tok == TOK_STRING)
        rc = strings(d, out);
    else if (scan_is(x, "<"))
        rc = html(d, out);
    else if (x->tok == TOK_WORD || minus)
        rc = word(d, out);
    else
        return scan_error(x, "a name", d->err);
    if (!rc) str_putn(out, "", 0);
    return rc ? rc : out->oom ? err_nomem(d->err) : 0;
}

/* ---- attributes */

static void see(struct look *k, const char *name, const char *value)
{
    if (strcmp(name, "observed") == 0)
        k->observed = !*value ? -1
                              : strcasecmp(value, "true") == 0 || strcmp(value, "1") == 0 ||
                                    strcasecmp(value, "yes") == 0;
    if (strcmp(name, "style") == 0) k->filled = strstr(value, "filled") != NULL;
    if (strcmp(name, "fillcolor") == 0)
        k->white = strcasecmp(value, "white") == 0 || strcasecmp(value, "#ffffff") == 0;
}

/* d->name = d->value for the graph or a subgraph. */
static int set_graph(struct in *d, int part)
{
    if (part == 0 && strcmp(d->name.s, "nami") == 0 &&
        strcmp(d->value.s, "picture") == 0) /* see report/draw.c */
        return err_set(d->err, NAMI_EINPUT,
                       "this is NaMI's picture of a model and its inverse, not a "
                       "structure; read the file that it was made from");
    if (strcmp(d->name.s, "label")) return 0;
    d->part.a[part].label = arena_strndup(&d->bn->mem, d->value.s, d->value.n);
    return d->part.a[part].label ? 0 : err_nomem(d->err);
}

enum of { GRAPH, NODES, DEFAULTS, EDGES };

/* [a=b, c=d] ..., perhaps none, of the graph, of these nodes, of nodes to come, or of edges */
static int attributes(struct in *d, int part, enum of of, const ints *nodes)
{
    struct scan *x = &d->x;
    int rc = 0;
    while (!rc && scan_accept(x, "[")) {
        while (!rc && !scan_is(x, "]")) {
            if ((rc = id(d, &d->name)) || (rc = scan_expect(x, "=", d->err)) ||
                (rc = id(d, &d->value)))
                return rc;
            if (of == GRAPH) rc = set_graph(d, part);
            if (of == DEFAULTS) see(&d->part.a[part].node, d->name.s, d->value.s);
            for (size_t i = 0; of == NODES && i < nodes->n; i++)
                see(&d->look.a[nodes->a[i]], d->name.s, d->value.s);
            if (!scan_accept(x, ",")) scan_accept(x, ";");
        }
        if (!rc) rc = scan_expect(x, "]", d->err);
    }
    return rc;
}

/* ---- nodes and subgraphs */

/* The node called d->name, and its port, which has no meaning here. */
static int node(struct in *d, int part, ints *out)
{
    struct scan *x = &d->x;
    int fresh, rc = 0;
    if (d->name.n == 0)
        return err_at(d->err, NAMI_EINPUT, x->tline, x->tcol,
                      "a node with an empty name; give it one");
    int v = bn_node(d->bn, d->name.s, d->name.n, x->tline, &fresh, d->err);
    if (v < 0) return v;
    if (fresh && vec_push(&d->look, d->part.a[part].node)) return err_nomem(d->err);
    if (vec_push(out, v) || vec_push(&d->part.a[part].member, v)) return err_nomem(d->err);
    for (int i = 0; i < 2 && !rc && scan_accept(x, ":"); i++) rc = id(d, &d->value);
    return rc;
}

/* Keeps each node once, in the order of the first. */
static int once(struct in *d, ints *nodes)
{
    size_t n = 0;
    int call = ++d->calls;
    if (vec_reserve(&d->seen, d->look.n)) return err_nomem(d->err);
    while (d->seen.n < d->look.n) d->seen.a[d->seen.n++] = 0;
    for (size_t i = 0; i < nodes->n; i++) {
        int v = nodes->a[i];
        if (d->seen.a[v] != call) nodes->a[n++] = v;
        d->seen.a[v] = call;
    }
    nodes->n = n;
    return 0;
}

/* A new part, or the one of this name that its parent has already. */
static int open_part(struct in *d, int parent, int named)
{
    int fresh = 1, k = 0;
    struct part p = {.node = d->part.a[parent].node};
    if (named) {
        p.cluster = strncmp(d->name.s, "cluster", 7) == 0;
        d->value.n = 0;
        str_printf(&d->value, "%d ", parent);
        str_putn(&d->value, d->name.s, d->name.n);
        if (d->value.oom) return err_nomem(d->err);
        if ((k = dict_add(&d->known, d->value.s, d->value.n, &fresh)) < 0) return err_nomem(d->err);
    }
    if (!fresh) return d->known_part.a[k];
    if (vec_push(&d->part, p) || (named && vec_push(&d->known_part, (int)d->part.n - 1)))
        return err_nomem(d->err);
    return (int)d->part.n - 1;
}

static int append(ints *to, const ints *from)
{
    if (vec_reserve(to, to->n + from->n)) return -1;
    if (from->n) memcpy(to->a + to->n, from->a, from->n * sizeof *from->a);
    to->n += from->n;
    return 0;
}

/* subgraph NAME {...}; adds its nodes to `out`. */
static int subgraph(struct in *d, int parent, ints *out)
{
    struct scan *x = &d->x;
    int rc = 0, named = 0;
    if (is_key(x, "subgraph")) {
        scan_next(x);
        named = !scan_is(x, "{");
        if (named && (rc = id(d, &d->name))) return rc;
    }
    if (d->depth == DEEPEST)
        return err_at(d->err, NAMI_ELIMIT, x->tline, x->tcol,
                      "braces in braces, deeper than %d; write one edge a statement", DEEPEST);
    int part = open_part(d, parent, named);
    if (part < 0) return part;
    d->depth++;
    if ((rc = statements(d, part))) return rc;
    d->depth--;
    struct part *p = &d->part.a[part];
    if ((rc = once(d, &p->member))) return rc;
    if (append(out, &p->member) || append(&d->part.a[parent].member, &p->member))
        return err_nomem(d->err);
    if (!named) vec_free(&p->member);
    return 0;
}

/* One side of an arrow: a subgraph, or nodes with commas between. */
static int side(struct in *d, int part, ints *out, int have_name)
{
    struct scan *x = &d->x;
    int rc = 0;
    out->n = 0;
    if (!have_name && (scan_is(x, "{") || is_key(x, "subgraph"))) return subgraph(d, part, out);
    do {
        if (!have_name) rc = id(d, &d->name);
        if (!rc) rc = node(d, part, out);
        have_name = 0;
    } while (!rc && scan_accept(x, ","));
    return rc ? rc : once(d, out);
}

/* Moves over ->, if it comes now: 1. */
static int arrow(struct in *d)
{
    struct scan *x = &d->x;
    int after = x->s < x->end ? *x->s : 0;
    if (!scan_is(x, "-")) return 0;
    if (after == '-')
        return err_at(d->err, NAMI_EINPUT, x->tline, x->tcol,
                      "'--' has no direction; a Bayesian network needs '->'");
    if (after != '>') return 0;
    scan_next(x);
    scan_next(x);
    return 1;
}

static int connect(struct in *d, const ints *left, const ints *right, int line, int col)
{
    int rc = 0;
    if (right->n && left->n > GROUP_MAX / right->n)
        return err_at(d->err, NAMI_ELIMIT, line, col,
                      "more than %d edges between two groups; use smaller groups", GROUP_MAX);
    for (size_t i = 0; i < left->n; i++)
        for (size_t k = 0; k < right->n && !rc; k++)
            rc = bn_edge(d->bn, left->a[i], right->a[k], line, col, d->err);
    return rc;
}

/* Nodes or a chain of edges, with attributes; d->name is the first node, if have_name. */
static int chain(struct in *d, int part, int have_name)
{
    struct scan *x = &d->x;
    ints left = {0}, right = {0};
    int way = 0, edges = 0, group = !have_name;
    int rc = side(d, part, &left, have_name);
    while (!rc) {
        int line = x->tline, col = x->tcol;
        if ((way = arrow(d)) <= 0) break;
        rc = side(d, part, &right, 0);
        if (!rc) rc = connect(d, &left, &right, line, col);
        ints t = left;
        left = right;
        right = t;
        edges = 1;
    }
    if (!rc && way < 0) rc = way;
    if (!rc) rc = attributes(d, part, edges || group ? EDGES : NODES, &left);
    vec_free(&left);
    vec_free(&right);
    return rc;
}

static int statement(struct in *d, int part)
{
    static const struct {
        const char *word;
        enum of of;
    } kind[] = {{"graph", GRAPH}, {"node", DEFAULTS}, {"edge", EDGES}};
    struct scan *x = &d->x;
    int rc;
    if (scan_accept(x, ";")) return 0;
    if (scan_is(x, "{") || is_key(x, "subgraph")) return chain(d, part, 0);
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++)
        if (is_key(x, kind[k].word)) {
            scan_next(x);
            if (!scan_is(x, "[")) return scan_error(x, "'['", d->err);
            return attributes(d, part, kind[k].of, NULL);
        }
    if ((rc = id(d, &d->name))) return rc;
    if (!scan_accept(x, "=")) return chain(d, part, 1);
    return (rc = id(d, &d->value)) ? rc : set_graph(d, part);
}

static int statements(struct in *d, int part)
{
    int rc = scan_expect(&d->x, "{", d->err);
    while (!rc && !scan_is(&d->x, "}")) rc = statement(d, part);
    if (!rc) scan_next(&d->x);
    return rc;
}

static int plates(struct in *d)
{
    for (size_t i = 1; i < d->part.n; i++) {
        struct part *p = &d->part.a[i];
        if (!p->cluster || !p->label || !*p->label) continue;
        struct bn_plate plate = {.label = p->label, .n = (int)p->member.n};
        if (!(plate.node = arena_array(&d->bn->mem, int, p->member.n))) return err_nomem(d->err);
        if (plate.n) memcpy(plate.node, p->member.a, p->member.n * sizeof(int));
        sort_ints(plate.node, p->member.n);
        if (vec_push(&d->bn->plate, plate)) return err_nomem(d->err);
    }
    return 0;
}

static int graph(struct in *d)
{
    struct scan *x = &d->x;
    struct part whole = {.node = {.observed = -1}};
    int rc = 0;
    if (is_key(x, "strict")) scan_next(x);
    if (is_key(x, "graph"))
        return err_at(d->err, NAMI_EINPUT, x->tline, x->tcol,
                      "this graph is undirected; a Bayesian network needs "
                      "'digraph' for 'graph' and '->' for '--'");
    if (x->tok == TOK_END)
        return err_set(d->err, NAMI_EINPUT, "no graph in this file; DOT begins with 'digraph {'");
    if (!is_key(x, "digraph")) return scan_error(x, "'digraph'", d->err);
    scan_next(x);
    if (!scan_is(x, "{") && (rc = id(d, &d->name))) return rc;
    if (vec_push(&d->part, whole)) return err_nomem(d->err);
    if ((rc = statements(d, 0))) return rc;
    if (is_key(x, "strict") || is_key(x, "digraph") || is_key(x, "graph"))
        return err_at(d->err, NAMI_EINPUT, x->tline, x->tcol,
                      "more than one graph in this file; keep one of them");
    if (x->tok != TOK_END) return scan_error(x, "nothing after '}'", d->err);
    for (size_t v = 0; v < d->look.n; v++) {
        struct look k = d->look.a[v];
        d->bn->node.a[v].observed = k.observed >= 0 ? k.observed : k.filled && !k.white;
    }
    return plates(d);
}

static int read(struct bn *bn, const char *text, size_t len, nami_err *err)
{
    struct in d = {.bn = bn, .err = err};
    scan_init(&d.x, text, len, &rules);
    int rc = graph(&d);
    for (size_t i = 0; i < d.part.n; i++) vec_free(&d.part.a[i].member);
    vec_free(&d.part);
    vec_free(&d.look);
    vec_free(&d.known_part);
    vec_free(&d.seen);
    dict_free(&d.known);
    str_free(&d.name);
    str_free(&d.value);
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
