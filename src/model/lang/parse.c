/* parse.c: parses the file: blocks and the declarations between them. */

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "model/lang/parse.h"

/* ---- tokens ------------------------------------------------------------------- */

int is_name(const struct parser *p, const struct token *t, const char *name)
{
    return t->kind == TOKEN_NAME && (size_t)t->len == strlen(name) &&
           memcmp(p->text + t->off, name, (size_t)t->len) == 0;
}

void next(struct parser *p)
{
    if (p->t[p->i].kind != TOKEN_END) p->i++;
}

int accept(struct parser *p, int op)
{
    if (!is_op(now(p), op)) return 0;
    next(p);
    return 1;
}

int continues(const struct parser *p) { return !(p->line_ends && now(p)->newline); }

int intern(struct parser *p, const struct token *t)
{
    return dict_add(&p->s->names, p->text + t->off, (size_t)t->len, NULL);
}

/* ---- blocks -------------------------------------------------------------------- */

/* The first token of t's line. */
static const struct token *line_start(const struct parser *p, const struct token *t)
{
    while (t > p->t && !t->newline) t--;
    return t;
}

/* A keyword such as observe in the column of `model`: the } before it is missing. */
static int ends_early(const struct parser *p)
{
    const struct token *t = now(p);
    return t->newline && t->at.col <= p->indent &&
           (looks_like_decl(p, p->i) ||
            ((is_name(p, t, "model") || is_name(p, t, "data")) && is_op(ahead(p), '{')));
}

/* A } that stands to the left of the line it closes, as in
       model {
         for (i in 1:N) {
       }                      */
static int is_suspect(const struct parser *p, const struct token *owner)
{
    const struct token *t = now(p);
    return t->newline && t->at.line != owner->at.line && t->at.col < line_start(p, owner)->at.col;
}

/* A ) or ] alone on its line, where a } belongs. */
static int is_wrong_brace(struct parser *p)
{
    const struct token *t = now(p);
    return (is_op(t, ')') || is_op(t, ']')) && t->newline && t[1].newline;
}

static void close_block(struct parser *p, const struct token *owner, const struct token *brace)
{
    const struct token *t = now(p);
    if (is_wrong_brace(p)) {
        p->quiet = 0;
        fail_at(p, t->at, "write }", "'%c' does not close '{'", t->op);
    }
    if (is_op(t, '}') || is_wrong_brace(p)) {
        if (!p->suspect.line && is_suspect(p, owner)) p->suspect = brace->at;
        p->end = t->at;
        next(p);
        return;
    }
    if (p->cut || p->oom || p->stop) return;
    p->quiet = 0;
    if (p->suspect.line)
        fail_at(p, p->suspect, "add a }, or mind the indentation", "this '{' seems to have no '}'");
    else
        fail_at(p, brace->at,
                t->kind == TOKEN_END ? "add a }"
                                     : diag_text(p->d, "add a } before line %d", t->at.line),
                "this '{' has no '}'");
    p->cut = 1; /* once is enough */
}

void parse_block(struct parser *p, const struct token *owner)
{
    const struct token *brace = now(p);
    next(p);
    if (++p->depth > NEST_MAX) {
        fail_at(p, brace->at, NULL, "nesting is deeper than %d", NEST_MAX);
        p->cut = p->stop = 1;
    }
    while (!is_op(now(p), '}') && now(p)->kind != TOKEN_END && !p->oom && !p->stop) {
        int before = p->i;
        if (ends_early(p) || is_wrong_brace(p)) break;
        parse_statement(p);
        if (p->i == before && !is_op(now(p), '}') && !ends_early(p)) next(p);
    }
    p->depth--;
    close_block(p, owner, brace);
}

static void parse_model(struct parser *p, int data)
{
    const struct token *t = now(p);
    int cut = p->cut;
    if (!data && p->nmodel++)
        fail_at(p, t->at, "put all relations into one", "there is a second model { }");
    p->in_data = data;
    p->in_block = 1;
    p->indent = t->newline ? t->at.col : 0;
    next(p);
    parse_block(p, t);
    if (now(p)->kind != TOKEN_END) p->cut = cut;
    p->in_block = p->in_data = 0;
    p->suspect.line = 0;
}

/* ---- other languages -------------------------------------------------------------- */

static int is_stan(const struct parser *p)
{
    static const char *const words[] = {"parameters", "transformed", "generated", "functions"};
    const struct token *t = now(p);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_name(p, t, words[i])) return is_op(&t[1], '{') || is_op(&t[2], '{');
    if (!is_name(p, t, "data") || !is_op(&t[1], '{') || t[2].kind != TOKEN_NAME) return 0;
    return (is_name(p, &t[2], "int") || is_name(p, &t[2], "real") || is_name(p, &t[2], "vector") ||
            is_name(p, &t[2], "array") || is_name(p, &t[2], "matrix")) &&
           !looks_like_relation(p, p->i + 2);
}

/* model <- function() { */
static int skip_function(struct parser *p)
{
    const struct token *t = now(p);
    if (t->kind != TOKEN_NAME || !(is_op(&t[1], OP2('<', '-')) || is_op(&t[1], '=')) ||
        !is_name(p, &t[2], "function"))
        return 0;
    const struct token *close = t;
    while (close->kind != TOKEN_END && !is_op(close, ')')) close++;
    if (close->kind != TOKEN_END && !is_op(close + 1, '{')) {
        fail_at(p, span(p, p->i, p->i + 2),
                diag_text(p->d, "write function %s(x) = ... instead", quote(p, p->i, p->i)),
                "this is a function of R");
        while (now(p) != close) next(p);
        recover(p);
        return 0;
    }
    fail_at(p, span(p, p->i, p->i + 2), "write model { instead", "this is a function of R");
    while (now(p)->kind != TOKEN_END && !is_op(ahead(p), '{')) next(p);
    return is_op(ahead(p), '{');
}

/* ---- the file ------------------------------------------------------------------------ */

/* A relation where none can be. */
static void parse_outside(struct parser *p)
{
    if (!p->outside && p->nmodel)
        fail_at(p, now(p)->at,
                diag_text(p->d, "the } of line %d ends the model: remove it if it is one too many",
                          p->end.line),
                "this relation stands behind the end of model { }");
    else if (!p->outside)
        fail_at(p, now(p)->at, "write model { before the relations and } behind them",
                "relations stand inside of model { }");
    p->outside = 1;
    parse_statement(p);
}

static const char *const keywords[] = {"model",  "const",     "observe", "infer",
                                       "stages", "learn",     "network", "embed",
                                       "data",   "simulator", "var",     "function",
                                       "train"};

static const char *near_keyword(const struct parser *p, const struct token *t)
{
    struct near best = NEAR_NONE;
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords && t->kind == TOKEN_NAME; i++)
        near_try(&best, p->text + t->off, (size_t)t->len, keywords[i], (int)i);
    return best.word;
}

static void parse_strange(struct parser *p)
{
    const struct token *t = now(p);
    const char *near = near_keyword(p, t);
    if (is_name(p, t, "list") && is_op(ahead(p), '(') && !p->strange)
        fail_at(p, t->at, "put data and initial values into files of their own",
                "a model file holds no values");
    else if (near && t->newline && !strcmp(near, "model") && is_op(ahead(p), '{')) {
        fail_at(p, t->at, "write model", "'%s' is no declaration", quote(p, p->i, p->i));
        parse_model(p, 0);
        return;
    } else if (near && t->newline)
        fail_at(p, t->at, diag_text(p->d, "did you mean %s?", near), "'%s' is no declaration",
                quote(p, p->i, p->i));
    else if (p->strange || p->outside || t->kind == TOKEN_BAD)
        p->quiet = 1;
    else if (is_op(t, '}'))
        fail_at(p, t->at, "remove it, or add its '{'", "this '}' closes nothing");
    else if (p->nmodel)
        fail_at(p, t->at, "remove it, or write # before a comment",
                "this text behind model { } has no meaning");
    else
        unexpected(p, p->s->dialect == BUGS ? "model {" : "model { or a declaration");
    p->strange |= !near;
    next(p);
    recover(p);
}

static void parse_top(struct parser *p)
{
    const struct token *t = now(p);
    int kind = decl_kind_of(p, t), block = is_op(ahead(p), '{');
    p->quiet = 0;
    if (accept(p, ';')) return;
    if (is_stan(p)) {
        fail_at(p, t->at, "write the model as relations, x ~ normal(0, 1), inside of model { }",
                "this looks like Stan, but NaMI reads the language of BUGS");
        p->stop = 1;
    } else if ((block && is_name(p, t, "model")) || skip_function(p)) {
        parse_model(p, 0);
    } else if (p->quiet) {
        return; /* a function, which has been reported */
    } else if (block && is_name(p, t, "data")) {
        parse_model(p, 1);
    } else if (is_name(p, t, "model") && !looks_like_relation(p, p->i)) {
        next(p);
        fail_at(p, behind(p), "write {", "missing '{' after 'model'");
        p->nmodel++;
        p->outside = 1;
    } else if (kind >= 0 && kind != D_CONST && is_op(ahead(p), '=')) {
        fail_at(p, ahead(p)->at, "remove it", "no '=' stands after '%s'", quote(p, p->i, p->i));
        next(p);
        recover(p);
    } else if (looks_like_relation(p, p->i) || (is_name(p, t, "for") && !block)) {
        parse_outside(p);
    } else if (kind >= 0) {
        parse_decl(p, kind);
    } else {
        parse_strange(p);
    }
}

static void parse_file(struct parser *p)
{
    int empty = now(p)->kind == TOKEN_END;
    while (now(p)->kind != TOKEN_END && !p->oom && !p->stop) {
        int before = p->i;
        parse_top(p);
        if (p->i == before) next(p);
    }
    p->quiet = 0;
    if (p->nmodel || p->outside || p->strange || p->stop || p->cut || p->nsimulator) return;
    struct place at = {0};
    if (!empty) at = now(p)->at;
    fail_at(p, at, "write the relations inside of model { }",
            empty ? "this file is empty" : "there is no model { }");
}

static int begin(struct parser *p, struct tokens *tokens, const char *text, size_t len)
{
    p->text = text;
    p->loop = -1;
    if (len > INT_MAX) {
        fail_at(p, (struct place){0}, NULL, "this file is longer than %d bytes", INT_MAX);
        return -1;
    }
    if (lex(text, len, tokens, p->d)) return nomem(p);
    p->t = tokens->list.a;
    p->cut = tokens->cut;
    return 0;
}

static int end(struct parser *p, struct tokens *tokens)
{
    vec_free(&tokens->list);
    vec_free(&p->arg);
    vec_free(&p->argname);
    if (p->oom) p->d->oom = 1;
    return p->d->oom ? NAMI_ENOMEM : 0;
}

int syntax_parse(struct syntax *s, const char *text, size_t len, enum dialect dialect,
                 struct diags *d)
{
    struct parser p = {.s = s, .d = d};
    struct tokens tokens = {0};
    *s = (struct syntax){.dialect = dialect};
    if (begin(&p, &tokens, text, len) == 0) parse_file(&p);
    int rc = end(&p, &tokens);
    if (!rc && dialect == BUGS) lift_transformations(s);
    return rc ? rc : inline_functions(s, d);
}

struct expr *syntax_parse_expr(struct syntax *s, const char *text, size_t len, struct diags *d)
{
    struct parser p = {.s = s, .d = d};
    struct tokens tokens = {0};
    struct expr *x = NULL;
    int before = d->nerror;
    if (begin(&p, &tokens, text, len) == 0) x = parse_expr(&p);
    if (x && now(&p)->kind != TOKEN_END) unexpected(&p, "the end");
    return end(&p, &tokens) || d->nerror > before ? NULL : x;
}

void syntax_free(struct syntax *s)
{
    arena_free(&s->mem);
    dict_free(&s->names);
    vec_free(&s->rel);
    vec_free(&s->train);
    vec_free(&s->loop);
    vec_free(&s->decl);
}
