/* table.c: text tables: cells are collected row by row and aligned when written. */
#include "report/table.h"

#include <string.h>

enum { MAX_COLUMNS = 16, GAP = 2 };

void table_cell(struct table *t, const char *text)
{
    str_put(&t->cells, text);
    table_end(t);
}

void table_end(struct table *t) { str_putn(&t->cells, "", 1); }

void table_put(struct table *t, int indent, struct str *out)
{
    int ncol = (int)strlen(t->align), width[MAX_COLUMNS] = {0}, c = 0;
    if (t->cells.oom) out->oom = 1;
    if (!t->cells.n || out->oom) {
        str_free(&t->cells);
        return;
    }
    const char *s = t->cells.s, *end = s + t->cells.n;
    for (const char *p = s; p < end; p += strlen(p) + 1, c = (c + 1) % ncol)
        if (str_width(p) > width[c]) width[c] = str_width(p);
    for (c = 0; s < end; s += strlen(s) + 1, c = (c + 1) % ncol) {
        int pad = width[c] - str_width(s), right = t->align[c] == 'r';
        str_printf(out, "%*s%s", (c ? GAP : indent) + (right ? pad : 0), "", s);
        if (c < ncol - 1) {
            str_printf(out, "%*s", right ? 0 : pad, "");
            continue;
        }
        while (out->n && out->s[out->n - 1] == ' ') out->s[--out->n] = 0; /* an empty last cell */
        str_put(out, "\n");
    }
    str_free(&t->cells);
}
