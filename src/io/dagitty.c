/* dagitty.c: the text of dagitty (web page and R package).

   dag { A [outcome,pos="1,2"]; {A B} -> C <- D }

   adjusted, conditioned and observed nodes are observed; other options and
   settings such as bb="0,0,1,1" are for drawing and left out. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "io/format.h"
#include "io/scan.h"

static const struct scan_rules rules = {.word = ".", .comment = "//", .block_comment = 1};

static int is_other_graph(const struct scan *x)
{
    return scan_is(x, "pdag") || scan_is(x, "mag") || scan_is(x, "pag");
}

static int is_name(const struct scan *x) { return x->tok == TOK_WORD || x->tok == TOK_STRING; }

static int sniff(const char *text, size_t len)
{
    struct scan x;
    scan_init(&x, text, len < 4096 ? len : 4096, &rules);
    int keyword = scan_is(&x, "dag") || is_other_graph(&x);
    if (keyword) {
        scan_next(&x);
        if (is_name(&x)) scan_next(&x);
    }
    if (!scan_accept(&x, "{")) return 0;
    return keyword ? 90 : x.tok == TOK_WORD ? 40 : 0;
}

/* ---- reading ------------------------------------------------------------ */

typedef vec(int) ints;

struct in {
    struct scan x;
    struct bn *bn;
    ints left, right; /* the nodes on either side of an arrow */
    struct str name;  /* a string without its escapes */
    nami_err *err;
};

/* The current word or string as a node; moves on. */
static int node(struct in *d)
{
    struct scan *x = &d->x;
    if (!is_name(x)) return scan_error(x, "a name", d->err);
    const char *t = x->t;
    size_t n = x->n;
    if (x->tok == TOK_STRING && memchr(t, '\\', n)) {
        d->name.n = 0;
        for (size_t i = 0; i < n; i++) {
            if (t[i] == '\\' && i + 1 < n && (t[i + 1] == '"' || t[i + 1] == '\\')) i++;
            str_putn(&d->name, t + i, 1);
        }
        if (d->name.oom) return err_nomem(d->err);
        t = d->name.s;
        n = d->name.n;
    }
    if (n == 0) return err_at(d->err, NAMI_EINPUT, x->tline, x->tcol, "an empty name; give it one");
    int v = bn_node(d->bn, t, n, x->tline, NULL, d->err);
    scan_next(x);
    return v;
}

/* A or {A B; C} */
static int group(struct in *d, ints *out)
{
    struct scan *x = &d->x;
    int braces = scan_accept(x, "{"), v;
    out->n = 0;
    do {
        if (braces && scan_is(x, "{"))
            return err_at(d->err, NAMI_EINPUT, x->tline, x->tcol,
                          "braces inside a group; write the names in one pair, as {A B} -> C");
        if ((v = node(d)) < 0) return v;
        if (vec_push(out, v)) return err_nomem(d->err);
        while (braces && (scan_accept(x, ";") || scan_accept(x, ","))) {
        }
    } while (braces && !scan_is(x, "}"));
    return braces ? scan_expect(x, "}", d->err) : 0;
}

enum { NO_ARROW, RIGHT, LEFT };

/* -> or <-, if it comes now.  Its characters must stand together. */
static int arrow(struct in *d)
{
    struct scan *x = &d->x;
    const char *t = x->t;
    size_t room = (size_t)(x->end - t);
    int line = x->tline, col = x->tcol;
    if (!scan_is(x, "-") && !scan_is(x, "<")) return NO_ARROW;
    if (room >= 3 && memcmp(t, "<->", 3) == 0)
        return err_at(
            d->err, NAMI_EINPUT, line, col,
            "'<->' stands for a hidden common cause; write it as U -> A and U -> B, with a "
            "node U of its own");
    if (room >= 2 && memcmp(t, "--", 2) == 0)
        return err_at(d->err, NAMI_EINPUT, line, col,
                      "'--' has no direction; write -> or <-, a Bayesian network needs it");
    if (room < 2 || (memcmp(t, "->", 2) != 0 && memcmp(t, "<-", 2) != 0))
        return scan_error(x, "'->' or '<-'", d->err);
    scan_next(x);
    scan_next(x);
    return *t == '-' ? RIGHT : LEFT;
}

enum { GROUP_MAX = 1 << 24 }; /* edges of {..} -> {..} */

static int connect(struct in *d, int way, int line, int col)
{
    int rc;
    if (d->left.n > GROUP_MAX / d->right.n)
        return err_at(d->err, NAMI_ELIMIT, line, col,
                      "more than %d edges between two groups; use smaller groups", GROUP_MAX);
    for (size_t i = 0; i < d->left.n; i++)
        for (size_t k = 0; k < d->right.n; k++) {
            int a = d->left.a[i], b = d->right.a[k];
            rc = way == RIGHT ? bn_edge(d->bn, a, b, line, col, d->err)
                              : bn_edge(d->bn, b, a, line, col, d->err);
            if (rc) return rc;
        }
    return 0;
}

/* = value; a number may have a sign */
static int value(struct in *d)
{
    if (scan_accept(&d->x, "=")) {
        if (!scan_accept(&d->x, "-")) scan_accept(&d->x, "+");
        if (!is_name(&d->x)) return scan_error(&d->x, "a value", d->err);
        scan_next(&d->x);
    }
    return 0;
}

/* [adjusted,pos="1,2"]; *observed tells if one of the words means that */
static int options(struct in *d, int *observed)
{
    struct scan *x = &d->x;
    int rc;
    if (!scan_accept(x, "[")) return 0;
    while (!scan_is(x, "]")) {
        if (scan_is(x, "adjusted") || scan_is(x, "conditioned") || scan_is(x, "observed"))
            *observed = 1;
        if (!is_name(x)) return scan_error(x, "an option or ']'", d->err);
        scan_next(x);
        if ((rc = value(d))) return rc;
        if (!scan_accept(x, ",")) scan_accept(x, ";");
    }
    scan_next(x);
    return 0;
}

static int statement(struct in *d)
{
    struct scan *x = &d->x, ahead = *x;
    int rc, way, edges = 0, observed = 0;
    if (scan_accept(x, ";") || scan_accept(x, ",")) return 0;
    scan_next(&ahead);
    if (x->tok == TOK_WORD && scan_is(&ahead, "=")) { /* bb="0,0,1,1" */
        scan_next(x);
        return value(d);
    }
    if ((rc = group(d, &d->left))) return rc;
    for (;; edges = 1) {
        int line = x->tline, col = x->tcol;
        if ((way = arrow(d)) <= 0) break;
        if ((rc = group(d, &d->right)) || (rc = connect(d, way, line, col))) return rc;
        ints t = d->left;
        d->left = d->right;
        d->right = t;
    }
    if (way < 0) return way;
    if ((rc = options(d, &observed))) return rc;
    for (size_t i = 0; observed && !edges && i < d->left.n; i++)
        d->bn->node.a[d->left.a[i]].observed = 1;
    return 0;
}

static int graph(struct in *d)
{
    struct scan *x = &d->x;
    int rc;
    if (is_other_graph(x))
        return err_at(d->err, NAMI_EINPUT, x->tline, x->tcol,
                      "'%.*s' stands for a class of graphs; a Bayesian network is one 'dag'",
                      (int)x->n, x->t);
    if (scan_accept(x, "dag") && is_name(x)) scan_next(x);
    if ((rc = scan_expect(x, "{", d->err))) return rc;
    while (!scan_is(x, "}"))
        if ((rc = statement(d))) return rc;
    scan_next(x);
    return x->tok == TOK_END ? 0 : scan_error(x, "nothing after '}'", d->err);
}

static int read(struct bn *bn, const char *text, size_t len, nami_err *err)
{
    struct in d = {.bn = bn, .err = err};
    scan_init(&d.x, text, len, &rules);
    int rc = graph(&d);
    vec_free(&d.left);
    vec_free(&d.right);
    str_free(&d.name);
    return rc;
}

/* ---- writing ------------------------------------------------------------ */

static void put_name(struct str *out, const char *s)
{
    str_put(out, "\"");
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') str_put(out, "\\");
        str_putn(out, s, 1);
    }
    str_put(out, "\"");
}

static int write(const struct bn *bn, struct str *out, nami_err *err)
{
    (void)err;
    str_put(out, "dag {\n");
    for (int v = 0; v < bn_n(bn); v++) {
        put_name(out, bn_name(bn, v));
        str_put(out, bn->node.a[v].observed ? " [adjusted]\n" : "\n");
    }
    for (int v = 0; v < bn_n(bn); v++)
        for_parents (&bn->dag, v, u) {
            put_name(out, bn_name(bn, u));
            str_put(out, " -> ");
            put_name(out, bn_name(bn, v));
            str_put(out, "\n");
        }
    str_put(out, "}\n");
    return 0;
}

const struct format format_dagitty = {
    .name = "dagitty",
    .what = "dagitty's text; adjusted nodes are observed",
    .ends = ".dagitty .dag",
    .sniff = sniff,
    .read = read,
    .write = write,
};
