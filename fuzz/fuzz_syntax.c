/* fuzz_syntax.c: fuzzes the parser of the model language, in both dialects.  What it accepts
   is printed and read again: the tree must be the same. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "same_syntax.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void die(const char *what, const struct str *text)
{
    fprintf(stderr, "%s:\n%s\n", what, text->n ? text->s : "");
    abort();
}

/* Every message is text, and shows a place that exists. */
static void check_messages(const struct diags *d, const char *text, size_t len)
{
    struct str out = {0};
    int lines = 2;
    for (size_t i = 0; i < len; i++) lines += text[i] == '\n' || text[i] == '\r';
    diags_print(d, "f", text, len, &out);
    if (d->oom || out.oom || (d->nerror && !out.n)) die("no message", &out);
    for (size_t i = 0; i < out.n; i++)
        if ((unsigned char)out.s[i] < 32 && out.s[i] != '\n' && out.s[i] != '\t')
            die("a message that is no text", &out);
    for (size_t i = 0; i < d->list.n; i++) {
        struct place at = d->list.a[i].at;
        if (at.line < 0 || at.line > lines || (at.line && (at.col < 1 || at.len < 1)))
            die("a message without a place", &out);
    }
    str_free(&out);
}

static void again(const struct syntax *s, enum dialect as)
{
    struct syntax back;
    struct diags d = {0};
    struct str text = {0};
    syntax_put(s, as, &text);
    if (syntax_parse(&back, text.s, text.n, as, &d)) abort();
    if (d.nerror) {
        diags_print(&d, "printed", text.s, text.n, &text);
        die("cannot read what was printed", &text);
    }
    if (as == s->dialect && !same_syntax(s, &back)) die("read back another tree", &text);
    str_free(&text);
    syntax_free(&back);
    diags_free(&d);
}

static void parse(const char *text, size_t len, enum dialect dialect)
{
    struct syntax s;
    struct diags d = {0};
    if (syntax_parse(&s, text, len, dialect, &d)) abort();
    check_messages(&d, text, len);
    if (!d.nerror) {
        again(&s, dialect);
        again(&s, BUGS);
    }
    syntax_free(&s);
    diags_free(&d);
}

static void parse_alone(const char *text, size_t len)
{
    struct syntax s = {0};
    struct diags d = {0};
    struct str out = {0};
    struct expr *x = syntax_parse_expr(&s, text, len, &d);
    if (!x != !!d.nerror) die("a wrong expression without a message", &out);
    if (x) {
        syntax_put_expr(&s, x, &out);
        struct expr *y = syntax_parse_expr(&s, out.s, out.n, &d);
        if (!y || !same_expr(&s, x, &s, y)) die("another expression", &out);
    }
    check_messages(&d, text, len);
    str_free(&out);
    syntax_free(&s);
    diags_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char *text = malloc(len ? len : 1); /* nothing behind its end may be read */
    if (!text) abort();
    if (len) memcpy(text, data, len);
    parse(text, len, NATIVE);
    parse(text, len, BUGS);
    parse_alone(text, len);
    free(text);
    return 0;
}
