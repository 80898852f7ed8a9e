/* dense.h: symmetric positive definite matrices, row-major and dense. */
#ifndef INFER_DENSE_H
#define INFER_DENSE_H

#include <stddef.h>

double dense_dot(size_t n, const double *x, const double *y);
/* Cholesky factorization A = L L' in place; only the lower triangle is read and written. Leading
   zeros of rows are exploited (banded matrices are fast). -1 if A is not positive definite. */
int dense_chol(int n, double *A);
double dense_logdet(int n, const double *L);         /* of L L' */
void dense_lower(int n, const double *L, double *x); /* x = L^-1 x */
void dense_upper(int n, const double *L, double *x); /* x = L'^-1 x */
/* The inverse of L L' to out (n, n); work: (n, n). */
void dense_inverse(int n, const double *L, double *work, double *out);

#endif
