/* data.h: named numeric arrays, the content of data files. */
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
    double *x; /* row-major (last subscript varies fastest), for any file format */
    int line;
};

/* A missing value (null, NA): a distinguished NaN. */
double value_missing(void);
int value_is_missing(double x);

/* One data set. */
struct dataset {
    vec(struct value) value;
};

/* The content of one or more files: one data set, or several. */
struct data {
    struct arena mem;
    vec(struct dataset) set;
};

const struct value *dataset_find(const struct dataset *d, const char *name,
                                 size_t len); /* or NULL */
void data_free(struct data *d);

/* Adds the data sets of a file ("-": standard input; format by extension .json, .R, .txt or by
   content).  JSON: one object, a list of objects, or JSON Lines; R: one data set.  Strings in JSON
   and R, ragged lists and duplicate names are errors with line and advice; *d is then unchanged. */
int data_read(struct data *d, const char *path, nami_err *err);
int data_parse(struct data *d, const char *text, size_t len, nami_err *err);
/* Merges data files: the sets starting at `first` (of the last file) with those before.  One of the
   two must be a single data set, whose values are added to all data sets of the other; a name in
   both is an error. */
int data_join(struct data *d, size_t first, nami_err *err);
/* A data set as JSON, appended. */
struct str;
void dataset_print(const struct dataset *d, struct str *out);
/* A copy of all data sets, added to those of `to`. */
int data_copy(struct data *to, const struct data *from, nami_err *err);

#endif
