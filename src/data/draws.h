/* draws.h: writes draws of named arrays to files. */
#ifndef DATA_DRAWS_H
#define DATA_DRAWS_H

#include "base/str.h"
#include "data/data.h"

struct draws_var {
    const char *name;
    int ndim; /* 0: a single number, written without subscripts */
    int dim[MAX_DIM];
    int integer; /* write without a decimal point; int64 in NPZ if nothing is missing */
    size_t base; /* index of its first element among all elements */
};

/* Element e (row-major) of variable v in draw i: x[(var[v].base + e) * n + i].  An element that the
   model does not define is a missing value (value_is_missing): null, NA or NaN in the file. */
struct draws {
    size_t n;
    int nvar;
    const struct draws_var *var;
    const double *x;
};

/* A number in CmdStan's JSON, with the fewest digits that reproduce it; "NaN", "Inf" and "-Inf" are
   strings, missing values null. */
void json_element(struct str *out, double x, int integer);
/* The elements of a variable as nested lists, starting at dimension k; x is the first element.
   Returns the position after the last. */
const double *json_elements(struct str *out, const struct draws_var *v, int k, const double *x);
/* A field of a CSV file, quoted if necessary (RFC 4180). */
void csv_field(struct str *out, const char *s);

/* One row in draws.def and one file draws_<id>.c for each format: json (an array of n data sets in
   CmdStan's convention, readable as a data file), csv (one column per element: x[1], m[2,3]), npz
   (one array per variable, draws along the first axis).  The text is appended to *out. */
struct draws_format {
    const char *name, *ending, *what;
    int (*write)(const struct draws *d, struct str *out, nami_err *err);
};
extern const struct draws_format *const draws_formats[];      /* NULL at the end */
const struct draws_format *draws_format_of(const char *path); /* by file extension, or NULL */
int draws_format_check(const char *path, nami_err *err);      /* NAMI_EUSAGE lists the formats */
size_t draws_var_size(const struct draws_var *v);             /* number of elements */

#endif
