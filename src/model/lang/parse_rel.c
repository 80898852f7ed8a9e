/* parse_rel.c: parses relations and loops. */

#include <string.h>

#include "model/lang/parse.h"

/* ---- the left side, and ~ or <- ------------------------------------------------- */

static const struct {
    const char *link, *inverse;
} links[] = {{"logit", "ilogit"}, {"log", "exp"}, {"probit", "phi"}, {"cloglog", "icloglog"}};

const char *link_inverse(const char *link)
{
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (!strcmp(link, links[i].link)) return links[i].inverse;
    return NULL;
}

/* logit(p[i]) <- ... */
static int split_link(struct parser *p, struct rel *r)
{
    const struct expr *x = r->lhs;
    const char *name = syntax_name(p->s, x->name);
    if (r->stochastic) {
        fail_at(p, x->all,
                !strcmp(name, "log")
                    ? "write x ~ lognormal(mu, sigma) for log(x) ~ normal(mu, sigma)"
                    : "leave the bare name on the left",
                "a function cannot stand on the left of '~'");
    } else if (!link_inverse(name)) {
        fail_at(p, x->at, "the links are logit, log, probit and cloglog; write others on the right",
                "'%s' is no link function", name);
    } else if (x->narg != 1 || x->argname || x->arg[0]->kind != X_REF) {
        fail_at(p, x->all, diag_text(p->d, "write %s(x) <- ...", name),
                "the link '%s' needs one name", name);
    } else {
        r->link = x->name;
        r->lhs = x->arg[0];
        return 0;
    }
    return -1;
}

/* Operators that are taken for <-, and what to say. */
static const struct wrong {
    int op;
    const char *msg, *advice;
} wrong[] = {
    {OP2('=', '='), "'==' compares, and defines nothing", "write <- for a value"},
    {OP2('<', '<'), "there is no '<<'", "write <- for a value"},
    {OP2(':', '='), "there is no ':='", "write <- for a value"},
    {OP2('=', '<'), "there is no '=<'", "write <- for a value, ~ for a distribution"},
    {OP2('=', '>'), "there is no '=>'", "write <- for a value, ~ for a distribution"},
    {OP2('<', '='), "'<=' compares, and defines nothing", "write <- for a value"},
    {OP2('>', '='), "'>=' compares, and defines nothing", "write <- for a value"},
    {OP2('-', '>'), "an arrow points to the left, to the name that it defines", "write <-"},
    {OP2('+', '='), "a name is defined once: there is no '+='",
     "use sum(), or a name for each step"},
    {OP2('-', '='), "a name is defined once: there is no '-='", "use a name for each step"},
    {OP2('*', '='), "a name is defined once: there is no '*='", "use a name for each step"},
    {OP2('/', '='), "a name is defined once: there is no '/='", "use a name for each step"},
    {OP2('~', '='), "there is no '~='", "write ~ for a distribution, <- for a value"},
};

static int parse_arrow(struct parser *p, struct rel *r, int first)
{
    const struct token *t = now(p);
    r->at = t->at;
    r->stochastic = is_op(t, '~');
    if (r->stochastic || is_op(t, OP2('<', '-')) || is_op(t, '=')) {
        next(p);
        return 0;
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (is_op(t, wrong[i].op) && !t->newline) {
            fail_at(p, t->at, wrong[i].advice, "%s", wrong[i].msg);
            next(p);
            return 0;
        }
    if (is_op(t, '<') && is_op(ahead(p), '-')) {
        fail_at(p, t->at, "write <- without a blank", "'< -' defines nothing");
        next(p);
        next(p);
        return 0;
    }
    if (t->kind == TOKEN_BAD)
        p->quiet = 1;
    else if (t->newline || t->kind == TOKEN_END)
        fail_at(p, span(p, first, p->i - 1), "add ~ and a distribution, or <- and a value",
                "'%s' alone is no relation", quote(p, first, p->i - 1));
    else if (is_op(t, '+') || is_op(t, '-') || is_op(t, '*') || is_op(t, '/') || is_op(t, '^'))
        fail_at(p, t->at, "leave one name on the left, and take the rest to the right",
                "the left side of a relation cannot be computed");
    else if (t->kind == TOKEN_NAME)
        fail_at(p, t->at, NULL, "expected '~' or '<-' before '%s'", quote(p, p->i, p->i));
    else
        unexpected(p, "'~' or '<-'");
    return -1;
}

/* ---- the right side ---------------------------------------------------------------- */

/* T(lower, upper): either may be missing, not the comma. */
static int parse_bounds(struct parser *p, struct rel *r)
{
    const struct token *t = now(p), *opened = ahead(p);
    char letter = p->text[t->off];
    r->trunc = (unsigned char)letter;
    r->trunc_at = t->at;
    next(p);
    next(p);
    p->open[0]++;
    if (!is_op(now(p), ',') && !is_op(now(p), ')') && !(r->lower = parse_expr(p))) goto fail;
    if (!accept(p, ',')) {
        fail_at(p, now(p)->at, diag_text(p->d, "write %c(lower, ) or %c( , upper)", letter, letter),
                "%c( , ) needs a comma between its two bounds", letter);
        goto fail;
    }
    if (!is_op(now(p), ')') && !(r->upper = parse_expr(p))) goto fail;
    p->open[0]--;
    if (accept(p, ')')) return 0;
    if (now(p)->newline || now(p)->kind == TOKEN_END || is_op(now(p), '}'))
        missing(p, "')'", opened);
    else
        unexpected(p, "')'");
    return p->quiet ? -1 : 0;
fail:
    p->open[0]--;
    return -1;
}

static int is_bounds(const struct parser *p, const char *letter)
{
    return is_name(p, now(p), letter) && is_op(ahead(p), '(');
}

static int parse_distribution(struct parser *p, struct rel *r)
{
    int first = p->i;
    p->line_ends = 1; /* no operator can follow */
    r->rhs = parse_expr(p);
    p->line_ends = 0;
    if (!r->rhs) return -1;
    if (r->rhs->kind != X_CALL || is_operator(p->s, r->rhs) || r->rhs == p->paren) {
        fail_at(p, span(p, first, p->i - 1),
                is_operator(p->s, r->rhs) ? "use <- for a value; a distribution stands alone"
                : r->rhs->kind == X_CALL  ? "remove the parentheses"
                                          : "use <- for a value",
                "'~' needs a distribution, such as normal(0, 1)");
        return -1;
    }
    if (is_bounds(p, "T") || is_bounds(p, "I")) return parse_bounds(p, r);
    if (is_bounds(p, "C") && p->s->dialect == BUGS) return parse_bounds(p, r); /* OpenBUGS's */
    if (now(p)->newline || looks_like_relation(p, p->i)) return 0;
    if (is_bounds(p, "C"))
        fail_at(p, now(p)->at,
                "write y ~ censored(d, lower, upper) for values recorded at a bound, T( , ) for a "
                "truncated distribution",
                "there is no C( , )");
    else if (is_name(p, now(p), "T") && is_op(ahead(p), '['))
        fail_at(p, ahead(p)->at, "write T(lower, upper)", "bounds stand in parentheses");
    else
        return 0;
    return -1;
}

static int parse_value(struct parser *p, struct rel *r)
{
    if (!(r->rhs = parse_expr(p))) return -1;
    if (!(is_bounds(p, "T") || is_bounds(p, "I")) || now(p)->newline) return 0;
    fail_at(p, now(p)->at, "write ~ for a distribution", "bounds can only follow a distribution");
    return -1;
}

/* After a relation, on the same line: another one, ; or } */
static void check_end(struct parser *p)
{
    const struct token *t = now(p);
    if (t->newline || t->kind != TOKEN_OP || is_op(t, ';') || is_op(t, '}')) return;
    if (is_op(t, OP2('<', '-')) || is_op(t, '=') || is_op(t, '~'))
        fail_at(p, t->at, "write two relations", "a relation defines one name");
    else if (is_op(t, ',') && is_op(t - 1, ')'))
        fail_at(p, t->at, t[1].newline ? "remove it" : "is there a ) too many before it?",
                "expected the end of the relation, but found ','");
    else if (!is_op(t, ')') && !is_op(t, ']'))
        unexpected(p, "the end of the relation");
}

static int parse_relation(struct parser *p)
{
    int first = p->i;
    struct rel r = {.in_data = p->in_data, .loop = p->loop, .link = -1};
    r.lhs = parse_primary(p);
    if (!r.lhs || parse_arrow(p, &r, first)) return -1;
    if (r.lhs->kind == X_CALL && split_link(p, &r)) return -1;
    if (r.stochastic ? parse_distribution(p, &r) : parse_value(p, &r)) return -1;
    check_end(p);
    if (p->in_train && !r.stochastic)
        fail_at(p, r.at, "write ~ and a distribution",
                "'train' gives a distribution to draw from, not a value");
    if (p->quiet) return now(p)->newline ? 0 : -1; /* parsed, but with errors */
    if (p->in_train) return vec_push(&p->s->train, r) ? nomem(p) : 0;
    return vec_push(&p->s->rel, r) ? nomem(p) : 0;
}

/* ---- loops ---------------------------------------------------------------------------- */

/* i in 1:N ) */
static int parse_header(struct parser *p, struct loop *l, const struct token *opened)
{
    int first = p->i;
    if (now(p)->kind != TOKEN_NAME) {
        unexpected(p, "the name of a counter, as in for (i in 1:N)");
        return -1;
    }
    if ((l->var = intern(p, now(p))) < 0) return nomem(p);
    next(p);
    if (!is_name(p, now(p), "in")) {
        fail_at(p, now(p)->at, "write for (i in 1:N) { ... }", "expected 'in' after '%s'",
                quote(p, first, first));
        return -1;
    }
    next(p);
    if (opened) p->open[0]++;
    l->range = parse_expr(p);
    if (opened) p->open[0]--;
    if (!l->range) return -1;
    if (!opened)
        fail_at(p, span(p, first, p->i - 1),
                diag_text(p->d, "write for (%s) { ... }", quote(p, first, p->i - 1)),
                "the range of a loop stands in parentheses");
    else if (!accept(p, ')')) {
        if (is_op(now(p), '{') || now(p)->newline)
            missing(p, "')'", opened);
        else
            unexpected(p, "')'");
    }
    return p->quiet ? -1 : 0;
}

/* After an invalid header: skips to its { on this line or the next. */
static void find_brace(struct parser *p)
{
    int line = p->t[p->i ? p->i - 1 : 0].at.line;
    while (now(p)->kind != TOKEN_END && now(p)->at.line == line && !is_op(now(p), '{') &&
           !is_op(now(p), '}'))
        next(p);
}

static void parse_loop(struct parser *p)
{
    const struct token *keyword = now(p), *opened = is_op(ahead(p), '(') ? ahead(p) : NULL;
    struct loop l = {.var = -1, .at = ahead(p)->at, .outer = p->loop};
    size_t nrel = p->s->rel.n + p->s->train.n;
    int outer = p->loop, k = (int)p->s->loop.n;
    next(p);
    if (opened) next(p);
    l.at = now(p)->at;
    if (parse_header(p, &l, opened))
        find_brace(p);
    else if (vec_push(&p->s->loop, l))
        nomem(p);
    else
        p->loop = k;
    if (is_op(now(p), '{')) {
        parse_block(p, keyword);
    } else {
        fail_at(p, behind(p), "write { here, and } behind the last relation of the loop",
                "the body of a loop stands in braces");
        if (begins_statement(p, p->i) && now(p)->kind == TOKEN_NAME && p->depth < NEST_MAX) {
            p->depth++;
            parse_statement(p);
            p->depth--;
        }
    }
    p->loop = outer;
    if (p->s->rel.n + p->s->train.n == nrel && p->s->loop.n > (size_t)k) p->s->loop.n = (size_t)k; /* empty */
}

/* ---- statements ------------------------------------------------------------------------- */

/* Skips control structures of other languages: (...) and { ... } or one statement. */
static void skip_control(struct parser *p)
{
    int depth = 0;
    next(p);
    do {
        depth += is_op(now(p), '(');
        depth -= is_op(now(p), ')');
        if (is_op(now(p), '{') || is_op(now(p), '}') || now(p)->kind == TOKEN_END) break;
        next(p);
    } while (depth > 0);
    if (is_op(now(p), '{')) {
        do {
            depth += is_op(now(p), '{') ? 1000 : is_op(now(p), '}') ? -1000 : 0;
            next(p);
        } while (depth >= 1000 && now(p)->kind != TOKEN_END);
    } else if (!is_op(now(p), '}')) {
        recover(p);
    }
    if (is_name(p, now(p), "else")) skip_control(p);
}

static const struct control {
    const char *word, *msg, *advice;
} controls[] = {
    {"if", "there is no 'if'", "use ifelse(condition, a, b), or step(x) as a factor"},
    {"else", "there is no 'else'", "use ifelse(condition, a, b), or step(x) as a factor"},
    {"while", "there is no 'while'", "use for (i in 1:N) { ... }"},
    {"repeat", "there is no 'repeat'", "use for (i in 1:N) { ... }"},
};

static int parse_control(struct parser *p)
{
    if (looks_like_relation(p, p->i)) return 0;
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++)
        if (is_name(p, now(p), controls[i].word)) {
            fail_at(p, now(p)->at, controls[i].advice, "%s", controls[i].msg);
            skip_control(p);
            return 1;
        }
    return 0;
}

/* real x;  int<lower=0> n;  vector[3] mu; */
static int is_type(const struct parser *p)
{
    static const char *const types[] = {"real",    "int",   "vector",     "matrix", "row_vector",
                                        "simplex", "array", "cov_matrix", "ordered"};
    if (looks_like_relation(p, p->i) && !is_op(ahead(p), '<')) return 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (is_name(p, now(p), types[i]))
            return ahead(p)->kind == TOKEN_NAME || is_op(ahead(p), '<') || is_op(ahead(p), '[');
    return 0;
}

/* 2 * x -> y */
static const struct token *find_arrow(const struct parser *p)
{
    const struct token *t = now(p);
    while (t->kind != TOKEN_END && !is_op(t, OP2('-', '>')) && !is_op(t, ';') && !t[1].newline) t++;
    return is_op(t, OP2('-', '>')) ? t : NULL;
}

static void not_a_statement(struct parser *p)
{
    const struct token *t = now(p), *arrow;
    if (t->kind == TOKEN_BAD) {
        p->quiet = 1;
    } else if (is_op(t, ')') || is_op(t, ']')) {
        fail_at(p, t->at, diag_text(p->d, "remove it, or add its '%c'", t->op == ')' ? '(' : '['),
                "this '%c' closes nothing", t->op);
    } else if (t->kind == TOKEN_NUMBER &&
               (is_op(ahead(p), '~') || is_op(ahead(p), OP2('<', '-')))) {
        fail_at(p, t->at, "write a name; values come from the data file",
                "the left side of a relation must be a name, not a number");
    } else if ((arrow = find_arrow(p))) {
        fail_at(p, arrow->at, "write the name on the left: x <- value",
                "an arrow points to the left, to the name that it defines");
    } else if (is_op(t, '{')) {
        fail_at(p, t->at, "write for (i in 1:N) before it, or remove the braces",
                "braces belong to a loop");
    } else {
        unexpected(p, "a relation, such as x ~ normal(0, 1)");
    }
    next(p);
    recover(p);
}

void parse_statement(struct parser *p)
{
    const struct token *t = now(p);
    p->quiet = 0;
    if (accept(p, ';')) return;
    if (t->kind != TOKEN_NAME) {
        not_a_statement(p);
    } else if (is_name(p, t, "for") && (is_op(ahead(p), '(') || ahead(p)->kind == TOKEN_NAME)) {
        parse_loop(p);
    } else if (looks_like_decl(p, p->i)) {
        fail_at(p, t->at, "move it before or behind model { }",
                "'%s' cannot stand inside of model { }", quote(p, p->i, p->i));
        next(p);
        recover(p);
    } else if (is_type(p)) {
        fail_at(p, t->at, "remove it: a name is declared by its relation (is this Stan?)",
                "there are no types such as '%s'", quote(p, p->i, p->i));
        next(p);
        recover(p);
    } else if (!parse_control(p) && parse_relation(p)) {
        recover(p);
    }
}
