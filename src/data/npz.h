/* npz.h: reads NumPy archives, which contain an array NAME.npy each, stored or compressed. */
#ifndef DATA_NPZ_H
#define DATA_NPZ_H

#include "data/npy.h"

struct npz; /* reads one array at a time */

int npz_open(const char *path, struct npz **out, nami_err *err);
/* The same from memory, which must outlive the object. */
int npz_parse(const char *text, size_t len, struct npz **out, nami_err *err);
void npz_close(struct npz *z); /* accepts NULL */

/* Appends the names of the arrays: "x, y". */
void npz_names(const struct npz *z, struct str *out);
/* Starts reading an array and reads its header.  a->header is 0 if there is no such array. */
int npz_find(struct npz *z, const char *name, struct npy *a, nami_err *err);
/* The next n elements of the array, in the order of the file: a->n in total. */
int npz_next(struct npz *z, size_t n, double *x, nami_err *err);
/* After the last element: verifies the end of the array and its checksum (CRC). */
int npz_end(struct npz *z, nami_err *err);

#endif
