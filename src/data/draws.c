/* draws.c: the table of formats, and draws as rows. */
#include "data/draws.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "data/draws_impl.h"

const struct draws_format *const draws_formats[] = {
#define DRAWS(id) &draws_##id,
#include "data/draws.def"
#undef DRAWS
    NULL};

const struct draws_format *draws_format_of(const char *path)
{
    for (int i = 0; draws_formats[i]; i++)
        if (str_ends(path, strlen(path), draws_formats[i]->ending)) return draws_formats[i];
    return NULL;
}

int draws_format_check(const char *path, nami_err *err)
{
    struct str list = {0};
    int n = 0;
    if (draws_format_of(path)) return 0;
    while (draws_formats[n]) n++;
    for (int i = 0; i < n; i++) str_or(&list, draws_formats[i]->ending, i, n);
    int rc = list.oom ? err_nomem(err)
                      : err_set(err, NAMI_EUSAGE, "cannot tell what to write to '%s'; end it in %s",
                                path, list.s);
    str_free(&list);
    return rc;
}

size_t draws_var_size(const struct draws_var *v)
{
    size_t n = 1;
    for (int k = 0; k < v->ndim; k++) n *= (size_t)v->dim[k];
    return n;
}

int rows_init(struct rows *r, const struct draws *d, nami_err *err)
{
    *r = (struct rows){.d = d};
    for (int v = 0; v < d->nvar; v++) {
        size_t end = d->var[v].base + draws_var_size(&d->var[v]);
        if (end > r->nelem) r->nelem = end;
    }
    size_t n = ROW_BLOCK * r->nelem;
    r->x = raw_array(double, n);
    return r->x ? 0 : err_nomem(err);
}

const double *rows_at(struct rows *r, size_t i)
{
    if (i - r->first >= r->n) {
        size_t n = r->d->n - i < ROW_BLOCK ? r->d->n - i : ROW_BLOCK;
        for (size_t e = 0; e < r->nelem; e++)
            for (size_t k = 0; k < n; k++) r->x[k * r->nelem + e] = r->d->x[e * r->d->n + i + k];
        r->first = i;
        r->n = n;
    }
    return r->x + (i - r->first) * r->nelem;
}

void rows_fini(struct rows *r) { free(r->x); }

void put_number(struct str *out, double x, int integer)
{
    char buf[400]; /* %.0f of the largest double has 309 digits */
    int n = integer && fabs(x) >= 1e15 ? snprintf(buf, sizeof buf, "%.0f", x) : num_print(buf, x);
    str_putn(out, buf, (size_t)n);
}
