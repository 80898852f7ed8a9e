/* edges.c: plain edge lists, for graphs of millions of nodes.

   A B            one edge a line; also A -> B, A->B, A,B or a tab between
   C              a node without edges
   "a b" "c,d"    names with blanks, commas, -> or quotes (\" and \\)
   # observed: A  other comments are skipped

   A hand-written loop rather than scan.h: about 0.2 s for 10^6 edges. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "io/format.h"

static int sniff(const char *text, size_t len)
{
    if (len > 4096) len = 4096;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c < 32 && c != '\t' && c != '\r' && c != '\n') || c == 127) return 0;
    }
    return len ? 10 : 0;
}

/* ---- reading ------------------------------------------------------------ */

struct mark {
    const char *s, *line0;
    int line;
};

struct in {
    struct bn *bn;
    const char *s, *end, *line0;
    int line;
    const char *t; /* the current name */
    size_t n;
    struct str buf;            /* its text, if it had escapes */
    vec(struct mark) observed; /* where the lists of observed names begin */
    nami_err *err;
};

static int col(const struct in *x) { return (int)(x->s - x->line0) + 1; }

static void skip_blanks(struct in *x)
{
    while (x->s < x->end && (*x->s == ' ' || *x->s == '\t' || *x->s == '\r')) x->s++;
}

static int at_arrow(const struct in *x)
{
    return x->s[0] == '-' && x->end - x->s > 1 && x->s[1] == '>';
}

static int at_end(const struct in *x) { return x->s == x->end || *x->s == '\n'; }

static int bad_byte(const struct in *x)
{
    return err_at(x->err, NAMI_EINPUT, x->line, col(x),
                  "unexpected byte 0x%02x; is this a text file?", (unsigned char)*x->s);
}

static int quoted(struct in *x)
{
    int at = col(x), escapes = 0;
    x->t = ++x->s;
    for (; !at_end(x) && *x->s != '"'; x->s++) {
        if ((unsigned char)*x->s < 32 && *x->s != '\t') return bad_byte(x);
        if (*x->s == '\\' && x->end - x->s > 1 && (x->s[1] == '"' || x->s[1] == '\\')) {
            escapes = 1;
            x->s++;
        }
    }
    if (at_end(x))
        return err_at(x->err, NAMI_EINPUT, x->line, at, "this name has no closing quote");
    x->n = (size_t)(x->s++ - x->t);
    if (!at_end(x) && (unsigned char)*x->s > ' ' && *x->s != ',' && !at_arrow(x))
        return err_at(x->err, NAMI_EINPUT, x->line, col(x),
                      "put a blank or comma behind the closing quote (a quote in a name is \\\")");
    if (!escapes) return 0;
    x->buf.n = 0;
    for (size_t i = 0; i < x->n; i++) {
        if (x->t[i] == '\\' && i + 1 < x->n && (x->t[i + 1] == '"' || x->t[i + 1] == '\\')) i++;
        str_putn(&x->buf, x->t + i, 1);
    }
    if (x->buf.oom) return err_nomem(x->err);
    x->t = x->buf.s;
    x->n = x->buf.n;
    return 0;
}

/* Reads one name into t, n. */
static int name(struct in *x)
{
    int at = col(x), rc = 0;
    x->t = x->s;
    if (x->s < x->end && *x->s == '"') {
        rc = quoted(x);
    } else {
        while (x->s < x->end && (unsigned char)*x->s > ' ' && *x->s != ',' && !at_arrow(x)) x->s++;
        x->n = (size_t)(x->s - x->t);
    }
    if (rc || x->n) return rc;
    if (!at_end(x) && (unsigned char)*x->s < ' ') return bad_byte(x);
    return err_at(x->err, NAMI_EINPUT, x->line, at,
                  "a name is missing here; an edge is like A -> B");
}

static int node(struct in *x)
{
    int rc = name(x);
    return rc ? rc : bn_node(x->bn, x->t, x->n, x->line, NULL, x->err);
}

/* Skips a comment; remembers a list of observed names, which may come before
   the nodes. */
static int comment(struct in *x)
{
    static const char key[] = "observed:";
    const char *eol = memchr(x->s, '\n', (size_t)(x->end - x->s));
    if (!eol) eol = x->end;
    x->s++;
    skip_blanks(x);
    if ((size_t)(eol - x->s) >= sizeof key - 1 && memcmp(x->s, key, sizeof key - 1) == 0 &&
        vec_push(&x->observed, ((struct mark){x->s + sizeof key - 1, x->line0, x->line})))
        return err_nomem(x->err);
    x->s = eol;
    return 0;
}

/* A, A B, A -> B or A,B, then perhaps a comment */
static int line(struct in *x)
{
    int from, to, at, sep = 0;
    skip_blanks(x);
    if (at_end(x)) return 0;
    if (*x->s == '#') return comment(x);
    at = col(x);
    if ((from = node(x)) < 0) return from;
    skip_blanks(x);
    if (x->s < x->end && *x->s == ',')
        sep = 1;
    else if (x->s < x->end && at_arrow(x))
        sep = 2;
    x->s += sep;
    skip_blanks(x);
    if (sep || !(at_end(x) || *x->s == '#')) {
        if ((to = node(x)) < 0) return to;
        int rc = bn_edge(x->bn, from, to, x->line, at, x->err);
        if (rc) return rc;
        skip_blanks(x);
    }
    if (at_end(x)) return 0;
    if (*x->s == '#') return comment(x);
    return err_at(x->err, NAMI_EINPUT, x->line, col(x),
                  "more than two names on this line; write one edge a line, as A -> B, with names "
                  "that hold blanks in double quotes");
}

static int observe(struct in *x, struct mark m)
{
    int rc;
    x->s = m.s;
    x->line0 = m.line0;
    x->line = m.line;
    for (;;) {
        skip_blanks(x);
        if (!at_end(x) && *x->s == ',') {
            x->s++;
            continue;
        }
        if (at_end(x)) return 0;
        int at = col(x);
        if ((rc = name(x))) return rc;
        int v = bn_find(x->bn, x->t, x->n);
        if (v < 0)
            return err_at(x->err, NAMI_EINPUT, x->line, at,
                          "'%.*s' is observed but not a node; give it a line of its own",
                          (int)(x->n < 100 ? x->n : 100), x->t);
        x->bn->node.a[v].observed = 1;
    }
}

static int read(struct bn *bn, const char *text, size_t len, nami_err *err)
{
    struct in x = {.bn = bn, .s = text, .end = text + len, .line0 = text, .line = 1, .err = err};
    int rc = 0;
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) x.s += 3;
    while (x.s < x.end && !rc) {
        rc = line(&x);
        if (!rc && x.s < x.end) { /* at a line's end */
            x.line0 = ++x.s;
            x.line++;
        }
    }
    for (size_t i = 0; i < x.observed.n && !rc; i++) rc = observe(&x, x.observed.a[i]);
    vec_free(&x.observed);
    str_free(&x.buf);
    return rc;
}

/* ---- writing ------------------------------------------------------------ */

static int put_name(const struct bn *bn, int v, struct str *out, nami_err *err)
{
    const char *s = bn_name(bn, v);
    int quote = *s == '#' || (unsigned char)*s == 0xEF || strstr(s, "->"); /* 0xEF: a BOM */
    for (const char *c = s; *c; c++) {
        if ((unsigned char)*c < 32 && *c != '\t')
            return err_set(err, NAMI_EINPUT,
                           "an edge list cannot hold the control character in '%s'; rename it or "
                           "write JSON",
                           s);
        if (*c == ' ' || *c == '\t' || *c == ',' || *c == '"') quote = 1;
    }
    if (!quote) {
        str_put(out, s);
        return 0;
    }
    str_put(out, "\"");
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') str_put(out, "\\");
        str_putn(out, s, 1);
    }
    str_put(out, "\"");
    return 0;
}

/* Nodes are numbered by first use, so a node gets a line of its own where the
   edges would mention it too early or never.  `seen`: all below are numbered. */
static int put_nodes(const struct bn *bn, int *seen, int upto, struct str *out, nami_err *err)
{
    int rc;
    for (; *seen < upto; ++*seen) {
        if ((rc = put_name(bn, *seen, out, err))) return rc;
        str_put(out, "\n");
    }
    return 0;
}

static int put_edge(const struct bn *bn, int u, int v, int *seen, struct str *out, nami_err *err)
{
    int rc, last = u > v ? u : v, next = *seen;
    if (u == next) next++;
    if (v == next) next++;
    if (next > last)
        *seen = next; /* the edge itself brings the new ones, in order */
    else if ((rc = put_nodes(bn, seen, last + 1, out, err)))
        return rc;
    if ((rc = put_name(bn, u, out, err))) return rc;
    str_put(out, " -> ");
    rc = put_name(bn, v, out, err);
    str_put(out, "\n");
    return rc;
}

static int write(const struct bn *bn, struct str *out, nami_err *err)
{
    int rc, seen = 0, k = 0;
    for (int v = 0; v < bn_n(bn); v++) {
        if (!bn->node.a[v].observed) continue;
        if (k++ % 10 == 0) str_put(out, k > 1 ? "\n# observed:" : "# observed:");
        str_put(out, " ");
        if ((rc = put_name(bn, v, out, err))) return rc;
    }
    if (k) str_put(out, "\n");
    for (int v = 0; v < bn_n(bn); v++)
        for_parents (&bn->dag, v, u)
            if ((rc = put_edge(bn, u, v, &seen, out, err))) return rc;
    return put_nodes(bn, &seen, bn_n(bn), out, err);
}

const struct format format_edges = {
    .name = "edges",
    .what = "plain edge lists, one edge a line",
    .ends = ".edges .txt .tsv .csv .el",
    .sniff = sniff,
    .read = read,
    .write = write,
};
