/* str.h: a string buffer.  Allocation failures are recorded in `oom`, so that a sequence of appends
   needs only one check at its end. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stddef.h>

struct str {
    char *s; /* NUL-terminated once something was appended */
    size_t n, cap;
    int oom;
};

/* Makes room for n more bytes. */
void str_reserve(struct str *t, size_t n);
void str_put(struct str *t, const char *s);
void str_putn(struct str *t, const char *s, size_t n);
void str_printf(struct str *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Item i of n, as in "a, b or c". */
void str_or(struct str *t, const char *item, int i, int n);
/* s in double quotes, escaped as in JSON. */
void str_quote(struct str *t, const char *s);
void str_free(struct str *t);

/* Does s[n] end with one of these extensions (".json .jsonl"), preceded by at least one character?
 */
int str_ends(const char *s, size_t n, const char *endings);
/* The number of columns that UTF-8 text takes (one for each code point). */
int str_width(const char *s);
/* The number of bytes of the first character of s[n], n > 0: 1 if it is ASCII or invalid UTF-8. */
size_t str_char(const char *s, size_t n);
int str_is_utf8(const char *s);

#endif
