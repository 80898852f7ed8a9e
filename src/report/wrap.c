/* wrap.c: fills lines with words up to a width, with a hanging indent. */
#include "report/wrap.h"

#include <string.h>

static void put(struct wrap *w, const char *word, size_t n, int columns)
{
    if (w->col > w->indent && w->col + 1 + columns > w->width) {
        str_put(w->out, "\n");
        str_printf(w->out, "%*s", w->indent, "");
        w->col = w->indent;
    }
    if (w->col > w->indent) {
        str_put(w->out, " ");
        w->col++;
    }
    str_putn(w->out, word, n);
    w->col += columns;
}

void wrap_word(struct wrap *w, const char *word) { put(w, word, strlen(word), str_width(word)); }

void wrap_text(struct wrap *w, const char *text)
{
    for (size_t n; *(text += strspn(text, " ")); text += n) {
        n = strcspn(text, " ");
        put(w, text, n, str_width(text) - str_width(text + n));
    }
}

void wrap_end(struct wrap *w)
{
    str_put(w->out, "\n");
    w->col = 0;
}

struct wrap wrap_head(struct str *out, const char *head, int indent, int width)
{
    int pad = indent - str_width(head);
    str_put(out, head);
    if (pad > 0) str_printf(out, "%*s", pad, "");
    return (struct wrap){out, width, indent, indent};
}
