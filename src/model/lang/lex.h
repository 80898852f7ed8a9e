/* lex.h: the words of a model file. */
#ifndef MODEL_LANG_LEX_H
#define MODEL_LANG_LEX_H

#include "model/lang/diag.h"

enum token_kind {
    TOKEN_END,
    TOKEN_BAD, /* what is wrong has been said */
    TOKEN_NAME,
    TOKEN_NUMBER,
    TOKEN_STRING,
    TOKEN_OP,
    TOKEN_SPECIAL /* %op% */
};

/* An operator of one character is that character, one of two is OP2. */
#define OP2(a, b) ((a) << 8 | (b))

struct token {
    enum token_kind kind;
    int op;       /* TOKEN_OP */
    int newline;  /* the first of its line */
    int off, len; /* bytes of the text; a string's are those between its quotes */
    struct place at;
    double value; /* TOKEN_NUMBER */
};

struct tokens {
    vec(struct token) list; /* the last three are TOKEN_END */
    int cut;                /* reading ended early: a comment without end, a NUL byte */
};

/* 0, or -1 when memory runs out. */
int lex(const char *text, size_t len, struct tokens *out, struct diags *d);

#endif
