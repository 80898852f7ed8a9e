/* parse_expr.c: parses expressions by precedence climbing.  The levels are those of JAGS 4. */

#include <string.h>

#include "model/lang/parse.h"

enum { OR = 1, AND, NOT, COMPARE, SUM, PRODUCT, SPECIAL, RANGE, NEGATE, POWER };

static const struct infix {
    int op, level;
} infix[] = {
    {OP2('|', '|'), OR},
    {OP2('&', '&'), AND},
    {OP2('=', '='), COMPARE},
    {OP2('!', '='), COMPARE},
    {'<', COMPARE},
    {OP2('<', '='), COMPARE},
    {'>', COMPARE},
    {OP2('>', '='), COMPARE},
    {'+', SUM},
    {'-', SUM},
    {'*', PRODUCT},
    {'/', PRODUCT},
    {':', RANGE},
    {'^', POWER},
};

static struct expr *binary(struct parser *p, int min);

static int level_of(const struct parser *p)
{
    const struct token *t = now(p);
    if (!continues(p)) return 0;
    if (t->kind == TOKEN_SPECIAL) return SPECIAL;
    for (size_t i = 0; i < sizeof infix / sizeof *infix; i++)
        if (is_op(t, infix[i].op)) return infix[i].level;
    return 0;
}

/* ---- nodes ------------------------------------------------------------------ */

static struct expr *node(struct parser *p, enum expr_kind kind, const struct token *t)
{
    struct expr *x = arena_alloc(&p->s->mem, sizeof *x);
    if (!x) {
        nomem(p);
        return NULL;
    }
    *x = (struct expr){.kind = kind, .name = -1, .at = t->at, .all = t->at};
    return x;
}

static struct expr *named(struct parser *p, enum expr_kind kind, const struct token *t)
{
    struct expr *x = node(p, kind, t);
    if (!x) return NULL;
    x->name = is_op(t, '^') ? dict_add(&p->s->names, "^", 1, NULL) : intern(p, t); /* also ** */
    if (x->name >= 0) return x;
    nomem(p);
    return NULL;
}

struct expr **take_args(struct parser *p, size_t base, int *n)
{
    size_t k = p->arg.n - base;
    struct expr **a = arena_array(&p->s->mem, struct expr *, k);
    if (a && k) memcpy(a, p->arg.a + base, k * sizeof *a);
    p->arg.n = base;
    *n = (int)k;
    if (!a) nomem(p);
    return a;
}

static int set_height(struct parser *p, struct expr *x)
{
    for (int i = 0; i < x->narg; i++)
        if (x->arg[i]->height >= x->height) x->height = x->arg[i]->height + 1;
    if (x->height <= HEIGHT_MAX) return 0;
    fail_at(p, x->at, "give a part of it a name of its own",
            "this expression has more than %d operators in a row", HEIGHT_MAX);
    return -1;
}

/* The arguments from `base` on become those of x. */
static struct expr *finish(struct parser *p, struct expr *x, size_t base, size_t names, int first)
{
    int some = 0;
    x->arg = take_args(p, base, &x->narg);
    for (size_t i = names; i < p->argname.n; i++) some |= p->argname.a[i] >= 0;
    if (x->arg && some) {
        x->argname = arena_array(&p->s->mem, int, x->narg);
        if (x->argname)
            memcpy(x->argname, p->argname.a + names, (size_t)x->narg * sizeof *x->argname);
        else
            nomem(p);
    }
    p->argname.n = names;
    x->all = span(p, first, p->i - 1);
    return p->oom || set_height(p, x) ? NULL : x;
}

static struct expr *operation(struct parser *p, const struct token *op, struct expr *a,
                              struct expr *b, int first)
{
    struct expr *x = named(p, X_CALL, op);
    size_t base = p->arg.n;
    if (!x) return NULL;
    if ((a && vec_push(&p->arg, a)) || (b && vec_push(&p->arg, b))) {
        nomem(p);
        return NULL;
    }
    return finish(p, x, base, p->argname.n, first);
}

int is_operator(const struct syntax *s, const struct expr *x)
{
    const char *name = x->kind == X_CALL ? syntax_name(s, x->name) : "a";
    return !((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') || *name == '_' ||
             *name == '.' || (unsigned char)*name >= 0x80);
}

/* ---- brackets ----------------------------------------------------------------- */

static int enter(struct parser *p)
{
    if (++p->depth <= NEST_MAX) return 0;
    fail_at(p, now(p)->at, "give a part of it a name of its own", "nesting is deeper than %d",
            NEST_MAX);
    return -1;
}

/* Tokens that can only follow the closing bracket, or that begin a new statement. */
static int is_behind(const struct parser *p)
{
    static const int ops[] = {'~', ';', '{', '}', '=', OP2('<', '-'), OP2('=', '=')};
    const struct token *t = now(p);
    if (t->kind == TOKEN_END || (t->newline && begins_statement(p, p->i))) return 1;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (is_op(t, ops[i])) return 1;
    return 0;
}

/* Accepts ] in place of ), and vice versa, unless it closes another bracket. */
static int is_mixed_up(struct parser *p, int close)
{
    int other = close == ')' ? ']' : ')';
    if (!is_op(now(p), other) || p->open[other == ']']) return 0;
    fail_at(p, now(p)->at, diag_text(p->d, "write %c", close), "'%c' does not close '%c'", other,
            close == ')' ? '(' : '[');
    next(p);
    return 1;
}

/* After an item: 1 if another follows, 0 at the end, -1 after an unrecoverable error. */
static int list_goes_on(struct parser *p, int close, const struct token *opened)
{
    char what[] = {'\'', (char)close, '\'', 0};
    const struct token *t = now(p);
    if (accept(p, ',')) return 1;
    if (accept(p, close) || is_mixed_up(p, close)) return 0;
    if (is_op(t, OP2('<', '-')) && close == ')' && ahead(p)->off == t->off + t->len) {
        fail_at(p, t->at, "to compare with a negative number, put a blank into it: < -",
                "'<-' cannot stand in brackets");
        return -1;
    }
    if (is_behind(p) || is_op(t, close == ')' ? ']' : ')')) {
        missing(p, what, opened);
        return 0;
    }
    if (t->kind == TOKEN_NAME || t->kind == TOKEN_NUMBER || is_op(t, '(')) {
        fail_at(p, t->at, "write , between arguments, * between factors",
                "missing ',' or an operator before '%s'", quote(p, p->i, p->i));
        return 1;
    }
    unexpected(p, close == ')' ? "',' or ')'" : "',' or ']'");
    return -1;
}

static int push_arg(struct parser *p, struct expr *x, int name)
{
    if (!x) return -1;
    return vec_push(&p->arg, x) || vec_push(&p->argname, name) ? nomem(p) : 0;
}

static int subscript(struct parser *p)
{
    int empty = is_op(now(p), ',') || is_op(now(p), ']');
    return push_arg(p, empty ? node(p, X_EMPTY, now(p)) : parse_expr(p), -1);
}

static int argument(struct parser *p)
{
    int name = -1;
    if (now(p)->kind == TOKEN_NAME && is_op(ahead(p), '=')) {
        if ((name = intern(p, now(p))) < 0) return nomem(p);
        next(p);
        next(p);
    }
    if (is_op(now(p), ')') || is_op(now(p), ',')) {
        fail_at(p, now(p)->at, name < 0 ? "give it, or remove the comma" : "give it after the '='",
                "an argument is missing before '%s'", quote(p, p->i, p->i));
        return -1;
    }
    return push_arg(p, parse_expr(p), name);
}

/* normal_lpdf(x | mu, sigma), as Stan has it: the bar stands for the first comma. */
static int takes_bar(const char *name)
{
    static const char *const ends[] = {"_lpdf", "_lpmf", "_cdf", "_lcdf", "_lccdf", "_quantile"};
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (n > strlen(ends[i]) && strcmp(name + n - strlen(ends[i]), ends[i]) == 0) return 1;
    return 0;
}

/* ( or [ is the current token; reads to its end.  bar: may | follow the first item? */
static int list(struct parser *p, int close, int bar)
{
    const struct token *opened = now(p);
    int keep = p->line_ends, more = 1, rc = enter(p), kind = close == ']';
    p->line_ends = 0;
    p->open[kind]++;
    next(p);
    if (!rc && close == ')' && accept(p, ')')) more = 0;
    while (!rc && more > 0) {
        rc = close == ']' ? subscript(p) : argument(p);
        if (!rc) more = bar && accept(p, '|') ? 1 : list_goes_on(p, close, opened);
        bar = 0;
    }
    p->open[kind]--;
    p->line_ends = keep;
    p->depth--;
    return rc || more < 0 ? -1 : 0;
}

static struct expr *listed(struct parser *p, enum expr_kind kind)
{
    int first = p->i;
    size_t base = p->arg.n, names = p->argname.n;
    struct expr *x = named(p, kind, now(p));
    int call = kind == X_CALL, bar = x && call && takes_bar(syntax_name(p->s, x->name));
    next(p);
    if (x && list(p, call ? ')' : ']', bar) == 0) return finish(p, x, base, names, first);
    p->arg.n = base;
    p->argname.n = names;
    return NULL;
}

struct expr *parse_ref(struct parser *p)
{
    const struct token *t = now(p);
    if (t->kind != TOKEN_NAME) {
        unexpected(p, "a name");
        return NULL;
    }
    if (is_op(ahead(p), '[') && !(p->line_ends && ahead(p)->newline)) {
        struct expr *x = listed(p, X_REF);
        if (!x || !is_op(now(p), '[') || !continues(p)) return x;
        fail_at(p, now(p)->at, "write x[i, j]", "subscripts stand in one pair of brackets");
        return NULL;
    }
    struct expr *x = named(p, X_REF, t);
    next(p);
    return x;
}

static struct expr *parenthesised(struct parser *p)
{
    const struct token *opened = now(p);
    int keep = p->line_ends, first = p->i;
    struct expr *x = NULL;
    p->line_ends = 0;
    p->open[0]++;
    if (enter(p) == 0) {
        next(p);
        x = parse_expr(p);
    }
    if (x && is_op(now(p), ',')) {
        fail_at(p, now(p)->at, "a vector is written c(a, b)", "a ',' cannot stand here");
        x = NULL;
    } else if (x && list_goes_on(p, ')', opened)) {
        x = NULL;
    }
    p->open[0]--;
    p->line_ends = keep;
    p->depth--;
    if (x) x->all = span(p, first, p->i - 1);
    p->paren = x;
    return x;
}

/* ---- operands ------------------------------------------------------------------ */

static void no_operand(struct parser *p)
{
    const struct token *t = now(p), *last = p->i ? t - 1 : t;
    if (t->kind == TOKEN_STRING) {
        fail_at(p, t->at, NULL, "a string cannot stand here");
    } else if (is_op(t, '+') || is_op(t, OP2('+', '+'))) {
        fail_at(p, t->at, "remove it", "there is no unary '+'");
    } else if (is_op(t, '{')) {
        fail_at(p, t->at, "use parentheses", "braces cannot stand in an expression");
    } else if (p->i && t->newline && (last->kind == TOKEN_OP || last->kind == TOKEN_SPECIAL)) {
        fail_at(p, last->at, "complete it, or remove the operator", "nothing follows '%s'",
                quote(p, p->i - 1, p->i - 1));
    } else {
        unexpected(p, "a value");
    }
}

struct expr *parse_primary(struct parser *p)
{
    const struct token *t = now(p);
    if (t->kind == TOKEN_NAME) {
        int call = is_op(ahead(p), '(') && !(p->line_ends && ahead(p)->newline);
        return call ? listed(p, X_CALL) : parse_ref(p);
    }
    if (t->kind == TOKEN_NUMBER) {
        struct expr *x = node(p, X_NUMBER, t);
        if (x) x->value = t->value;
        next(p);
        return x;
    }
    if (is_op(t, '(')) return parenthesised(p);
    no_operand(p);
    return NULL;
}

static struct expr *prefix(struct parser *p)
{
    const struct token *t = now(p);
    int first = p->i, negation = is_op(t, '!');
    if (t->newline && p->i && !is_op(t - 1, ',') && begins_statement(p, p->i)) {
        no_operand(p);
        return NULL;
    }
    if (!negation && !is_op(t, '-')) return parse_primary(p);
    if (enter(p)) return NULL;
    next(p);
    struct expr *x = binary(p, negation ? NOT : NEGATE);
    p->depth--;
    return x ? operation(p, t, x, NULL, first) : NULL;
}

/* ---- operators ------------------------------------------------------------------- */

static int is_open_range(const struct parser *p, const struct expr *x)
{
    return x && x->kind == X_CALL && x != p->paren && strcmp(syntax_name(p->s, x->name), ":") == 0;
}

/* Warns about 1:m+1 and k-1:m, which are rarely intended. */
static void warn_range(struct parser *p, const struct expr *x, int left, int first)
{
    const struct expr *range = x->arg[!left];
    const char *op = syntax_name(p->s, x->name);
    struct str means = {0}, from = {0}, to = {0}, other = {0};
    syntax_put_expr(p->s, x, &means);
    syntax_put_expr(p->s, range->arg[0], &from);
    syntax_put_expr(p->s, range->arg[1], &to);
    syntax_put_expr(p->s, x->arg[left], &other);
    if (means.oom || from.oom || to.oom || other.oom) {
        nomem(p);
    } else {
        const char *advice = left ? diag_text(p->d, "write %s:(%s %s %s) if you mean that", from.s,
                                              to.s, op, other.s)
                                  : diag_text(p->d, "write (%s %s %s):%s if you mean that", other.s,
                                              op, from.s, to.s);
        diag_warning(p->d, x->all, advice, "%s means %s", quote(p, first, p->i - 1), means.s);
    }
    str_free(&means);
    str_free(&from);
    str_free(&to);
    str_free(&other);
}

/* a < b < c, 1:2:3 */
static int is_chain(struct parser *p, int level)
{
    if ((level != COMPARE && level != RANGE) || level_of(p) != level) return 0;
    fail_at(p, now(p)->at, level == COMPARE ? "write a < b && b < c" : "use parentheses",
            level == COMPARE ? "comparisons do not chain" : "ranges do not chain");
    return 1;
}

static struct expr *binary(struct parser *p, int min)
{
    int first = p->i, level;
    struct expr *x = prefix(p), *y;
    while (x && (level = level_of(p)) >= min && level) {
        const struct token *op = now(p);
        int sum = level >= SUM && level < RANGE, left = sum && is_open_range(p, x), right;
        next(p);
        if (level == POWER) { /* to the right; its exponent may be negative */
            y = enter(p) ? NULL : binary(p, NEGATE);
            p->depth--;
        } else {
            y = binary(p, level + 1);
        }
        right = sum && is_open_range(p, y);
        x = y ? operation(p, op, x, y, first) : NULL;
        if (x && (left || right)) warn_range(p, x, left, first);
        if (x && is_chain(p, level)) x = NULL;
    }
    return x;
}

struct expr *parse_expr(struct parser *p) { return binary(p, OR); }
