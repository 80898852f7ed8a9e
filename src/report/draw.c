/* draw.c: draws a model and its inverse with Graphviz: nodes, plates, edges, legend.  Graphviz and
   the libraries that it loads crash or exit when memory runs out, and have global state: a child
   process calls them. */
#include "report/draw.h"

#include <gvc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "base/err.h"
#include "report/names.h"
#include "report/sketch.h"

enum { DENSE = 300 };

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
    {AGEDGE, "dir", "forward"},
};

/* For pictures with many edges, on which Graphviz would spend minutes. */
static const struct attr hurry[] = {
    {AGRAPH, "splines", "line"},
    {AGRAPH, "mclimit", "0.3"},
};

/* For plates of statements: ranks are found for the whole picture, not box by box. */
static const struct attr plates[] = {
    {AGRAPH, "newrank", "true"},
};

/* For pictures with exact factors. */
static const struct attr outlines[] = {
    {AGNODE, "peripheries", "1"},
};

static int add_attrs(Agraph_t *g, const struct attr *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!agattr(g, a[i].kind, C(a[i].name), C(a[i].value))) return -1;
    return 0;
}

/* How the things of sketch.h are drawn, and what the legend says. */
static const struct {
    const char *name[2], *value[2], *legend;
} looks[NLOOK] = {
    [OBSERVED] = {{"fillcolor", NULL}, {"#d0d4da", NULL}, "shaded: observed"},
    [PARTLY] = {{"fillcolor", NULL}, {"#d0d4da;0.5:white", NULL}, "half shaded: partly observed"},
    [MODEL_FACTOR] = {{"style", NULL}, {"filled,dotted", NULL}, "dotted: the model's own factor"},
    [EXACT_FACTOR] = {{"peripheries", NULL}, {"2", NULL}, "double outline: exact factor"},
    [NUISANCE] = {{"color", "fontcolor"}, {"#b0b0b0", "#909090"}, "gray: nuisance"},
    [ADDED] = {{"style", "color"}, {"dashed", "#2060b0"}, "dashed: not adjacent in the model"},
    [BOTH] = {{"dir", NULL}, {"both", NULL}, "two heads: both ways, from element to element"},
};

struct picture {
    struct sketch s;
    Agraph_t *g;
    Agnode_t **node; /* of the side that is being drawn */
    struct str text; /* scratch */
    int used[NLOOK];
};

static void look(struct picture *x, void *obj, unsigned bits)
{
    for (int l = 0; l < NLOOK; l++) {
        if (!(bits >> l & 1)) continue;
        for (int i = 0; i < 2 && looks[l].name[i]; i++)
            agset(obj, C(looks[l].name[i]), C(looks[l].value[i]));
        x->used[l] = 1;
    }
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
    char name[48];
    snprintf(name, sizeof name, "cluster_%s", key);
    Agraph_t *s = agsubg(in, name, 1);
    if (s) agset(s, C("label"), C(label(x, title)));
    return s;
}

static int add_node(struct picture *x, Agraph_t *in, char side, int v)
{
    const struct sketch_node *node = &x->s.node[v];
    char name[32];
    snprintf(name, sizeof name, "%c%d", side, v);
    Agnode_t *a = agnode(in, name, 1);
    if (!(x->node[v] = a)) return -1;
    agset(a, C("label"), C(label(x, node->name)));
    look(x, a, node->look);
    return 0;
}

static int add_edges(struct picture *x, Agraph_t *in, enum side side)
{
    for (size_t i = 0; i < x->s.edge[side].n; i++) {
        const struct sketch_edge *e = &x->s.edge[side].a[i];
        Agedge_t *a = agedge(in, x->node[e->from], x->node[e->to], NULL, 1);
        if (!a) return -1;
        look(x, a, e->look);
    }
    return 0;
}

static Agraph_t *add_frame(struct picture *x, Agraph_t *in, const char *key, const char *title)
{
    Agraph_t *f = subgraph(x, in, key, title);
    if (!f) return NULL;
    agset(f, C("style"), C("rounded"));
    agset(f, C("labelloc"), C("b"));
    agset(f, C("labeljust"), C("r"));
    agset(f, C("fontsize"), C("11"));
    agset(f, C("pencolor"), C("#777777"));
    agset(f, C("margin"), C("10"));
    return f;
}

/* A label that is a node, beside v: edges go round it, as they would not round the label of a
   box.  At its left: boxes are mostly at the left of what stands outside, with edges between. */
static int add_label(struct picture *x, Agraph_t *frame, int v, const char *text)
{
    static const struct attr is[] = {{0, "shape", "plaintext"}, {0, "style", ""},
                                     {0, "fontsize", "11"},     {0, "fontcolor", "#444444"},
                                     {0, "margin", "0.02"},     {0, "height", "0"},
                                     {0, "width", "0"}};
    char name[64];
    snprintf(name, sizeof name, "label_%s", agnameof(frame));
    Agraph_t *row = agsubg(frame, name, 1);
    Agnode_t *a = row ? agnode(row, name, 1) : NULL, *b = x->node[v];
    Agedge_t *e = a && agsubnode(row, b, 1) ? agedge(row, a, b, NULL, 1) : NULL;
    if (!e) return -1;
    agset(row, C("rank"), C("same"));
    agset(e, C("style"), C("invis"));
    agset(a, C("label"), C(label(x, text)));
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) agset(a, C(is[i].name), C(is[i].value));
    return 0;
}

static int in_plate(const struct sketch *s, int v, int plate)
{
    int i = s->node[v].plate;
    while (i >= 0 && i != plate) i = s->plate[i].outer;
    return i >= 0;
}

/* A node of a plate that has no edge to another one in it, or -1 if the plate is empty. */
static int bottom(const struct picture *x, enum side side, int plate)
{
    const struct sketch *s = &x->s;
    int found = -1;
    for (int v = 0; v < s->n; v++) {
        int out = 0;
        if (!x->node[v] || !in_plate(s, v, plate)) continue;
        for (size_t i = 0; i < s->edge[side].n && !out; i++) {
            const struct sketch_edge *e = &s->edge[side].a[i];
            out = e->from == v && e->to != v && in_plate(s, e->to, plate);
        }
        if (found < 0 || !out) found = v;
    }
    return found;
}

/* The nodes that are there already go into their plates; one without nodes is not drawn. */
static int add_plates(struct picture *x, Agraph_t *side, enum side which)
{
    const struct sketch *s = &x->s;
    Agraph_t **frame = new_array(Agraph_t *, s->nplate);
    int rc = frame ? 0 : -1;
    for (int i = 0; i < s->nplate && !rc; i++) {
        const struct sketch_plate *p = &s->plate[i];
        char key[32];
        snprintf(key, sizeof key, "%splate%d", which == MODEL ? "" : "inverse_", i);
        frame[i] =
            add_frame(x, p->outer < 0 ? side : frame[p->outer], key, s->by_class ? "" : p->label);
        if (!frame[i]) rc = -1;
    }
    for (int v = 0; v < s->n && !rc; v++)
        if (s->node[v].plate >= 0 && x->node[v] &&
            !agsubnode(frame[s->node[v].plate], x->node[v], 1))
            rc = -1;
    for (int i = s->nplate - 1; i >= 0 && !rc; i--) {
        int v = bottom(x, which, i);
        if (v < 0)
            agclose(frame[i]);
        else if (s->by_class)
            rc = add_label(x, frame[i], v, s->plate[i].label);
    }
    free(frame);
    return rc;
}

/* ---- the two sides ------------------------------------------------------------------ */

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
    Agraph_t *side = add_side(x, "model", "model");
    if (!side) return -1;
    for (int v = 0; v < x->s.n; v++)
        if (add_node(x, side, 'm', v)) return -1;
    return add_edges(x, side, MODEL) || add_plates(x, side, MODEL) ? -1 : 0;
}

static int draw_inverse(struct picture *x)
{
    Agraph_t *side = add_side(x, "inverse", "inverse q(z|x)");
    Agraph_t *top = side ? agsubg(side, C("top"), 1) : NULL; /* the observed ones, in one row */
    if (!top) return -1;
    if (!x->s.by_class) agset(top, C("rank"), C("same"));
    memset(x->node, 0, (size_t)x->s.n * sizeof *x->node);
    /* Backwards: then Graphviz most often keeps left and right as in the model. */
    for (int v = x->s.n - 1; v >= 0; v--) {
        const struct sketch_node *node = &x->s.node[v];
        if (!node->in_inverse) continue;
        if (add_node(x, side, 'h', v)) return -1;
        if (node->model_factor) look(x, x->node[v], 1u << MODEL_FACTOR);
        if (node->exact_factor) look(x, x->node[v], 1u << EXACT_FACTOR);
        if (node->look >> OBSERVED & 1 && !x->s.by_class && !agsubnode(top, x->node[v], 1))
            return -1;
    }
    if (add_edges(x, side, INVERSE)) return -1;
    return x->s.by_class ? add_plates(x, side, INVERSE) : 0;
}

/* In one line, or in lines of two if there is much to say. */
static void add_legend(struct picture *x)
{
    int n = 0, all = 0;
    x->text.n = 0;
    for (int l = 0; l < NLOOK; l++) all += x->used[l];
    for (int l = 0; l < NLOOK; l++) {
        if (!x->used[l]) continue;
        str_put(&x->text, !n ? "" : all > 3 && n % 2 == 0 ? "\\n" : "  ·  ");
        str_put(&x->text, looks[l].legend);
        n++;
    }
    if (!x->text.n || x->text.oom) return;
    agset(x->g, C("label"), x->text.s);
}

/* ---- Graphviz ----------------------------------------------------------------------- */

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

static int render(Agraph_t *g, const char *format, struct str *out, nami_err *err)
{
    char *data = NULL;
    unsigned n = 0;
    GVC_t *gvc = gvContext(); /* never freed: the process ends, and a plugin may still use it */
    if (!gvc) return err_nomem(err);
    int laid_out = gvLayout(gvc, g, "dot") == 0;
    /* in SVG, Graphviz would scale the drawing, but not the page */
    if (laid_out && strcmp(format, "svg") != 0) GD_drawing(g)->dpi = dots_per_inch(g);
    int rc = laid_out ? gvRenderData(gvc, g, format, &data, &n) : -1;
    if (rc)
        rc =
            err_set(err, NAMI_EFILE, "Graphviz cannot draw %s; are its plugins installed?", format);
    else
        str_putn(out, data, n);
    if (data) gvFreeRenderData(data);
    if (laid_out) gvFreeLayout(gvc, g);
    return rc;
}

int draw_here(const struct view *w, const char *format, struct str *out, nami_err *err)
{
    struct picture x = {0};
    int rc = sketch_init(&x.s, w, err);
    if (rc) return rc;
    int dense = x.s.edge[MODEL].n > DENSE || x.s.edge[INVERSE].n > DENSE;
    agusererrf before = agseterrf(silent); /* Graphviz would print its warnings */
    x.node = new_array(Agnode_t *, x.s.n);
    x.g = agopen(C("nami"), Agdirected, &disc);
    rc = x.node && x.g ? 0 : -1;
    if (!rc) rc = add_attrs(x.g, defaults, sizeof defaults / sizeof *defaults);
    if (!rc && x.s.by_class) rc = add_attrs(x.g, plates, sizeof plates / sizeof *plates);
    if (!rc && dense) rc = add_attrs(x.g, hurry, sizeof hurry / sizeof *hurry);
    if (!rc && w->h && w->h->nexact)
        rc = add_attrs(x.g, outlines, sizeof outlines / sizeof *outlines);
    if (!rc) rc = draw_model(&x);
    if (!rc && w->h) rc = draw_inverse(&x);
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
    sketch_fini(&x.s);
    return rc;
}

/* ---- a process of its own ----------------------------------------------------------- */

struct drawing {
    const struct view *w;
    const char *format;
};

static int draw_there(const void *drawing, struct str *out, nami_err *err)
{
    const struct drawing *d = drawing;
    return draw_here(d->w, d->format, out, err);
}

int draw(const struct view *w, const char *format, struct str *out, nami_err *err)
{
    /* Without memory, the text layout may loop for ever: more time than any picture needs. */
    unsigned seconds = 8 + (unsigned)(w->bn->dag.n + w->bn->dag.m) / 10;
    return child_run(draw_there, &(struct drawing){w, format}, seconds, "Graphviz", out, err);
}
