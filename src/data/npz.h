/* npz.h: NumPy's archive of arrays, NAME.npy each, stored or compressed; in from files. */
#ifndef DATA_NPZ_H
#define DATA_NPZ_H

#include "data/npy.h"

struct npz; /* at most one array is being read */

int npz_open(const char *path, struct npz **out, nami_err *err);
/* The same from memory, which must outlive it. */
int npz_parse(const char *text, size_t len, struct npz **out, nami_err *err);
void npz_close(struct npz *z); /* accepts NULL */

/* Appends the names of its arrays: "x, y". */
void npz_names(const struct npz *z, struct str *out);
/* Begins to read an array: its header.  a->header is 0 if there is no such array. */
int npz_find(struct npz *z, const char *name, struct npy *a, nami_err *err);
/* Its next n elements, in the file's order: all together there must be a->n. */
int npz_next(struct npz *z, size_t n, double *x, nami_err *err);
/* After all of them: is this the end, and are its bytes those that were written (CRC)? */
int npz_end(struct npz *z, nami_err *err);

#endif
