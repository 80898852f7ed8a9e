/* records_impl.h: what the readers of observations share. */
#ifndef DATA_RECORDS_IMPL_H
#define DATA_RECORDS_IMPL_H

#include "data/npy.h"
#include "data/records.h"

#define RECORDS(id) extern const struct records_format records_##id;
#include "data/records.def"
#undef RECORDS

/* Room for n observations of this shape, all 0: bytes, until something else is put there. */
int records_make(struct records *r, size_t n, int ndim, const int *dim, const char *name,
                 nami_err *err);
/* Number `at` of all n * k; -1 when memory runs out. */
int records_put(struct records *r, size_t at, double x);

/* The next n elements of an array in its file's order (see npz_next). */
typedef int records_next(void *from, size_t n, double *x, nami_err *err);
/* All of an array whose first axis are observations. */
int records_array(struct records *r, const struct npy *a, const char *name, records_next *next,
                  void *from, nami_err *err);
/* The same of an array whose header and elements are all that text is. */
int records_whole(struct records *r, const struct npy *a, const char *text, size_t len,
                  const char *name, nami_err *err);

#endif
