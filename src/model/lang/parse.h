/* parse.h: private to the parser. A function that parses something returns NULL or -1 after an
   error, which it has reported, or if out of memory. After the first error of a statement,
   subsequent errors are suppressed (`quiet`) until the next statement begins. */
#ifndef MODEL_LANG_PARSE_H
#define MODEL_LANG_PARSE_H

#include "model/lang/lex.h"
#include "model/lang/syntax.h"

struct parser {
    struct syntax *s;
    struct diags *d;
    const char *text;
    const struct token *t; /* all tokens */
    int i;                 /* the current one */
    int quiet, oom, cut;
    int depth;     /* nesting of brackets, braces, prefixes */
    int line_ends; /* a line break ends the expression: in declarations, outside of brackets */
    int open[2];   /* how many ( and [ are open */
    const struct expr *paren; /* the last expression in parentheses */
    vec(struct expr *) arg;   /* stacks of arguments being read */
    vec(int) argname;

    int loop, in_data; /* context */
    int in_train;      /* in a train statement */
    int in_block;      /* inside of model { } or data { } */
    int indent;        /* the column of its `model` */
    int nmodel, nsimulator;
    struct place end;     /* the } of the last model { } */
    struct place suspect; /* the first { whose } is indented differently */
    int outside, strange; /* reported once: relations outside of model { }, unrecognized text */
    int native;           /* reported once: a native declaration in a BUGS file */
    int stop;             /* a different language: suppress all further errors */
};

/* ---- tokens (parse.c) ---- */
static inline const struct token *now(const struct parser *p) { return &p->t[p->i]; }
static inline const struct token *ahead(const struct parser *p)
{
    return &p->t[p->t[p->i].kind == TOKEN_END ? p->i : p->i + 1];
}
static inline int is_op(const struct token *t, int op)
{
    return t->kind == TOKEN_OP && t->op == op;
}
int is_name(const struct parser *p, const struct token *t, const char *name);
void next(struct parser *p); /* stays at the end */
int accept(struct parser *p, int op);
/* Is the current token part of the expression, i.e. not after a line break that ends it? */
int continues(const struct parser *p);
int intern(struct parser *p, const struct token *t); /* its number, or -1 */

/* ---- errors (parse_error.c) ---- */
void fail_at(struct parser *p, struct place at, const char *advice, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* "expected `what`, but found ..." */
void unexpected(struct parser *p, const char *what);
/* "missing ')'", immediately after the last token */
void missing(struct parser *p, const char *what, const struct token *opened);
struct place behind(const struct parser *p); /* position after the last token */
/* From token a to token b, or to the end of a's line. */
struct place span(const struct parser *p, int a, int b);
/* Text of the file from token a to token b, for a message. */
const char *quote(struct parser *p, int a, int b);
int nomem(struct parser *p); /* -1 */

/* Does something like x[i] <- begin at token i? */
int looks_like_relation(const struct parser *p, int i);
int looks_like_decl(const struct parser *p, int i);
int begins_statement(const struct parser *p, int i);
/* Skips to the next statement of this block. */
void recover(struct parser *p);

/* ---- expressions (parse_expr.c) ---- */
struct expr *parse_expr(struct parser *p);
struct expr *parse_ref(struct parser *p); /* name or name[...] */
struct expr *parse_primary(struct parser *p);
int is_operator(const struct syntax *s, const struct expr *x);
/* Pops the arguments from `base` on off the stack. */
struct expr **take_args(struct parser *p, size_t base, int *n);

/* ---- statements (parse_rel.c), declarations (parse_decl.c) ---- */
void parse_block(struct parser *p, const struct token *owner); /* { ... } */
void parse_statement(struct parser *p);
int decl_kind_of(const struct parser *p, const struct token *t); /* of its keyword, or -1 */
void parse_decl(struct parser *p, int kind);
void lift_transformations(struct syntax *s);             /* transform.c */
int inline_functions(struct syntax *s, struct diags *d); /* inline.c; 0 or NAMI_ENOMEM */

#endif
