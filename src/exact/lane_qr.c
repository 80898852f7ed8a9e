/* lane_qr.c: rows enter fronts, fronts are eliminated and solved. */
#include "exact/lane_qr.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "exact/lane_triangle.h"
#include "exact/lane_wide.h"

INLINE wide choose(mask which, wide yes, wide no)
{
    return (wide)(((mask)yes & which) | ((mask)no & ~which));
}

INLINE int count(mask which)
{
    int64_t num = 0;
    for (int b = 0; b < WIDTH; b++) num -= which[b];
    return (int)num;
}

INLINE wide roots(wide x)
{
    for (int b = 0; b < WIDTH; b++) x[b] = sqrt(x[b]);
    return x;
}

INLINE wide signs(wide size, wide of)
{
    const mask bit = (mask){0} + INT64_MIN;
    return (wide)(((mask)size & ~bit) | ((mask)of & bit));
}

/* ---- rotations -------------------------------------------------------------------- */

/* A rotation as one number (G. W. Stewart, The economical storage of plane rotations, Numer. Math.
   25, 1976): its sine, or the inverse of its cosine if that is smaller; the sign is that of the
   entry that it removes.  gain + rest = 1: squares of sine and cosine. */
INLINE wide angle_of(wide gain, wide rest, mask swap, wide sign)
{
    wide t = roots(choose(swap, rest, gain));
    return signs(choose(swap, 1 / t, t), sign);
}

/* Rotates row x, columns k .. end-1 and right-hand side at `last`, into row k of a front, which
   begins at r: x becomes what is left of it, without column k.  With d the weight of row k,
   h = weight x_k^2, u = x / x_k:

       r' = (d r + h u) / (d + h),   d' = d + h,   x' = u - r,   weight' = d h / (d + h)

   computed so that the row of larger weight is changed little.  Lanes whose h is 0 are left as
   they are.  Returns 1 if nothing is left of x in any lane. */
INLINE int rotate(int k, int end, int last, size_t lanes, double *r, double *x, wide *weight,
                  wide *angle)
{
    const wide zero = {0}, one = zero + 1;
    wide x0 = OF(x + k * WIDTH), d = OF(r), h = *weight * x0 * x0;
    mask live = h != 0;
    int num = count(live), after = last - k;
    if (angle) *angle = zero;
    if (!num) return 0;
    wide inverse = one / choose(live, x0, one);
    if (num == WIDTH && count(d == 0) == WIDTH) {
        AT(r) = h;
        for (int j = k + 1; j < end; j++)
            AT(r + (size_t)(j - k) * lanes) = OF(x + j * WIDTH) * inverse;
        AT(r + (size_t)after * lanes) = OF(x + last * WIDTH) * inverse;
        if (angle) *angle = signs(one / zero, x0);
        return 1;
    }
    wide total = choose(live, d + h, one), per = one / total, gain = h * per, rest = d * per;
    mask swap = h > d;
    wide step = choose(swap, -rest, gain);
    AT(r) = choose(live, total, d);
    *weight = choose(live, h * rest, *weight);
    if (angle) *angle = choose(live, angle_of(gain, rest, swap, x0), zero);
    for (int j = k + 1; j <= end; j++) {
        int column = j < end ? j : last;
        double *y = x + column * WIDTH, *z = r + (size_t)(column - k) * lanes;
        wide u = OF(y) * inverse, old = OF(z), left = u - (wide)((mask)old & live);
        AT(y) = left;
        AT(z) = choose(swap, u, old) + step * left;
    }
    return 0;
}

/* All rotations of row x from column `start` on; record and sum: of these lanes. */
INLINE void enter(const struct lane_matrix *m, const struct front *f, int start, int end, double *x,
                  wide weight, double *record, double *sum, int b)
{
    size_t lanes = (size_t)m->lanes;
    int last = front_last(f), k = start, gone = 0;
    for (; k < end && !gone; k++) {
        wide angle;
        gone =
            rotate(k, end, last, lanes, front_row(m, f, k) + b, x, &weight, record ? &angle : NULL);
        if (record) AT(record + (size_t)(k - start) * lanes) = angle;
    }
    if (!gone) {
        wide y = OF(x + last * WIDTH);
        AT(sum) -= 0.5 * (weight * y * y);
        if (record) AT(record + (size_t)(end - start) * lanes) = roots(weight) * y;
    } else if (record) {
        for (; k <= end; k++) AT(record + (size_t)(k - start) * lanes) = (wide){0};
    }
}

/* ---- fronts ----------------------------------------------------------------------- */

static void clear(const struct lane_matrix *m, const struct front *f)
{
    size_t lanes = (size_t)m->lanes * sizeof(double), width = (size_t)f->width;
    memset(m->value + f->value * (size_t)m->lanes, 0,
           (triangle_size(f->width) + width * ((size_t)f->below + 1)) * lanes);
    memset(m->update + f->update * (size_t)m->lanes, 0,
           (triangle_size(f->below) + (size_t)f->below) * lanes);
}

void front_begin(const struct lane_matrix *m, int k)
{
    if (!m->plan->front[k].has_child) clear(m, &m->plan->front[k]);
}

WIDE void front_enter(const struct lane_matrix *m, int k, const struct lane_row *row,
                      double *record, double *sum)
{
    const struct front *f = &m->plan->front[k];
    int start = row->at[0], last = front_last(f);
    for (int b = 0; b < m->lanes; b += WIDTH) {
        double *x = m->work;
        wide weight = (wide){0} + 1;
        if (row->root) weight = OF(row->root + b) * OF(row->root + b);
        for (int j = start; j < row->end && row->end - start > row->num; j++)
            AT(x + j * WIDTH) = (wide){0};
        for (int a = 0; a <= row->num; a++)
            AT(x + (a < row->num ? row->at[a] : last) * WIDTH) =
                OF(row->x + (size_t)a * row->stride + b);
        enter(m, f, start, row->end, x, weight, record ? record + b : NULL, sum + b, b);
    }
}

/* Rows below enter the front of the parent. */
WIDE void front_eliminate(const struct lane_matrix *m, int k, double *sum)
{
    const struct front *f = &m->plan->front[k];
    if (!f->below) return;
    const struct front *up = &m->plan->front[f->parent];
    const int *into = m->plan->into + f->rows;
    int last = front_last(up);
    size_t lanes = (size_t)m->lanes;
    double *record = m->record ? m->record + f->record * lanes : NULL, *x = m->work;
    if (f->is_first) clear(m, up);
    for (int i = 0; i < f->below; i++) {
        const double *row = front_row(m, f, f->width + i);
        for (int b = 0; b < m->lanes; b += WIDTH) {
            for (int j = into[i] + 1; j < f->end; j++) AT(x + j * WIDTH) = (wide){0};
            AT(x + into[i] * WIDTH) = (wide){0} + 1;
            for (int j = i + 1; j <= f->below; j++)
                AT(x + (j < f->below ? into[j] : last) * WIDTH) =
                    OF(row + (size_t)(j - i) * lanes + b);
            enter(m, up, into[i], f->end, x, OF(row + b), record ? record + b : NULL, sum + b, b);
        }
        if (record) record += record_size(into[i], f->end) * lanes;
    }
}

WIDE void front_log(const struct lane_matrix *m, int k, double *restrict sum)
{
    const struct front *f = &m->plan->front[k];
    for (int i = 0; i < f->width; i++) {
        const double *restrict d = front_row(m, f, i);
        EACH(b, m->lanes)
        {
            double x = ((d[b] > 0) & (d[b] <= DBL_MAX)) ? d[b] : NAN;
            sum[b] -= 0.5 * log(x);
        }
    }
}

WIDE void front_solve(const struct lane_matrix *m, int k, double *z)
{
    const struct front *f = &m->plan->front[k];
    const int *row = m->plan->row + f->rows;
    int lanes = m->lanes, width = f->width;
    for (int i = width - 1; i >= 0; i--) {
        const double *r = front_row(m, f, i);
        double *restrict to = z + (size_t)(f->first + i) * (size_t)lanes;
        const double *restrict d = r, *restrict y = r + (size_t)(front_last(f) - i) * (size_t)lanes;
        EACH(b, lanes)
        {
            double x = ((d[b] > 0) & (d[b] <= DBL_MAX)) ? d[b] : NAN;
            to[b] = to[b] / sqrt(x) - y[b];
        }
        for (int j = i + 1; j < front_last(f); j++) {
            int from = j < width ? f->first + j : row[j - width];
            const double *restrict x = z + (size_t)from * (size_t)lanes;
            const double *restrict c = r + (size_t)(j - i) * (size_t)lanes;
            EACH(b, lanes) to[b] -= c[b] * x[b];
        }
    }
}

WIDE void front_solve_same(const struct lane_matrix *m, int k, int L, double *const *z)
{
    const struct front *f = &m->plan->front[k];
    const int *row = m->plan->row + f->rows, *order = m->plan->order;
    size_t lanes = (size_t)m->lanes;
    for (int i = f->width - 1; i >= 0; i--) {
        const double *r = front_row(m, f, i);
        double d = (*r > 0) & (*r <= DBL_MAX) ? sqrt(*r) : NAN;
        double y = r[(size_t)(front_last(f) - i) * lanes], *restrict to = z[order[f->first + i]];
        EACH(b, L) to[b] = to[b] / d - y;
        for (int j = i + 1; j < front_last(f); j++) {
            int from = j < f->width ? f->first + j : row[j - f->width];
            const double *restrict x = z[order[from]];
            double c = r[(size_t)(j - i) * lanes];
            EACH(b, L) to[b] -= c * x[b];
        }
    }
}
