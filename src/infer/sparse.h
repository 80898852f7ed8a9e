/* sparse.h: symmetric positive definite matrices, most of whose entries are 0: Cholesky factors
   along the elimination tree, after

       T. A. Davis, Direct Methods for Sparse Linear Systems, SIAM 2006 (orders, trees, factors);
       K. Takahashi, J. Fagan, M.-S. Chin, Formation of a sparse bus impedance matrix and its
       application to short circuit study, PICA 1973 (the selected inverse). */
#ifndef INFER_SPARSE_H
#define INFER_SPARSE_H

#include <stdint.h>

#include "base/vec.h"
#include "nami.h"

/* The lower triangle by columns: column j has the entries start[j] .. start[j + 1] - 1, in any
   order, each once; the diagonal is among them. */
struct sparse {
    int n;
    int64_t *start;
    vec(int) row;
    vec(double) value;
};
void sparse_free(struct sparse *a);

/* L L' = A, both in elimination order. Columns 0 .. num_sparse - 1 of L are sparse; the remaining
   ones, which have no zeros, are stored as a dense matrix: the core. */
struct chol {
    int n, num_sparse;
    int *order;     /* (n) the variable that is eliminated in step k */
    int64_t *start; /* (num_sparse + 1) column k: start[k] .. start[k + 1] - 1 ... */
    int *row;       /* ... the diagonal, then increasing rows */
    double *value;
    double *core;        /* (n - num_sparse, n - num_sparse), row-major: the lower triangle */
    int64_t num_entries; /* of value and core */
};

/* NAMI_ELIMIT if L would have more than `most` entries, before they are computed. NAMI_EINPUT,
   without a message, if A is not positive definite, or so nearly that digits are lost. */
int chol_new(const struct sparse *a, int64_t most, struct chol *out, nami_err *err);
void chol_free(struct chol *c);
double chol_logdet(const struct chol *c); /* of A */
/* x = A^-1 x for `lanes` vectors, x[variable * lanes + b]; work: (n, lanes). */
void chol_solve(const struct chol *c, int lanes, double *x, double *work);
/* y = L'^-1 y for `lanes` vectors: y[k * lanes + b], k in elimination order. */
void chol_upper(const struct chol *c, int lanes, double *y);
/* The diagonal of A^-1, by variable. */
int chol_variances(const struct chol *c, double *variance, nami_err *err);

/* Compensated summation (Neumaier). */
struct exact_sum {
    double sum, rest;
};
void sum_add(struct exact_sum *s, double x);
static inline double sum_total(const struct exact_sum *s) { return s->sum + s->rest; }

#endif
