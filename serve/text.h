/* text.h: texts that grow, with what answers are made of: JSON strings and numbers. */
#ifndef SERVE_TEXT_H
#define SERVE_TEXT_H

#include <stddef.h>

/* All zero: empty.  When memory runs out, `failed` is set and later calls do nothing. */
struct text {
    char *bytes; /* ends with a NUL, which `size` does not count; NULL if nothing was put */
    size_t size, room;
    int failed;
};

void text_put(struct text *t, const char *words);
void text_bytes(struct text *t, const char *bytes, size_t n);
void text_printf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* With 9 significant digits; what is not finite is `other`: null in JSON, NA in CSV. */
void text_number(struct text *t, double x, const char *other);
void text_quoted(struct text *t, const char *words);  /* a JSON string */
void text_csv(struct text *t, const char *words);     /* a field of CSV */
void text_escaped(struct text *t, const char *words); /* in HTML, and labels of metrics */
void text_free(struct text *t);

#endif
