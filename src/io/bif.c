/* bif.c: the Bayesian interchange format, 0.15.

       network asia { property author nobody; }
       variable tub { type discrete [ 2 ] { yes, no }; }
       probability ( tub | asia ) {
         (yes) 0.05, 0.95;        one row: the parents' states, then p(child)
         default 0.01, 0.99;      every row that is not given
       }

   ',' and '|' are blanks to the standard: the first name of a probability block
   is the child and the others are its parents.  `table` gives all numbers at
   once.  JavaBayes, where the format comes from, and pgmpy count its index with
   the child first, that is slowest, and the last parent fastest; bnlearn writes
   `table` for roots only, where there is nothing to choose.

   A variable without a type and a probability block without numbers say
   nothing about tables: structure only. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "io/format.h"
#include "io/scan.h"
#include "io/table.h"

static const char WORD[] = "<>=/.+-*%:$#&!?'@^~";
static const struct scan_rules RULES = {.word = WORD, .comment = "//", .block_comment = 1};

enum { TOTAL_MAX = 1 << 26 }; /* entries of all tables: `default` makes many of few */

struct bif {
    struct scan x;
    struct bn *bn;
    struct states states;
    unsigned char *defined; /* has it had its probability block? */
    size_t total;
    vec(struct scan) block; /* where the probability blocks begin */
    /* the block being read */
    int line, col, child;
    indices parent;
    numbers p, def;
    struct str name;
    nami_err *err;
};

/* To the ';' and past it.  A property is free text; elsewhere a brace means
   that the ';' was forgotten. */
static int skip_line(struct scan *x, nami_err *err)
{
    int is_free = scan_is(x, "property");
    for (; !scan_is(x, ";"); scan_next(x))
        if (x->tok == TOK_END || x->tok == TOK_BAD ||
            (!is_free && (scan_is(x, "{") || scan_is(x, "}"))))
            return scan_error(x, "';'", err);
    scan_next(x);
    return 0;
}

/* { line; line; } */
static int skip_lines(struct scan *x, nami_err *err)
{
    int rc = scan_expect(x, "{", err);
    while (!rc && !scan_accept(x, "}")) rc = skip_line(x, err);
    return rc;
}

/* ---- reading: variables -------------------------------------------------- */

/* discrete [ 2 ] { yes, no } ; */
static int read_type(struct bif *b, int v)
{
    struct scan *x = &b->x;
    int rc, k, line, col;
    if ((rc = scan_expect(x, "discrete", b->err)) || (rc = scan_expect(x, "[", b->err))) return rc;
    line = x->tline, col = x->tcol;
    if ((rc = scan_int(x, 1, 1 << 24, &k, b->err)) || (rc = scan_expect(x, "]", b->err)) ||
        (rc = scan_expect(x, "{", b->err)))
        return rc;
    if (b->bn->node.a[v].nstate)
        return err_at(b->err, NAMI_EINPUT, line, col, "a second type for '%s'; remove one of them",
                      bn_name(b->bn, v));
    while (!scan_is(x, "}")) {
        int sline = x->tline, scol = x->tcol;
        if ((rc = name_read(x, "the name of a state or '}'", &b->name, b->err)) ||
            (rc = states_add(&b->states, b->bn, v, b->name.s, b->name.n, sline, scol, b->err)))
            return rc;
        scan_accept(x, ",");
    }
    if (b->states.list.n != (size_t)k)
        return err_at(b->err, NAMI_EINPUT, line, col,
                      "'%s' has %zu states but declares %d; correct the number or the list",
                      bn_name(b->bn, v), b->states.list.n, k);
    scan_next(x);
    scan_accept(x, ";");
    return states_done(&b->states, b->bn, v, b->err);
}

static int read_variable(struct bif *b)
{
    struct scan *x = &b->x;
    int line = x->tline, col = x->tcol, rc, v;
    if ((rc = name_read(x, "the name of a variable", &b->name, b->err))) return rc;
    v = bn_declare(b->bn, b->name.s, b->name.n, line, col, b->err);
    if (v < 0) return v;
    if ((rc = scan_expect(x, "{", b->err))) return rc;
    while (!scan_accept(x, "}")) {
        if (scan_accept(x, "type"))
            rc = read_type(b, v);
        else if (scan_is(x, "property"))
            rc = skip_line(x, b->err);
        else
            rc = scan_error(x, "'type', 'property' or '}'", b->err);
        if (rc) return rc;
    }
    return 0;
}

/* ---- reading: tables ----------------------------------------------------- */

/* 0.05, 0.95 ; */
static int read_numbers(struct bif *b, numbers *p, size_t want, const char *what)
{
    struct scan *x = &b->x;
    int line = x->tline, col = x->tcol, rc;
    double d;
    p->n = 0;
    while (!scan_is(x, ";")) {
        if ((rc = scan_double(x, &d, b->err))) return rc;
        if (vec_push(p, d)) return err_nomem(b->err);
        scan_accept(x, ",");
    }
    if (p->n != want)
        return err_at(b->err, NAMI_EINPUT, line, col,
                      "%s of '%s' has %zu numbers but needs %zu; add or remove some", what,
                      bn_name(b->bn, b->child), p->n, want);
    scan_next(x);
    return 0;
}

/* Makes the table at its first number, all entries unknown (NaN). */
static int begin_table(struct bif *b)
{
    struct cpt *t;
    int rc;
    if (b->bn->node.a[b->child].cpt) return 0;
    b->total += table_size(b->bn, b->child, b->parent.a, b->parent.n);
    if (b->total > TOTAL_MAX)
        return err_at(b->err, NAMI_ELIMIT, b->line, b->col,
                      "the tables have more than %d entries in all; give '%s' fewer parents",
                      TOTAL_MAX, bn_name(b->bn, b->child));
    rc = bn_table(b->bn, b->child, b->parent.a, (int)b->parent.n, b->line, b->col, b->err);
    if (rc) return rc;
    t = b->bn->node.a[b->child].cpt;
    for (size_t i = 0; i < t->n; i++) t->p[i] = NAN;
    return 0;
}

static int twice(struct bif *b, int line, int col, const char *what)
{
    return err_at(b->err, NAMI_EINPUT, line, col, "%s of '%s' is given twice; remove one of them",
                  what, bn_name(b->bn, b->child));
}

/* (yes, no) 0.05, 0.95 ; */
static int read_row(struct bif *b)
{
    struct scan *x = &b->x;
    int line = x->tline, col = x->tcol, rc, s;
    size_t row = 0, k = (size_t)b->bn->node.a[b->child].nstate;
    if ((rc = begin_table(b)) || (rc = scan_expect(x, "(", b->err))) return rc;
    for (size_t i = 0; i < b->parent.n; i++) {
        int u = b->parent.a[i], sline = x->tline, scol = x->tcol;
        if ((rc = name_read(x, "the state of a parent", &b->name, b->err))) return rc;
        s = states_find(&b->states, u, b->name.s, b->name.n);
        if (s == -2) return err_nomem(b->err);
        if (s < 0)
            return err_at(
                b->err, NAMI_EINPUT, sline, scol,
                "'%s' is not a state of '%s'; correct the name, or the order of the states",
                b->name.s, bn_name(b->bn, u));
        row = row * (size_t)b->bn->node.a[u].nstate + (size_t)s;
        scan_accept(x, ",");
    }
    if (!scan_accept(x, ")")) return scan_error(x, "')' after one state of each parent", b->err);
    if ((rc = read_numbers(b, &b->p, k, "this row"))) return rc;
    double *p = b->bn->node.a[b->child].cpt->p + row * k;
    if (!isnan(*p)) return twice(b, line, col, "this row");
    memcpy(p, b->p.a, k * sizeof *p);
    return 0;
}

/* All numbers, the child's index slowest. */
static int read_table(struct bif *b)
{
    int line = b->x.tline, col = b->x.tcol, rc = begin_table(b);
    if (rc) return rc;
    struct cpt *t = b->bn->node.a[b->child].cpt;
    size_t k = (size_t)b->bn->node.a[b->child].nstate, rows = t->n / k;
    for (size_t r = 0; r < rows; r++)
        if (!isnan(t->p[r * k])) return twice(b, line, col, "the table or a row of it");
    if ((rc = read_numbers(b, &b->p, t->n, "the table"))) return rc;
    for (size_t s = 0; s < k; s++)
        for (size_t r = 0; r < rows; r++) t->p[r * k + s] = b->p.a[s * rows + r];
    return 0;
}

static int read_default(struct bif *b)
{
    int line = b->x.tline, col = b->x.tcol, rc = begin_table(b);
    if (rc) return rc;
    if (b->def.n) return twice(b, line, col, "the default row");
    return read_numbers(b, &b->def, (size_t)b->bn->node.a[b->child].nstate, "the default row");
}

static int missing_row(struct bif *b, size_t row)
{
    struct str s = {0};
    for (size_t i = 0; i < b->parent.n; i++) {
        size_t below = 1;
        for (size_t h = i + 1; h < b->parent.n; h++)
            below *= (size_t)b->bn->node.a[b->parent.a[h]].nstate;
        size_t k = (size_t)b->bn->node.a[b->parent.a[i]].nstate;
        str_printf(&s, "%s%s", i ? ", " : "", b->bn->node.a[b->parent.a[i]].state[row / below % k]);
    }
    int rc = s.oom ? err_nomem(b->err)
                   : err_at(b->err, NAMI_EINPUT, b->line, b->col,
                            "the table of '%s' has no row (%s); add it, or a 'default' row",
                            bn_name(b->bn, b->child), s.n ? s.s : "");
    str_free(&s);
    return rc;
}

static int finish_table(struct bif *b)
{
    struct cpt *t = b->bn->node.a[b->child].cpt;
    size_t k = (size_t)b->bn->node.a[b->child].nstate;
    if (!t) return parents_set(b->bn, b->child, &b->parent, b->line, b->col, b->err);
    for (size_t r = 0; r < t->n; r += k) {
        if (!isnan(t->p[r])) continue;
        if (!b->def.n) return missing_row(b, r / k);
        memcpy(t->p + r, b->def.a, k * sizeof *t->p);
    }
    return 0;
}

/* ( child | parent, parent ) */
static int read_head(struct bif *b)
{
    struct scan *x = &b->x;
    int rc, v;
    if ((rc = scan_expect(x, "(", b->err))) return rc;
    b->line = x->tline, b->col = x->tcol;
    b->parent.n = b->def.n = 0;
    if ((b->child = node_read(x, b->bn, &b->name, b->err)) < 0) return b->child;
    if (b->defined[b->child]) return twice(b, b->line, b->col, "the probability block");
    b->defined[b->child] = 1;
    if (!scan_accept(x, "|")) scan_accept(x, ",");
    while (!scan_accept(x, ")")) {
        if ((v = node_read(x, b->bn, &b->name, b->err)) < 0) return v;
        if (vec_push(&b->parent, v)) return err_nomem(b->err);
        scan_accept(x, ",");
    }
    return 0;
}

static int read_probability(struct bif *b)
{
    struct scan *x = &b->x;
    int rc = read_head(b);
    if (rc || (rc = scan_expect(x, "{", b->err))) return rc;
    while (!scan_accept(x, "}")) {
        if (scan_is(x, "("))
            rc = read_row(b);
        else if (scan_accept(x, "table"))
            rc = read_table(b);
        else if (scan_accept(x, "default"))
            rc = read_default(b);
        else if (scan_is(x, "property"))
            rc = skip_line(x, b->err);
        else
            rc = scan_error(x, "a row '(...)', 'table', 'default', 'property' or '}'", b->err);
        if (rc) return rc;
    }
    return finish_table(b);
}

/* ---- reading: the file --------------------------------------------------- */

static int skip_name(struct scan *x)
{
    while (x->tok == TOK_WORD || x->tok == TOK_STRING) scan_next(x);
    return scan_is(x, "{");
}

/* Remembers the place of a probability block, and goes on behind it. */
static int note_block(struct bif *b)
{
    struct scan *x = &b->x;
    if (vec_push(&b->block, *x)) return err_nomem(b->err);
    while (x->tok != TOK_END && x->tok != TOK_BAD && !scan_is(x, "{")) scan_next(x);
    return skip_lines(x, b->err);
}

/* Variables first, then their tables: their order in the file does not matter. */
static int read_file(struct bif *b)
{
    struct scan *x = &b->x;
    int rc = 0;
    while (!rc && x->tok != TOK_END) {
        if (scan_accept(x, "network")) {
            skip_name(x);
            rc = skip_lines(x, b->err);
        } else if (scan_accept(x, "variable")) {
            rc = read_variable(b);
        } else if (scan_accept(x, "probability")) {
            rc = note_block(b);
        } else {
            rc = scan_error(x, "'network', 'variable' or 'probability'", b->err);
        }
    }
    if (!rc && !(b->defined = new_array(unsigned char, bn_n(b->bn)))) rc = err_nomem(b->err);
    for (size_t i = 0; i < b->block.n && !rc; i++) {
        *x = b->block.a[i];
        rc = read_probability(b);
    }
    return rc;
}

static int bif_read(struct bn *bn, const char *text, size_t len, nami_err *err)
{
    struct bif b = {.bn = bn, .err = err};
    scan_init(&b.x, text, len, &RULES);
    int rc = read_file(&b);
    states_free(&b.states);
    vec_free(&b.block);
    vec_free(&b.parent);
    vec_free(&b.p);
    vec_free(&b.def);
    str_free(&b.name);
    free(b.defined);
    return rc;
}

static int bif_sniff(const char *text, size_t len)
{
    struct scan x;
    scan_init(&x, text, len, &RULES);
    if (scan_accept(&x, "network")) return skip_name(&x) ? 90 : 0;
    if (!scan_accept(&x, "variable")) return 0;
    scan_next(&x);
    return scan_is(&x, "{") ? 80 : 0;
}

/* ---- writing ------------------------------------------------------------- */

/* Bare where a reader would see one word, else in quotes. */
static void put_name(struct str *out, const char *s)
{
    int bare = *s && !strstr(s, "//") && !strstr(s, "/*");
    for (const char *c = s; *c && bare; c++)
        bare = (*c >= '0' && *c <= '9') || (*c >= 'A' && *c <= 'Z') || (*c >= 'a' && *c <= 'z') ||
               *c == '_' || (unsigned char)*c >= 0x80 || strchr(WORD, *c);
    if (bare)
        str_put(out, s);
    else
        str_quote(out, s);
}

static void put_state(struct str *out, const struct bn *bn, int v, int s)
{
    char buf[16];
    put_name(out, state_name(bn, v, s, buf));
}

static void put_variable(struct str *out, const struct bn *bn, int v)
{
    int k = bn->node.a[v].nstate;
    str_put(out, "variable ");
    put_name(out, bn_name(bn, v));
    str_put(out, " {\n");
    if (k) {
        str_printf(out, "  type discrete [ %d ] { ", k);
        for (int s = 0; s < k; s++) {
            if (s) str_put(out, ", ");
            put_state(out, bn, v, s);
        }
        str_put(out, " };\n");
    }
    str_put(out, "}\n");
}

static void put_rows(struct str *out, const struct bn *bn, int v)
{
    const struct cpt *t = bn->node.a[v].cpt;
    size_t k = (size_t)bn->node.a[v].nstate;
    for (size_t r = 0; r < t->n / k; r++) {
        size_t below = t->n / k;
        str_put(out, t->nparent ? "  (" : "  table ");
        for (int i = 0; i < t->nparent; i++) {
            size_t n = (size_t)bn->node.a[t->parent[i]].nstate;
            below /= n;
            if (i) str_put(out, ", ");
            put_state(out, bn, t->parent[i], (int)(r / below % n));
        }
        if (t->nparent) str_put(out, ") ");
        put_row(out, t->p + r * k, (int)k, ", ");
        str_put(out, ";\n");
    }
}

static int bif_write(const struct bn *bn, struct str *out, nami_err *err)
{
    const int *parent;
    (void)err;
    str_put(out, "network unknown {\n}\n");
    for (int v = 0; v < bn_n(bn); v++) put_variable(out, bn, v);
    for (int v = 0; v < bn_n(bn); v++) {
        if (!parents_of(bn, v, &parent) && !bn->node.a[v].cpt) continue;
        str_put(out, "probability ( ");
        put_family(out, bn, v, ", ", put_name);
        str_put(out, " ) {\n");
        if (bn->node.a[v].cpt) put_rows(out, bn, v);
        str_put(out, "}\n");
    }
    return 0;
}

const struct format format_bif = {
    .name = "bif",
    .what = "Bayesian interchange format 0.15, with tables",
    .ends = ".bif",
    .sniff = bif_sniff,
    .read = bif_read,
    .write = bif_write,
};
