/* rlex.c: the lexer for R's dump() format and WinBUGS data: names, numbers, strings,
   operators. */
#include "data/rlex.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

void rlex_init(struct rlex *r, const char *text, size_t len)
{
    *r = (struct rlex){.s = text, .end = text + len, .line0 = text, .line = 1};
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) r->s = r->line0 = text + 3;
    rlex_next(r);
}

static void skip_blanks(struct rlex *r)
{
    for (; r->s < r->end; r->s++) {
        if (*r->s == '#')
            while (r->s + 1 < r->end && r->s[1] != '\n') r->s++;
        else if (*r->s == '\n') {
            r->line++;
            r->line0 = r->s + 1;
        } else if (*r->s != ' ' && *r->s != '\t' && *r->s != '\r' && *r->s != '\f')
            return;
    }
}

static int is_digit(char c) { return c >= '0' && c <= '9'; }

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

static int is_word(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '_'; }

static void string(struct rlex *r, char quote)
{
    r->t = ++r->s;
    for (; r->s < r->end && *r->s != quote && *r->s; r->s++) {
        if (*r->s == '\\' && r->s + 1 < r->end && r->s[1]) r->s++;
        if (*r->s == '\n') {
            r->line++;
            r->line0 = r->s + 1;
        }
    }
    r->n = (size_t)(r->s - r->t);
    r->quoted = quote == '`';
    if (r->s < r->end && *r->s == quote) {
        r->tok = quote == '`' ? R_NAME : R_STRING;
        r->s++;
    } else {
        r->tok = R_BAD;
        r->bad = "this text has no closing quote; add it";
    }
}

/* 1, 1.5e-3, .5, 0x1F, 10L: from a copy, as strtod wants a NUL. */
static void number(struct rlex *r)
{
    const char *s = r->s, *end = r->end;
    char buf[64], *stop;
    while (s < end && (is_word(*s) || ((*s == '-' || *s == '+') && (s[-1] == 'e' || s[-1] == 'E'))))
        s++;
    r->n = (size_t)(s - r->s);
    r->s = s;
    r->tok = R_BAD;
    if (r->n >= sizeof buf) {
        r->bad = "this number has too many digits; 17 are enough";
        return;
    }
    memcpy(buf, r->t, r->n);
    buf[r->n] = 0;
    r->x = strtod(buf, &stop);
    if (*stop == 'L' && stop[1] == 0) stop++;
    if (*stop)
        r->bad = "this is not a number; names do not begin with a digit";
    else if (!isfinite(r->x))
        r->bad = "this number is too large for a double; write Inf if that is meant";
    else
        r->tok = R_NUMBER;
}

void rlex_next(struct rlex *r)
{
    skip_blanks(r);
    r->bad = NULL;
    r->quoted = 0;
    r->t = r->s;
    r->n = 0;
    r->tline = r->line;
    r->tcol = (int)(r->s - r->line0 < INT_MAX ? r->s - r->line0 + 1 : INT_MAX);
    r->tok = R_END;
    if (r->s >= r->end) return;
    char c = *r->s, next = (char)(r->s + 1 < r->end ? r->s[1] : 0);
    if (c == '"' || c == '\'' || c == '`') {
        string(r, c);
    } else if (is_digit(c) || (c == '.' && is_digit(next))) {
        number(r);
    } else if (is_letter(c) || c == '.' || c == '_') {
        while (r->s < r->end && is_word(*r->s)) r->s++;
        r->n = (size_t)(r->s - r->t);
        r->tok = R_NAME;
    } else {
        r->n = c == '<' && next == '-' ? 2 : 1;
        r->s += r->n;
        r->tok = r->n == 2 || c == '=' ? R_ASSIGN : R_CHAR;
        if ((unsigned char)c < 32 || c == 127) r->tok = R_BAD;
    }
}

int rlex_is(const struct rlex *r, const char *text)
{
    return (r->tok == R_NAME || r->tok == R_CHAR || r->tok == R_ASSIGN) && !r->quoted &&
           strlen(text) == r->n && memcmp(r->t, text, r->n) == 0;
}

int rlex_accept(struct rlex *r, const char *text)
{
    if (!rlex_is(r, text)) return 0;
    rlex_next(r);
    return 1;
}

int rlex_error(const struct rlex *r, const char *expected, nami_err *err)
{
    int n = r->n > 40 ? 40 : (int)r->n;
    if (r->tok == R_END)
        return err_at(err, NAMI_EINPUT, r->tline, r->tcol,
                      "expected %s, but the file ends here; is it cut off?", expected);
    if (r->tok == R_BAD && r->bad) return err_at(err, NAMI_EINPUT, r->tline, r->tcol, "%s", r->bad);
    if (r->tok == R_BAD)
        return err_at(err, NAMI_EINPUT, r->tline, r->tcol,
                      "unexpected byte 0x%02x; is this a text file?", (unsigned char)r->t[0]);
    return err_at(err, NAMI_EINPUT, r->tline, r->tcol, "expected %s, found '%.*s'", expected, n,
                  r->t);
}
