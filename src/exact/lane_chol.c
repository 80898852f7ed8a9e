/* lane_chol.c: the numeric part of the factorization: dense kernels on fronts and on triangles.
   They work on 4 lanes at a time, on tiles of 4 rows by 2 columns whose sums stay in registers. */
#include "exact/lane_chol.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/simd.h"

enum { WIDTH = 4, ROWS = 4, FEW = 2 };
typedef double wide __attribute__((vector_size(WIDTH * sizeof(double)), may_alias));
#define AT(p) (*(wide *)(p))
#define OF(p) (*(const wide *)(p))

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

/* Up to `most` rows of a matrix from row i of num; the last one again, if there are fewer. */
INLINE int point(const double *a, int i, int num, int most, size_t stride, const double **row)
{
    int left = num - i < most ? num - i : most;
    for (int t = 0; t < most; t++) row[t] = a + (size_t)(i + (t < left ? t : left - 1)) * stride;
    return left;
}

/* ---- triangles -------------------------------------------------------------------- */

INLINE void pivot(double *d)
{
    double inverse[WIDTH];
    for (int b = 0; b < WIDTH; b++) inverse[b] = 1 / sqrt(d[b]);
    for (int b = 0; b < WIDTH; b++) d[b] = (d[b] > 0) & (d[b] <= DBL_MAX) ? inverse[b] : NAN;
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

/* Rows i, i + 1 and columns j .. j + 3 of A' B, of these lanes. */
INLINE void cross_tile(int length, size_t lanes, int i, int num_a, const double *a, int j,
                       int num_b, int stride, const double *b, double *out)
{
    wide sum[2][ROWS] = {{{0}}};
    size_t at[2], to[ROWS], next_a = (size_t)num_a * lanes, next_b = (size_t)stride * lanes;
    for (int t = 0; t < 2; t++) at[t] = (size_t)(i + t < num_a ? i + t : i) * lanes;
    for (int u = 0; u < ROWS; u++) to[u] = (size_t)(j + u < num_b ? j + u : j) * lanes;
    for (int k = 0; k < length; k++, a += next_a, b += next_b) {
        wide x = OF(a + at[0]), y = OF(a + at[1]);
        sum[0][0] += x * OF(b + to[0]), sum[1][0] += y * OF(b + to[0]);
        sum[0][1] += x * OF(b + to[1]), sum[1][1] += y * OF(b + to[1]);
        sum[0][2] += x * OF(b + to[2]), sum[1][2] += y * OF(b + to[2]);
        sum[0][3] += x * OF(b + to[3]), sum[1][3] += y * OF(b + to[3]);
    }
    for (int t = 0; t < 2 && i + t < num_a; t++)
        for (int u = 0; u < ROWS && j + u < num_b; u++)
            AT(out + (size_t)(i + t) * (size_t)num_b * lanes + to[u]) = sum[t][u];
}

WIDE void lane_cross(int length, int lanes, int num_a, const double *a, int num_b, int stride,
                     const double *b, double *out)
{
    for (int i = 0; i < num_a; i += 2)
        for (int j = 0; j < num_b; j += ROWS)
            for (int g = 0; g < lanes; g += WIDTH)
                cross_tile(length, (size_t)lanes, i, num_a, a + g, j, num_b, stride, b + g,
                           out + g);
}

/* ---- fronts: forward
 * ------------------------------------------------------------------------------ */

static void clear(const struct lane_matrix *m, const struct front *f)
{
    size_t lanes = (size_t)m->lanes * sizeof(double), width = (size_t)f->width;
    memset(front_entry(m, f, 0, 0), 0,
           (triangle_size(f->width) + width * ((size_t)f->below + 1)) * lanes);
    memset(m->update + f->update * (size_t)m->lanes, 0, triangle_size(f->below + 1) * lanes);
}

void front_begin(const struct lane_matrix *m, int k)
{
    if (!m->plan->front[k].has_child) clear(m, &m->plan->front[k]);
}

/* The same with few columns: lanes are the only loop that is worth its cost. */
INLINE void add_few(const struct lane_matrix *m, const struct front *f, int num, const int *at,
                    int length, const double *a)
{
    size_t lanes = (size_t)m->lanes;
    for (int i = 0; i < num; i++)
        for (int j = 0; j <= i && j < num - 1; j++) {
            double *restrict to = front_entry(m, f, at[i], at[j]);
            for (int k = 0; k < length; k++) {
                const double *restrict x = a + (size_t)(i * length + k) * lanes;
                const double *restrict y = a + (size_t)(j * length + k) * lanes;
                EACH(b, m->lanes) to[b] += x[b] * y[b];
            }
        }
}

/* Entries of a tile of a front; NULL: not in the lower triangle. */
INLINE void point_tile(const struct lane_matrix *m, const struct front *f, int i, int rows, int j,
                       int columns, const int *at, double *(*to)[2])
{
    for (int t = 0; t < ROWS; t++)
        for (int u = 0; u < 2; u++) {
            int is_in = t < rows && u < columns && j + u <= i + t;
            to[t][u] = is_in ? front_entry(m, f, at[i + t], at[j + u]) : NULL;
        }
}

INLINE void add_many(const struct lane_matrix *m, const struct front *f, int num, const int *at,
                     int length, const double *a)
{
    size_t lanes = (size_t)m->lanes, stride = (size_t)length * lanes;
    for (int j = 0; j < num - 1; j += 2)
        for (int i = j; i < num; i += ROWS) {
            double *to[ROWS][2];
            const double *row[ROWS], *column[2];
            int rows = point(a, i, num, ROWS, stride, row);
            int columns = point(a, j, num - 1, 2, stride, column);
            point_tile(m, f, i, rows, j, columns, at, to);
            for (int b = 0; b < m->lanes; b += WIDTH) {
                wide sum[ROWS][2];
                tile(length, lanes, row, column, b, sum);
                for (int t = 0; t < ROWS; t++)
                    for (int u = 0; u < 2; u++)
                        if (to[t][u]) AT(to[t][u] + b) += sum[t][u];
            }
        }
}

/* Not the product of the last row, the right-hand side, with itself. */
WIDE void front_add(const struct lane_matrix *m, int k, int num, const int *at, int length,
                    const double *a)
{
    const struct front *f = &m->plan->front[k];
    if (length <= FEW)
        add_few(m, f, num, at, length, a);
    else
        add_many(m, f, num, at, length, a);
}

/* The update: minus the products of the rows below the pivots, of these lanes. */
INLINE void subtract(int width, int num, int lanes, const double *rows, double *to)
{
    size_t stride = (size_t)width * (size_t)lanes;
    for (int j = 0; j < num; j += 2)
        for (int i = j; i < num; i += ROWS) {
            const double *row[ROWS], *column[2];
            wide sum[ROWS][2];
            int left = point(rows, i, num, ROWS, stride, row);
            int columns = point(rows, j, num, 2, stride, column);
            tile(width, (size_t)lanes, row, column, 0, sum);
            for (int t = 0; t < left; t++)
                for (int u = 0; u < columns && j + u <= i + t; u++)
                    AT(to + row_at(i + t, lanes) + (j + u) * lanes) -= sum[t][u];
        }
}

/* Adds the update to the parent. */
INLINE void pass_on(const struct lane_matrix *m, const struct front *f)
{
    const struct front *up = &m->plan->front[f->parent];
    const int *into = m->plan->into + f->rows;
    const double *from = m->update + f->update * (size_t)m->lanes;
    for (int i = 0; i <= f->below; i++)
        for (int j = 0; j <= i; j++, from += m->lanes) {
            if (j == f->below) return; /* of the right-hand side alone */
            double *to = front_entry(m, up, i < f->below ? into[i] : front_last(up), into[j]);
            for (int b = 0; b < m->lanes; b += WIDTH) AT(to + b) += OF(from + b);
        }
}

/* A front with one pivot. */
INLINE void eliminate_one(const struct lane_matrix *m, const struct front *f)
{
    const struct front *up = f->below ? &m->plan->front[f->parent] : NULL;
    const int *into = m->plan->into + f->rows;
    int lanes = m->lanes;
    double *restrict d = m->value + f->value * (size_t)lanes, *row = d + lanes;
    const double *update = m->update + f->update * (size_t)lanes;
    EACH(b, lanes)
    {
        double inverse = 1 / sqrt(d[b]);
        d[b] = (d[b] > 0) & (d[b] <= DBL_MAX) ? inverse : NAN;
    }
    for (int i = 0; i <= f->below; i++) {
        double *restrict x = row + i * lanes;
        EACH(b, lanes) x[b] *= d[b];
        for (int j = 0; j <= i && j < f->below; j++, update += lanes) {
            double *restrict to =
                front_entry(m, up, i < f->below ? into[i] : front_last(up), into[j]);
            const double *restrict y = row + j * lanes, *restrict from = update;
            EACH(b, lanes) to[b] += from[b] - x[b] * y[b];
        }
    }
}

WIDE void front_eliminate(const struct lane_matrix *m, int k)
{
    const struct front *f = &m->plan->front[k];
    int lanes = m->lanes, num = f->below + 1;
    double *l = m->value + f->value * (size_t)lanes, *rows = l + row_at(f->width, lanes);
    double *update = m->update + f->update * (size_t)lanes;
    if (f->is_first) clear(m, &m->plan->front[f->parent]);
    if (f->width == 1) {
        eliminate_one(m, f);
        return;
    }
    for (int b = 0; b < lanes; b += WIDTH) {
        factor_group(f->width, lanes, l + b);
        solve_group(f->width, lanes, l + b, num, rows + b);
        if (f->below) subtract(f->width, num, lanes, rows + b, update + b);
    }
    if (f->below) pass_on(m, f);
}

/* ---- fronts: backward
 * ----------------------------------------------------------------------------- */

WIDE void front_solve(const struct lane_matrix *m, int k, double *x)
{
    const struct front *f = &m->plan->front[k];
    const int *row = m->plan->row + f->rows;
    int lanes = m->lanes, width = f->width;
    size_t stride = (size_t)width * (size_t)lanes;
    const double *l = m->value + f->value * (size_t)lanes, *below = l + row_at(width, lanes);
    for (int j = width - 1; j >= 0; j--) {
        double *to = x + (size_t)(f->first + j) * (size_t)lanes;
        const double *h = below + (size_t)f->below * stride + j * lanes;
        const double *d = l + row_at(j, lanes) + j * lanes;
        for (int b = 0; b < lanes; b += WIDTH) {
            wide sum = OF(to + b) - OF(h + b);
            for (int i = j + 1; i < width; i++)
                sum -= OF(l + row_at(i, lanes) + j * lanes + b) *
                       OF(x + (size_t)(f->first + i) * (size_t)lanes + b);
            for (int i = 0; i < f->below; i++)
                sum -= OF(below + (size_t)i * stride + j * lanes + b) *
                       OF(x + (size_t)row[i] * (size_t)lanes + b);
            AT(to + b) = sum * OF(d + b);
        }
    }
}

/* Entries of the inverse for pairs of rows below: from the parent. */
INLINE void fetch(const struct lane_matrix *m, const struct front *f)
{
    const struct front *up = &m->plan->front[f->parent];
    const int *into = m->plan->into + f->rows;
    double *to = m->update + f->update * (size_t)m->lanes;
    for (int i = 0; i < f->below; i++)
        for (int j = 0; j <= i; j++, to += m->lanes) {
            const double *from = front_entry(m, up, into[i], into[j]);
            for (int b = 0; b < m->lanes; b += WIDTH) AT(to + b) = OF(from + b);
        }
}

/* sum += the part of row i of a symmetric matrix, with columns first .. first + num - 1 at z, in
   its product with l: of each entry for both of its places. */
INLINE void add_entries(int i, int first, int num, int lanes, const double *z, const double *l,
                        double *sum)
{
    wide own = {0}, li = OF(l + i * WIDTH);
    for (int c = first; c < first + num; c++, z += lanes) {
        own += OF(z) * OF(l + c * WIDTH);
        if (c < i) AT(sum + c * WIDTH) += OF(z) * li;
    }
    AT(sum + i * WIDTH) += own;
}

/* Column j: with s the rows after j, l = L_sj: Z_sj = -Z_ss l / L_jj, Z_jj = (1 + l' Z_ss l) /
   L_jj^2. */
INLINE void invert_column(const struct front *f, int lanes, int j, double *value, double *update,
                          double *l, double *sum)
{
    int width = f->width, num = width + f->below - j - 1;
    size_t stride = (size_t)width * (size_t)lanes;
    double *below = value + row_at(width, lanes) + j * lanes,
           *d = value + row_at(j, lanes) + j * lanes;
    for (int i = 0; i < num; i++) {
        int row = j + 1 + i;
        AT(l + i * WIDTH) = row < width ? OF(value + row_at(row, lanes) + j * lanes)
                                        : OF(below + (size_t)(row - width) * stride);
        AT(sum + i * WIDTH) = (wide){0};
    }
    for (int i = 0; i < num; i++) {
        int row = j + 1 + i, own = row < width ? i + 1 : width - j - 1;
        const double *z = row < width ? value + row_at(row, lanes) + (j + 1) * lanes
                                      : below + (size_t)(row - width) * stride + lanes;
        add_entries(i, 0, own, lanes, z, l, sum);
        if (row >= width)
            add_entries(i, own, row - width + 1, lanes, update + row_at(row - width, lanes), l,
                        sum);
    }
    wide inverse = OF(d), quadratic = {0};
    for (int i = 0; i < num; i++) {
        int row = j + 1 + i;
        double *to = row < width ? value + row_at(row, lanes) + j * lanes
                                 : below + (size_t)(row - width) * stride;
        AT(to) = -inverse * OF(sum + i * WIDTH);
        quadratic += OF(l + i * WIDTH) * OF(sum + i * WIDTH);
    }
    AT(d) = inverse * inverse * (1 + quadratic);
}

WIDE void front_invert(const struct lane_matrix *m, int k, double *work)
{
    const struct front *f = &m->plan->front[k];
    double *sum = work + (size_t)m->plan->most_rows * WIDTH;
    size_t lanes = (size_t)m->lanes;
    if (f->below) fetch(m, f);
    for (int b = 0; b < m->lanes; b += WIDTH)
        for (int j = f->width - 1; j >= 0; j--)
            invert_column(f, m->lanes, j, m->value + f->value * lanes + b,
                          m->update + f->update * lanes + b, work, sum);
}
