/* inverse.c: inverses of nami.h: inversion, questions, and descriptions. */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/err.h"
#include "exact/invert.h"
#include "report/draw.h"
#include "report/json.h"
#include "report/show.h"

/* model: NULL, or that of bn. */
static int invert_with(const struct model *model, const nami_bn *bn, const nami_options *opt,
                       nami_inverse **out, nami_err *err)
{
    nami_options o;
    err_clear(err);
    *out = NULL;
    int rc = options_complete("invert", opt, sizeof o, &o, err);
    if (rc) return rc;
    nami_inverse *x = new_array(nami_inverse, 1);
    if (!x) return err_nomem(err);
    x->bn = bn;
    rc = inversion_init(&x->problem, bn, &o, err);
    if (!rc)
        rc = model ? exact_invert(model, &x->problem, o.exact, &x->own_collapse, &x->own, err)
                   : inversion_run(&x->problem, &x->own, err);
    x->h = x->own;
    if (model) x->collapse = &x->own_collapse;
    if (rc)
        nami_inverse_free(x);
    else
        *out = x;
    return rc;
}

int nami_invert(const nami_bn *bn, const nami_options *opt, nami_inverse **out, nami_err *err)
{
    return invert_with(NULL, bn, opt, out, err);
}

int nami_model_invert(const nami_model *w, const nami_bn *bn, const nami_options *opt,
                      nami_inverse **out, nami_err *err)
{
    *out = NULL;
    if (!w->good) return err_set(err, NAMI_EUSAGE, "the model has errors");
    if (bn && bn_n(bn) != bn_n(model_bn(w->m)))
        return err_set(err, NAMI_EUSAGE, "the structure is not that of the model");
    return invert_with(w->m, bn ? bn : model_bn(w->m), opt, out, err);
}

void nami_inverse_free(nami_inverse *x)
{
    if (!x) return;
    inverse_free(x->own);
    collapse_free(&x->own_collapse);
    inversion_fini(&x->problem);
    free(x);
}

const char *nami_inverse_mode(const nami_inverse *x) { return x->h->mode; }

int64_t nami_inverse_edges(const nami_inverse *x) { return x->h->edges; }

int64_t nami_inverse_width(const nami_inverse *x) { return x->h->width; }

int nami_inverse_order(const nami_inverse *x, const int **nodes)
{
    *nodes = x->h->perm;
    return x->h->nlatent;
}

int nami_inverse_is_model(const nami_inverse *x, int node)
{
    const struct inverse *h = x->h;
    if (node < 0 || node >= h->n) return -1;
    if (h->pos[node] >= 0) return h->pos[node] < h->nlatent ? 0 : -1;
    for (int i = 0; i < h->nmodel; i++)
        if (h->model[i] == node) return 1;
    return -1;
}

const char *nami_inverse_exact(const nami_inverse *x, int node)
{
    const struct inverse *h = x->h;
    int i = node >= 0 && node < h->n ? h->pos[node] : -1;
    return i >= 0 && i < h->nexact ? h->exact[i] : NULL;
}

int64_t nami_inverse_parents(const nami_inverse *x, int node, int *out, int64_t cap)
{
    const struct inverse *h = x->h;
    int i = node >= 0 && node < h->n ? h->pos[node] : -1;
    int64_t k = 0;
    if (i < 0 || i >= h->nlatent) return -1;
    for (struct inverse_it it = inverse_it(h, i); k < cap && inverse_next(&it);) out[k++] = it.node;
    return inverse_count(h, i);
}

int nami_inverse_faithful(const nami_inverse *x) { return x->h->cert.is[FAITHFUL]; }

int nami_inverse_minimal(const nami_inverse *x) { return x->h->cert.is[MINIMAL]; }

int nami_inverse_natural(const nami_inverse *x) { return x->h->cert.is[NATURAL]; }

/* ---- descriptions ----------------------------------------------------------------------- */

static int section_named(const char *name, size_t len)
{
    for (int i = 0; sections[i].name; i++)
        if (strlen(sections[i].name) == len && memcmp(sections[i].name, name, len) == 0) return i;
    return -1;
}

/* A bit for each section of a comma list. */
static int choose_sections(const char *list, unsigned *which, nami_err *err)
{
    for (size_t len; *list; list += len + (list[len] == ',')) {
        len = strcspn(list, ",");
        int i = section_named(list, len);
        if (i < 0)
            return err_set(err, NAMI_EUSAGE, "the description has no section '%.*s'",
                           (int)(len < 60 ? len : 60), list);
        *which |= 1u << i;
    }
    return 0;
}

static int as_text(const struct view *w, const nami_inverse_view *view, struct str *out,
                   nami_err *err)
{
    unsigned which = 0;
    int rc = choose_sections(view->show ? view->show : "model,inverse,order,certificate,exact,modes",
                             &which, err);
    if (!rc && view->trace) rc = choose_sections("trace", &which, err);
    return rc ? rc : show(w, which, out, err);
}

int nami_inverse_describe(const nami_inverse *x, const char *as, const nami_inverse_view *view,
                          char **text, size_t *len, nami_err *err)
{
    nami_inverse_view v = {0};
    struct str out = {0};
    int rc;
    err_clear(err);
    *text = NULL;
    if (view) memcpy(&v, view, view->size && view->size < sizeof v ? view->size : sizeof v);
    struct view w = {.file = v.file ? v.file : "structure",
                     .bn = x->bn,
                     .v = &x->problem,
                     .h = x->h,
                     .c = x->collapse,
                     .width = v.width ? v.width : 80};
    if (strcmp(as, "text") == 0)
        rc = as_text(&w, &v, &out, err);
    else if (strcmp(as, "json") == 0)
        rc = inverse_json(&w, (v.runs ? INVERSE_RUNS : 0) | (v.trace ? INVERSE_TRACE : 0), &out,
                          err);
    else if (strcmp(as, "dot") == 0 || strcmp(as, "svg") == 0 || strcmp(as, "png") == 0)
        rc = draw(&w, as, &out, err);
    else
        rc = no_such_form(as, "text, json, dot, svg, png", err);
    if (!rc) return give_text(&out, text, len, err);
    str_free(&out);
    return rc;
}
