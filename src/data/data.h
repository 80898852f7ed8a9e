/* data.h: named arrays of numbers, as data files hold them. */
#ifndef DATA_DATA_H
#define DATA_DATA_H

#include "base/arena.h"
#include "base/vec.h"
#include "nami.h"

enum { MAX_DIM = 8 };

struct value {
    const char *name;
    int ndim;         /* 0 for a single number; R's c(5) and JSON's [5] have one dimension */
    int dim[MAX_DIM]; /* may be 0: an empty list */
    size_t n;
    double *x; /* row-major: the last subscript runs fastest, whatever the file's order was */
    int line;
};

/* Missing (null, NA): a NaN of its own. */
double value_missing(void);
int value_is_missing(double x);

/* One data set. */
struct dataset {
    vec(struct value) value;
};

/* All that a file holds: one data set, or several. */
struct data {
    struct arena mem;
    vec(struct dataset) set;
};

const struct value *dataset_find(const struct dataset *d, const char *name,
                                 size_t len); /* or NULL */
void data_free(struct data *d);

/* Adds the data sets of a file ("-": standard input; .json, .R, .txt or what it looks like).
   JSON: one object, a list of them, or one after another (JSON Lines); R: one data set.
   Strings in JSON and R, lists of lists of unequal length, and a name twice are errors
   with line and advice; *d then has the sets it had. */
int data_read(struct data *d, const char *path, nami_err *err);
int data_parse(struct data *d, const char *text, size_t len, nami_err *err);
/* Files go together: sets from `first` on are joined with those before.  What a file with one data
   set gives belongs to all data sets. */
int data_join(struct data *d, size_t first, nami_err *err);
/* A data set as JSON, appended. */
struct str;
void dataset_print(const struct dataset *d, struct str *out);
/* A copy of all data sets, added to those of `to`. */
int data_copy(struct data *to, const struct data *from, nami_err *err);

#endif
