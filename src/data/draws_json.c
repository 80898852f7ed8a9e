/* draws_json.c: writes draws as a list of data sets, one per line, which can be read as a data
   file. */
#include <math.h>

#include "base/err.h"
#include "data/draws_impl.h"

void json_element(struct str *out, double x, int integer)
{
    if (isfinite(x))
        put_number(out, x, integer);
    else if (value_is_missing(x))
        str_put(out, "null");
    else
        str_put(out, isnan(x) ? "\"NaN\"" : x > 0 ? "\"Inf\"" : "\"-Inf\"");
}

const double *json_elements(struct str *out, const struct draws_var *v, int k, const double *x)
{
    if (k == v->ndim) {
        json_element(out, *x, v->integer);
        return x + 1;
    }
    str_put(out, "[");
    for (int i = 0; i < v->dim[k]; i++) {
        if (i) str_put(out, ",");
        x = json_elements(out, v, k + 1, x);
    }
    str_put(out, "]");
    return x;
}

int json_names(int nvar, const struct draws_var *var, nami_err *err)
{
    for (int v = 0; v < nvar; v++) {
        if (!str_is_utf8(var[v].name))
            return err_set(err, NAMI_EINPUT, "'%s' is not UTF-8, so JSON cannot hold it; rename it",
                           var[v].name);
    }
    return 0;
}

static int write(const struct draws *d, struct str *out, nami_err *err)
{
    struct rows r;
    int rc = json_names(d->nvar, d->var, err);
    if (rc || (rc = rows_init(&r, d, err))) return rc;
    str_put(out, "[");
    for (size_t i = 0; i < d->n; i++) {
        const double *x = rows_at(&r, i);
        str_put(out, i ? ",\n{" : "\n{");
        for (int v = 0; v < d->nvar; v++) {
            if (v) str_put(out, ",");
            str_quote(out, d->var[v].name);
            str_put(out, ":");
            json_elements(out, &d->var[v], 0, x + d->var[v].base);
        }
        str_put(out, "}");
    }
    str_put(out, "\n]\n");
    rows_fini(&r);
    return out->oom ? err_nomem(err) : 0;
}

const struct draws_format draws_json = {
    .name = "json",
    .ending = ".json",
    .what = "a list of data sets, one for each draw, as data files hold them",
    .write = write,
};
