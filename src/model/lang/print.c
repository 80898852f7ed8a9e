/* print.c: prints a syntax tree as text, which parses to the same tree. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/lang/syntax.h"

/* ---- expressions ---------------------------------------------------------------- */

enum { LIST, OR, AND, NOT, COMPARE, SUM, PRODUCT, SPECIAL, RANGE, NEGATE, POWER, ATOM };

static const struct {
    const char *name;
    int level, narg;
    const char *text;
} operators[] = {
    {"||", OR, 2, " || "},        {"&&", AND, 2, " && "},     {"!", NOT, 1, "!"},
    {"==", COMPARE, 2, " == "},   {"!=", COMPARE, 2, " != "}, {"<", COMPARE, 2, " < "},
    {"<=", COMPARE, 2, " <= "},   {">", COMPARE, 2, " > "},   {">=", COMPARE, 2, " >= "},
    {"+", SUM, 2, " + "},         {"-", SUM, 2, " - "},       {"-", NEGATE, 1, "-"},
    {"*", PRODUCT, 2, " * "},     {"/", PRODUCT, 2, " / "},   {"%*%", SPECIAL, 2, " %*% "},
    {"%/%", SPECIAL, 2, " %/% "}, {"%%", SPECIAL, 2, " %% "}, {":", RANGE, 2, ":"},
    {"^", POWER, 2, "^"},
};

struct out {
    const struct syntax *s;
    struct str *str;
    int jags; /* rewrite what JAGS does not support */
};

static void put_expr(struct out *o, const struct expr *x, int min);

static int find_operator(const struct syntax *s, const struct expr *x)
{
    if (x->kind != X_CALL) return -1;
    for (int i = 0; i < (int)(sizeof operators / sizeof *operators); i++)
        if (operators[i].narg == x->narg && !strcmp(operators[i].name, syntax_name(s, x->name)))
            return i;
    return -1;
}

static int is_range(const struct syntax *s, const struct expr *x)
{
    int k = find_operator(s, x);
    return k >= 0 && operators[k].level == RANGE;
}

static void put_number(struct str *out, double v)
{
    char buf[40];
    snprintf(buf, sizeof buf, "%.15g", v);
    if (strtod(buf, NULL) != v) snprintf(buf, sizeof buf, "%.17g", v);
    str_put(out, buf);
}

static void put_list(struct out *o, const struct expr *x, char open, char close)
{
    str_putn(o->str, &open, 1);
    for (int i = 0; i < x->narg; i++) {
        if (i) str_put(o->str, ", ");
        if (x->argname && x->argname[i] >= 0)
            str_printf(o->str, "%s = ", syntax_name(o->s, x->argname[i]));
        put_expr(o, x->arg[i], OR);
    }
    str_putn(o->str, &close, 1);
}

/* a %/% b as trunc(a / b), a %% b as a - b * trunc(a / b) */
static int put_jags(struct out *o, const struct expr *x, int min)
{
    int div = x->narg == 2 && !strcmp(syntax_name(o->s, x->name), "%/%");
    int mod = x->narg == 2 && !strcmp(syntax_name(o->s, x->name), "%%");
    if (!o->jags || !(div || mod)) return 0;
    if (mod && min > SUM) str_put(o->str, "(");
    if (mod) {
        put_expr(o, x->arg[0], SUM);
        str_put(o->str, " - ");
        put_expr(o, x->arg[1], PRODUCT);
        str_put(o->str, " * ");
    }
    str_put(o->str, "trunc(");
    put_expr(o, x->arg[0], PRODUCT);
    str_put(o->str, " / ");
    put_expr(o, x->arg[1], SPECIAL);
    str_put(o->str, ")");
    if (mod && min > SUM) str_put(o->str, ")");
    return 1;
}

/* An operand is parenthesized if its precedence is below the minimum: the level of the operator on
   its associative side, otherwise one more. */
static void put_operation(struct out *o, const struct expr *x, int k, int min)
{
    int level = operators[k].level, left = level, right = level + 1;
    if (level == COMPARE || level == RANGE) left = level + 1;
    if (level == POWER) left = ATOM, right = NEGATE;
    if (put_jags(o, x, min)) return;
    if (level >= SUM && level < RANGE) { /* (1:m) + 1: parenthesized for clarity */
        if (is_range(o->s, x->arg[0])) left = NEGATE;
        if (is_range(o->s, x->arg[x->narg - 1])) right = NEGATE;
    }
    if (level < min) str_put(o->str, "(");
    if (x->narg == 2) put_expr(o, x->arg[0], left);
    str_put(o->str, operators[k].text);
    put_expr(o, x->arg[x->narg - 1], x->narg == 1 ? level : right);
    if (level < min) str_put(o->str, ")");
}

static void put_expr(struct out *o, const struct expr *x, int min)
{
    int k = find_operator(o->s, x);
    if (k >= 0) {
        put_operation(o, x, k, min);
    } else if (x->kind == X_NUMBER) {
        int wrap = x->value < 0 && min > NEGATE;
        if (wrap) str_put(o->str, "(");
        put_number(o->str, x->value);
        if (wrap) str_put(o->str, ")");
    } else if (x->kind != X_EMPTY) {
        str_put(o->str, syntax_name(o->s, x->name));
        if (x->kind == X_CALL)
            put_list(o, x, '(', ')');
        else if (x->narg)
            put_list(o, x, '[', ']');
    }
}

void syntax_put_expr(const struct syntax *s, const struct expr *x, struct str *out)
{
    struct out o = {s, out, 0};
    put_expr(&o, x, OR);
}

/* ---- declarations ----------------------------------------------------------------- */

static void put_type(struct out *o, int n, struct expr **size)
{
    str_put(o->str, "real");
    for (int i = 0; i < n; i++) {
        str_put(o->str, i ? ", " : "[");
        put_expr(o, size[i], OR);
    }
    if (n) str_put(o->str, "]");
}

static void put_network(struct out *o, const struct decl *d)
{
    int embed = d->kind == D_EMBED;
    str_printf(o->str, "%s %s", embed ? "embed" : "network", syntax_name(o->s, d->name));
    if (d->nin || !embed) {
        str_put(o->str, " : ");
        put_type(o, d->nin, d->in);
    }
    if (!embed) {
        str_put(o->str, " -> ");
        put_type(o, d->nout, d->out);
    }
    str_put(o->str, " { ");
    for (int i = 0; i < d->nlayer; i++) {
        if (i) str_put(o->str, "; ");
        put_expr(o, d->layer[i], OR);
    }
    str_put(o->str, " }");
}

static void put_string(struct str *out, const char *s)
{
    str_put(out, "\"");
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') str_put(out, "\\");
        str_putn(out, s, 1);
    }
    str_put(out, "\"");
}

/* last: the stage of the declaration before, if it was one; else -1 */
static void put_decl(struct out *o, const struct decl *d, int last)
{
    static const char *const words[NDECL] = {
        [D_CONST] = "const ", [D_VAR] = "var ",      [D_OBSERVE] = "observe ",
        [D_INFER] = "infer ", [D_STAGE] = "stages ", [D_LEARN] = "learn ",
    };
    int joins = d->kind == D_STAGE && last >= 0 && (d->stage == last || d->stage == last + 1);
    if (joins)
        str_put(o->str, d->stage == last ? ", " : " ; ");
    else if (o->str->n && o->str->s[o->str->n - 1] != '\n')
        str_put(o->str, "\n");
    if (d->kind == D_NETWORK || d->kind == D_EMBED) {
        put_network(o, d);
    } else if (d->kind == D_SIMULATOR) {
        str_put(o->str, "simulator ");
        put_string(o->str, d->text);
    } else {
        if (!joins) str_put(o->str, words[d->kind]);
        put_expr(o, d->ref, OR);
    }
    if (d->range) {
        str_put(o->str, " in ");
        put_expr(o, d->range, OR);
    }
    if (d->value) {
        str_put(o->str, " = ");
        put_expr(o, d->value, OR);
    }
}

/* JAGS has a single var declaration, and no constants except those of data { }. */
static void put_decls_jags(struct out *o)
{
    int n = 0, native = o->s->dialect == NATIVE;
    for (size_t i = 0; i < o->s->decl.n; i++) {
        if (o->s->decl.a[i].kind != D_VAR) continue;
        str_put(o->str, n++ ? ", " : "var ");
        put_expr(o, o->s->decl.a[i].ref, OR);
    }
    if (n) str_put(o->str, ";\n");
    n = 0;
    for (size_t i = 0; i < o->s->decl.n && native; i++) {
        const struct decl *d = &o->s->decl.a[i];
        if (d->kind != D_CONST || !d->value) continue;
        str_put(o->str, n++ ? "  " : "data {\n  ");
        str_put(o->str, syntax_name(o->s, d->ref->name));
        for (int k = 0; k < d->ref->narg; k++) { /* w[n] becomes w[1:n] */
            str_put(o->str, k ? ", 1:" : "[1:");
            put_expr(o, d->ref->arg[k], NEGATE);
        }
        str_put(o->str, d->ref->narg ? "] <- " : " <- ");
        put_expr(o, d->value, OR);
        str_put(o->str, "\n");
    }
    if (n) str_put(o->str, "}\n");
}

static void put_decls(struct out *o)
{
    int last = -1;
    for (size_t i = 0; i < o->s->decl.n; i++) {
        put_decl(o, &o->s->decl.a[i], last);
        last = o->s->decl.a[i].kind == D_STAGE ? o->s->decl.a[i].stage : -1;
    }
    if (o->s->decl.n) str_put(o->str, "\n");
}

/* ---- relations ---------------------------------------------------------------------- */

static void indent(struct out *o, int depth)
{
    for (int i = 0; i <= depth; i++) str_put(o->str, "  ");
}

static void put_rel(struct out *o, const struct rel *r)
{
    if (r->link >= 0) str_printf(o->str, "%s(", syntax_name(o->s, r->link));
    put_expr(o, r->lhs, OR);
    if (r->link >= 0) str_put(o->str, ")");
    str_put(o->str, r->stochastic ? " ~ " : " <- ");
    put_expr(o, r->rhs, OR);
    if (r->trunc) {
        char t[] = {' ', (char)r->trunc, '(', 0};
        str_put(o->str, t);
        if (r->lower) put_expr(o, r->lower, OR);
        str_put(o->str, r->upper ? ", " : ",");
        if (r->upper) put_expr(o, r->upper, OR);
        str_put(o->str, ")");
    }
}

void syntax_put_rel(const struct syntax *s, const struct rel *r, struct str *out)
{
    struct out o = {s, out, 0};
    put_rel(&o, r);
}

/* The loops enclosing k, outermost first. */
static int loops_around(const struct syntax *s, int k, int *chain)
{
    int n = 0;
    for (int i = k; i >= 0; i = s->loop.a[i].outer) n++;
    for (int i = n; k >= 0; k = s->loop.a[k].outer) chain[--i] = k;
    return n;
}

static void close_loops(struct out *o, int from, int to)
{
    while (from-- > to) {
        indent(o, from);
        str_put(o->str, "}\n");
    }
}

/* Relations of one block. */
static void put_block(struct out *o, const char *head, const struct rel *rel, size_t num_rel)
{
    int open[NEST_MAX + 1], want[NEST_MAX + 1], n = 0, m, same;
    str_printf(o->str, "%s {\n", head);
    for (size_t i = 0; i < num_rel; i++) {
        const struct rel *r = &rel[i];
        m = loops_around(o->s, r->loop, want);
        same = 0;
        while (same < n && same < m && open[same] == want[same]) same++;
        close_loops(o, n, same);
        for (n = same; n < m; n++) {
            const struct loop *l = &o->s->loop.a[open[n] = want[n]];
            indent(o, n);
            str_printf(o->str, "for (%s in ", syntax_name(o->s, l->var));
            put_expr(o, l->range, OR);
            str_put(o->str, ") {\n");
        }
        indent(o, n);
        put_rel(o, r);
        str_put(o->str, "\n");
    }
    close_loops(o, n, 0);
    str_put(o->str, "}\n");
}

void syntax_put(const struct syntax *s, enum dialect as, struct str *out)
{
    struct out o = {s, out, as == BUGS && s->dialect == NATIVE};
    int model = 0;
    if (as == BUGS)
        put_decls_jags(&o);
    else
        put_decls(&o);
    for (size_t i = 0, k; i < s->rel.n; i = k) {
        int data = s->rel.a[i].in_data;
        k = i;
        while (k < s->rel.n && s->rel.a[k].in_data == data) k++;
        put_block(&o, data ? "data" : "model", s->rel.a + i, k - i);
        model |= !data;
    }
    if (!model) str_put(out, "model {\n}\n");
    if (as == NATIVE && s->train.n) put_block(&o, "train", s->train.a, s->train.n);
}
