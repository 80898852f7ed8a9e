/* scan.h: tokenizer with source positions, shared by the readers of BIF, Hugin NET, dagitty, UAI
   and bnlearn strings. */
#ifndef IO_SCAN_H
#define IO_SCAN_H

#include <stddef.h>

#include "nami.h"

/* Lexical rules of a format. */
struct scan_rules {
    const char *word;    /* characters of a word besides letters, digits, '_' and UTF-8 */
    const char *comment; /* line comments, e.g. "//", "#" or "%"; NULL for none */
    int hash;            /* does '#' begin a line comment, too? */
    int block_comment;   /* are C block comments allowed? */
};

enum tok { TOK_END, TOK_WORD, TOK_STRING, TOK_CHAR, TOK_BAD };

struct scan {
    const char *s, *end; /* remaining input */
    const char *line0;   /* start of the current line */
    int line;            /* from 1 */
    const struct scan_rules *rules;
    /* the current token */
    enum tok tok;
    const char *t; /* its text (without the quotes of a string) */
    size_t n;
    int tline, tcol;
    const char *bad; /* error message for TOK_BAD; NULL: invalid character */
};

void scan_init(struct scan *x, const char *text, size_t len, const struct scan_rules *rules);
/* Moves to the next token.  Unterminated strings and comments, NUL bytes and
   invalid characters give TOK_BAD; scan_error reports the reason. */
void scan_next(struct scan *x);
int scan_is(const struct scan *x, const char *text); /* is the token this word or character? */
int scan_accept(struct scan *x, const char *text);   /* if so, advances */
int scan_expect(struct scan *x, const char *text, nami_err *err);
/* "line:col: expected WHAT, found 'TOKEN'": fills err and returns NAMI_EINPUT. */
int scan_error(const struct scan *x, const char *expected, nami_err *err);
/* The current word as a number; advances. */
int scan_double(struct scan *x, double *out, nami_err *err);
int scan_int(struct scan *x, long lo, long hi, int *out, nami_err *err);

#endif
