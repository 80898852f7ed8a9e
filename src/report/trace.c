/* trace.c: the steps of an inversion as a table (the paper's Table 1). */
#include "graph/trace.h"

#include <string.h>

#include "base/err.h"
#include "report/names.h"
#include "report/show.h"
#include "report/table.h"
#include "report/trace.h"

enum { CELL = 28 }; /* columns of a long cell */

int trace_of(const struct view *w, struct trace *t, nami_err *err)
{
    struct problem p = w->v->p;
    p.mode = (enum mode)mode_by_name(w->h->mode); /* the winner, if best was asked for */
    return trace_new(&p, w->h, w->v->method == &method_paper, t, err);
}

int64_t trace_fill(const struct trace_step *s)
{
    for (int i = 0; i < s->nfrontier; i++)
        if (s->frontier[i] == s->node) return s->fill[i];
    return s->nadded;
}

/* Names with something behind or between, cut to a cell's width. */
static void put_frontier(const struct view *w, const struct trace_step *s, struct str *out)
{
    size_t start = out->n;
    for (int i = 0; i < s->nfrontier; i++) {
        if (out->n - start > CELL && s->nfrontier - i > 1) {
            str_printf(out, " … +%d", s->nfrontier - i);
            break;
        }
        if (i) str_put(out, " ");
        put_name(out, w->bn, s->frontier[i]);
        str_printf(out, ":%lld", (long long)s->fill[i]);
    }
    if (!s->nfrontier) str_put(out, "-");
}

static void put_added(const struct view *w, const struct trace_step *s, struct str *out)
{
    size_t start = out->n;
    for (int i = 0; i < s->nadded; i++) {
        if (out->n - start > CELL && s->nadded - i > 1) {
            str_printf(out, " … +%d", s->nadded - i);
            break;
        }
        if (i) str_put(out, " ");
        put_name(out, w->bn, s->added[i].from);
        str_put(out, "-");
        put_name(out, w->bn, s->added[i].to);
    }
    if (!s->nadded) str_put(out, "-");
}

static void put_parents(const struct view *w, const struct trace_step *s, struct str *out)
{
    if (s->nuisance || !s->nparent) {
        str_put(out, s->nuisance ? "- (nuisance)" : "-");
        return;
    }
    put_array(out, w->bn, s->parent, s->nparent, ",", CELL);
    str_put(out, " -> ");
    put_name(out, w->bn, s->node);
}

static void put_chosen(const struct view *w, const struct trace_step *s, struct str *out)
{
    put_name(out, w->bn, s->node);
}

static void put_fill(const struct view *w, const struct trace_step *s, struct str *out)
{
    (void)w;
    str_printf(out, "%lld", (long long)trace_fill(s));
}

static const struct column {
    const char *head;
    void (*put)(const struct view *w, const struct trace_step *s, struct str *out);
} columns[] = {
    {"frontier:fill", put_frontier}, {"chosen", put_chosen},      {"fill", put_fill},
    {"added to J", put_added},       {"added to H", put_parents},
};
enum { NCOLUMN = sizeof columns / sizeof *columns };

int show_trace(const struct view *w, struct str *out, nami_err *err)
{
    struct table t = {.align = "rllrll"};
    struct trace x = {0};
    int rc = trace_of(w, &x, err);
    if (rc) return rc;
    table_cell(&t, "step");
    for (int k = 0; k < NCOLUMN; k++) table_cell(&t, columns[k].head);
    for (int i = 0; i < x.nstep; i++) {
        str_printf(&t.cells, "%d", i + 1), table_end(&t);
        for (int k = 0; k < NCOLUMN; k++) columns[k].put(w, &x.step[i], &t.cells), table_end(&t);
    }
    show_blank(out);
    table_put(&t, 2, out);
    show_blank(out);
    trace_free(&x);
    return 0;
}
