/* rdump.c: writes the data of a model as an R dump, for R and JAGS. */
#include "base/num.h"
#include "model/export.h"
#include "model/lang/lang.h"

/* 1: a value, 0: not available. */
static int datum(const struct model *m, const struct array *a, int i, double *x)
{
    int e = a->first + i, k = m->ir.defined_by[e];
    if (k < 0 && m->ir.state[e] == E_CONST) {
        *x = m->ir.value[e];
        return 1;
    }
    if (k < 0 || !m->ir.observed[e] || !a->data || instance_stmt(m, k)->rel->in_data) return 0;
    *x = a->data->x[i];
    return !value_is_missing(*x);
}

static void put_datum(struct str *out, int known, double x)
{
    char buf[NUM_MAX];
    if (!known || isnan(x))
        str_put(out, "NA");
    else if (isinf(x))
        str_put(out, x < 0 ? "-Inf" : "Inf");
    else
        str_putn(out, buf, (size_t)num_print(buf, x));
}

/* In R's order: the first subscript varies fastest. */
static void put_array(const struct model *m, const struct array *a, struct str *out)
{
    int at[MAX_DIM] = {0};
    double x = 0;
    str_printf(out, "\"%s\" <- %s", a->name, a->ndim > 1 ? "structure(" : "");
    if (a->ndim) str_put(out, "c(");
    for (int i = 0; i < a->n; i++) {
        int k = 0;
        for (int d = 0; d < a->ndim; d++) k = k * a->dim[d] + at[d];
        str_put(out, i ? i % 10 ? ", " : ",\n  " : "");
        int known = datum(m, a, k, &x);
        put_datum(out, known, x);
        for (int d = 0; d < a->ndim && ++at[d] == a->dim[d]; d++) at[d] = 0;
    }
    if (a->ndim) str_put(out, ")");
    for (int d = 0; d < a->ndim && a->ndim > 1; d++)
        str_printf(out, "%s%dL", d ? ", " : ", .Dim = c(", a->dim[d]);
    str_put(out, a->ndim > 1 ? "))\n" : "\n");
}

int model_rdump(const struct model *m, const struct model_options *opt, struct str *out,
                nami_err *err)
{
    for (size_t i = 0; i < m->ir.arrays.n; i++) {
        const struct array *a = &m->ir.arrays.a[i];
        double x;
        int any = 0;
        if (const_in_text(a, opt)) continue;
        for (int k = 0; k < a->n && !any; k++) any = datum(m, a, k, &x);
        if (any) put_array(m, a, out);
    }
    str_put(out, "");
    return out->oom ? err_nomem(err) : 0;
}
