/* data_impl.h: private to the readers of data files. */
#ifndef DATA_DATA_IMPL_H
#define DATA_DATA_IMPL_H

#include "data/data.h"

int data_json(struct data *d, const char *text, size_t len, nami_err *err);
int data_rdump(struct data *d, const char *text, size_t len, nami_err *err);

/* Iterates over an array in row-major order; `at` is the position of the current element in
   column-major order (first subscript varies fastest). */
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
