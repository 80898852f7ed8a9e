/* lane_triangle.c: kernels on dense triangles of many lanes.  They work on tiles of 4 rows by 2
   columns whose sums stay in registers. */
#include "exact/lane_triangle.h"

#include <float.h>
#include <math.h>

#include "exact/lane_wide.h"

enum { ROWS = 4 };

/* The row of a packed triangle. */
INLINE size_t row_at(int i, int lanes) { return triangle_size(i) * (size_t)lanes; }

/* ---- tiles ------------------------------------------------------------------------ */

/* sum[t][u] = sum over k < length of a[t][k] b[u][k], in lanes from `first` on */
INLINE void tile(int length, size_t lanes, const double *const *a, const double *const *b,
                 int first, wide (*sum)[2])
{
    wide s00 = {0}, s01 = {0}, s10 = {0}, s11 = {0}, s20 = {0}, s21 = {0}, s30 = {0}, s31 = {0};
    const double *a0 = a[0] + first, *a1 = a[1] + first, *a2 = a[2] + first, *a3 = a[3] + first;
    const double *b0 = b[0] + first, *b1 = b[1] + first;
    size_t end = (size_t)length * lanes;
    for (size_t k = 0; k < end; k += lanes) {
        wide x = OF(b0 + k), y = OF(b1 + k);
        s00 += OF(a0 + k) * x, s01 += OF(a0 + k) * y;
        s10 += OF(a1 + k) * x, s11 += OF(a1 + k) * y;
        s20 += OF(a2 + k) * x, s21 += OF(a2 + k) * y;
        s30 += OF(a3 + k) * x, s31 += OF(a3 + k) * y;
    }
    sum[0][0] = s00, sum[0][1] = s01, sum[1][0] = s10, sum[1][1] = s11;
    sum[2][0] = s20, sum[2][1] = s21, sum[3][0] = s30, sum[3][1] = s31;
}

/* ---- triangles -------------------------------------------------------------------- */

INLINE void pivot(double *d)
{
    double inverse[WIDTH];
    for (int b = 0; b < WIDTH; b++) inverse[b] = 1 / sqrt(d[b]);
    for (int b = 0; b < WIDTH; b++) d[b] = ((d[b] > 0) & (d[b] <= DBL_MAX)) ? inverse[b] : NAN;
}

/* Solves columns j, j + 1 (below `end`) of up to 4 rows, the first of which is row i of the
   triangle or comes after it, given the columns before. */
INLINE void solve_tile(int i, int num, double *const *row, int j, int end, const double *l,
                       int lanes)
{
    wide sum[ROWS][2];
    int two = j + 1 < end;
    size_t at = (size_t)j * (size_t)lanes;
    const double *const column[2] = {l + row_at(j, lanes), l + row_at(two ? j + 1 : j, lanes)};
    tile(j, (size_t)lanes, (const double *const *)row, column, 0, sum);
    for (int t = 0; t < num; t++) {
        double *x = row[t] + at;
        if (i + t < j) continue;
        AT(x) = OF(x) - sum[t][0];
        if (i + t == j)
            pivot(x);
        else
            AT(x) = OF(x) * OF(column[0] + at);
        if (!two || i + t == j) continue;
        double *y = x + lanes;
        AT(y) = OF(y) - sum[t][1] - OF(x) * OF(column[1] + at);
        if (i + t == j + 1)
            pivot(y);
        else
            AT(y) = OF(y) * OF(column[1] + at + lanes);
    }
}

INLINE void factor_group(int n, int lanes, double *l)
{
    for (int i = 0; i < n; i += ROWS) {
        int num = n - i < ROWS ? n - i : ROWS;
        double *row[ROWS];
        for (int t = 0; t < ROWS; t++) row[t] = l + row_at(i + (t < num ? t : num - 1), lanes);
        for (int j = 0; j < i + num; j += 2) solve_tile(i, num, row, j, i + num, l, lanes);
    }
}

INLINE void solve_group(int n, int lanes, const double *l, int num, double *b)
{
    for (int i = 0; i < num; i += ROWS) {
        int left = num - i < ROWS ? num - i : ROWS;
        double *row[ROWS];
        for (int t = 0; t < ROWS; t++)
            row[t] = b + (size_t)(i + (t < left ? t : left - 1)) * (size_t)n * (size_t)lanes;
        for (int j = 0; j < n; j += 2) solve_tile(n, left, row, j, n, l, lanes);
    }
}

WIDE void triangle_factor(int n, int lanes, double *l)
{
    for (int b = 0; b < lanes; b += WIDTH) factor_group(n, lanes, l + b);
}

WIDE void triangle_solve(int n, int lanes, const double *l, int num, double *rows)
{
    for (int b = 0; b < lanes; b += WIDTH) solve_group(n, lanes, l + b, num, rows + b);
}

/* x L = b: from the last column to the first */
WIDE void triangle_solve_back(int n, int lanes, const double *l, int num, double *rows)
{
    for (int i = 0; i < num; i++)
        for (int j = n - 1; j >= 0; j--) {
            double *x = rows + (size_t)i * (size_t)n * (size_t)lanes, *to = x + j * lanes;
            for (int k = j + 1; k < n; k++) {
                const double *f = l + row_at(k, lanes) + j * lanes, *y = x + k * lanes;
                for (int b = 0; b < lanes; b += WIDTH) AT(to + b) -= OF(f + b) * OF(y + b);
            }
            const double *d = l + row_at(j, lanes) + j * lanes;
            for (int b = 0; b < lanes; b += WIDTH) AT(to + b) *= OF(d + b);
        }
}

WIDE void triangle_times(int n, int lanes, const double *l, int num, double *rows)
{
    for (int i = 0; i < num; i++)
        for (int j = 0; j < n; j++) {
            double *x = rows + (size_t)i * (size_t)n * (size_t)lanes, *to = x + j * lanes;
            const double *d = l + row_at(j, lanes) + j * lanes;
            for (int b = 0; b < lanes; b += WIDTH) AT(to + b) /= OF(d + b);
            for (int k = j + 1; k < n; k++) {
                const double *f = l + row_at(k, lanes) + j * lanes, *y = x + k * lanes;
                for (int b = 0; b < lanes; b += WIDTH) AT(to + b) += OF(f + b) * OF(y + b);
            }
        }
}

WIDE void triangle_times_back(int n, int lanes, const double *l, int num, double *rows)
{
    for (int i = 0; i < num; i++)
        for (int j = n - 1; j >= 0; j--) {
            double *x = rows + (size_t)i * (size_t)n * (size_t)lanes, *to = x + j * lanes;
            const double *f = l + row_at(j, lanes);
            for (int b = 0; b < lanes; b += WIDTH) AT(to + b) /= OF(f + j * lanes + b);
            for (int k = 0; k < j; k++)
                for (int b = 0; b < lanes; b += WIDTH)
                    AT(to + b) += OF(f + k * lanes + b) * OF(x + k * lanes + b);
        }
}
