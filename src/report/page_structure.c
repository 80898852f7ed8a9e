/* page_structure.c: of a report: the model's text beside the graphs of model and inverse, the
   certificate, and the elimination step by step (the paper's Table 1). */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "report/collapse.h"
#include "report/draw.h"
#include "report/names.h"
#include "report/page.h"
#include "report/show.h"
#include "report/trace.h"

enum { FIRST = 24, LAST = 12, CELL = 44 };

/* ---- the graphs -------------------------------------------------------------------------------
 */

/* The drawing without its head: a page needs neither a size in points nor name spaces. */
static void put_drawing(const char *svg, const char *about, struct str *out)
{
    const char *head = strstr(svg, "<svg"), *box = head ? strstr(head, "viewBox=\"") : NULL,
               *body = head ? strchr(head, '>') : NULL;
    if (!box || !body || box > body) return;
    str_printf(out,
               "<div id=\"graph\" tabindex=\"0\" role=\"group\" aria-label=\"Graphs of model and "
               "inverse\">\n<svg role=\"img\" aria-label=\"%s\" ",
               about);
    double x, y, wide, high;
    if (sscanf(box, "viewBox=\"%lf %lf %lf %lf\"", &x, &y, &wide, &high) == 4)
        str_printf(out, "viewBox=\"%g %g %g %g\" width=\"%.0f\" height=\"%.0f\">", x, y, wide, high,
                   wide * 4 / 3, high * 4 / 3);
    else
        str_put(out, ">");
    str_put(out, body + 1);
    str_put(out, "</div>\n");
}

static int put_graphs(const struct page *p, struct str *out, nami_err *err)
{
    struct str svg = {0};
    nami_err why = {0};
    int rc = draw(&p->view, "svg", &svg, &why);
    if (!rc && svg.s)
        put_drawing(svg.s,
                    "The model and its inverse, side by side; the table of factors below says "
                    "the same in words",
                    out);
    else if (rc == NAMI_ENOMEM)
        err_nomem(err);
    else {
        str_put(out, "<p class=\"note\">The graphs are not shown: ");
        put_xml(out, why.msg);
        str_put(out, ".</p>\n");
    }
    str_free(&svg);
    return rc == NAMI_ENOMEM ? rc : 0;
}

static int put_text(const struct page *p, const char *sections_, struct str *out, nami_err *err)
{
    struct str text = {0};
    unsigned which = 0;
    for (int i = 0; sections[i].name; i++)
        if (strstr(sections_, sections[i].name)) which |= 1u << i;
    int rc = show(&p->view, which, &text, err);
    if (!rc && text.s) {
        str_put(out, "<pre tabindex=\"0\">");
        put_xml(out, text.s + strspn(text.s, "\n"));
        str_put(out, "</pre>\n");
    }
    str_free(&text);
    return rc;
}

/* ---- the certificate --------------------------------------------------------------------------
 */

static void put_certificate(const struct page *p, struct str *out)
{
    static const char *const what[NPROPERTY] = {
        "the inverse can represent the posterior: it claims no independence that the model lacks",
        "no edge could be left out", "the order of sampling follows the model's structure"};
    static const char *const answer[] = {"not checked", "no", "yes"};
    const struct certificate *c = &p->view.h->cert;
    str_put(out,
            "<table><caption>Certificate: what was proved of this inverse by d-separation"
            "</caption>\n<thead><tr><th scope=\"col\">property</th><th scope=\"col\" "
            "class=\"text\">holds</th><th scope=\"col\" class=\"text\">meaning</th></tr></thead>\n"
            "<tbody>\n");
    for (int k = 0; k < NPROPERTY; k++)
        str_printf(
            out,
            "<tr><th scope=\"row\">%s</th><td class=\"text%s\">%s</td><td class=\"text\">%s</td>"
            "</tr>\n",
            property_names[k], c->is[k] == 0 ? " flag" : "", answer[c->is[k] + 1], what[k]);
    str_put(out, "</tbody></table>\n");
}

/* ---- the steps --------------------------------------------------------------------------------
 */

/* The number of the node of the picture that stands for it. */
static int drawn_as(const struct bn *bn, int v)
{
    return bn->cls.n && bn->plate.n ? bn->node.a[v].cls : v;
}

static void put_cell(struct str *out, struct str *text)
{
    page_tag(out, "td class=\"text\"", text->s ? text->s : "");
    out->oom |= text->oom;
    text->n = 0;
    if (text->s) *text->s = 0;
}

static void put_candidates(const struct view *w, const struct trace_step *s, struct str *out)
{
    for (int i = 0; i < s->nfrontier; i++) {
        if (out->n > CELL && s->nfrontier - i > 1) {
            str_printf(out, ", and %d more", s->nfrontier - i);
            return;
        }
        if (i) str_put(out, ", ");
        put_name(out, w->bn, s->frontier[i]);
        str_printf(out, " %lld", (long long)s->fill[i]);
    }
    if (!s->nfrontier) str_put(out, "none");
}

static void put_added(const struct view *w, const struct trace_step *s, struct str *out)
{
    for (int i = 0; i < s->nadded; i++) {
        if (out->n > CELL && s->nadded - i > 1) {
            str_printf(out, ", and %d more", s->nadded - i);
            return;
        }
        if (i) str_put(out, ", ");
        put_name(out, w->bn, s->added[i].from);
        str_put(out, "\xe2\x80\x93");
        put_name(out, w->bn, s->added[i].to);
    }
    if (!s->nadded) str_put(out, "none");
}

static const char *exact_kind(const struct inverse *h, int v)
{
    int i = h->pos[v];
    return i >= 0 && i < h->nexact ? h->exact[i] : NULL;
}

static void put_factor(const struct view *w, const struct trace_step *s, struct str *out)
{
    if (s->nuisance) {
        str_put(out, "none: it is summed out");
        return;
    }
    str_put(out, exact_kind(w->h, s->node) ? "p(" : "q(");
    put_name(out, w->bn, s->node);
    if (s->nparent) str_put(out, " | ");
    put_array(out, w->bn, s->parent, s->nparent, ", ", 2 * CELL);
    str_put(out, ")");
}

static void put_step(const struct page *p, const struct trace *t, int i, struct str *out)
{
    const struct view *w = &p->view;
    const struct trace_step *s = &t->step[i];
    struct str text = {0};
    str_printf(out, "<tr data-node=\"%d\"><th scope=\"row\">%d</th>", drawn_as(w->bn, s->node),
               i + 1);
    put_candidates(w, s, &text), put_cell(out, &text);
    put_name(&text, w->bn, s->node), put_cell(out, &text);
    put_added(w, s, &text), put_cell(out, &text);
    put_factor(w, s, &text), put_cell(out, &text);
    const char *kind = exact_kind(w->h, s->node);
    if (kind)
        str_printf(&text, "exact (%s)", kind);
    else
        str_put(&text, s->nuisance ? "nuisance" : "learned");
    put_cell(out, &text);
    str_put(out, "</tr>\n");
    str_free(&text);
}

static void put_table(const struct page *p, const struct trace *t, struct str *out)
{
    int n = t->nstep, cut = n > FIRST + LAST + 1;
    str_put(
        out,
        "<div class=\"scroll tall\" tabindex=\"0\" role=\"group\" aria-label=\"Steps of the "
        "elimination\"><table id=\"steps-table\"><caption>Variables are eliminated in this order, "
        "and sampled in the reverse. A number is how many edges the elimination of a candidate "
        "would add.</caption>\n<thead><tr><th scope=\"col\">step</th>"
        "<th scope=\"col\" class=\"text\">candidates</th>"
        "<th scope=\"col\" class=\"text\">eliminated</th>"
        "<th scope=\"col\" class=\"text\">new edges</th>"
        "<th scope=\"col\" class=\"text\">factor of the inverse</th>"
        "<th scope=\"col\" class=\"text\">how</th></tr></thead>\n<tbody>\n");
    for (int i = 0; i < n; i++) {
        if (cut && i == FIRST)
            str_printf(out,
                       "<tr><th scope=\"row\">\xe2\x80\xa6</th><td class=\"text\" colspan=\"5\">%d "
                       "more steps, not shown</td></tr>\n",
                       n - FIRST - LAST);
        if (!cut || i < FIRST || i >= n - LAST) put_step(p, t, i, out);
    }
    str_put(out, "</tbody></table></div>\n");
}

static int put_steps(const struct page *p, struct str *out, nami_err *err)
{
    struct trace t = {0};
    nami_err why = {0};
    if (!p->view.h->nlatent) return 0;
    str_put(out, "<section id=\"steps\"><h2>The elimination, step by step</h2>\n");
    int rc = trace_of(&p->view, &t, &why);
    if (rc == NAMI_ENOMEM) return err_nomem(err);
    if (rc) {
        str_put(out, "<p class=\"note\">The steps are not shown: ");
        put_xml(out, why.msg);
        str_put(out, ".</p></section>\n");
        return 0;
    }
    str_put(out,
            "<div id=\"stepper\" class=\"stepper\" role=\"group\" aria-label=\"Step through the "
            "elimination\" hidden><div class=\"buttons\"><button type=\"button\" "
            "class=\"first\">First</button><button type=\"button\" class=\"back\">Back</button>"
            "<button type=\"button\" class=\"next\">Next</button> <span class=\"count\"></span>"
            "</div>\n<p aria-live=\"polite\"></p></div>\n");
    put_table(p, &t, out);
    trace_free(&t);
    str_put(out, "</section>\n");
    return 0;
}

int page_structure(const struct page *p, struct str *out, nami_err *err)
{
    str_put(out, "<section id=\"model\"><h2>Model and inverse</h2>\n<div class=\"side\"><div>"
                 "<h3>The model</h3>\n<pre tabindex=\"0\"><code>");
    put_xml(out, model_text(p->net->model));
    str_put(out, "</code></pre></div>\n<div><h3>Its graph, and that of the inverse</h3>\n");
    int rc = put_graphs(p, out, err);
    str_put(out, "</div></div>\n<h3>The inverse factorization</h3>\n");
    if (!rc) rc = put_text(p, "inverse,order", out, err);
    put_certificate(p, out);
    if (!rc && p->view.c && p->view.c->step.n) {
        str_put(out, "<h3>What is integrated out, and why the rest is not</h3>\n");
        rc = put_text(p, "exact", out, err);
    }
    str_put(out, "</section>\n");
    return rc ? rc : put_steps(p, out, err);
}
