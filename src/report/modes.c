/* modes.c: how the modes compare on one structure. */
#include <string.h>

#include "base/err.h"
#include "report/names.h"
#include "report/show.h"
#include "report/table.h"

enum { COMPARE_NODES = 20000, COMPARE_EDGES = 10000000 };

static const enum mode compared[] = {MODE_FORWARD, MODE_REVERSE, MODE_FREE};

int show_modes(const struct view *w, struct str *out, nami_err *err)
{
    struct table t = {.align = "llrrl"};
    int rc = 0;
    if (!w->v->method->uses_mode || !w->h->nlatent) return 0;
    if (bn_n(w->bn) > COMPARE_NODES) {
        str_printf(out, "%-*snot compared: more than %s nodes\n", SHOW_INDENT, "modes",
                   count_text(COMPARE_NODES).s);
        return 0;
    }
    for (size_t i = 0; i < sizeof compared / sizeof *compared && !rc; i++) {
        const char *name = mode_names[compared[i]];
        int is_this = strcmp(name, w->h->mode) == 0;
        struct inverse *h = NULL;
        struct inversion v = *w->v; /* borrows what it points to */
        v.p.mode = compared[i];
        v.p.max_edges = COMPARE_EDGES;
        v.verify = VERIFY_NONE;
        v.exact = NULL; /* the other modes, with a network for all latents */
        if (!is_this) rc = inversion_run(&v, &h, err);
        if (rc && rc != NAMI_ELIMIT) break;
        const struct inverse *x = is_this ? w->h : h;
        table_cell(&t, i ? "" : "modes      ");
        table_cell(&t, name);
        if (rc) {
            str_printf(&t.cells, "over %s edges", count_text(COMPARE_EDGES).s), table_end(&t);
            table_cell(&t, "");
            table_cell(&t, "given up");
            rc = 0;
            err_clear(err);
        } else {
            put_count(&t.cells, x->edges, "edge", "edges"), table_end(&t);
            str_printf(&t.cells, "width %s", count_text(x->width).s), table_end(&t);
            table_cell(&t, is_this ? "<- this one" : "");
        }
        inverse_free(h);
    }
    table_put(&t, 0, out);
    return rc;
}
