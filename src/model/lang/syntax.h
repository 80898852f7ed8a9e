/* syntax.h: the syntax tree of a model file. */
#ifndef MODEL_LANG_SYNTAX_H
#define MODEL_LANG_SYNTAX_H

#include "base/dict.h"
#include "model/lang/diag.h"
#include "model/lang/dialect.h"
#include "nami.h"

enum expr_kind {
    X_NUMBER, /* value */
    X_REF,    /* name, or name[arg, ...]; a bare name has narg == 0 */
    X_CALL,   /* name(arg, ...); operators too, under the names + - * / ^ %*% %/% %% : == != < <= >
                 >= && || !; unary minus is "-" with one argument; x^y and pow are different names */
    X_EMPTY   /* an empty subscript, as in x[i, ] or x[] */
};

struct expr {
    enum expr_kind kind;
    int name;         /* a number of syntax.names */
    struct place at;  /* the name or operator; for numbers, the number */
    struct place all; /* from the first to the last character (of the first line) */
    double value;
    int narg;
    struct expr **arg;
    int *argname; /* names of arguments: numbers of syntax.names, or -1; NULL if none is named */
    int height;   /* of the subtree: 0 for a leaf, at most HEIGHT_MAX */
};

enum { NEST_MAX = 200, HEIGHT_MAX = 1000 }; /* bounds the recursion depth */

/* for (var in range) */
struct loop {
    int var;
    struct place at;
    struct expr *range; /* a ":" call, or any vector */
    int outer;          /* the enclosing loop, or -1 */
};

struct rel {
    int stochastic;   /* ~, or <- and = */
    int in_data;      /* in a data { } block */
    struct place at;  /* the ~ or <- */
    int loop;         /* the innermost enclosing loop, or -1 */
    int link;         /* logit(p) <- ...: the name of the link; or -1 */
    struct expr *lhs; /* X_REF */
    struct expr *rhs; /* X_CALL of a distribution, or any expression */
    int trunc;        /* 'T' or 'I' if a truncation follows, or 0 */
    struct place trunc_at;
    struct expr *lower, *upper; /* or NULL where open */
};

enum decl_kind {
    D_CONST,     /* ref (its subscripts are sizes), value or NULL; range or NULL */
    D_VAR,       /* JAGS's var: ref */
    D_OBSERVE,   /* ref; one declaration for each item of the list */
    D_INFER,     /* ref */
    D_STAGE,     /* ref and stage 0, 1, ... */
    D_LEARN,     /* ref: a network's name */
    D_NETWORK,   /* name, in, out, layer */
    D_EMBED,     /* name, in (none: its own dimensions), layer */
    D_SIMULATOR, /* text */
    D_FUNCTION,  /* ref: a call of names, value; inlined and removed by syntax_parse */
    D_TRAIN,     /* train: the keyword alone; its relations are in syntax.train */
    NDECL
};

struct decl {
    enum decl_kind kind;
    struct place at;
    struct expr *ref, *value;
    struct expr *range; /* const J in 1:100: a network is for all these */
    int stage;
    int name;
    int nin, nout;
    struct expr **in, **out; /* sizes in real[...] -> real[...] */
    int nlayer;
    struct expr **layer; /* calls: dense(200, tanh), conv(8, 5) */
    const char *text;    /* of a string, without its quotes */
};

struct syntax {
    enum dialect dialect;
    struct arena mem;
    struct dict names;
    vec(struct rel) rel;
    vec(struct rel) train; /* training distributions: train mu ~ normal(0, 10) */
    vec(struct loop) loop;
    vec(struct decl) decl;
};

/* Parses an entire file; errors are added to d, and parsing continues after them. Returns 0 or
   NAMI_ENOMEM. With errors in d, the tree contains what could be parsed. *s need not be
   initialized.  The text is at most INT_MAX long; nesting deeper than NEST_MAX is an error. */
int syntax_parse(struct syntax *s, const char *text, size_t len, enum dialect dialect,
                 struct diags *d);
void syntax_free(struct syntax *s);

/* Parses a single expression (aliases of distributions, settings), in a parsed or zeroed syntax:
   NULL after an error, or if out of memory (d->oom). */
struct expr *syntax_parse_expr(struct syntax *s, const char *text, size_t len, struct diags *d);

/* The inverse of a link function (logit: ilogit), or NULL if it is not a link. The parser accepts
   links only on the left of <-. */
const char *link_inverse(const char *link);

/* Prints source text with as few parentheses as possible. */
void syntax_put_expr(const struct syntax *s, const struct expr *x, struct str *out);
void syntax_put_rel(const struct syntax *s, const struct rel *r, struct str *out);
/* The entire program, one relation per line, loops indented. Parsing it gives the same tree, except
   that what a JAGS file cannot contain (as == BUGS, from a native file) is omitted or rewritten:
   constants with a value go to data { }, %/% and %% become calls of trunc(), training distributions
   are omitted. */
void syntax_put(const struct syntax *s, enum dialect as, struct str *out);
#define syntax_name(s, k) ((s)->names.name.a[k])

#endif
