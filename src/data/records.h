/* records.h: many observations of one array: what a model is learnt from.

       records_read(&r, "train-images-idx3-ubyte.gz", "x", err)     60,000 x (28 x 28)
       records_binarise(&r, seed, err)                              each pixel 0 or 1
       records_row(&r, i, NULL, x, 1)                               observation i, as doubles

   All numbers are bytes, floats or doubles: the smallest that holds each of them to the last bit.
   70,000 images of 28 x 28 pixels are 55 MB.  A number that is missing is a NaN. */
#ifndef DATA_RECORDS_H
#define DATA_RECORDS_H

#include <stdint.h>

#include "data/data.h"

enum records_type { RECORDS_BYTE, RECORDS_FLOAT, RECORDS_DOUBLE };

struct records {
    int ndim; /* of one observation; 0: a single number */
    int dim[MAX_DIM];
    size_t n, k; /* observations, at least one; numbers of each */
    enum records_type type;
    void *x;          /* (n, k) */
    double byte[256]; /* of RECORDS_BYTE: what each byte stands for */
};

/* One row for each in records.def and one file records_<id>.c:
     idx   MNIST's files: big-endian, bytes to doubles
     npy   one array of NumPy's, first axis = observations, either order
     npz   several, by name
     csv   a line for each observation, with a header: y, x[1], "m[2,3]"; empty, NA and NaN are
   missing json  data sets, one for each observation (data_read); those that lack the array miss all
   of it Of those without names, `name` is for messages only. */
struct records_format {
    const char *name, *ending, *what;
    int named; /* does a file say what its arrays are called? */
    int (*looks)(const char *text, size_t len);
    int (*parse)(struct records *r, const char *text, size_t len, const char *name, nami_err *err);
};
extern const struct records_format *const records_formats[]; /* NULL at the end */
/* By its ending (before .gz), or NULL. */
const struct records_format *records_format_of(const char *path);

/* Reads the array `name` of a file ("-": standard input), compressed by gzip or not, in the format
   that its ending says, or else that it looks like.  FILE.npz:NAME reads another array (.csv and
   .json also).  After an error there is nothing to free. */
int records_read(struct records *r, const char *path, const char *name, nami_err *err);
/* The same from memory; f NULL: what it looks like. */
int records_parse(struct records *r, const struct records_format *f, const char *text, size_t len,
                  const char *name, nami_err *err);
/* The same from data sets, one for each observation; after an error, records_free. */
int records_of_sets(struct records *r, const struct data *d, const char *name, nami_err *err);
void records_free(struct records *r);

/* Observation i: number j to to[where[j] * stride], or nowhere if where[j] < 0; where NULL: j. */
void records_row(const struct records *r, size_t i, const int *where, double *to, size_t stride);
void records_row_float(const struct records *r, size_t i, const int *where, float *to,
                       size_t stride);
/* Number j of observations i[0], ..., i[n - 1]. */
void records_column(const struct records *r, size_t j, int n, const int *i, double *to);
double records_at(const struct records *r, size_t i, size_t j);

/* Brightness to [0, 1]: if all numbers lie there already, nothing is done; else all must lie in
   0 .. 255, and are divided by 255.  What is missing stays missing. */
int records_scale(struct records *r, nami_err *err);
/* Brightness, as above, to 0 or 1: drawn once, 1 with this probability, by a number that depends on
   (seed, i, j) only; or 1 from 0.5 on. */
int records_binarise(struct records *r, uint64_t seed, nami_err *err);
int records_threshold(struct records *r, nami_err *err);

#endif
