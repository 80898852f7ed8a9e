/* lane_chol.h: Cholesky factors of many sparse symmetric positive definite matrices with one
   pattern, one in each lane: entry e of lane b is at value[e * lanes + b].

   The factorization is multifrontal (I. S. Duff and J. K. Reid, The multifrontal solution of
   indefinite sparse symmetric linear equations, ACM TOMS 9, 1983; J. W. H. Liu, The multifrontal
   method for sparse matrix solution, SIAM Review 34, 1992).  Pivots that have the same entries
   below them form a front, a dense symmetric matrix; what remains of it after their elimination is
   added to the front of its parent in the elimination tree.  A right-hand side is carried along as
   the last row.  The diagonal of a factor is stored as its inverse, 1 / L_jj; it is NaN in lanes
   whose matrix is not positive definite. */
#ifndef EXACT_LANE_CHOL_H
#define EXACT_LANE_CHOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "graph/dag.h"
#include "nami.h"

/* Rows 0 .. width-1 of a front are the pivots first ..; `below` further rows and the right-hand
   side follow.  Of its lower triangle, the columns of the pivots are stored in the factor; the
   others, which the parent receives, in memory that fronts share. */
struct front {
    int first, width, below;
    int parent;           /* a front with a larger number; -1: none, and below is 0 */
    int has_child;        /* a child has added to it before */
    int is_first;         /* of the children of its parent */
    size_t rows;          /* lane_chol.row[rows] .., lane_chol.into[rows] ..: those below */
    size_t value, update; /* its first entries */
};

struct lane_chol {
    int n, num_fronts, most_rows; /* rows of the largest front, without the right-hand side */
    int *order, *place;           /* (n) variable of pivot k; pivot of variable v */
    int *front_of;                /* (n) by pivot */
    struct front *front;          /* children before their parents */
    int *row;                     /* rows below, as pivots, ascending */
    int *into;                    /* their numbers in the front of the parent */
    size_t num_values, num_updates;
    double flops; /* multiplications and additions of a factorization */
};

/* In mem: the order of minimum fill, the fronts.  NAMI_ELIMIT, without a message, if the factor has
   more than `most` entries. */
int lane_chol_plan(struct lane_chol *c, struct arena *mem, const struct ugraph *graph, int64_t most,
                   nami_err *err);

/* The numbers of all lanes (a multiple of 8), aligned to 64 bytes. */
struct lane_matrix {
    const struct lane_chol *plan;
    int lanes;
    double *value, *update; /* (num_values, lanes), (num_updates, lanes) */
};

/* Entry (i, j), i >= j, of the front: of the matrix, then of its factor (j < width), then of the
   inverse. */
static inline double *front_entry(const struct lane_matrix *m, const struct front *f, int i, int j)
{
    size_t row = (size_t)i, column = (size_t)j, width = (size_t)f->width;
    size_t lanes = (size_t)m->lanes, at = row * (row + 1) / 2 + column;
    if (row < width) return m->value + (f->value + at) * lanes;
    row -= width;
    if (column < width)
        return m->value + (f->value + width * (width + 1) / 2 + row * width + column) * lanes;
    return m->update + (f->update + row * (row + 1) / 2 + column - width) * lanes;
}
/* Number of the right-hand side among the rows of a front. */
static inline int front_last(const struct front *f) { return f->width + f->below; }

/* Front by front, in ascending order: front_begin; front_add: += A A', where rows `at` (ascending)
   of A, (num, length), are at a and the others are 0; front_eliminate. */
void front_begin(const struct lane_matrix *m, int k);
void front_add(const struct lane_matrix *m, int k, int num, const int *at, int length,
               const double *a);
void front_eliminate(const struct lane_matrix *m, int k);
/* In descending order: x = L'^-1 (x - L^-1 h), h the right-hand side; x[pivot * lanes + b]. */
void front_solve(const struct lane_matrix *m, int k, double *x);
/* In descending order, after front_solve: the entries of the inverse of the matrix (selected
   inverse, K. Takahashi, J. Fagan and M.-S. Chin, PICA 1973) instead of the factor; those of the
   rows below remain until all children are inverted.
   work: 8 * most_rows doubles. */
void front_invert(const struct lane_matrix *m, int k, double *work);

/* ---- dense matrices: packed lower triangles by rows, lanes innermost -------------- */

/* Doubles of a triangle of n rows, by lane. */
static inline size_t triangle_size(int n) { return (size_t)n * ((size_t)n + 1) / 2; }
/* A = L L': L instead of A. */
void triangle_factor(int n, int lanes, double *l);
/* Rows b (num, n): b L'^-1, b L^-1, b L, b L' instead of b. */
void triangle_solve(int n, int lanes, const double *l, int num, double *b);
void triangle_solve_back(int n, int lanes, const double *l, int num, double *b);
void triangle_times(int n, int lanes, const double *l, int num, double *b);
void triangle_times_back(int n, int lanes, const double *l, int num, double *b);
/* out (num_a, num_b) = A' B: A (length, num_a); B (length, num_b), rows `stride` entries apart. */
void lane_cross(int length, int lanes, int num_a, const double *a, int num_b, int stride,
                const double *b, double *out);

#endif
