/* draws_impl.h: what the writers of draws share. */
#ifndef DATA_DRAWS_IMPL_H
#define DATA_DRAWS_IMPL_H

#include "data/draws.h"

#define DRAWS(id) extern const struct draws_format draws_##id;
#include "data/draws.def"
#undef DRAWS

/* Draws as rows: x[(i - first) * nelem + e], a block at a time, so that a cache line is
   fetched once and not for each of its draws. */
enum { ROW_BLOCK = 64 };
struct rows {
    const struct draws *d;
    size_t nelem, first, n;
    double *x;
};
int rows_init(struct rows *r, const struct draws *d, nami_err *err);
const double *rows_at(struct rows *r, size_t i);
void rows_fini(struct rows *r);

/* A finite number. */
void put_number(struct str *out, double x, int integer);

/* Columns x, y[1], y[2], "m[1,1]", ...; *name is scratch.  A number, NA, NaN, Inf or -Inf. */
void csv_heading(struct str *out, const struct draws_var *v, struct str *name);
void csv_element(struct str *out, double x, int integer);

int json_names(int nvar, const struct draws_var *var, nami_err *err); /* are they UTF-8? */

#endif
