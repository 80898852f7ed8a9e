/* lex.h: the tokens of a model file. */
#ifndef MODEL_LANG_LEX_H
#define MODEL_LANG_LEX_H

#include "model/lang/diag.h"

enum token_kind {
    TOKEN_END,
    TOKEN_BAD, /* the error has been reported */
    TOKEN_NAME,
    TOKEN_NUMBER,
    TOKEN_STRING,
    TOKEN_OP,
    TOKEN_SPECIAL /* %op% */
};

/* Operators of one character are represented by that character, those of two by OP2. */
#define OP2(a, b) ((a) << 8 | (b))

struct token {
    enum token_kind kind;
    int op;       /* TOKEN_OP */
    int newline;  /* first token of its line */
    int off, len; /* byte range in the text; for strings, between the quotes */
    struct place at;
    double value; /* TOKEN_NUMBER */
};

struct tokens {
    vec(struct token) list; /* the last three are TOKEN_END */
    int cut;                /* stopped early: an unterminated comment, a NUL byte */
};

/* 0, or -1: out of memory. */
int lex(const char *text, size_t len, struct tokens *out, struct diags *d);

#endif
