/* show.c: the text report of an inverse: model, factors, order, certificate. */
#include "report/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "report/collapse.h"
#include "report/names.h"

enum {
    MANY_FACTORS = 60, /* more than this are cut to ... */
    SOME_FACTORS = 40,
    MANY_NAMES = 1200, /* columns of a list of names */
    FACTOR_NAMES = 64  /* columns of the parents of one factor */
};

void show_blank(struct str *out)
{
    if (out->n < 2 || strcmp(out->s + out->n - 2, "\n\n") != 0) str_put(out, "\n");
}

static int show_model(const struct view *w, struct str *out, nami_err *err)
{
    const struct inverse *h = w->h;
    (void)err;
    str_printf(out, "%s: ", w->file);
    put_count(out, bn_n(w->bn), "node", "nodes");
    str_put(out, ", ");
    put_count(out, w->bn->dag.m, "edge", "edges");
    str_printf(out, "; %s observed, ", count_text(h->nobserved).s);
    str_printf(out, "%s to infer", count_text(h->nlatent).s);
    if (h->nexact) str_printf(out, " (%s exactly)", count_text(h->nexact).s);
    if (h->nmodel) str_printf(out, ", %s barren", count_text(h->nmodel).s);
    if (h->nnuisance) str_printf(out, ", %s nuisance", count_text(h->nnuisance).s);
    str_put(out, "\n");
    return 0;
}

static int next_parent(void *from)
{
    struct inverse_it *it = from;
    return inverse_next(it) ? it->node : -1;
}

/* q(v|parents) for the i-th factor; p(v|parents) if it is exact */
static void put_factor(const struct view *w, int i, struct str *out)
{
    struct inverse_it it = inverse_it(w->h, i);
    int64_t n = inverse_count(w->h, i);
    str_put(out, i < w->h->nexact ? "p(" : "q(");
    put_name(out, w->bn, w->h->perm[i]);
    if (n) str_put(out, "|");
    put_names(out, w->bn, next_parent, &it, n, ",", FACTOR_NAMES);
    str_put(out, ")");
}

/* p(v|parents in the model) */
static void put_model_factor(const struct view *w, int v, struct str *out)
{
    const struct dag *g = &w->bn->dag;
    int n = g->pp[v + 1] - g->pp[v];
    str_put(out, "p(");
    put_name(out, w->bn, v);
    if (n) str_put(out, "|");
    put_array(out, w->bn, g->p + g->pp[v], n, ",", FACTOR_NAMES);
    str_put(out, ")");
}

/* The factorisation, in the order of sampling: the last eliminated first, and
   what the model itself predicts at the end. */
static int show_inverse(const struct view *w, struct str *out, nami_err *err)
{
    const struct inverse *h = w->h;
    int total = h->nlatent + h->nmodel;
    int some = total > MANY_FACTORS ? SOME_FACTORS : total;
    struct str factor = {0};
    (void)err;
    show_blank(out);
    struct wrap line = wrap_head(out, "  q(z|x) =", 11, w->width);
    if (!total)
        wrap_text(&line, h->nnuisance ? "1: nothing is left to infer"
                                      : "1: every node is observed, there is nothing to infer");
    for (int k = 0; k < some; k++) {
        factor.n = 0;
        if (k < h->nlatent)
            put_factor(w, h->nlatent - 1 - k, &factor);
        else
            put_model_factor(w, h->model[total - 1 - k], &factor);
        if (factor.oom) break;
        wrap_word(&line, factor.s);
    }
    wrap_end(&line);
    if (some < total)
        str_printf(out, "%*s… and %s more; the JSON form has all\n", 11, "",
                   count_text(total - some).s);
    show_blank(out);
    if (factor.oom) out->oom = 1;
    str_free(&factor);
    return 0;
}

/* Names after a heading, and after a first word, or NULL. */
static void put_wrapped(const struct view *w, const char *head, const char *first, const int *v,
                        int n, struct str *out)
{
    struct wrap line = wrap_head(out, head, SHOW_INDENT, w->width);
    struct str name = {0};
    int used = 0, i = 0;
    if (first) wrap_word(&line, first);
    for (; i < n && (used < MANY_NAMES || n - i == 1); i++) {
        name.n = 0;
        put_name(&name, w->bn, v[i]);
        if (name.oom) break;
        wrap_word(&line, name.s);
        used += str_width(name.s) + 1;
    }
    if (i < n) {
        name.n = 0;
        str_printf(&name, "… and %s more", count_text(n - i).s);
        if (!name.oom) wrap_text(&line, name.s);
    }
    if (!n) wrap_word(&line, "-");
    wrap_end(&line);
    if (name.oom) out->oom = 1;
    str_free(&name);
}

/* The latents with an exact factor, by its kind. */
static int put_exact(const struct view *w, struct str *out)
{
    const struct inverse *h = w->h;
    int *list = raw_array(int, h->nexact);
    char kind[EXACT_NAME + 2];
    if (!list) return -1;
    for (int k = 0; k < h->nkind; k++) {
        int n = 0;
        for (int i = 0; i < h->nexact; i++)
            if (h->exact[i] == h->kind[k]) list[n++] = h->perm[i];
        snprintf(kind, sizeof kind, "%s:", h->kind[k]);
        put_wrapped(w, k ? "" : "exact", kind, list, n, out);
    }
    free(list);
    return 0;
}

static int show_order(const struct view *w, struct str *out, nami_err *err)
{
    const struct inverse *h = w->h;
    put_wrapped(w, "order", NULL, h->perm, h->nlatent, out);
    if (h->nexact && !w->c && put_exact(w, out)) return err_nomem(err); /* else: its own section */
    if (h->nmodel) put_wrapped(w, "barren", NULL, h->model, h->nmodel, out);
    if (h->nnuisance) put_wrapped(w, "nuisance", NULL, h->nuisance, h->nnuisance, out);
    str_printf(out, "%-*s%s\n", SHOW_INDENT, "edges", count_text(h->edges).s);
    str_printf(out, "%-*s%s\n", SHOW_INDENT, "width", count_text(h->width).s);
    if (w->v->method->uses_mode)
        str_printf(out, "%-*s%s%s, %s\n", SHOW_INDENT, "mode", h->mode,
                   w->v->p.mode == MODE_BEST ? " (the best of forward and reverse)" : "",
                   w->v->p.criterion->name);
    if (w->v->method != methods[0])
        str_printf(out, "%-*s%s: %s\n", SHOW_INDENT, "method", h->method, w->v->method->what);
    return 0;
}

/* ---- the certificate ---------------------------------------------------------------- */

/* B <- A -> C, with the arrows of the model */
static void put_trail(const struct view *w, const struct witness *y, struct str *out)
{
    for (int i = 0; i < y->ntrail; i++) {
        if (i)
            str_put(out, dag_has_edge(&w->bn->dag, y->trail[i - 1], y->trail[i]) ? " -> " : " <- ");
        put_name(out, w->bn, y->trail[i]);
    }
}

static void put_given(const struct view *w, int v, struct str *out)
{
    const struct dag *g = &w->bn->dag;
    int i = w->h->pos[v];
    if (i >= 0 && i < w->h->nlatent && inverse_count(w->h, i)) {
        struct inverse_it it = inverse_it(w->h, i);
        str_put(out, " given ");
        put_names(out, w->bn, next_parent, &it, inverse_count(w->h, i), ",", FACTOR_NAMES);
    } else if (i < 0 && g->pp[v + 1] > g->pp[v]) {
        str_put(out, " given ");
        put_array(out, w->bn, g->p + g->pp[v], g->pp[v + 1] - g->pp[v], ",", FACTOR_NAMES);
    }
}

static void why_faithful(const struct view *w, const struct witness *y, struct str *out)
{
    put_name(out, w->bn, y->node);
    str_put(out, " and ");
    put_name(out, w->bn, y->other);
    str_put(out, " are dependent");
    put_given(w, y->node, out);
    if (!y->ntrail) return;
    str_put(out, ": active trail ");
    put_trail(w, y, out);
}

static void put_edge(const struct view *w, const struct witness *y, struct str *out)
{
    str_put(out, "the edge ");
    put_name(out, w->bn, y->other);
    str_put(out, " -> ");
    put_name(out, w->bn, y->node);
}

static void why_minimal(const struct view *w, const struct witness *y, struct str *out)
{
    put_edge(w, y, out);
    str_put(out, " is not needed");
}

static void why_natural(const struct view *w, const struct witness *y, struct str *out)
{
    put_edge(w, y, out);
    str_put(out, " runs against the order of the others");
}

static void (*const why[NPROPERTY])(const struct view *, const struct witness *,
                                    struct str *) = {why_faithful, why_minimal, why_natural};

static int show_certificate(const struct view *w, struct str *out, nami_err *err)
{
    static const char *const answer[] = {"?  %-9s not checked", "✗  %-9s no", "✓  %-9s yes"};
    const struct certificate *c = &w->h->cert;
    struct str text = {0};
    (void)err;
    for (int p = 0; p < NPROPERTY; p++) {
        text.n = 0;
        str_printf(&text, "%-*s", SHOW_INDENT, p ? "" : "certificate");
        str_printf(&text, answer[c->is[p] + 1], property_names[p]);
        if (c->is[p] == 0) {
            str_put(&text, ": ");
            why[p](w, &c->why[p], &text);
        } else if (c->is[p] > 0 && p != NATURAL && c->checked < c->total) { /* that one is exact */
            str_printf(&text, ", as far as %s of ", count_text(c->checked).s);
            str_printf(&text, "%s factors show", count_text(c->total).s);
        }
        if (text.oom) break;
        str_printf(out, "%s\n", text.s);
    }
    if (text.oom) out->oom = 1;
    str_free(&text);
    return 0;
}

/* ---- all ---------------------------------------------------------------------------- */

const struct section sections[] = {
    {"model", "the size of the model", show_model},
    {"moral", "the moral graph that elimination starts from", show_moral},
    {"trace", "the steps of elimination, as in the paper's Table 1", show_trace},
    {"induced", "the induced graph: moral and fill edges", show_induced},
    {"cliques", "the clique tree of the induced graph", show_cliques},
    {"inverse", "the factorisation q(z|x), in sampling order", show_inverse},
    {"order", "the order of elimination, edges, width", show_order},
    {"certificate", "what was proved, and what fails why", show_certificate},
    {"exact", "which latents are integrated out exactly, and why others are not", show_exact},
    {"modes", "edges and width in each mode", show_modes},
    {NULL, NULL, NULL},
};

int show(const struct view *w, unsigned which, struct str *out, nami_err *err)
{
    int rc = 0;
    for (int i = 0; sections[i].name && !rc; i++)
        if (which >> i & 1) rc = sections[i].put(w, out, err);
    if (!rc && out->oom) rc = err_nomem(err);
    return rc;
}
