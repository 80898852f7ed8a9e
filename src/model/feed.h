/* feed.h: observations of data sets into the rows of a model. */
#ifndef MODEL_FEED_H
#define MODEL_FEED_H

#include "data/records.h"
#include "model/view.h"

/* One array: where each of its numbers goes. */
struct feed {
    int array, first; /* of the model; its first element */
    const char *name;
    struct records r;
    int *row; /* of the model; -1: what is constant */
};

/* Several arrays with as many observations: observation i of each belongs together. */
struct feeds {
    size_t n;
    vec(struct feed) feed;
};

/* Reads files: "x=FILE", or "FILE" for all observed arrays, by their names in the file (if the file
   has no names: for the one array that is observed).  An observation has the shape of the array, or
   one of the two is flat: 28 x 28 pixels are read to x[784].  A file with as many numbers as one
   observation has, and no axis for observations, is one.  *f is to be freed in any case. */
int feeds_read(struct feeds *f, const struct model *m, const char *const *file, int nfile,
               nami_err *err);
/* Files may hold constants of the model, too, by their names: the first element that has another
   value there, or -1.  What cannot be read so is left alone. */
int feeds_other(const struct model *m, const char *const *file, int nfile, double *value);
/* The same from data sets in memory: an observation of all observed arrays each. */
int feeds_of_sets(struct feeds *f, const struct model *m, const struct data *d, nami_err *err);
/* feeds_read from memory: observations of one array, which are taken over. */
int feeds_add(struct feeds *f, const struct model *m, int array, struct records *r, nami_err *err);
void feeds_free(struct feeds *f);
struct feed *feeds_find(const struct feeds *f, const char *name); /* or NULL */

/* Can each number be what its distribution says?  After scaling and the like.  What is missing
   can. */
int feeds_check(const struct feeds *f, const struct model *m, nami_err *err);

/* Observation i to x[row * stride].  Rows of other variables are left as they are; what is missing
   becomes NaN. */
void feeds_copy(const struct feeds *f, size_t i, double *x, size_t stride);
/* The same of observations i[0], ..., i[n - 1] to x[row * stride], x[row * stride + 1], ... */
void feeds_copy_some(const struct feeds *f, int n, const int *i, double *x, size_t stride);
/* Is element j of the array observed; is any?  If not, these are labels, of latents. */
int feed_observed(const struct model *m, const struct feed *f, size_t j);
int feed_is_data(const struct model *m, const struct feed *f);
/* Does observation i lack a number of what is observed? */
int feed_misses(const struct model *m, const struct feed *f, size_t i);

#endif
