/* logp.c: log densities of a model at data sets, and their derivatives, as text or JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/err.h"
#include "base/parallel.h"
#include "model/eval.h"

static int put_gradients(const struct model *m, size_t n, const double *grad, struct str *out,
                         nami_err *err)
{
    struct arena mem = {0};
    struct layout l;
    size_t rows = (size_t)model_num_rows(m);
    int rc = model_layout(m, NULL, 0, &mem, &l, err);
    double *x = rc ? NULL : arena_array(&mem, double, l.nrow *n);
    if (!rc && !x) rc = err_nomem(err);
    if (!rc) {
        memcpy(x, grad, sizeof *x * rows * n);
        layout_fill(m, &l, n, x);
        for (size_t r = rows * n; r < l.nrow * n; r++) /* nothing depends on a constant */
            if (!element_is_random(m, l.elem[r / n - rows]) && !value_is_missing(x[r])) x[r] = 0;
        struct draws g = {.n = n, .nvar = l.nvar, .var = l.var, .x = x};
        str_put(out, ",\"grad\":");
        rc = draws_format_of("x.json")->write(&g, out, err);
    }
    arena_free(&mem);
    return rc;
}

/* {"logp": [...], "grad": [{"x": [...]}, ...]} */
static int put_json(const struct model *m, size_t n, const struct density *d, struct str *out,
                    nami_err *err)
{
    str_put(out, "{\"logp\":[");
    for (size_t i = 0; i < n; i++) {
        str_put(out, i ? "," : "");
        json_element(out, d->logp[i], 0);
    }
    str_put(out, "]");
    int rc = d->grad ? put_gradients(m, n, d->grad, out, err) : 0;
    str_put(out, "}\n");
    return rc;
}

static int evaluate(const struct model *m, const struct data *at, int threads, double *x,
                    const struct density *d, nami_err *err)
{
    size_t n = at->set.n;
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++) {
        rc = model_point(m, &at->set.a[i], n, i, 0, x, err);
        if (rc && err) err->line = 0;
    }
    return rc ? rc : model_logp(m, n, x, parallel_threads(threads), d, err);
}

static int describe(const struct model *m, const struct data *at, const nami_logp_options *o,
                    int json, struct str *out, nami_err *err)
{
    size_t n = at->set.n, size = (size_t)model_num_rows(m) * n;
    int grad = json && o->gradient;
    double *x = new_array(double, size + 1), *g = grad ? raw_array(double, size + 1) : NULL;
    struct density d = {.logp = raw_array(double, n + 1), .grad = g};
    int rc = !x || !d.logp || (grad && !g) ? err_nomem(err) : 0;
    if (!rc) rc = evaluate(m, at, o->threads, x, &d, err);
    if (!rc && json) rc = put_json(m, n, &d, out, err);
    for (size_t i = 0; i < n && !rc && !json; i++)
        str_printf(out, "%.15g\n", isnan(d.logp[i]) ? NAN : d.logp[i]); /* never "-nan" */
    free(x);
    free(g);
    free(d.logp);
    return rc;
}

int nami_model_describe_logp(const nami_model *w, const nami_data *data,
                             const nami_logp_options *opt, const char *as, char **text,
                             nami_err *err)
{
    static const nami_logp_options none;
    int json = strcmp(as, "json") == 0;
    struct str out = {0};
    err_clear(err);
    *text = NULL;
    int rc = needs_model(w, err);
    if (rc) return rc;
    if (!json && strcmp(as, "text") != 0) return no_such_form(as, "text, json", err);
    if (!opt) opt = &none;
    if (data && tell_unknown(w->m, &data->sets, opt->watch)) return err_nomem(err);
    rc = describe(w->m, data ? &data->sets : model_data(w->m), opt, json, &out, err);
    if (!rc) return give_text(&out, text, NULL, err);
    str_free(&out);
    return rc;
}
