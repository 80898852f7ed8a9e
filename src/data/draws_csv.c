/* draws_csv.c: draws as a table: a row for each draw, a column for each element.  RFC 4180:
   names with commas, such as "m[2,3]", are quoted. */
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "data/draws_impl.h"

void csv_field(struct str *out, const char *s)
{
    if (!strpbrk(s, ",\"\r\n")) {
        str_put(out, s);
        return;
    }
    str_put(out, "\"");
    for (; *s; s++) str_putn(out, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
    str_put(out, "\"");
}

void csv_heading(struct str *out, const struct draws_var *v, struct str *name)
{
    int sub[MAX_DIM] = {0};
    size_t n = draws_var_size(v);
    for (size_t e = 0; e < n; e++) {
        name->n = 0;
        str_put(name, v->name);
        for (int k = 0; k < v->ndim; k++) str_printf(name, "%s%d", k ? "," : "[", sub[k] + 1);
        if (v->ndim) str_put(name, "]");
        if (name->oom) return;
        if (e) str_put(out, ",");
        csv_field(out, name->s);
        for (int k = v->ndim - 1; k >= 0 && ++sub[k] == v->dim[k]; k--) sub[k] = 0;
    }
}

void csv_element(struct str *out, double x, int integer)
{
    if (isfinite(x))
        put_number(out, x, integer);
    else if (value_is_missing(x))
        str_put(out, "NA");
    else
        str_put(out, isnan(x) ? "NaN" : x > 0 ? "Inf" : "-Inf");
}

static int write(const struct draws *d, struct str *out, nami_err *err)
{
    struct rows r;
    struct str name = {0};
    int any = 0, rc = rows_init(&r, d, err);
    if (rc) return rc;
    for (int v = 0; v < d->nvar; v++) {
        if (!draws_var_size(&d->var[v])) continue;
        if (any++) str_put(out, ",");
        csv_heading(out, &d->var[v], &name);
    }
    str_put(out, "\n");
    for (size_t i = 0; i < d->n; i++) {
        const double *x = rows_at(&r, i);
        any = 0;
        for (int v = 0; v < d->nvar; v++) {
            size_t n = draws_var_size(&d->var[v]);
            for (size_t e = 0; e < n; e++) {
                if (any++) str_put(out, ",");
                csv_element(out, x[d->var[v].base + e], d->var[v].integer);
            }
        }
        str_put(out, "\n");
    }
    if (name.oom || out->oom) rc = err_nomem(err);
    str_free(&name);
    rows_fini(&r);
    return rc;
}

const struct draws_format draws_csv = {
    .name = "csv",
    .ending = ".csv",
    .what = "a table: a row for each draw, columns x[1], \"m[2,3]\"",
    .write = write,
};
