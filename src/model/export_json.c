/* export_json.c: an elaborated model as JSON.  The keys nodes, edges, nuisance and stages are those
   of the structure format (io/json.c), which ignores the others. */
#include <stdlib.h>

#include "base/err.h"
#include "model/export.h"
#include "model/model.h"

static void put_nodes(const struct model *m, struct str *out)
{
    int n = 0;
    str_put(out, "{\"nodes\":[");
    for (int k = 0; k < m->ir.num_instances; k++) {
        int v = m->ir.node[k], s = m->ir.statement_of[k];
        if (v < 0) continue;
        const struct bn_node *node = &m->ir.bn->node.a[v];
        str_put(out, n++ ? ",\n  {\"name\":" : "\n  {\"name\":");
        str_quote(out, bn_name(m->ir.bn, v));
        str_printf(out, ",\"size\":%d,\"dist\":", node->size);
        str_quote(out, m->ir.statements.a[s].name);
        str_printf(out, ",\"observed\":%s,\"stmt\":%d}", node->observed ? "true" : "false", s);
    }
    str_put(out, "],\n");
}

static void put_edges(const struct model *m, struct str *out)
{
    const struct dag *g = &m->ir.bn->dag;
    int n = 0;
    str_put(out, "\"edges\":[");
    for (int v = 0; v < g->n; v++)
        for_parents (g, v, u) {
            str_put(out, n++ ? ",\n  [" : "\n  [");
            str_quote(out, bn_name(m->ir.bn, u));
            str_put(out, ",");
            str_quote(out, bn_name(m->ir.bn, v));
            str_put(out, "]");
        }
    str_put(out, "],\n");
}

/* Nuisances, and the latents of each stage if there are several. */
static void put_roles(const struct model *m, struct str *out)
{
    const struct bn *bn = m->ir.bn;
    int n = 0, last = 0;
    for (int v = 0; v < bn_n(bn); v++) {
        if (bn->node.a[v].stage > last) last = bn->node.a[v].stage;
        if (bn->node.a[v].observed || !bn->node.a[v].nuisance) continue;
        str_put(out, n++ ? "," : "\"nuisance\":[");
        str_quote(out, bn_name(bn, v));
    }
    if (n) str_put(out, "],\n");
    for (int k = 0; last && k <= last; k++) {
        str_put(out, k ? ",[" : "\"stages\":[[");
        n = 0;
        for (int v = 0; v < bn_n(bn); v++) {
            if (bn->node.a[v].observed || bn->node.a[v].stage != k) continue;
            if (n++) str_put(out, ",");
            str_quote(out, bn_name(bn, v));
        }
        str_put(out, "]");
    }
    if (last) str_put(out, "],\n");
}

static void put_train(const struct model *m, struct str *text, struct str *out)
{
    const struct syntax *s = &m->source.syntax;
    if (s->train.n) str_put(out, "\"train\":[");
    for (size_t i = 0; i < s->train.n; i++) {
        text->n = 0;
        syntax_put_rel(s, &s->train.a[i], text);
        if (i) str_put(out, ",");
        str_quote(out, text->s ? text->s : "");
    }
    if (s->train.n) str_put(out, "],\n");
}

static void put_statement(const struct model *m, const struct stmt *s, struct str *text,
                          struct str *out)
{
    text->n = 0;
    syntax_put_rel(&m->source.syntax, s->rel, text);
    str_put(out, "{\"text\":");
    str_quote(out, text->s ? text->s : "");
    str_printf(out, ",\"line\":%d,\"instances\":%d,\"plates\":[", s->lhs->at.line, s->n);
    for (int d = 0; d < s->depth; d++) {
        const struct loop *l = &m->source.syntax.loop.a[s->loop[d]];
        text->n = 0;
        str_printf(text, "%s ",
                   l->var < 0 ? "elements of" : syntax_name(&m->source.syntax, l->var));
        if (l->var >= 0) str_put(text, "in ");
        syntax_put_expr(&m->source.syntax, l->range, text);
        if (d) str_put(out, ",");
        str_quote(out, text->s ? text->s : "");
    }
    str_put(out, "]}");
}

int model_json(const struct model *m, struct str *out, nami_err *err)
{
    struct str text = {0};
    put_nodes(m, out);
    put_edges(m, out);
    put_roles(m, out);
    put_train(m, &text, out);
    str_put(out, "\"statements\":[");
    for (size_t i = 0; i < m->ir.statements.n; i++) {
        str_put(out, i ? ",\n  " : "\n  ");
        put_statement(m, &m->ir.statements.a[i], &text, out);
    }
    str_put(out, "]}\n");
    int oom = text.oom || out->oom;
    str_free(&text);
    return oom ? err_nomem(err) : 0;
}
