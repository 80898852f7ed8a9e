/* lex.c: the lexer of the model language; common non-ASCII characters are read as what was meant,
   with a message. */
#include "model/lang/lex.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TOLD_MAX = 32, NUMBER_MAX = 500 };

struct lex {
    const char *text, *s, *end;
    const char *mark; /* the position of `line` and `col` */
    int line, col;
    int newline;
    uint32_t told[TOLD_MAX]; /* unusual characters that were reported */
    int ntold;
    struct tokens *out;
    struct diags *d;
};

static int is_digit(char c) { return c >= '0' && c <= '9'; }

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static int is_word(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '_'; }

static int starts(const struct lex *x, const char *p)
{
    size_t n = strlen(p);
    return (size_t)(x->end - x->s) >= n && memcmp(x->s, p, n) == 0;
}

static int columns(const char *s, const char *end)
{
    int n = 0;
    for (; s < end; s += str_char(s, (size_t)(end - s))) n++;
    return n;
}

/* The position of from..s on the current line; from must not be before the last position
   requested. */
static struct place place_from(struct lex *x, const char *from)
{
    x->col += columns(x->mark, from);
    x->mark = from;
    return (struct place){x->line, x->col, columns(from, x->s)};
}

static int emit(struct lex *x, struct token t, const char *from, const char *to)
{
    t.off = (int)(from - x->text);
    t.len = (int)(to - from);
    t.newline = x->newline;
    x->newline = 0;
    return vec_push(&x->out->list, t);
}

/* ---- blanks and comments -------------------------------------------------- */

/* Skips a line break. */
static void skip_newline(struct lex *x)
{
    x->s += starts(x, "\r\n") ? 2 : 1;
    x->mark = x->s;
    x->line++;
    x->col = 1;
    x->newline = 1;
}

static int at_newline(const struct lex *x)
{
    return x->s < x->end && (*x->s == '\n' || *x->s == '\r');
}

static void skip_line(struct lex *x)
{
    while (x->s < x->end && *x->s && !at_newline(x)) x->s++;
}

static void skip_comment(struct lex *x)
{
    const char *from = x->s;
    x->s += 2;
    struct place at = place_from(x, from);
    while (x->s < x->end && !starts(x, "*/")) {
        if (at_newline(x))
            skip_newline(x);
        else
            x->s++;
    }
    if (x->s < x->end) {
        x->s += 2;
        return;
    }
    diag_error(x->d, at, "close it with */", "this comment has no end");
    x->out->cut = 1;
}

static void skip_blanks(struct lex *x)
{
    while (x->s < x->end) {
        const char *from = x->s;
        if (at_newline(x)) {
            skip_newline(x);
        } else if (strchr(" \t\f\v", *x->s) && *x->s) {
            x->s++;
        } else if (*x->s == '#') {
            skip_line(x);
        } else if (starts(x, "//")) {
            x->s += 2;
            diag_error(x->d, place_from(x, from), "write # instead", "comments begin with #");
            skip_line(x);
        } else if (starts(x, "/*")) {
            skip_comment(x);
        } else {
            return;
        }
    }
}

/* ---- what is not ASCII ---------------------------------------------------- */

static const struct odd {
    uint32_t code;
    const char *plain, *name;
} odd[] = {
    {0x2212, "-", "a typographic minus sign"},
    {0x2010, "-", "a typographic hyphen"},
    {0x2011, "-", "a typographic hyphen"},
    {0x2013, "-", "a typographic dash"},
    {0x2014, "-", "a typographic dash"},
    {0x201C, "\"", "a typographic quote"},
    {0x201D, "\"", "a typographic quote"},
    {0x201E, "\"", "a typographic quote"},
    {0x2018, "\"", "a typographic quote"},
    {0x2019, "\"", "a typographic quote"},
    {0x00D7, "*", "a multiplication sign"},
    {0x00B7, "*", "a multiplication dot"},
    {0x22C5, "*", "a multiplication dot"},
    {0x00F7, "/", "a division sign"},
    {0x2264, "<=", "a typographic 'less or equal'"},
    {0x2265, ">=", "a typographic 'greater or equal'"},
    {0x2260, "!=", "a typographic 'not equal'"},
    {0x2190, "<-", "a typographic arrow"},
    {0x2192, "->", "a typographic arrow"},
    {0x223C, "~", "a typographic tilde"},
    {0x02DC, "~", "a typographic tilde"},
    {0xFF5E, "~", "a wide tilde"},
    {0xFF08, "(", "a wide parenthesis"},
    {0xFF09, ")", "a wide parenthesis"},
    {0xFF0C, ",", "a wide comma"},
    {0x00A0, " ", "a no-break space"},
    {0x202F, " ", "a no-break space"},
    {0x2009, " ", "a thin space"},
    {0x3000, " ", "a wide space"},
    {0x200B, " ", "an invisible space"},
    {0xFEFF, " ", "an invisible space"},
};

static const char *const greek[] = {
    "alpha", "beta",   "gamma",   "delta", "epsilon", "zeta",    "eta",  "theta", "iota",
    "kappa", "lambda", "mu",      "nu",    "xi",      "omicron", "pi",   "rho",   "sigma",
    "sigma", "tau",    "upsilon", "phi",   "chi",     "psi",     "omega"};

static uint32_t decode(const char *s, size_t n)
{
    static const unsigned char mask[] = {0, 0xFF, 0x1F, 0x0F, 0x07};
    uint32_t c = (unsigned char)s[0] & mask[n];
    for (size_t i = 1; i < n; i++) c = c << 6 | ((unsigned char)s[i] & 0x3F);
    return c;
}

/* Each unusual character is reported once. */
static int is_told(struct lex *x, uint32_t c)
{
    for (int i = 0; i < x->ntold; i++)
        if (x->told[i] == c) return 1;
    if (x->ntold == TOLD_MAX) return 1;
    x->told[x->ntold++] = c;
    return 0;
}

static const struct odd *odd_find(uint32_t c)
{
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        if (odd[i].code == c) return &odd[i];
    return NULL;
}

static int is_odd_letter(uint32_t c)
{
    return c >= 0xAA && !odd_find(c) && !(c >= 0x2000 && c < 0x2C00);
}

static int lex_op(struct lex *x, const char *plain, const char *from);
static int lex_string(struct lex *x, const char *from);

static int lex_word(struct lex *x, const char *from);

static void tell_odd(struct lex *x, const char *from, uint32_t c, const struct odd *o)
{
    struct place at = place_from(x, from);
    int n = (int)(x->s - from);
    if (is_told(x, c)) return;
    if (n == 1)
        diag_error(x->d, at, "is this a text file, in UTF-8?", "the byte 0x%02X cannot stand here",
                   (unsigned char)*from);
    else if (!o)
        diag_error(x->d, at, "write plain ASCII, except in comments", "'%.*s' cannot stand here", n,
                   from);
    else if (*o->plain == ' ')
        diag_error(x->d, at, "replace it by a plain blank", "this is %s", o->name);
    else
        diag_error(x->d, at, diag_text(x->d, "type a plain %s", o->plain), "'%.*s' is %s", n, from,
                   o->name);
}

/* Replaces the character by its ASCII equivalent, so that parsing can continue. */
static int lex_odd(struct lex *x)
{
    const char *from = x->s;
    size_t n = str_char(x->s, (size_t)(x->end - x->s));
    uint32_t c = n > 1 ? decode(x->s, n) : (unsigned char)*x->s;
    const struct odd *o = odd_find(c);
    if (n > 1 && is_odd_letter(c)) return lex_word(x, from);
    x->s += n;
    tell_odd(x, from, c, o);
    if (!o || *o->plain == ' ') return 0;
    return *o->plain == '"' ? lex_string(x, from) : lex_op(x, o->plain, from);
}

/* ---- names, numbers, strings, operators ------------------------------------ */

static void tell_letter(struct lex *x, const char *from, uint32_t c)
{
    const char *advice = "use letters a to z, digits, '.' and '_'";
    if (c == 0xB5) c = 0x3BC; /* the micro sign */
    if (is_told(x, c)) return;
    if (c >= 0x3B1 && c <= 0x3C9) advice = diag_text(x->d, "write %s", greek[c - 0x3B1]);
    diag_error(x->d, place_from(x, from), advice, "'%.*s' cannot be a name", (int)(x->s - from),
               from);
}

/* A name; also accepts invalid letters, so that parsing can continue. */
static int lex_word(struct lex *x, const char *from)
{
    uint32_t wrong = 0;
    while (x->s < x->end) {
        size_t n = str_char(x->s, (size_t)(x->end - x->s));
        uint32_t c = n > 1 ? decode(x->s, n) : 0;
        if (n == 1 ? !is_word(*x->s) : !is_odd_letter(c)) break;
        if (n > 1 && !wrong) wrong = c;
        x->s += n;
    }
    struct token t = {.kind = TOKEN_NAME, .at = place_from(x, from)};
    if (wrong)
        tell_letter(x, from, wrong);
    else if (!is_letter(*from))
        diag_error(x->d, t.at, "begin it with a letter", "a name cannot begin with '%c'", *from);
    return emit(x, t, from, x->s);
}

static void tell_number(struct lex *x, const char *from, const char *good)
{
    int n = (int)(x->s - from), k = (int)(good - from);
    struct place at = place_from(x, from);
    if (*good == 'L' && n == k + 1)
        diag_error(x->d, at, diag_text(x->d, "write %.*s", k, from), "'%.*s' is not a number", n,
                   from);
    else if (is_letter(*good) && *good != 'e' && *good != 'E')
        diag_error(x->d, at,
                   diag_text(x->d, "to multiply, write %.*s * %.*s; a name begins with a letter", k,
                             from, n - k, good),
                   "'%.*s' is neither a number nor a name", n, from);
    else
        diag_error(x->d, at, "write it as 12, 1.5, .5 or 1.0E-6", "'%.*s' is not a number", n,
                   from);
}

static void skip_digits(struct lex *x)
{
    while (x->s < x->end && is_digit(*x->s)) x->s++;
}

static int lex_number(struct lex *x)
{
    const char *from = x->s, *good;
    char copy[NUMBER_MAX + 1];
    skip_digits(x);
    if (x->s < x->end && *x->s == '.') x->s++;
    skip_digits(x);
    good = x->s;
    if (x->s < x->end && (*x->s == 'e' || *x->s == 'E')) {
        x->s++;
        if (x->s < x->end && (*x->s == '+' || *x->s == '-')) x->s++;
        if (x->s < x->end && is_digit(*x->s))
            skip_digits(x);
        else
            x->s = good;
    }
    good = x->s;
    while (x->s < x->end && is_word(*x->s)) x->s++;
    if (x->s == good + 1 && (*good == 'e' || *good == 'E') && x->s < x->end &&
        strchr("+-", *x->s) && *x->s)
        x->s++; /* 1e- */
    size_t n = (size_t)(good - from);
    struct token t = {.kind = TOKEN_NUMBER, .at = place_from(x, from)};
    if (x->s > good) {
        tell_number(x, from, good);
    } else if (n > NUMBER_MAX) {
        diag_error(x->d, t.at, NULL, "this number has more than %d digits", NUMBER_MAX);
    } else {
        memcpy(copy, from, n);
        copy[n] = 0;
        t.value = strtod(copy, NULL);
        if (isinf(t.value)) {
            diag_error(x->d, t.at, "the largest is about 1.8e308", "the number %s is too large",
                       copy);
            t.value = 0;
        }
    }
    return emit(x, t, from, x->s);
}

/* Up to the next quote on the line, of any kind if the first was not ASCII. */
static int lex_string(struct lex *x, const char *from)
{
    const char *begin = x->s;
    struct token t = {.kind = TOKEN_STRING};
    while (x->s < x->end && *x->s && !at_newline(x)) {
        size_t n = str_char(x->s, (size_t)(x->end - x->s));
        const struct odd *o = n > 1 && *from != '"' ? odd_find(decode(x->s, n)) : NULL;
        if ((n == 1 && *x->s == (*from == '\'' ? '\'' : '"')) || (o && *o->plain == '"')) {
            const char *end = x->s;
            x->s += n;
            t.at = place_from(x, from);
            if (*from == '\'') {
                t.kind = TOKEN_BAD;
                diag_error(x->d, t.at, "write \" instead of '", "a string stands in double quotes");
            }
            return emit(x, t, begin, end);
        }
        if (*x->s == '\\' && x->s + 1 < x->end && (x->s[1] == '"' || x->s[1] == '\\')) n = 2;
        x->s += n;
    }
    t.kind = TOKEN_BAD;
    t.at = place_from(x, from);
    if (*from == '"')
        diag_error(x->d, t.at, "close it on the same line with \"", "this string has no end");
    else if (*from == '\'')
        diag_error(x->d, t.at, "a string stands in double quotes; comments begin with #",
                   "this ' has no meaning here");
    return emit(x, t, from, x->s);
}

/* x->s stands behind it. */
static int lex_op(struct lex *x, const char *plain, const char *from)
{
    struct token t = {.kind = TOKEN_OP, .at = place_from(x, from)};
    t.op = plain[1] ? OP2(plain[0], plain[1]) : plain[0];
    return emit(x, t, from, x->s);
}

/* %op%: without blanks inside, as in JAGS. */
static int lex_special(struct lex *x)
{
    const char *from = x->s, *s = x->s + 1;
    struct token t = {.kind = TOKEN_SPECIAL};
    while (s < x->end && *s && !strchr("% \t\r\n", *s)) s++;
    int closed = s < x->end && *s == '%';
    x->s = closed ? s + 1 : from + 1;
    size_t n = (size_t)(x->s - from);
    t.at = place_from(x, from);
    if (!closed)
        diag_error(x->d, t.at, "the remainder is written a %% b", "there is no operator %%");
    else if (!(n == 2 || (n == 3 && strchr("*/", from[1]))))
        diag_error(x->d, t.at,
                   "there are %*% (matrix product), %/% (integer division) and %% (remainder)",
                   "there is no operator %.*s", (int)(n < 40 ? n : 40), from);
    return emit(x, t, from, x->s);
}

static const char *const pairs[] = {"<-", "<=", ">=", "==", "!=", "&&", "||", "->", "=<", "=>",
                                    "<<", ">>", ":=", "+=", "-=", "*=", "/=", "~=", "++"};

static int lex_symbol(struct lex *x)
{
    const char *from = x->s;
    char one[2] = {*from, 0};
    if (starts(x, "**")) {
        x->s += 2;
        return lex_op(x, "^", from);
    }
    if (starts(x, "*/") && !starts(x, "*/*")) {
        x->s += 2;
        struct token t = {.kind = TOKEN_BAD, .at = place_from(x, from)};
        diag_error(x->d, t.at, "remove it; a comment ends at its first */",
                   "this */ ends no comment");
        return emit(x, t, from, x->s);
    }
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (starts(x, pairs[i])) {
            x->s += 2;
            return lex_op(x, pairs[i], from);
        }
    x->s++;
    return lex_op(x, one, from);
}

static int lex_one(struct lex *x)
{
    const char *from = x->s;
    char c = *x->s;
    if (is_letter(c)) return lex_word(x, from);
    if (is_digit(c) || (c == '.' && x->s + 1 < x->end && is_digit(x->s[1]))) return lex_number(x);
    if ((c == '_' || c == '.') && x->s + 1 < x->end && is_word(x->s[1])) return lex_word(x, from);
    if (c == '"' || c == '\'') return x->s++, lex_string(x, from);
    if (c == '%') return lex_special(x);
    if ((unsigned char)c < 32 || (unsigned char)c >= 127) return lex_odd(x);
    return lex_symbol(x);
}

/* A NUL, or two bytes a character: nothing sensible can follow. */
static int is_binary(struct lex *x)
{
    const char *from = x->s;
    int wide = x->s == x->text && (starts(x, "\xFF\xFE") || starts(x, "\xFE\xFF"));
    if (*x->s && !wide) return 0;
    x->s++;
    struct place at = {0};
    if (!wide) at = place_from(x, from);
    diag_error(x->d, at, "save it as plain text, in UTF-8",
               wide ? "this file is in UTF-16" : "this file holds a NUL byte");
    x->s = x->end;
    return x->out->cut = 1;
}

int lex(const char *text, size_t len, struct tokens *out, struct diags *d)
{
    struct lex x = {.text = text, .s = text, .end = text + len, .line = 1, .col = 1};
    struct token end = {.kind = TOKEN_END};
    x.out = out;
    x.d = d;
    x.newline = 1;
    if (starts(&x, "\xEF\xBB\xBF")) x.s += 3; /* byte-order mark */
    x.mark = x.s;
    for (skip_blanks(&x); x.s < x.end && !is_binary(&x); skip_blanks(&x))
        if (lex_one(&x)) return -1;
    x.newline = 1;
    end.at = (struct place){1, 1, 1};
    if (out->list.n) { /* behind the last word */
        end.at = out->list.a[out->list.n - 1].at;
        end.at.col += end.at.len;
        end.at.len = 1;
    }
    for (int i = 0; i < 3; i++) /* so that lookahead stays within bounds */
        if (emit(&x, end, x.end, x.end)) return -1;
    return 0;
}
