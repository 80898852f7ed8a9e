/* scan.c: the tokenizer of the structure formats: words, strings, numbers and comments, with
   their places. */
#include "io/scan.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

void scan_init(struct scan *x, const char *text, size_t len, const struct scan_rules *rules)
{
    *x = (struct scan){.s = text, .end = text + len, .line0 = text, .line = 1, .rules = rules};
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) x->s += 3; /* byte-order mark */
    scan_next(x);
}

static void newline(struct scan *x)
{
    x->line++;
    x->line0 = x->s;
}

static int starts(const struct scan *x, const char *p)
{
    size_t n = p ? strlen(p) : 0;
    return n && (size_t)(x->end - x->s) >= n && memcmp(x->s, p, n) == 0;
}

static void mark(struct scan *x)
{
    x->t = x->s;
    x->n = 0;
    x->tline = x->line;
    x->tcol = (int)(x->s - x->line0 < INT_MAX ? x->s - x->line0 + 1 : INT_MAX);
}

/* Skips blanks and comments; 0 if a block comment does not end: its beginning
   is then the token. */
static int skip_blanks(struct scan *x)
{
    while (x->s < x->end) {
        char c = *x->s;
        if (c == '\n') {
            x->s++;
            newline(x);
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            x->s++;
        } else if (starts(x, x->rules->comment) || (x->rules->hash && c == '#')) {
            while (x->s < x->end && *x->s != '\n') x->s++;
        } else if (x->rules->block_comment && starts(x, "/*")) {
            mark(x);
            for (x->s += 2; !starts(x, "*/");) {
                if (x->s >= x->end) return 0;
                if (*x->s++ == '\n') newline(x);
            }
            x->s += 2;
        } else {
            break;
        }
    }
    return 1;
}

static int is_word(const struct scan *x, char ch)
{
    unsigned char c = (unsigned char)ch;
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           c >= 0x80 || (c && strchr(x->rules->word, c));
}

void scan_next(struct scan *x)
{
    x->bad = NULL;
    if (!skip_blanks(x)) {
        x->tok = TOK_BAD;
        x->bad = "this comment has no end; add */";
        return;
    }
    mark(x);
    if (x->s >= x->end) {
        x->tok = TOK_END;
    } else if (*x->s == '"') {
        x->t = ++x->s;
        while (x->s < x->end && *x->s != '"' && *x->s != '\0') {
            if (*x->s == '\\' && x->s + 1 < x->end && x->s[1] != '\0') x->s++;
            if (*x->s++ == '\n') newline(x);
        }
        x->n = (size_t)(x->s - x->t);
        x->tok = x->s < x->end && *x->s == '"' ? TOK_STRING : TOK_BAD;
        if (x->tok == TOK_STRING)
            x->s++;
        else
            x->bad = "this string has no closing quote; add it";
    } else if (is_word(x, *x->s)) {
        while (x->s < x->end && is_word(x, *x->s) && !starts(x, x->rules->comment) &&
               !(x->rules->block_comment && starts(x, "/*")))
            x->s++;
        x->n = (size_t)(x->s - x->t);
        x->tok = TOK_WORD;
    } else {
        x->s++;
        x->n = 1;
        x->tok = (unsigned char)x->t[0] < 32 || x->t[0] == 127 ? TOK_BAD : TOK_CHAR;
    }
}

int scan_is(const struct scan *x, const char *text)
{
    return (x->tok == TOK_WORD || x->tok == TOK_CHAR) && strlen(text) == x->n &&
           memcmp(x->t, text, x->n) == 0;
}

int scan_accept(struct scan *x, const char *text)
{
    if (!scan_is(x, text)) return 0;
    scan_next(x);
    return 1;
}

int scan_error(const struct scan *x, const char *expected, nami_err *err)
{
    int n = x->n > 40 ? 40 : (int)x->n;
    if (x->tok == TOK_END)
        return err_at(err, NAMI_EINPUT, x->tline, x->tcol,
                      "expected %s, but the file ends here; is it cut off?", expected);
    if (x->tok == TOK_BAD && x->bad)
        return err_at(err, NAMI_EINPUT, x->tline, x->tcol, "%s", x->bad);
    if (x->tok == TOK_BAD)
        return err_at(err, NAMI_EINPUT, x->tline, x->tcol,
                      "unexpected byte 0x%02x; is this a text file?", (unsigned char)x->t[0]);
    return err_at(err, NAMI_EINPUT, x->tline, x->tcol, "expected %s, found '%.*s'", expected, n,
                  x->t);
}

int scan_expect(struct scan *x, const char *text, nami_err *err)
{
    char what[32];
    if (scan_accept(x, text)) return 0;
    size_t n = strlen(text);
    if (n > sizeof what - 3) n = sizeof what - 3;
    what[0] = '\'';
    memcpy(what + 1, text, n);
    what[n + 1] = '\'';
    what[n + 2] = 0;
    return scan_error(x, what, err);
}

/* Words are not NUL-terminated, so numbers are read from a copy. */
static int word_copy(const struct scan *x, char buf[64])
{
    if (x->tok != TOK_WORD || x->n > 63) return 0;
    memcpy(buf, x->t, x->n);
    buf[x->n] = 0;
    return 1;
}

int scan_double(struct scan *x, double *out, nami_err *err)
{
    char buf[64], *end;
    if (!word_copy(x, buf)) return scan_error(x, "a number", err);
    *out = strtod(buf, &end);
    if (*end || end == buf || !isfinite(*out)) return scan_error(x, "a number", err);
    scan_next(x);
    return 0;
}

int scan_int(struct scan *x, long lo, long hi, int *out, nami_err *err)
{
    char buf[64], *end;
    if (!word_copy(x, buf)) return scan_error(x, "a whole number", err);
    errno = 0;
    long v = strtol(buf, &end, 10);
    if (*end || end == buf) return scan_error(x, "a whole number", err);
    if (errno || v < lo || v > hi)
        return err_at(err, NAMI_EINPUT, x->tline, x->tcol,
                      "%s is out of range; it must be %ld to %ld", buf, lo, hi);
    *out = (int)v;
    scan_next(x);
    return 0;
}
