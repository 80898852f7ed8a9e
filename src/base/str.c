/* str.c: growing strings: appending, formatting, JSON quoting, display width of UTF-8 text. */
#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

static int room(struct str *t, size_t n)
{
    if (t->oom || (t->n + n + 1 > t->cap && vec_grow_((void **)&t->s, &t->cap, t->n + n + 1, 1)))
        t->oom = 1;
    return !t->oom;
}

void str_reserve(struct str *t, size_t n) { room(t, n); }

void str_putn(struct str *t, const char *s, size_t n)
{
    if (!room(t, n)) return;
    memcpy(t->s + t->n, s, n);
    t->s[t->n += n] = 0;
}

void str_put(struct str *t, const char *s) { str_putn(t, s, strlen(s)); }

void str_printf(struct str *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0 || !room(t, (size_t)n)) return;
    va_start(ap, fmt);
    vsnprintf(t->s + t->n, (size_t)n + 1, fmt, ap);
    va_end(ap);
    t->n += (size_t)n;
}

void str_or(struct str *t, const char *item, int i, int n)
{
    str_printf(t, "%s%s", i == 0 ? "" : i < n - 1 ? ", " : " or ", item);
}

void str_quote(struct str *t, const char *s)
{
    str_put(t, "\"");
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') {
            char e[2] = {'\\', *s};
            str_putn(t, e, 2);
        } else if ((unsigned char)*s < 32) {
            str_printf(t, "\\u%04x", (unsigned char)*s);
        } else {
            str_putn(t, s, 1);
        }
    }
    str_put(t, "\"");
}

void str_free(struct str *t)
{
    free(t->s);
    memset(t, 0, sizeof *t);
}

int str_width(const char *s)
{
    int n = 0;
    for (; *s; s++) n += (*s & 0xC0) != 0x80;
    return n;
}

size_t str_char(const char *s, size_t n)
{
    const unsigned char *u = (const unsigned char *)s;
    size_t k = u[0] < 0xC2 || u[0] > 0xF4 ? 1 : u[0] < 0xE0 ? 2 : u[0] < 0xF0 ? 3 : 4;
    if (k == 1 || k > n) return 1;
    for (size_t i = 1; i < k; i++)
        if ((u[i] & 0xC0) != 0x80) return 1;
    if ((u[0] == 0xE0 && u[1] < 0xA0) ||
        (u[0] == 0xED && u[1] > 0x9F) || /* long forms, surrogates */
        (u[0] == 0xF0 && u[1] < 0x90) || (u[0] == 0xF4 && u[1] > 0x8F))
        return 1;
    return k;
}

int str_is_utf8(const char *s)
{
    size_t len = strlen(s);
    for (size_t i = 0, k; i < len; i += k) {
        k = str_char(s + i, len - i);
        if (k == 1 && (unsigned char)s[i] >= 128) return 0;
    }
    return 1;
}

int str_ends(const char *s, size_t n, const char *endings)
{
    for (const char *e = endings, *end; *e; e = end + (*end == ' ')) {
        end = e + strcspn(e, " ");
        size_t k = (size_t)(end - e);
        if (n > k && memcmp(s + n - k, e, k) == 0) return 1;
    }
    return 0;
}
