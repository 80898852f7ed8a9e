/* feed.h: copies observations from files to the rows of a model. */
#ifndef MODEL_FEED_H
#define MODEL_FEED_H

#include "data/records.h"
#include "model/view.h"

/* The observations of one array, and the row of each of its elements. */
struct feed {
    int array, first; /* of the model; its first element */
    const char *name;
    struct records r;
    int *row; /* row of the model; -1: constant */
};

/* Several arrays with equal numbers of observations; observation i of all of them is one data
   point. */
struct feeds {
    size_t n;
    vec(struct feed) feed;
};

/* Reads files: "x=FILE", or "FILE" for all observed arrays, by their names in the file (if the
   format has no names: for the only observed array). An observation has the shape of the array, or
   one of the two is flat: 28 x 28 pixels are read to x[784]. A file with as many numbers as one
   observation, and no axis for observations, is a single observation. *f must be freed also after
   an error. */
int feeds_read(struct feeds *f, const struct model *m, const char *const *file, int nfile,
               nami_err *err);
/* Files may also contain constants of the model, by name. Returns the first element whose value
   differs, or -1. Unreadable files are ignored. */
int feeds_other(const struct model *m, const char *const *file, int nfile, double *value);
/* The same from data sets in memory: each is one observation of all observed arrays. */
int feeds_of_sets(struct feeds *f, const struct model *m, const struct data *d, nami_err *err);
/* The same from observations of one array in memory, of which it takes ownership. */
int feeds_add(struct feeds *f, const struct model *m, int array, struct records *r, nami_err *err);
void feeds_free(struct feeds *f);
struct feed *feeds_find(const struct feeds *f, const char *name); /* or NULL */

/* Checks, after preprocessing, that each number is in the support of its distribution. Missing
   values are accepted. */
int feeds_check(const struct feeds *f, const struct model *m, nami_err *err);

/* Copies observation i to x[row * stride]. Rows of other variables are not changed; missing values
   become NaN. */
void feeds_copy(const struct feeds *f, size_t i, double *x, size_t stride);
/* The same for observations i[0], ..., i[n - 1] to x[row * stride], x[row * stride + 1], ... */
void feeds_copy_some(const struct feeds *f, int n, const int *i, double *x, size_t stride);
/* Is element j of the array observed; is any element? If not, the array contains labels: values of
   latents. */
int feed_observed(const struct model *m, const struct feed *f, size_t j);
int feed_is_data(const struct model *m, const struct feed *f);
/* Does observation i lack a value of an observed element? */
int feed_misses(const struct model *m, const struct feed *f, size_t i);

#endif
