/* records_impl.h: private to the readers of observations. */
#ifndef DATA_RECORDS_IMPL_H
#define DATA_RECORDS_IMPL_H

#include "data/npy.h"
#include "data/records.h"

#define RECORDS(id) extern const struct records_format records_##id;
#include "data/records.def"
#undef RECORDS

/* Allocates n observations of this shape, all 0; stored as bytes until another value is stored. */
int records_make(struct records *r, size_t n, int ndim, const int *dim, const char *name,
                 nami_err *err);
/* Stores element `at` of all n * k; -1: out of memory. */
int records_put(struct records *r, size_t at, double x);

/* The next n elements of an array in the order of its file (see npz_next). */
typedef int records_next(void *from, size_t n, double *x, nami_err *err);
/* Reads an entire array with observations along the first axis. */
int records_array(struct records *r, const struct npy *a, const char *name, records_next *next,
                  void *from, nami_err *err);
/* The same for a text that consists of one array, header and elements. */
int records_whole(struct records *r, const struct npy *a, const char *text, size_t len,
                  const char *name, nami_err *err);

#endif
