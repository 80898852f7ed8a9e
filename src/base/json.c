/* json.c: a parser of JSON by recursive descent (RFC 8259). */
#include "base/json.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { MOST_DEEP = 2000, MOST_SHOWN = 20 };

struct reader {
    const char *begin, *s, *end;
    size_t flags;
    int depth;
    struct str string; /* the last one, decoded */
    struct json_why *why;
};

/* These return 1, or 0 and what is wrong in *r->why. */
static int read_value(struct reader *r, json_t **out);

/* ---- errors ----------------------------------------------------------------------------- */

static void locate(struct reader *r)
{
    struct json_why *why = r->why;
    why->line = 1, why->column = 0;
    why->position = (size_t)(r->s - r->begin);
    for (const char *s = r->begin; s < r->s; s++) {
        if (*s == '\n')
            why->line++, why->column = 0;
        else
            why->column += (*s & 0xC0) != 0x80;
    }
}

/* What was read from `token` on is wrong. */
static int bad(struct reader *r, enum json_error_code code, const char *what, const char *token)
{
    size_t n = 0, left = (size_t)(r->s - token), k;
    while (n < left && n + (k = str_char(token + n, left - n)) <= MOST_SHOWN) n += k;
    r->why->code = code;
    if (n)
        snprintf(r->why->text, sizeof r->why->text, "%s near '%.*s'", what, (int)n, token);
    else
        snprintf(r->why->text, sizeof r->why->text, "%s", what);
    locate(r);
    return 0;
}

static int no_memory(struct reader *r)
{
    return bad(r, json_error_out_of_memory, "out of memory", r->s);
}

static int ends(struct reader *r)
{
    return bad(r, json_error_premature_end_of_input, "premature end of input", r->s);
}

/* The byte at r->s is none of those that may be here. */
static int expected(struct reader *r, const char *what)
{
    const char *token = r->s;
    if (r->s == r->end) return ends(r);
    size_t n = str_char(r->s, (size_t)(r->end - r->s));
    if (n == 1 && (*token & 0x80))
        return bad(r, json_error_invalid_utf8, "unable to decode a byte", r->s);
    r->s += n;
    return bad(r, json_error_invalid_syntax, what, (unsigned char)*token < 32 ? r->s : token);
}

/* ---- strings ---------------------------------------------------------------------------- */

static void blanks(struct reader *r)
{
    while (r->s < r->end && (*r->s == ' ' || *r->s == '\n' || *r->s == '\t' || *r->s == '\r'))
        r->s++;
}

/* The four digits at r->s; -1 if they are not there. */
static int read_hex(struct reader *r)
{
    int x = 0;
    if (r->end - r->s < 4) return -1;
    for (int i = 0; i < 4; i++) {
        char c = r->s[i];
        int lower = c | 32, digit = c >= '0' && c <= '9'           ? c - '0'
                                    : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10
                                                                   : -1;
        if (digit < 0) return -1;
        x = 16 * x + digit;
    }
    r->s += 4;
    return x;
}

static void put_utf8(struct str *out, int c)
{
    char u[4];
    int n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const int first[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (int i = n - 1; i > 0; i--, c >>= 6) u[i] = (char)(0x80 | (c & 0x3F));
    u[0] = (char)(first[n] | c);
    str_putn(out, u, (size_t)n);
}

/* The escape whose backslash is at r->s. */
static int read_escape(struct reader *r)
{
    static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    const char *start = r->s++;
    const char *name = r->s < r->end && *r->s ? strchr(names, *r->s) : NULL;
    int c = -1, low = -1;
    if (r->s == r->end) return ends(r);
    if (name) {
        str_putn(&r->string, &bytes[name - names], 1);
        r->s++;
        return 1;
    }
    if (*r->s == 'u') r->s++, c = read_hex(r);
    if (c == 0) return bad(r, json_error_null_character, "\\u0000 is not allowed", r->s);
    if (c >= 0xD800 && c <= 0xDBFF) {
        if (r->end - r->s >= 2 && r->s[0] == '\\' && r->s[1] == 'u') r->s += 2, low = read_hex(r);
        c = low >= 0xDC00 && low <= 0xDFFF ? 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00) : -1;
    }
    if (c < 0 || (c >= 0xDC00 && c <= 0xDFFF))
        return bad(r, json_error_invalid_syntax, "invalid escape", start);
    put_utf8(&r->string, c);
    return 1;
}

/* The string whose quote is at r->s, to r->string. */
static int read_string(struct reader *r)
{
    r->string.n = 0;
    str_putn(&r->string, "", 0);
    for (r->s++; r->s < r->end && *r->s != '"';) {
        const char *start = r->s;
        while (r->s < r->end && (unsigned char)*r->s >= 32 && *r->s != '"' && *r->s != '\\') {
            size_t n = str_char(r->s, (size_t)(r->end - r->s));
            if (n == 1 && (*r->s & 0x80)) return expected(r, "");
            r->s += n;
        }
        str_putn(&r->string, start, (size_t)(r->s - start));
        if (r->s == r->end) break;
        if (*r->s == '\\') {
            if (!read_escape(r)) return 0;
        } else if (*r->s != '"') {
            return expected(r,
                            *r->s == '\n' ? "unexpected newline" : "control character in a string");
        }
    }
    if (r->string.oom) return no_memory(r);
    if (r->s == r->end) return ends(r);
    r->s++;
    return 1;
}

/* ---- numbers and names ------------------------------------------------------------------ */

static int is_digit(const struct reader *r)
{
    return r->s < r->end && *r->s >= '0' && *r->s <= '9';
}

static int digits(struct reader *r)
{
    const char *start = r->s;
    while (is_digit(r)) r->s++;
    return r->s > start;
}

static int read_number(struct reader *r, json_t **out)
{
    const char *start = r->s;
    int real = 0, ok;
    if (*r->s == '-') r->s++;
    ok = r->s < r->end && *r->s == '0' ? r->s++, !is_digit(r) : digits(r);
    if (ok && r->s < r->end && *r->s == '.') r->s++, real = 1, ok = digits(r);
    if (ok && r->s < r->end && (*r->s | 32) == 'e') {
        r->s++, real = 1;
        if (r->s < r->end && (*r->s == '+' || *r->s == '-')) r->s++;
        ok = digits(r);
    }
    if (!ok) return bad(r, json_error_invalid_syntax, "invalid token", start);
    r->string.n = 0;
    str_putn(&r->string, start, (size_t)(r->s - start));
    if (r->string.oom) return no_memory(r);
    char *text = r->string.s, *point = strchr(text, '.');
    errno = 0;
    if (real || r->flags & JSON_DECODE_INT_AS_REAL) {
        if (point) *point = *localeconv()->decimal_point;
        double x = strtod(text, NULL);
        if (!isfinite(x)) return bad(r, json_error_numeric_overflow, "real number overflow", start);
        *out = json_real(x);
    } else {
        json_int_t i = strtoll(text, NULL, 10);
        if (errno == ERANGE) return bad(r, json_error_numeric_overflow, "too big integer", start);
        *out = json_integer(i);
    }
    return *out ? 1 : no_memory(r);
}

static int read_word(struct reader *r, json_t **out)
{
    const char *start = r->s;
    while (r->s < r->end && (*r->s | 32) >= 'a' && (*r->s | 32) <= 'z') r->s++;
    size_t n = (size_t)(r->s - start);
    if (n == 4 && memcmp(start, "true", n) == 0) *out = json_true();
    if (n == 5 && memcmp(start, "false", n) == 0) *out = json_false();
    if (n == 4 && memcmp(start, "null", n) == 0) *out = json_null();
    if (n == 0) return expected(r, "invalid token");
    return *out ? 1 : bad(r, json_error_invalid_syntax, "invalid token", start);
}

/* ---- values ----------------------------------------------------------------------------- */

/* One "name": value. */
static int read_member(struct reader *r, json_t *object)
{
    const char *start = r->s;
    if (r->s == r->end || *r->s != '"') return expected(r, "string or '}' expected");
    if (!read_string(r)) return 0;
    char *name = strdup(r->string.s);
    json_t *value = NULL;
    int ok = 0;
    if (!name)
        no_memory(r);
    else if (r->flags & JSON_REJECT_DUPLICATES && json_object_get(object, name))
        bad(r, json_error_duplicate_key, "duplicate object key", start);
    else if (blanks(r), r->s == r->end || *r->s != ':')
        expected(r, "':' expected");
    else
        r->s++, ok = read_value(r, &value);
    if (ok && json_object_set_new_nocheck(object, name, value)) ok = no_memory(r);
    free(name);
    return ok;
}

static int read_element(struct reader *r, json_t *list)
{
    json_t *value = NULL;
    if (!read_value(r, &value)) return 0;
    return json_array_append_new(list, value) ? no_memory(r) : 1;
}

/* The byte c, behind blanks? */
static int skip(struct reader *r, char c)
{
    blanks(r);
    if (r->s == r->end || *r->s != c) return 0;
    r->s++;
    return 1;
}

/* The list or object whose bracket is at r->s. */
static int read_inside(struct reader *r, json_t **out)
{
    int object = *r->s++ == '{', ok = 1;
    char last = object ? '}' : ']';
    json_t *all = object ? json_object() : json_array();
    if (!all) return no_memory(r);
    if (++r->depth > MOST_DEEP)
        ok = bad(r, json_error_stack_overflow, "brackets are nested too deep", r->s - 1);
    for (int more = ok && !skip(r, last); ok && more;) {
        blanks(r);
        ok = object ? read_member(r, all) : read_element(r, all);
        more = ok && !skip(r, last);
        if (more && !skip(r, ',')) ok = expected(r, object ? "'}' expected" : "']' expected");
    }
    r->depth--;
    *out = ok ? all : NULL;
    if (!ok) json_decref(all);
    return ok;
}

static int read_value(struct reader *r, json_t **out)
{
    blanks(r);
    if (r->s == r->end) return ends(r);
    if (*r->s == '{' || *r->s == '[') return read_inside(r, out);
    if (*r->s == '-' || is_digit(r)) return read_number(r, out);
    if (*r->s != '"') return read_word(r, out);
    if (!read_string(r)) return 0;
    *out = json_stringn_nocheck(r->string.s, r->string.n);
    return *out ? 1 : no_memory(r);
}

json_t *json_read(const char *text, size_t len, size_t flags, struct json_why *why)
{
    struct reader r = {.begin = text, .s = text, .end = text + len, .flags = flags, .why = why};
    json_t *root = NULL;
    int ok;
    *why = (struct json_why){.code = json_error_unknown};
    blanks(&r);
    if (r.s < r.end && (*r.s == '{' || *r.s == '['))
        ok = read_inside(&r, &root);
    else
        ok = expected(&r, "'[' or '{' expected");
    if (ok && !(flags & JSON_DISABLE_EOF_CHECK) && (blanks(&r), r.s < r.end)) {
        r.s++;
        ok = bad(&r, json_error_end_of_input_expected, "end of file expected", r.s - 1);
    }
    str_free(&r.string);
    if (!ok) json_decref(root);
    return ok ? root : NULL;
}

static int append(const char *text, size_t n, void *out)
{
    str_putn(out, text, n);
    return ((struct str *)out)->oom ? -1 : 0;
}

void json_print(const json_t *value, size_t flags, struct str *out)
{
    if (!value || json_dump_callback(value, append, out, flags)) out->oom = 1;
}
