/* records.h: many observations of one array, from which a model is learned.

       records_read(&r, "train-images-idx3-ubyte.gz", "x", err)     60,000 x (28 x 28)
       records_binarise(&r, seed, err)                              each pixel 0 or 1
       records_row(&r, i, NULL, x, 1)                               observation i, as doubles

   Values are stored as bytes, floats or doubles: the smallest type that represents all of them
   exactly.  70,000 images of 28 x 28 pixels take 55 MB.  A missing value is a NaN. */
#ifndef DATA_RECORDS_H
#define DATA_RECORDS_H

#include <stdint.h>

#include "data/data.h"

enum records_type { RECORDS_BYTE, RECORDS_FLOAT, RECORDS_DOUBLE };

struct records {
    int ndim; /* of one observation; 0: a scalar */
    int dim[MAX_DIM];
    size_t n, k; /* number of observations, at least one; numbers per observation */
    enum records_type type;
    void *x;          /* (n, k) */
    double byte[256]; /* RECORDS_BYTE: the value that each byte represents */
};

/* One row in records.def and one file records_<id>.c for each format:
     idx   the files of MNIST: big-endian, bytes to doubles
     npy   one NumPy array, observations along the first axis, C or Fortran order
     npz   several named arrays
     csv   a header and one line per observation: y, x[1], "m[2,3]"; empty, NA and NaN are missing
     json  one data set per observation (data_read); if one lacks the array, all of it is missing
   For formats without names, `name` is used in messages only. */
struct records_format {
    const char *name, *ending, *what;
    int named; /* does a file contain the names of its arrays? */
    int (*looks)(const char *text, size_t len);
    int (*parse)(struct records *r, const char *text, size_t len, const char *name, nami_err *err);
};
extern const struct records_format *const records_formats[]; /* NULL at the end */
/* By file extension (before .gz), or NULL. */
const struct records_format *records_format_of(const char *path);

/* Reads the array `name` of a file ("-": standard input), compressed by gzip or not, in the format
   given by its extension or else by its content.  FILE.npz:NAME reads a different array (also for
   .csv and .json).  After an error there is nothing to free. */
int records_read(struct records *r, const char *path, const char *name, nami_err *err);
/* The same from memory; f NULL: format by content. */
int records_parse(struct records *r, const struct records_format *f, const char *text, size_t len,
                  const char *name, nami_err *err);
/* The same from data sets, one for each observation; after an error, records_free. */
int records_of_sets(struct records *r, const struct data *d, const char *name, nami_err *err);
void records_free(struct records *r);

/* Copies element j of observation i to to[where[j] * stride], unless where[j] < 0; where NULL: the
   identity. */
void records_row(const struct records *r, size_t i, const int *where, double *to, size_t stride);
void records_row_float(const struct records *r, size_t i, const int *where, float *to,
                       size_t stride);
/* Element j of observations i[0], ..., i[n - 1]. */
void records_column(const struct records *r, size_t j, int n, const int *i, double *to);
double records_at(const struct records *r, size_t i, size_t j);

/* Scales pixel intensities to [0, 1]: if all values are in this range, nothing is done; otherwise
   all must be in 0 .. 255, and are divided by 255.  Missing values remain missing. */
int records_scale(struct records *r, nami_err *err);
/* Binarizes pixel intensities, scaled as above: at random, 1 with probability equal to the
   intensity, by a random number that depends only on (seed, i, j); or by the threshold 0.5. */
int records_binarise(struct records *r, uint64_t seed, nami_err *err);
int records_threshold(struct records *r, nami_err *err);

#endif
