/* lane_triangle.h: dense lower triangles of many lanes: packed by rows, lanes innermost.  The
   diagonal of a Cholesky factor is stored as its inverse, 1 / L_jj; it is NaN in lanes whose matrix
   is not positive definite.  Lanes are a multiple of 8, arrays aligned to 64 bytes. */
#ifndef EXACT_LANE_TRIANGLE_H
#define EXACT_LANE_TRIANGLE_H

#include <stddef.h>

/* Entries of a triangle of n rows. */
static inline size_t triangle_size(int n) { return (size_t)n * ((size_t)n + 1) / 2; }
/* A = L L': L instead of A. */
void triangle_factor(int n, int lanes, double *l);
/* Rows b (num, n): b L'^-1, b L^-1, b L, b L' instead of b. */
void triangle_solve(int n, int lanes, const double *l, int num, double *b);
void triangle_solve_back(int n, int lanes, const double *l, int num, double *b);
void triangle_times(int n, int lanes, const double *l, int num, double *b);
void triangle_times_back(int n, int lanes, const double *l, int num, double *b);

#endif
