/* data_impl.h: what the readers of data share. */
#ifndef DATA_DATA_IMPL_H
#define DATA_DATA_IMPL_H

#include "data/data.h"

int data_json(struct data *d, const char *text, size_t len, nami_err *err);
int data_rdump(struct data *d, const char *text, size_t len, nami_err *err);

/* A walk over an array in row-major order: where does its column-major form (the first
   subscript runs fastest) have the element?  First w.at, after each next() the next one. */
struct column_walk {
    int ndim;
    const int *dim;
    size_t at, step[MAX_DIM + 1];
    int sub[MAX_DIM + 1];
};
void column_walk_init(struct column_walk *w, int ndim, const int *dim); /* ndim <= MAX_DIM + 1 */
void column_walk_next(struct column_walk *w);

/* "m[2,3]": name with subscripts from 1 at where[0..n-1]. */
enum { PATH_MAX_LEN = 200 };
const char *element_path(char buf[PATH_MAX_LEN], const char *name, int n, const size_t *where);
/* "2 x 3", "5" or "a single number" */
const char *shape_text(char buf[PATH_MAX_LEN], int ndim, const int *dim);

#endif
