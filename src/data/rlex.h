/* rlex.h: the tokens of R's dump() and of WinBUGS data. */
#ifndef DATA_RLEX_H
#define DATA_RLEX_H

#include <stddef.h>

#include "nami.h"

enum rtok { R_END, R_NUMBER, R_NAME, R_STRING, R_ASSIGN, R_CHAR, R_BAD };

struct rlex {
    const char *s, *end, *line0; /* remaining input; start of the current line */
    int line;
    /* the current token */
    enum rtok tok;
    const char *t; /* its text (without quotes) */
    size_t n;
    double x; /* of R_NUMBER */
    int tline, tcol;
    int quoted;      /* a name in `backquotes` */
    const char *bad; /* error message for R_BAD; NULL: invalid character */
};

void rlex_init(struct rlex *r, const char *text, size_t len);
void rlex_next(struct rlex *r);
int rlex_is(const struct rlex *r, const char *text); /* is the token this name or character? */
int rlex_accept(struct rlex *r, const char *text);   /* if so, advances */
/* "expected WHAT, found 'TOKEN'" with the position of the token. */
int rlex_error(const struct rlex *r, const char *expected, nami_err *err);

#endif
