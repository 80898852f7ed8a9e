/* draws_impl.h: private to the writers of draws. */
#ifndef DATA_DRAWS_IMPL_H
#define DATA_DRAWS_IMPL_H

#include "data/draws.h"

#define DRAWS(id) extern const struct draws_format draws_##id;
#include "data/draws.def"
#undef DRAWS

/* Draws transposed to rows, x[(i - first) * nelem + e], one block at a time, so that a cache line
   is fetched once and not once per draw. */
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

/* Column names x, y[1], y[2], "m[1,1]", ... (*name is a workspace); a value: a number, NA, NaN, Inf
   or -Inf. */
void csv_heading(struct str *out, const struct draws_var *v, struct str *name);
void csv_element(struct str *out, double x, int integer);

int json_names(int nvar, const struct draws_var *var,
               nami_err *err); /* an error if a name is not UTF-8 */

#endif
