/* npy.h: one array in the NumPy .npy format: header, then the elements. */
#ifndef DATA_NPY_H
#define DATA_NPY_H

#include "base/str.h"
#include "data/data.h"

#define NPY_MAGIC "\x93NUMPY"

/* Content of a header. */
struct npy {
    char kind;   /* f, i, u or b */
    int size;    /* bytes per element */
    int big;     /* big-endian */
    int fortran; /* column-major */
    int ndim;    /* dim[0] is the axis of draws, if there is one */
    int dim[MAX_DIM + 1];
    size_t n;      /* number of elements */
    size_t header; /* size of the header in bytes */
};

/* Reads the header at s.  a->header is 0 if it needs more than len bytes; a->n elements of
   a->size bytes follow it. */
int npy_header(struct npy *a, const char *s, size_t len, nami_err *err);
/* The elements in row-major order, for either order of the file. */
void npy_numbers(const struct npy *a, const char *data, double *x);

/* Writes a header: '<f8' or '<i8', C order. */
void npy_put_header(struct str *out, int integer, int ndim, const size_t *dim);
void npy_put(char p[8], double x, int integer); /* an element */

#endif
