/* text.c: texts that grow. */
#include "text.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int reserve(struct text *t, size_t n)
{
    size_t room = t->room ? t->room : 256;
    if (t->failed || n > SIZE_MAX / 4 - t->size) return t->failed = 1;
    while (room < t->size + n + 1) room *= 2;
    if (room == t->room) return 0;
    char *bytes = realloc(t->bytes, room);
    if (!bytes) return t->failed = 1;
    t->bytes = bytes;
    t->room = room;
    return 0;
}

void text_bytes(struct text *t, const char *bytes, size_t n)
{
    if (reserve(t, n)) return;
    if (n) memcpy(t->bytes + t->size, bytes, n);
    t->size += n;
    t->bytes[t->size] = 0;
}

void text_put(struct text *t, const char *words) { text_bytes(t, words, strlen(words)); }

void text_printf(struct text *t, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    if (n >= 0 && !reserve(t, (size_t)n)) {
        vsnprintf(t->bytes + t->size, (size_t)n + 1, fmt, again);
        t->size += (size_t)n;
    }
    va_end(again);
    va_end(ap);
}

/* x of 1e-4 ... 1e9 without an exponent: 9 digits from an integer, several times as fast as printf.
 */
static size_t print_plain(double x, char *to)
{
    static const double power[] = {1,   1e1, 1e2, 1e3,  1e4,  1e5, 1e6,
                                   1e7, 1e8, 1e9, 1e10, 1e11, 1e12};
    char digits[24];
    size_t n = 0;
    int decimals = 0, len = 0;
    while (decimals < 12 && x * power[decimals] < 1e8) decimals++;
    uint64_t m = (uint64_t)(x * power[decimals] + 0.5);
    while (decimals > 0 && m % 10 == 0) m /= 10, decimals--;
    do digits[len++] = (char)('0' + m % 10);
    while ((m /= 10) || len <= decimals);
    while (len > decimals) to[n++] = digits[--len];
    if (decimals) to[n++] = '.';
    while (len > 0) to[n++] = digits[--len];
    return n;
}

void text_number(struct text *t, double x, const char *other)
{
    char to[40];
    size_t n = 0;
    if (!isfinite(x)) {
        text_put(t, other);
        return;
    }
    if (x == 0)
        to[n++] = '0';
    else if (fabs(x) >= 1e-4 && fabs(x) < 999999999) {
        if (x < 0) to[n++] = '-';
        n += print_plain(fabs(x), to + n);
    } else
        n = (size_t)snprintf(to, sizeof to, "%.9g", x);
    text_bytes(t, to, n);
}

/* Bytes that are not UTF-8 become '?': an answer is always valid JSON. */
static size_t utf8_length(const unsigned char *s)
{
    size_t n = s[0] < 0x80                   ? 1
               : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
               : (s[0] & 0xf0) == 0xe0       ? 3
               : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                             : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    if (n == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0))) return 0;
    if (n == 4 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))) return 0;
    return n;
}

void text_quoted(struct text *t, const char *words)
{
    text_put(t, "\"");
    for (const unsigned char *s = (const unsigned char *)words; *s;) {
        size_t n = utf8_length(s);
        if (*s == '"' || *s == '\\')
            text_printf(t, "\\%c", *s);
        else if (*s < 32 || *s == 127)
            text_printf(t, "\\u%04x", *s);
        else if (n)
            text_bytes(t, (const char *)s, n);
        else
            text_put(t, "?");
        s += n ? n : 1;
    }
    text_put(t, "\"");
}

void text_csv(struct text *t, const char *words)
{
    if (!strpbrk(words, ",\"\n\r")) {
        text_put(t, words);
        return;
    }
    text_put(t, "\"");
    for (; *words; words++) text_bytes(t, *words == '"' ? "\"\"" : words, *words == '"' ? 2 : 1);
    text_put(t, "\"");
}

void text_escaped(struct text *t, const char *words)
{
    for (; *words; words++) switch (*words) {
        case '&': text_put(t, "&amp;"); break;
        case '<': text_put(t, "&lt;"); break;
        case '>': text_put(t, "&gt;"); break;
        case '"': text_put(t, "&quot;"); break;
        default: text_bytes(t, words, 1);
        }
}

void text_free(struct text *t)
{
    free(t->bytes);
    *t = (struct text){0};
}
