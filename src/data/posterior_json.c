/* posterior_json.c: writes the results without draws: summaries and diagnostics.
       {"program": "nami 0.1.0", "settings": {...}, "draws": 1000, "khat": 0.2, ...
        "variables": {"x": {"mean": [...], "sd": [...], "q5": [...], ... "mcse": [...], "ess":
   [...]}}} Arrays have the variable's shape; if there are several data sets, one more axis, the
   first. */
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "data/draws_impl.h"
#include "data/posterior_impl.h"

static int open(struct posterior *p, nami_err *err)
{
    const struct posterior_group *g = &p->spec->part[POSTERIOR];
    return json_names(g->nvar, g->var, err);
}

static int put(struct posterior *p, enum posterior_part part, const struct posterior_block *b,
               nami_err *err)
{
    (void)p, (void)part, (void)b, (void)err;
    return 0;
}

static void settings(struct str *out, const struct posterior_spec *s)
{
    str_put(out, ",\n\"settings\": {");
    for (int k = 0; k < s->nnote; k++) {
        if (k) str_put(out, ", ");
        str_quote(out, s->note[k].name);
        str_put(out, ": ");
        if (s->note[k].text)
            str_quote(out, s->note[k].text);
        else
            json_element(out, s->note[k].number, 0);
    }
    str_put(out, "}");
}

static void diagnostic(struct str *out, const struct posterior_found *f, size_t nset, int k)
{
    size_t known = 0;
    for (size_t s = 0; s < nset; s++) known += !isnan(found_of(&f[s], k));
    if (!known) return;
    str_printf(out, ",\n\"%s\": %s", found_name[k], nset > 1 ? "[" : "");
    for (size_t s = 0; s < nset; s++) {
        if (s) str_put(out, ",");
        json_element(out, found_of(&f[s], k), 0);
    }
    if (nset > 1) str_put(out, "]");
}

/* The numbers of a summary: mean, sd, quantiles, mcse, ess. */
#define Q_NAME(p) "q" #p,
static const char *const number_name[] = {"mean", "sd", QUANTILES(Q_NAME) "mcse", "ess"};
enum { NNUMBER = sizeof number_name / sizeof *number_name };

static double number(const struct summary *s, int k)
{
    return k == 0              ? s->mean
           : k == 1            ? s->sd
           : k < 2 + NQUANTILE ? s->q[k - 2]
           : k == NNUMBER - 2  ? s->mcse
                               : s->ess;
}

/* x: room for the variable's elements. */
static void variable(struct str *out, const struct draws_var *v, const struct posterior_found *f,
                     size_t nset, double *x)
{
    struct draws_var real = *v;
    size_t n = draws_var_size(v);
    real.integer = 0; /* means and quantiles of integers are none */
    str_quote(out, v->name);
    for (int k = 0; k < NNUMBER; k++) {
        str_printf(out, "%s\"%s\": %s", k ? ", " : ": {", number_name[k], nset > 1 ? "[" : "");
        for (size_t s = 0; s < nset; s++) {
            for (size_t e = 0; e < n; e++) { /* without a mean nothing is known, or defined */
                const struct summary *of = &f[s].summary[v->base + e];
                x[e] = isnan(of->mean) ? value_missing() : number(of, k);
            }
            if (s) str_put(out, ",");
            json_elements(out, &real, 0, x);
        }
        if (nset > 1) str_put(out, "]");
    }
    str_put(out, "}");
}

static int variables(struct str *out, const struct posterior_spec *s,
                     const struct posterior_found *f)
{
    const struct posterior_group *g = &s->part[POSTERIOR];
    size_t most = 1;
    for (int v = 0; v < g->nvar; v++)
        most = draws_var_size(&g->var[v]) > most ? draws_var_size(&g->var[v]) : most;
    double *x = raw_array(double, most);
    if (!x) return -1;
    str_put(out, ",\n\"variables\": {");
    for (int v = 0; v < g->nvar; v++) {
        str_put(out, v ? ",\n  " : "\n  ");
        variable(out, &g->var[v], f, s->nset, x);
    }
    str_put(out, "}");
    free(x);
    return 0;
}

static int close(struct posterior *p, const struct posterior_found *found, nami_err *err)
{
    const struct posterior_spec *s = p->spec;
    struct str out = {0};
    int rc = 0;
    if (!found) return err_set(err, NAMI_EBUG, "a .json file without what was found");
    str_put(&out, "{\"program\": \"nami " NAMI_VERSION "\"");
    if (s->nnote) settings(&out, s);
    str_printf(&out, ",\n\"draws\": %zu", s->part[POSTERIOR].ndraw);
    if (s->nset > 1) str_printf(&out, ",\n\"sets\": %zu", s->nset);
    for (int k = 0; k < NFOUND; k++) diagnostic(&out, found, s->nset, k);
    if (found->summary && variables(&out, s, found)) out.oom = 1;
    str_put(&out, "}\n");
    rc = out.oom ? err_nomem(err) : file_put(&p->file, out.s, out.n, err);
    str_free(&out);
    return rc;
}

static void nothing(struct posterior *p) { (void)p; }

const struct posterior_format posterior_json = {
    .name = "json",
    .ending = ".json",
    .what = "a summary: mean, sd, quantiles, standard errors; evidence, khat",
    .parts = ALL_PARTS,
    .pipe = 1,
    .no_draws = 1,
    .open = open,
    .put = put,
    .close = close,
    .free = nothing,
};
