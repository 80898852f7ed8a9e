/* hugin.c: the Hugin NET language.

       net { name = "asia"; }
       node tub { states = ( "yes" "no" ); label = "has it?"; }
       potential ( tub | asia ) { data = (( 0.05 0.95 )( 0.01 0.99 )); }

   The numbers of `data` come in the order of struct cpt, the child fastest;
   their brackets only help the eye, and are skipped.  Other attributes are
   skipped too.  A continuous node has no states, and its data are skipped:
   structure only.  Names that are no identifiers are written in quotes, which
   NaMI reads back but Hugin may not. */

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "io/format.h"
#include "io/scan.h"
#include "io/table.h"

static const struct scan_rules RULES = {.word = ".+-", .comment = "%"};

struct hugin {
    struct scan x;
    struct bn *bn;
    struct states states;
    vec(struct scan) block; /* where the potentials begin */
    unsigned char *defined; /* has it had its potential? */
    indices parent;
    numbers p;
    struct str name;
    nami_err *err;
};

static int refuse(struct hugin *h, const char *what)
{
    return err_at(h->err, NAMI_EINPUT, h->x.tline, h->x.tcol, "%s", what);
}

/* name = value ; with any brackets in the value */
static int skip_attribute(struct hugin *h)
{
    struct scan *x = &h->x;
    size_t depth = 0;
    for (; depth || !scan_is(x, ";"); scan_next(x)) {
        int open = scan_is(x, "(") || scan_is(x, "{"), shut = scan_is(x, ")") || scan_is(x, "}");
        if (x->tok == TOK_END || x->tok == TOK_BAD || (shut && !depth))
            return scan_error(x, "';'", h->err);
        depth = depth + (size_t)open - (size_t)shut;
    }
    scan_next(x);
    return 0;
}

/* { name = value; ... } */
static int skip_attributes(struct hugin *h)
{
    int rc = scan_expect(&h->x, "{", h->err);
    while (!rc && !scan_accept(&h->x, "}")) rc = skip_attribute(h);
    return rc;
}

/* = ( "yes" "no" ) ; */
static int read_states(struct hugin *h, int v)
{
    struct scan *x = &h->x;
    int rc;
    if (h->bn->node.a[v].nstate) return refuse(h, "a second list of states; remove one of them");
    if ((rc = scan_expect(x, "=", h->err)) || (rc = scan_expect(x, "(", h->err))) return rc;
    while (!scan_accept(x, ")")) {
        int line = x->tline, col = x->tcol;
        if ((rc = name_read(x, "the name of a state or ')'", &h->name, h->err)) ||
            (rc = states_add(&h->states, h->bn, v, h->name.s, h->name.n, line, col, h->err)))
            return rc;
    }
    rc = scan_expect(x, ";", h->err);
    return rc ? rc : states_done(&h->states, h->bn, v, h->err);
}

static int read_node(struct hugin *h, int discrete)
{
    struct scan *x = &h->x;
    int line = x->tline, col = x->tcol, v;
    int rc = name_read(x, "the name of a node", &h->name, h->err);
    if (rc) return rc;
    if ((v = bn_declare(h->bn, h->name.s, h->name.n, line, col, h->err)) < 0) return v;
    if ((rc = scan_expect(x, "{", h->err))) return rc;
    while (!rc && !scan_accept(x, "}"))
        rc = discrete && scan_accept(x, "states") ? read_states(h, v) : skip_attribute(h);
    return rc;
}

/* ( child | parent parent ) */
static int read_head(struct hugin *h, int *child)
{
    struct scan *x = &h->x;
    int rc = scan_expect(x, "(", h->err), line = x->tline, col = x->tcol, v;
    if (rc) return rc;
    h->parent.n = 0;
    if ((*child = node_read(x, h->bn, &h->name, h->err)) < 0) return *child;
    if (h->defined[*child])
        return err_at(h->err, NAMI_EINPUT, line, col,
                      "a second potential of '%s'; remove one of them", bn_name(h->bn, *child));
    h->defined[*child] = 1;
    if (x->tok == TOK_WORD || x->tok == TOK_STRING)
        return refuse(h, "a potential of several nodes together; NaMI needs one for each child");
    int given = scan_accept(x, "|");
    while (!scan_accept(x, ")")) {
        if (!given) return scan_error(x, "'|' or ')'", h->err);
        if ((v = node_read(x, h->bn, &h->name, h->err)) < 0) return v;
        if (vec_push(&h->parent, v)) return err_nomem(h->err);
    }
    return 0;
}

/* = ((0.05 0.95)(0.01 0.99)) ; */
static int read_data(struct hugin *h)
{
    struct scan *x = &h->x;
    int rc = scan_expect(x, "=", h->err);
    double d;
    if (rc) return rc;
    if (h->p.n) return refuse(h, "a second list of data; remove one of them");
    while (!scan_accept(x, ";")) {
        if (scan_accept(x, "(") || scan_accept(x, ")")) continue;
        if ((rc = scan_double(x, &d, h->err))) return rc;
        if (vec_push(&h->p, d)) return err_nomem(h->err);
    }
    return 0;
}

static int read_potential(struct hugin *h)
{
    struct scan *x = &h->x;
    int line = x->tline, col = x->tcol, v, rc = read_head(h, &v);
    if (rc || (rc = scan_expect(x, "{", h->err))) return rc;
    h->p.n = 0;
    while (!rc && !scan_accept(x, "}"))
        rc = h->bn->node.a[v].nstate && scan_accept(x, "data") ? read_data(h) : skip_attribute(h);
    if (rc) return rc;
    return h->p.n ? table_set(h->bn, v, &h->parent, &h->p, line, col, h->err)
                  : parents_set(h->bn, v, &h->parent, line, col, h->err);
}

/* Remembers the place of a potential, and goes on behind it. */
static int note_block(struct hugin *h)
{
    struct scan *x = &h->x;
    if (vec_push(&h->block, *x)) return err_nomem(h->err);
    while (x->tok != TOK_END && x->tok != TOK_BAD && !scan_is(x, "{")) scan_next(x);
    return skip_attributes(h);
}

static int read_block(struct hugin *h)
{
    struct scan *x = &h->x;
    int rc;
    if (scan_accept(x, "net")) return skip_attributes(h);
    if (scan_accept(x, "potential")) return note_block(h);
    if (scan_accept(x, "node")) return read_node(h, 1);
    if (scan_is(x, "discrete") || scan_is(x, "continuous")) {
        int discrete = scan_is(x, "discrete");
        scan_next(x);
        rc = scan_expect(x, "node", h->err);
        return rc ? rc : read_node(h, discrete);
    }
    if (scan_is(x, "decision") || scan_is(x, "utility") || scan_is(x, "function"))
        return refuse(h,
                      "a decision, utility or function node; NaMI needs a network of chance nodes "
                      "only: remove it and its potential");
    if (scan_is(x, "class"))
        return refuse(h, "an object-oriented network (class); NaMI reads flat ones: export it from "
                         "Hugin as a flat network");
    return scan_error(x, "'net', 'node' or 'potential'", h->err);
}

/* Nodes first, then potentials: their order in the file does not matter. */
static int read_all(struct hugin *h)
{
    int rc = 0;
    while (!rc && h->x.tok != TOK_END) rc = read_block(h);
    if (!rc && !(h->defined = new_array(unsigned char, bn_n(h->bn)))) rc = err_nomem(h->err);
    for (size_t i = 0; i < h->block.n && !rc; i++) {
        h->x = h->block.a[i];
        rc = read_potential(h);
    }
    return rc;
}

static int hugin_read(struct bn *bn, const char *text, size_t len, nami_err *err)
{
    struct hugin h = {.bn = bn, .err = err};
    scan_init(&h.x, text, len, &RULES);
    int rc = read_all(&h);
    states_free(&h.states);
    vec_free(&h.block);
    vec_free(&h.parent);
    vec_free(&h.p);
    str_free(&h.name);
    free(h.defined);
    return rc;
}

static int hugin_sniff(const char *text, size_t len)
{
    struct scan x;
    scan_init(&x, text, len, &RULES);
    if (scan_accept(&x, "net")) return scan_is(&x, "{") ? 95 : 0;
    int kind = scan_accept(&x, "discrete") || scan_accept(&x, "continuous");
    if (!scan_accept(&x, "node") && (kind || !scan_accept(&x, "class"))) return 0;
    scan_next(&x); /* its name */
    return scan_is(&x, "{") ? 70 : 0;
}

/* ---- writing ------------------------------------------------------------- */

static void put_name(struct str *out, const char *s)
{
    int bare = *s && !(*s >= '0' && *s <= '9');
    for (const char *c = s; *c && bare; c++)
        bare = (*c >= '0' && *c <= '9') || (*c >= 'A' && *c <= 'Z') || (*c >= 'a' && *c <= 'z') ||
               *c == '_';
    if (bare)
        str_put(out, s);
    else
        str_quote(out, s);
}

static void put_node(struct str *out, const struct bn *bn, int v)
{
    char buf[16];
    int k = bn->node.a[v].nstate;
    str_put(out, k ? "\nnode " : "\ncontinuous node ");
    put_name(out, bn_name(bn, v));
    str_put(out, "\n{\n");
    if (k) {
        str_put(out, "  states = (");
        for (int s = 0; s < k; s++) {
            str_put(out, " ");
            str_quote(out, state_name(bn, v, s, buf));
        }
        str_put(out, " );\n");
    }
    str_put(out, "}\n");
}

/* One pair of brackets for each value of each parent, one for each row. */
static void put_data(struct str *out, const struct bn *bn, int v)
{
    const struct cpt *t = bn->node.a[v].cpt;
    size_t k = (size_t)bn->node.a[v].nstate;
    str_put(out, "  data = ");
    for (size_t r = 0; r < t->n; r += k) {
        size_t size = t->n;
        for (int i = 0; i < t->nparent; i++) {
            if (r % size == 0) str_put(out, "(");
            size /= (size_t)bn->node.a[t->parent[i]].nstate;
        }
        str_put(out, "( ");
        put_row(out, t->p + r, (int)k, " ");
        str_put(out, " )");
        size = k;
        for (int i = t->nparent - 1; i >= 0; i--) {
            size *= (size_t)bn->node.a[t->parent[i]].nstate;
            if ((r + k) % size == 0) str_put(out, ")"); // NOLINT: a table has no empty side
        }
        str_put(out, r + k < t->n ? "\n    " : ";\n");
    }
}

static int hugin_write(const struct bn *bn, struct str *out, nami_err *err)
{
    const int *parent;
    (void)err;
    str_put(out, "net\n{\n}\n");
    for (int v = 0; v < bn_n(bn); v++) put_node(out, bn, v);
    for (int v = 0; v < bn_n(bn); v++) {
        if (!parents_of(bn, v, &parent) && !bn->node.a[v].cpt) continue;
        str_put(out, "\npotential ( ");
        put_family(out, bn, v, " ", put_name);
        str_put(out, " )\n{\n");
        if (bn->node.a[v].cpt) put_data(out, bn, v);
        str_put(out, "}\n");
    }
    return 0;
}

const struct format format_hugin = {
    .name = "hugin",
    .what = "Hugin NET, with tables",
    .ends = ".net .hugin",
    .sniff = hugin_sniff,
    .read = hugin_read,
    .write = hugin_write,
};
