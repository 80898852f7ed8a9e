/* lane_qr.h: sparse least squares for many lanes with one pattern: entry e of lane b is at
   value[e * lanes + b].

   Rows (x, y) with weights w stand for terms w (x z + y)^2 of a sum of squares in the variables z.
   Orthogonal rotations between rows bring them to triangular form, one row for each variable; what
   is left has no variables and is the smallest sum of squares.  Unlike the normal equations X'wX,
   rotations of two rows do not mix their scales: weights may differ by any factor.

   The elimination is multifrontal (J. W. H. Liu, The multifrontal method for sparse matrix
   solution, SIAM Review 34, 1992; P. Matstoms, Sparse QR factorization in MATLAB, ACM TOMS 20,
   1994).  Variables (pivots) that are eliminated together form a front.  Its rows are a dense
   triangle: one for each pivot and, below, one for each further variable that they are connected
   with.  The rows below then enter the front of the parent in the elimination tree.

   Rotations are those without square roots (W. M. Gentleman, Least squares computations by Givens
   transformations without square roots, J. Inst. Maths Applics 12, 1973): row k of a front is
   stored as its weight d and (1, r), that is d (z_k + sum_j r_j z_j + r_last)^2.  Equal rows leave
   a remainder that is exactly 0 (therefore, no fused operations: CMakeLists.txt). */
#ifndef EXACT_LANE_QR_H
#define EXACT_LANE_QR_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "graph/dag.h"
#include "nami.h"

/* Rows and columns 0 .. width-1 of a front are the pivots first ..; `below` further ones follow,
   then the column of the right-hand side.  The rows of pivots are stored as the result; those
   below in memory that fronts share. */
struct front {
    int first, width, below;
    int parent;           /* a front with a larger number; -1: none, and below is 0 */
    int has_child;        /* a child has added to it before */
    int is_first;         /* of the children of its parent */
    int first_child;      /* in lane_qr.child */
    int end;              /* columns of the parent, from 0, that it and earlier children reach */
    size_t rows;          /* lane_qr.row[rows] .., lane_qr.into[rows] ..: those below */
    size_t value, update; /* its first entries */
    size_t record;        /* of its rows below, when they enter the parent */
    size_t message;       /* in memory that fronts share otherwise, when going back */
};

struct lane_qr {
    int n, num_fronts, most_rows; /* rows of the largest front */
    int *order, *place;           /* (n) variable of pivot k; pivot of variable v */
    int *front_of;                /* (n) by pivot */
    struct front *front;          /* children before their parents; one more, for first_child */
    int *row;                     /* variables below, as pivots, ascending */
    int *into;                    /* their columns in the front of the parent */
    int *child;                   /* fronts by parent, ascending */
    size_t num_values, num_updates, num_records, num_messages, num_work;
    double flops; /* multiplications and additions of a factorization */
};

/* In mem: the order of minimum fill, the fronts.  NAMI_ELIMIT, without a message, if the factor has
   more than `most` entries. */
int lane_qr_plan(struct lane_qr *c, struct arena *mem, const struct ugraph *graph, int64_t most,
                 nami_err *err);

/* The numbers of all lanes (a multiple of 8), aligned to 64 bytes. */
struct lane_matrix {
    const struct lane_qr *plan;
    int lanes;
    double *value, *update; /* (num_values, lanes), (num_updates, lanes) */
    double *record;         /* (num_records, lanes): rotations, to go back; NULL: not wanted */
    double *message;        /* (num_messages, lanes): to go back */
    double *work;           /* (num_work, lanes) */
};

/* Entries of what a front receives when going back. */
static inline size_t message_size(const struct front *f)
{
    return (size_t)f->below * (2 * (size_t)f->below + 1);
}
/* The number of the right-hand side among the columns of a front; the number of its rows. */
static inline int front_last(const struct front *f) { return f->width + f->below; }
/* Row i of a front: its weight, entries of the columns i + 1 .., right-hand side. */
static inline double *front_row(const struct lane_matrix *m, const struct front *f, int i)
{
    size_t at = (size_t)i, num = (size_t)front_last(f) + 1;
    if (i < f->width)
        return m->value + (f->value + at * num - at * (at - 1) / 2) * (size_t)m->lanes;
    at -= (size_t)f->width;
    num = (size_t)f->below + 1;
    return m->update + (f->update + at * num - at * (at - 1) / 2) * (size_t)m->lanes;
}

/* A row that enters a front: coefficients of the columns `at`, ascending, and the right-hand side;
   entry a of lane b is x[a * stride + b].  It reaches columns before `end`: no earlier row of the
   front may reach more. */
struct lane_row {
    int num, end;
    const int *at;
    const double *x;
    size_t stride;
    const double *root; /* (lanes) of its weight; NULL: 1 */
};
/* Entries of the record of a row. */
static inline size_t record_size(int start, int end) { return (size_t)(end - start) + 1; }

/* Front by front, in ascending order: front_begin; front_enter for each row; front_eliminate.
   record: NULL if not wanted.  Half of the squares that are left is subtracted from `sum`. */
void front_begin(const struct lane_matrix *m, int k);
void front_enter(const struct lane_matrix *m, int k, const struct lane_row *row, double *record,
                 double *sum);
void front_eliminate(const struct lane_matrix *m, int k, double *sum);
/* sum -= log of the determinant of the rows of its pivots; NaN if variables are undetermined. */
void front_log(const struct lane_matrix *m, int k, double *sum);
/* In descending order: z from independent standard normal numbers, or the mean from 0;
   z[pivot * lanes + b]. */
void front_solve(const struct lane_matrix *m, int k, double *z);
/* The same for L lanes of z[variable], all with the matrix of lane 0. */
void front_solve_same(const struct lane_matrix *m, int k, int L, double *const *z);

/* ---- going back: lane_qr_back.c ------------------------------------------------------------

   Given the data, the residual w^1/2 (x z + y) of a row is a random variable.  Residuals of the
   rows of pivots are independent standard normal; the rotations, in reverse, express those of all
   rows by them and by the residuals of the rows below, whose moments the parent has sent: sums of
   squares, where differences of covariances of variables would lose all digits. */

/* A residual: its mean, its covariances with the front's variables from `first` on, (rows, lanes),
   and what its covariances with other residuals are computed from. */
struct lane_residual {
    int first;
    double *mean, *with;
    double *part, *sent; /* (rows), (below): see residual_product */
};

/* In descending order, with records: front_back; front_leave for each row that has entered, in
   reverse; front_send. */
void front_back(const struct lane_matrix *m, int k);
void front_leave(const struct lane_matrix *m, int k, int start, int end, const double *record,
                 const struct lane_residual *to);
void front_send(const struct lane_matrix *m, int k);
/* out = the covariance of two residuals. */
void residual_product(const struct front *f, int lanes, const struct lane_residual *a,
                      const struct lane_residual *b, double *out);

/* In descending order: the variances of the front's pivots, variance[pivot * lanes + b]. */
void front_variances(const struct lane_matrix *m, int k, double *variance);

#endif
