/* draws.h: draws of named arrays, out to files. */
#ifndef DATA_DRAWS_H
#define DATA_DRAWS_H

#include "base/str.h"
#include "data/data.h"

struct draws_var {
    const char *name;
    int ndim; /* 0: a single number, written without subscripts */
    int dim[MAX_DIM];
    int integer; /* write without a decimal point; int64 in NPZ if nothing is missing */
    size_t base; /* its first element among all elements */
};

/* Element e (row-major) of variable v in draw i: x[(var[v].base + e) * n + i].  A NaN that
   value_is_missing() is an element the model does not define: null, NA or NaN in the file. */
struct draws {
    size_t n;
    int nvar;
    const struct draws_var *var;
    const double *x;
};

/* A number in CmdStan's JSON: as short as it can be, "NaN", "Inf" and "-Inf" as strings, missing
 * ones as null. */
void json_element(struct str *out, double x, int integer);
/* All elements of a variable from dimension k on, nested; x is the first.  Returns what is behind.
 */
const double *json_elements(struct str *out, const struct draws_var *v, int k, const double *x);
/* A field of a CSV file, in quotes if it needs them (RFC 4180). */
void csv_field(struct str *out, const char *s);

/* One row for each in draws.def and one file draws_<id>.c: json (an array of n data sets, in
   CmdStan's convention: --data reads it), csv (a column for each element: x[1], m[2,3]), npz
   (an array for each variable, first axis = draws).  The text is appended to *out. */
struct draws_format {
    const char *name, *ending, *what;
    int (*write)(const struct draws *d, struct str *out, nami_err *err);
};
extern const struct draws_format *const draws_formats[];      /* NULL at the end */
const struct draws_format *draws_format_of(const char *path); /* by its ending, or NULL */
int draws_format_check(const char *path, nami_err *err);      /* NAMI_EUSAGE says which there are */
size_t draws_var_size(const struct draws_var *v);             /* its number of elements */

#endif
