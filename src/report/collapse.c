/* collapse.c: which latents are integrated out, of which kind, and why the others stay. */
#include "report/collapse.h"

#include <stdlib.h>

#include "base/err.h"
#include "report/names.h"
#include "report/show.h"
#include "report/table.h"

/* Latents of a statement are integrated out together or not at all: a line for each statement. */
static void put_rows(const struct view *w, const int *count, int exact, struct table *t)
{
    const struct bn *bn = w->bn;
    int first = 1, last = -1;
    for (int v = 0; v < bn_n(bn); v++) {
        int cls = bn->node.a[v].cls, at = w->h->pos[v];
        const char *kind = w->c->kind[v], *why = w->c->why[v];
        if (at < 0 || at >= w->h->nlatent || (kind != NULL) != exact || cls <= last) continue;
        last = cls;
        table_cell(t, !first ? "" : exact ? "exact      " : "learned    ");
        if (count[cls] > 1)
            str_printf(&t->cells, "%s (%s)", bn->cls.a[cls].name, count_text(count[cls]).s);
        else
            str_put(&t->cells, bn_name(bn, v));
        table_end(t);
        table_cell(t, exact ? kind : why ? why : "");
        first = 0;
    }
}

int show_exact(const struct view *w, struct str *out, nami_err *err)
{
    struct table t = {.align = "lll"};
    if (!w->c || !w->bn->cls.n) return 0;
    int *count = new_array(int, w->bn->cls.n);
    if (!count) return err_nomem(err);
    for (int i = 0; i < w->h->nlatent; i++) count[w->bn->node.a[w->h->perm[i]].cls]++;
    put_rows(w, count, 1, &t);
    put_rows(w, count, 0, &t);
    table_put(&t, 0, out);
    if (w->c->step.n)
        str_printf(out, "%-*s%.2g operations for each draw\n", SHOW_INDENT, "cost", w->c->cost);
    free(count);
    return 0;
}
