#include "report/draw.h"

#include <gvc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "report/names.h"

enum { MAX_NODES = 400, MAX_EDGES = 800, DENSE = 300 };

/* Graphviz takes char * where it means const char *. */
#define C(s) ((char *)(uintptr_t)(s))

struct attr {
    int kind;
    const char *name, *value;
};

static const struct attr defaults[] = {
    {AGRAPH, "nami", "picture"}, /* so that io/dot.c does not take it for a structure */
    {AGRAPH, "fontname", "Helvetica,Arial,sans-serif"},
    {AGRAPH, "fontsize", "13"},
    {AGRAPH, "fontcolor", "#444444"},
    {AGRAPH, "ranksep", "0.45"},
    {AGRAPH, "nodesep", "0.22"},
    {AGRAPH, "pad", "0.15"},
    {AGRAPH, "labelloc", "b"},
    {AGRAPH, "labeljust", "c"},
    {AGRAPH, "style", ""},
    {AGRAPH, "pencolor", "black"},
    {AGRAPH, "label", ""},
    {AGRAPH, "margin", ""}, /* of the page in inches, of a frame in points */
    {AGRAPH, "rank", ""},
    {AGNODE, "shape", "ellipse"},
    {AGNODE, "fontname", "Helvetica,Arial,sans-serif"},
    {AGNODE, "fontsize", "13"},
    {AGNODE, "style", "filled"},
    {AGNODE, "fillcolor", "white"},
    {AGNODE, "color", "#222222"},
    {AGNODE, "fontcolor", "black"},
    {AGNODE, "margin", "0.06,0.03"},
    {AGNODE, "height", "0.42"},
    {AGNODE, "width", "0.42"},
    {AGNODE, "label", "\\N"},
    {AGEDGE, "style", "solid"},
    {AGEDGE, "color", "#333333"},
    {AGEDGE, "arrowsize", "0.7"},
};

/* For pictures with many edges, on which Graphviz would spend minutes. */
static const struct attr hurry[] = {
    {AGRAPH, "splines", "line"},
    {AGRAPH, "mclimit", "0.3"},
};

static int add_attrs(Agraph_t *g, const struct attr *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!agattr(g, a[i].kind, C(a[i].name), C(a[i].value))) return -1;
    return 0;
}

/* What a node or an edge can be, how it is drawn, and what the legend says. */
enum look { OBSERVED, MODEL_FACTOR, NUISANCE, ADDED, NLOOK };
static const struct {
    const char *name[2], *value[2], *legend;
} looks[NLOOK] = {
    [OBSERVED] = {{"fillcolor", NULL}, {"#d0d4da", NULL}, "shaded: observed"},
    [MODEL_FACTOR] = {{"style", NULL}, {"filled,dotted", NULL}, "dotted: the model's own factor"},
    [NUISANCE] = {{"color", "fontcolor"}, {"#b0b0b0", "#909090"}, "grey: nuisance"},
    [ADDED] = {{"style", "color"}, {"dashed", "#2060b0"}, "dashed: not adjacent in the model"},
};

struct picture {
    const struct view *w;
    Agraph_t *g;
    Agnode_t **node; /* of the side that is being drawn */
    struct str text; /* scratch */
    int used[NLOOK];
};

static void look(struct picture *x, void *obj, enum look l)
{
    for (int i = 0; i < 2 && looks[l].name[i]; i++)
        agset(obj, C(looks[l].name[i]), C(looks[l].value[i]));
    x->used[l] = 1;
}

/* Text that Graphviz shows as it is: no escapes, no entities, one line. */
static const char *label(struct picture *x, const char *s)
{
    x->text.n = 0;
    str_put(&x->text, "");
    for (; *s; s++) {
        if (*s == '\\')
            str_put(&x->text, "\\\\");
        else if (*s == '&')
            str_put(&x->text, "&amp;");
        else
            str_putn(&x->text, (unsigned char)*s < 32 ? " " : s, 1);
    }
    return x->text.oom ? "" : x->text.s;
}

/* `key` names it for Graphviz: m3 and h3 are the two pictures of node 3. */
static Agraph_t *subgraph(struct picture *x, Agraph_t *in, const char *key, const char *title)
{
    char name[32];
    snprintf(name, sizeof name, "cluster_%s", key);
    Agraph_t *s = agsubg(in, name, 1);
    if (s) agset(s, C("label"), C(label(x, title)));
    return s;
}

static int add_node(struct picture *x, Agraph_t *in, char side, int v)
{
    const struct bn_node *node = &x->w->bn->node.a[v];
    char name[32];
    snprintf(name, sizeof name, "%c%d", side, v);
    Agnode_t *a = agnode(in, name, 1);
    if (!(x->node[v] = a)) return -1;
    agset(a, C("label"), C(label(x, bn_name(x->w->bn, v))));
    if (node->observed) look(x, a, OBSERVED);
    if (node->nuisance && !node->observed) look(x, a, NUISANCE);
    return 0;
}

static Agedge_t *add_edge(struct picture *x, Agraph_t *in, int from, int to)
{
    return agedge(in, x->node[from], x->node[to], NULL, 1);
}

/* ---- plates --------------------------------------------------------------- */

/* Is plate a inside b (1), apart from it (0), or do they cross (-1)?  Equal
   plates count as inside each other. */
static int inside(const struct bn_plate *a, const struct bn_plate *b)
{
    int common = 0;
    for (int i = 0; i < a->n; i++)
        for (int k = 0; k < b->n; k++) common += a->node[i] == b->node[k];
    return common == a->n ? 1 : common == 0 ? 0 : -1;
}

/* Graphviz draws nested boxes only, so a plate that crosses an earlier one is
   left out.  Larger plates come first: each is put in the last one around it. */
static int add_plates(struct picture *x, Agraph_t *side)
{
    const struct bn *bn = x->w->bn;
    int n = (int)bn->plate.n, rc = -1;
    int *by_size = raw_array(int, n);
    Agraph_t **frame = new_array(Agraph_t *, n);
    if (!by_size || !frame) goto out;
    for (int i = 0; i < n; i++) {
        int k = i;
        for (; k > 0 && bn->plate.a[by_size[k - 1]].n < bn->plate.a[i].n; k--)
            by_size[k] = by_size[k - 1];
        by_size[k] = i;
    }
    for (int i = 0; i < n; i++) {
        const struct bn_plate *p = &bn->plate.a[by_size[i]];
        Agraph_t *around = side;
        for (int k = 0; k < i && around; k++) {
            if (!frame[k]) continue;
            int in = inside(p, &bn->plate.a[by_size[k]]);
            if (in) around = in > 0 ? frame[k] : NULL;
        }
        if (!around) continue;
        char key[24];
        snprintf(key, sizeof key, "plate%d", by_size[i]);
        if (!(frame[i] = subgraph(x, around, key, p->label ? p->label : ""))) goto out;
        agset(frame[i], C("style"), C("rounded"));
        agset(frame[i], C("labelloc"), C("b"));
        agset(frame[i], C("labeljust"), C("r"));
        agset(frame[i], C("fontsize"), C("11"));
        agset(frame[i], C("pencolor"), C("#777777"));
        agset(frame[i], C("margin"), C("10"));
        for (int k = 0; k < p->n; k++)
            if (!agsubnode(frame[i], x->node[p->node[k]], 1)) goto out;
    }
    rc = 0;
out:
    free(by_size);
    free(frame);
    return rc;
}

/* ---- the two sides -------------------------------------------------------- */

static Agraph_t *add_side(struct picture *x, const char *key, const char *title)
{
    Agraph_t *s = subgraph(x, x->g, key, title);
    if (!s) return NULL;
    agset(s, C("labelloc"), C("t"));
    agset(s, C("fontsize"), C("15"));
    agset(s, C("pencolor"), C("#cccccc"));
    agset(s, C("margin"), C("14"));
    agset(s, C("style"), C("rounded"));
    return s;
}

static int draw_model(struct picture *x)
{
    const struct dag *g = &x->w->bn->dag;
    Agraph_t *side = add_side(x, "model", "model");
    if (!side) return -1;
    for (int v = 0; v < g->n; v++)
        if (add_node(x, side, 'm', v)) return -1;
    for (int v = 0; v < g->n; v++)
        for_parents(g, v, u) if (!add_edge(x, side, u, v)) return -1;
    return add_plates(x, side);
}

static int draw_inverse(struct picture *x)
{
    const struct inverse *h = x->w->h;
    const struct dag *g = &x->w->bn->dag;
    Agraph_t *side = add_side(x, "inverse", "inverse q(z|x)");
    Agraph_t *top = side ? agsubg(side, C("top"), 1) : NULL; /* the observed ones, in one row */
    unsigned char *is_model = new_array(unsigned char, g->n);
    int rc = -1;
    if (!top || !is_model) goto out;
    agset(top, C("rank"), C("same"));
    memset(x->node, 0, (size_t)g->n * sizeof *x->node);
    for (int i = 0; i < h->nmodel; i++) is_model[h->model[i]] = 1;
    /* Backwards: then Graphviz most often keeps left and right as in the model. */
    for (int v = g->n - 1; v >= 0; v--) {
        if (h->pos[v] < 0 && !is_model[v]) continue;
        if (add_node(x, side, 'h', v)) goto out;
        if (is_model[v]) look(x, x->node[v], MODEL_FACTOR);
        if (h->pos[v] >= h->nlatent && !agsubnode(top, x->node[v], 1)) goto out;
    }
    for (int v = g->n - 1; v >= 0; v--) {
        int i = h->pos[v];
        if (is_model[v])
            for_parents(g, v, u) {
                if (!x->node[u]) continue; /* a nuisance has no place in the inverse */
                if (!add_edge(x, side, u, v)) goto out;
            }
        if (i < 0 || i >= h->nlatent) continue;
        for (struct inverse_it it = inverse_it(h, i); inverse_next(&it);) {
            Agedge_t *e = add_edge(x, side, it.node, v);
            if (!e) goto out;
            if (!dag_has_edge(g, it.node, v) && !dag_has_edge(g, v, it.node)) look(x, e, ADDED);
        }
    }
    rc = 0;
out:
    free(is_model);
    return rc;
}

static void add_legend(struct picture *x)
{
    x->text.n = 0;
    for (int l = 0; l < NLOOK; l++)
        if (x->used[l]) str_printf(&x->text, "%s%s", x->text.n ? "  ·  " : "", looks[l].legend);
    if (!x->text.n || x->text.oom) return;
    agset(x->g, C("label"), x->text.s);
}

/* ---- Graphviz ------------------------------------------------------------- */

static int silent(char *message)
{
    (void)message;
    return 0;
}

/* How cgraph writes DOT: into a struct str, not into a FILE. */
static int io_put(void *chan, const char *s)
{
    str_put(chan, s);
    return 0;
}

static int io_flush(void *chan)
{
    (void)chan;
    return 0;
}

static Agiodisc_t io = {NULL, io_put, io_flush};
static Agdisc_t disc = {NULL, NULL, &io};

/* Fine, but no more pixels a side than bitmaps can have. */
static double dots_per_inch(Agraph_t *g)
{
    double side = fmax(GD_bb(g).UR.x, GD_bb(g).UR.y) + 100; /* points, with the page's margin */
    return fmin(144, 30000 * 72 / side);
}

/* One for the whole process: a plugin of Graphviz keeps a font of the first
   context and reads it after that context was freed. */
static GVC_t *context(void)
{
    static GVC_t *gvc;
    if (!gvc) gvc = gvContext();
    return gvc;
}

static int render(Agraph_t *g, const char *format, struct str *out, nami_err *err)
{
    char *data = NULL;
    unsigned n = 0;
    GVC_t *gvc = context();
    if (!gvc) return err_nomem(err);
    int laid_out = gvLayout(gvc, g, "dot") == 0;
    if (laid_out) GD_drawing(g)->dpi = dots_per_inch(g);
    int rc = laid_out ? gvRenderData(gvc, g, format, &data, &n) : -1;
    if (rc)
        rc = err_set(err, NAMI_EFILE, "Graphviz cannot draw %s; are its plugins installed?",
                     format);
    else
        str_putn(out, data, n);
    if (data) gvFreeRenderData(data);
    if (laid_out) gvFreeLayout(gvc, g);
    return rc;
}

int draw(const struct view *w, const char *format, struct str *out, nami_err *err)
{
    int64_t edges = w->h->edges > w->bn->dag.m ? w->h->edges : w->bn->dag.m;
    if (bn_n(w->bn) > MAX_NODES || edges > MAX_EDGES)
        return err_set(err, NAMI_ELIMIT,
                       "too large to draw: %d nodes and %lld edges; at most %d and %d can be read, "
                       "use --json instead",
                       bn_n(w->bn), (long long)edges, MAX_NODES, MAX_EDGES);
    struct picture x = {.w = w, .node = new_array(Agnode_t *, bn_n(w->bn))};
    agusererrf before = agseterrf(silent); /* Graphviz would print its warnings */
    x.g = agopen(C("nami"), Agdirected, &disc);
    int rc = x.node && x.g ? 0 : -1;
    if (!rc) rc = add_attrs(x.g, defaults, sizeof defaults / sizeof *defaults);
    if (!rc && edges > DENSE) rc = add_attrs(x.g, hurry, sizeof hurry / sizeof *hurry);
    if (!rc) rc = draw_model(&x);
    if (!rc) rc = draw_inverse(&x);
    if (!rc) add_legend(&x);
    if (rc || x.text.oom)
        rc = err_nomem(err);
    else if (strcmp(format, "dot") == 0)
        agwrite(x.g, out);
    else
        rc = render(x.g, format, out, err);
    if (!rc && out->oom) rc = err_nomem(err);
    if (x.g) agclose(x.g);
    agseterrf(before);
    str_free(&x.text);
    free(x.node);
    return rc;
}
