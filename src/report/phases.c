/* phases.c: what elimination works on and leaves behind. */
#include <stdlib.h>

#include "base/err.h"
#include "graph/cliques.h"
#include "report/names.h"
#include "report/show.h"
#include "report/table.h"

enum { PHASE_EDGES = 20000000, SOME_EDGES = 300, SOME_CLIQUES = 60, CLIQUE_NAMES = 50 };

static void put_edges(const struct view *w, const char *head, const struct ugraph *j,
                      struct str *out)
{
    struct wrap line = wrap_head(out, head, SHOW_INDENT, w->width);
    struct str edge = {0};
    int64_t left = SOME_EDGES;
    put_count(&edge, j->m, "edge", "edges");
    if (j->m) str_put(&edge, ":");
    if (!edge.oom) wrap_text(&line, edge.s);
    for (int u = 0; u < j->n && left; u++)
        for (int64_t k = j->ap[u]; k < j->ap[u + 1] && left; k++) {
            if (j->a[k] < u) continue;
            edge.n = 0;
            put_name(&edge, w->bn, u);
            str_put(&edge, "-");
            put_name(&edge, w->bn, j->a[k]);
            if (edge.oom) break;
            wrap_word(&line, edge.s);
            left--;
        }
    if (j->m > SOME_EDGES) {
        edge.n = 0;
        str_printf(&edge, "… and %s more", count_text(j->m - SOME_EDGES).s);
        if (!edge.oom) wrap_text(&line, edge.s);
    }
    wrap_end(&line);
    if (edge.oom) out->oom = 1;
    str_free(&edge);
}

/* Without the barren variables, which elimination never sees. */
int show_moral(const struct view *w, struct str *out, nami_err *err)
{
    unsigned char *skip = new_array(unsigned char, bn_n(w->bn));
    struct ugraph j = {0};
    int inexact, rc;
    if (!skip) return err_nomem(err);
    rc = roles(&w->v->p, skip, &inexact, err);
    for (int v = 0; v < bn_n(w->bn); v++)
        skip[v] = skip[v] == ROLE_MODEL || skip[v] == ROLE_DROPPED;
    if (!rc) rc = moral_init(&j, &w->bn->dag, skip, err);
    if (!rc) put_edges(w, "moral", &j, out);
    ugraph_fini(&j);
    free(skip);
    return rc;
}

int show_induced(const struct view *w, struct str *out, nami_err *err)
{
    struct ugraph j = {0};
    int rc = induced_init(&j, w->h, PHASE_EDGES, err);
    if (!rc) put_edges(w, "induced", &j, out);
    ugraph_fini(&j);
    return rc;
}

int show_cliques(const struct view *w, struct str *out, nami_err *err)
{
    struct table t = {.align = "llll"};
    struct cliques c = {0};
    int rc = cliques_new(w->h, PHASE_EDGES, &c, err);
    if (rc) return rc;
    int some = c.n > SOME_CLIQUES ? SOME_CLIQUES : c.n;
    for (int i = 0; i < some; i++) {
        const struct clique *k = &c.clique[i];
        table_cell(&t, i ? "" : "cliques    ");
        str_printf(&t.cells, "%d", i + 1), table_end(&t);
        put_array(&t.cells, w->bn, k->node, k->n, " ", CLIQUE_NAMES), table_end(&t);
        if (k->parent < 0)
            str_put(&t.cells, "root");
        else
            str_printf(&t.cells, "to %d over ", k->parent + 1);
        if (k->parent >= 0 && !k->nsep) str_put(&t.cells, "nothing");
        put_array(&t.cells, w->bn, k->sep, k->nsep, " ", CLIQUE_NAMES), table_end(&t);
    }
    table_put(&t, 0, out);
    if (some < c.n)
        str_printf(out, "%*s… and %s more\n", SHOW_INDENT, "", count_text(c.n - some).s);
    cliques_free(&c);
    return 0;
}
