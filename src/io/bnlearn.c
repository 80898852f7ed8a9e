/* bnlearn.c: the model strings of the R package bnlearn, [A][B|A:C]. */
#include <string.h>

#include "base/err.h"
#include "io/format.h"

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* May c be in a name? */
static int in_name(char c)
{
    return (unsigned char)c >= 32 && c != '[' && c != ']' && c != '|' && c != ':';
}

static int sniff(const char *text, size_t len)
{
    const char *s = text, *end = text + (len < 4096 ? len : 4096);
    if (len >= 3 && memcmp(s, "\xEF\xBB\xBF", 3) == 0) s += 3;
    while (s < end && is_blank(*s)) s++;
    if (s == end || *s++ != '[') return 0;
    const char *name = s;
    if (s < end && *s == '"') return 0; /* a list in JSON */
    while (s < end && in_name(*s)) s++;
    return s > name && s < end && (*s == ']' || *s == '|') ? 80 : 0;
}

struct place {
    const char *s, *end, *line0;
    int line;
};

static int col(const struct place *x) { return (int)(x->s - x->line0) + 1; }

static void skip_blanks(struct place *x)
{
    for (; x->s < x->end && is_blank(*x->s); x->s++)
        if (*x->s == '\n') {
            x->line++;
            x->line0 = x->s + 1;
        }
}

/* Moves over a name; there must be one, and something behind it. */
static int skip_name(struct place *x, nami_err *err)
{
    const char *t = x->s;
    while (x->s < x->end && in_name(*x->s)) x->s++;
    if (x->s == x->end)
        return err_at(err, NAMI_EINPUT, x->line, col(x),
                      "expected ']', but the string ends here; is it cut off?");
    if ((unsigned char)*x->s < 32)
        return err_at(
            err, NAMI_EINPUT, x->line, col(x),
            "a line's end, tab or control byte inside [...]; break lines between brackets");
    if (x->s == t)
        return err_at(err, NAMI_EINPUT, x->line, col(x), "expected a name, found '%c'", *x->s);
    return 0;
}

/* One [A|B:C].  Parents may come later as heads, so the first pass declares the
   heads and the second adds the edges. */
static int node(struct bn *bn, struct place *x, int pass, nami_err *err)
{
    int rc, child, parent;
    if (*x->s != '[')
        return err_at(err, NAMI_EINPUT, x->line, col(x),
                      "expected '[', found '%c'; a model string is like [A][B|A]", *x->s);
    const char *t = ++x->s;
    int at = col(x);
    if ((rc = skip_name(x, err))) return rc;
    if (pass == 1)
        child = bn_declare(bn, t, (size_t)(x->s - t), x->line, at, err);
    else
        child = bn_find(bn, t, (size_t)(x->s - t));
    if (child < 0) return child;
    for (char sep = '|'; *x->s == sep; sep = ':') {
        t = ++x->s;
        at = col(x);
        if ((rc = skip_name(x, err))) return rc;
        if (pass == 1) continue;
        parent = bn_find(bn, t, (size_t)(x->s - t));
        int show = x->s - t > 100 ? 100 : (int)(x->s - t);
        if (parent < 0)
            return err_at(err, NAMI_EINPUT, x->line, at,
                          "'%.*s' is a parent but not a node; add [%.*s]", show, t, show, t);
        if ((rc = bn_edge(bn, parent, child, x->line, at, err))) return rc;
    }
    if (*x->s != ']')
        return err_at(err, NAMI_EINPUT, x->line, col(x),
                      "expected ']', found '%c'; a node is like [A] or [A|B:C]", *x->s);
    x->s++;
    return 0;
}

static int read(struct bn *bn, const char *text, size_t len, nami_err *err)
{
    int rc;
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) text += 3, len -= 3;
    for (int pass = 1; pass <= 2; pass++) {
        struct place x = {.s = text, .end = text + len, .line0 = text, .line = 1};
        for (skip_blanks(&x); x.s < x.end; skip_blanks(&x))
            if ((rc = node(bn, &x, pass, err))) return rc;
    }
    return 0;
}

static int write(const struct bn *bn, struct str *out, nami_err *err)
{
    for (int v = 0; v < bn_n(bn); v++)
        for (const char *c = bn_name(bn, v); *c; c++)
            if (!in_name(*c))
                return err_set(err, NAMI_EINPUT,
                               "a model string cannot hold the name '%s' (no [ ] | : or control "
                               "characters); rename it or write JSON",
                               bn_name(bn, v));
    for (int v = 0; v < bn_n(bn); v++) {
        char sep = '|';
        str_printf(out, "[%s", bn_name(bn, v));
        for_parents (&bn->dag, v, u) {
            str_printf(out, "%c%s", sep, bn_name(bn, u));
            sep = ':';
        }
        str_put(out, "]");
    }
    str_put(out, "\n");
    return 0;
}

const struct format format_bnlearn = {
    .name = "bnlearn",
    .what = "bnlearn's model strings, [A][B|A]",
    .ends = ".modelstring.txt .modelstring .bnlearn",
    .sniff = sniff,
    .read = read,
    .write = write,
};
