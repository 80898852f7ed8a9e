/* lane_qr_back.c: moments of residuals and of variables, from the roots of the elimination tree to
   its leaves.

   A front sends to each child, about the residuals e of the child's rows below and the variables z
   of these rows: the covariances of e with z, those of e, the means of e; or, for variances alone,
   a triangle F with F F' the covariance of z. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "exact/lane_qr.h"
#include "exact/lane_triangle.h"
#include "exact/lane_wide.h"

/* What a front has received: (below, below), (below, below), (below). */
struct message {
    double *with, *among, *mean;
};

static struct message message_at(const struct lane_matrix *m, const struct front *f, size_t offset)
{
    size_t lanes = (size_t)m->lanes, n = (size_t)f->below;
    double *at = m->message + (offset + f->message) * lanes;
    return (struct message){at, at + n * n * lanes, at + 2 * n * n * lanes};
}

/* Children are sent to just after the front's own message, which is then overwritten. */
static void close_message(const struct lane_matrix *m, int k)
{
    const struct front *f = &m->plan->front[k];
    size_t lanes = (size_t)m->lanes, own = message_size(f), num = 0;
    for (int c = f->first_child; c < f[1].first_child; c++)
        num += message_size(&m->plan->front[m->plan->child[c]]);
    double *to = m->message + f->message * lanes;
    if (own && num) memmove(to, to + own * lanes, sizeof *to * num * lanes);
}

/* Memory of a front: expressions of its residuals, each by those of the final rows from its own on,
   and the mean; inverse roots of the weights of pivots; the residuals of a child's rows. */
static double *state_of(const struct lane_matrix *m, int row, int rows)
{
    return m->work + (triangle_size(rows + 1) - triangle_size(rows + 1 - row)) * (size_t)m->lanes;
}
static double *scale_of(const struct lane_matrix *m, int rows) { return state_of(m, rows, rows); }

WIDE void front_back(const struct lane_matrix *m, int k)
{
    const struct front *f = &m->plan->front[k];
    int rows = front_last(f), lanes = m->lanes;
    size_t bytes = sizeof(double) * (size_t)lanes;
    struct message in = message_at(m, f, 0);
    for (int i = 0; i < rows; i++) {
        double *restrict own = state_of(m, i, rows);
        memset(own, 0, (size_t)(rows - i + 1) * bytes);
        if (i < f->width) {
            const double *restrict d = front_row(m, f, i);
            double *restrict scale = scale_of(m, rows) + i * lanes;
            EACH(b, lanes)
            {
                double x = ((d[b] > 0) & (d[b] <= DBL_MAX)) ? d[b] : NAN;
                scale[b] = 1 / sqrt(x);
                own[b] = x > 0 ? 1 : NAN;
            }
        } else {
            for (int b = 0; b < lanes; b++) own[b] = 1;
            memcpy(own + (rows - i) * lanes, in.mean + (i - f->width) * lanes, bytes);
        }
    }
}

/* ---- rotations in reverse --------------------------------------------------------- */

/* Sine, cosine and sign of a rotation. */
INLINE void turn_of(const double *angle, wide *sine, wide *cosine, wide *sign)
{
    for (int b = 0; b < WIDTH; b++) {
        double v = angle[b], size = fabs(v), t = size > 1 ? 1 / size : size;
        double other = sqrt(1 - t * t);
        (*sine)[b] = size > 1 ? other : t;
        (*cosine)[b] = size > 1 ? t : other;
        (*sign)[b] = copysign(1, v);
    }
}

INLINE void unrotate(int from, int rows, size_t lanes, const double *angle, double *state,
                     double *part, double *mean)
{
    wide sine, cosine, sign;
    turn_of(angle, &sine, &cosine, &sign);
    for (int j = from; j <= rows; j++) {
        double *x = state + (size_t)(j - from) * lanes,
               *y = j < rows ? part + (size_t)j * lanes : mean;
        wide a = OF(x), b = OF(y);
        AT(y) = sign * (sine * a + cosine * b);
        AT(x) = cosine * a - sine * b;
    }
}

/* out (num) = part (length) A, A (length, num) */
INLINE void times(int length, int num, size_t lanes, const double *part, const double *a,
                  double *out)
{
    for (int j = 0; j < num; j++) {
        wide sum = {0};
        for (int i = 0; i < length; i++)
            sum += OF(part + (size_t)i * lanes) * OF(a + (size_t)(i * num + j) * lanes);
        AT(out + (size_t)j * lanes) = sum;
    }
}

/* Covariances with the pivots from `first` on, from those with their residuals and with later
   variables: z_i = e_i / d_i^1/2 - sum_j r_ij z_j - ... */
INLINE void relate(const struct lane_matrix *m, const struct front *f, int first,
                   const double *part, double *with, int b)
{
    size_t lanes = (size_t)m->lanes;
    int rows = front_last(f);
    const double *scale = scale_of(m, rows) + b;
    for (int i = f->width - 1; i >= first; i--) {
        const double *r = front_row(m, f, i) + b;
        wide sum = OF(part + (size_t)i * lanes) * OF(scale + (size_t)i * lanes);
        for (int j = i + 1; j < rows; j++)
            sum -= OF(r + (size_t)(j - i) * lanes) * OF(with + (size_t)j * lanes);
        AT(with + (size_t)i * lanes) = sum;
    }
}

WIDE void front_leave(const struct lane_matrix *m, int k, int start, int end, const double *record,
                      const struct lane_residual *to)
{
    const struct front *f = &m->plan->front[k];
    int rows = front_last(f), width = f->width, below = f->below;
    size_t lanes = (size_t)m->lanes;
    struct message in = message_at(m, f, 0);
    for (int b = 0; b < m->lanes; b += WIDTH) {
        double *part = to->part + b, *with = to->with + b;
        for (int j = 0; j < rows; j++) AT(part + (size_t)j * lanes) = (wide){0};
        AT(to->mean + b) = OF(record + (size_t)(end - start) * lanes + b);
        for (int i = end - 1; i >= start; i--)
            unrotate(i, rows, lanes, record + (size_t)(i - start) * lanes + b,
                     state_of(m, i, rows) + b, part, to->mean + b);
        const double *parts_below = part + (size_t)width * lanes;
        times(below, below, lanes, parts_below, in.with + b, with + (size_t)width * lanes);
        times(below, below, lanes, parts_below, in.among + b, to->sent + b);
        relate(m, f, to->first, part, with, b);
    }
}

WIDE void residual_product(const struct front *f, int lanes, const struct lane_residual *a,
                           const struct lane_residual *b, double *out)
{
    size_t stride = (size_t)lanes;
    for (int g = 0; g < lanes; g += WIDTH) {
        wide sum = {0};
        for (int j = 0; j < f->width; j++)
            sum += OF(a->part + (size_t)j * stride + g) * OF(b->part + (size_t)j * stride + g);
        for (int j = 0; j < f->below; j++)
            sum += OF(a->sent + (size_t)j * stride + g) *
                   OF(b->part + (size_t)(f->width + j) * stride + g);
        AT(out + g) = sum;
    }
}

/* ---- messages --------------------------------------------------------------------- */

/* Row i of a child, as a residual of front f. */
static struct lane_residual residual_of(const struct lane_matrix *m, const struct front *f,
                                        int first, double *mean, int i)
{
    size_t lanes = (size_t)m->lanes, rows = (size_t)front_last(f), below = (size_t)f->below;
    double *at = scale_of(m, (int)rows) + (rows + (size_t)i * (2 * rows + below)) * lanes;
    return (struct lane_residual){first, mean + (size_t)i * lanes, at, at + rows * lanes,
                                  at + 2 * rows * lanes};
}

static void send(const struct lane_matrix *m, int k, const struct front *child)
{
    const struct front *f = &m->plan->front[k];
    const int *into = m->plan->into + child->rows;
    size_t lanes = (size_t)m->lanes, n = (size_t)child->below, record = child->record;
    struct message to = message_at(m, child, message_size(f));
    for (int i = 0; i < child->below; i++) record += record_size(into[i], child->end);
    for (int i = child->below - 1; i >= 0; i--) {
        struct lane_residual x = residual_of(m, f, into[0], to.mean, i);
        record -= record_size(into[i], child->end);
        front_leave(m, k, into[i], child->end, m->record + record * lanes, &x);
        for (size_t j = 0; j < n; j++)
            memcpy(to.with + ((size_t)i * n + j) * lanes, x.with + (size_t)into[j] * lanes,
                   sizeof(double) * lanes);
        for (int j = child->below - 1; j >= i; j--) {
            struct lane_residual y = residual_of(m, f, into[0], to.mean, j);
            double *out = to.among + ((size_t)i * n + (size_t)j) * lanes;
            residual_product(f, m->lanes, &x, &y, out);
            memcpy(to.among + ((size_t)j * n + (size_t)i) * lanes, out, sizeof(double) * lanes);
        }
    }
}

void front_send(const struct lane_matrix *m, int k)
{
    const struct front *f = &m->plan->front[k];
    for (int c = f[1].first_child; c-- > f->first_child;)
        send(m, k, &m->plan->front[m->plan->child[c]]);
    close_message(m, k);
}

/* ---- variances -------------------------------------------------------------------- */

/* Rows of a factor of the covariance of the front's variables, (rows, rows): z_i is that times
   independent standard normal numbers, the first `below` of which are those of the message. */
INLINE void expand(const struct lane_matrix *m, const struct front *f, const double *in, int b,
                   double *factor, double *variance)
{
    size_t lanes = (size_t)m->lanes;
    int rows = front_last(f), width = f->width, below = f->below;
    for (int i = rows - 1; i >= 0; i--) {
        double *to = factor + (size_t)(i * rows) * WIDTH;
        for (int c = 0; c < rows; c++)
            AT(to + c * WIDTH) = i >= width && c < below
                                     ? OF(in + (size_t)((i - width) * below + c) * lanes + b)
                                     : (wide){0};
        if (i >= width) continue;
        const double *r = front_row(m, f, i) + b;
        for (int j = i + 1; j < rows; j++)
            for (int c = 0; c < rows - 1 - i; c++)
                AT(to + c * WIDTH) -=
                    OF(r + (size_t)(j - i) * lanes) * OF(factor + (size_t)(j * rows + c) * WIDTH);
        double *own = to + (rows - 1 - i) * WIDTH;
        for (int g = 0; g < WIDTH; g++) {
            double x = ((r[g] > 0) & (r[g] <= DBL_MAX)) ? r[g] : NAN;
            own[g] = 1 / sqrt(x);
        }
        wide sum = {0};
        for (int c = 0; c < rows - i; c++) sum += OF(to + c * WIDTH) * OF(to + c * WIDTH);
        AT(variance + (size_t)(f->first + i) * lanes + b) = sum;
    }
}

/* Rows a (num, length), num <= length, to the left triangle of a Q, with an orthogonal Q: by
   Householder reflections of their ends. */
INLINE void reduce(int num, int length, double *a)
{
    for (int i = 0; i < num; i++) {
        double *x = a + (size_t)(i * length) * WIDTH, *own = x + i * WIDTH;
        wide sum = {0}, factor, diagonal;
        for (int c = i; c < length; c++) sum += OF(x + c * WIDTH) * OF(x + c * WIDTH);
        for (int b = 0; b < WIDTH; b++) {
            double norm = sqrt(sum[b]), size = norm + fabs(own[b]);
            diagonal[b] = -copysign(norm, own[b]);
            factor[b] = size > 0 ? 1 / (norm * size) : size;
        }
        AT(own) -= diagonal;
        for (int j = i + 1; j < num; j++) {
            double *y = a + (size_t)(j * length) * WIDTH;
            wide product = {0};
            for (int c = i; c < length; c++) product += OF(x + c * WIDTH) * OF(y + c * WIDTH);
            product *= factor;
            for (int c = i; c < length; c++) AT(y + c * WIDTH) -= product * OF(x + c * WIDTH);
        }
        AT(own) = diagonal;
        for (int c = i + 1; c < length; c++) AT(x + c * WIDTH) = (wide){0};
    }
}

INLINE void send_factor(const struct lane_matrix *m, const struct front *f, int b,
                        const struct front *child, const double *factor, double *work)
{
    size_t lanes = (size_t)m->lanes;
    int rows = front_last(f), num = child->below;
    const int *into = m->plan->into + child->rows;
    double *to = message_at(m, child, message_size(f)).with + b;
    for (int i = 0; i < num; i++)
        memcpy(work + (size_t)(i * rows) * WIDTH, factor + (size_t)(into[i] * rows) * WIDTH,
               sizeof *work * (size_t)rows * WIDTH);
    reduce(num, rows, work);
    for (int i = 0; i < num; i++)
        for (int c = 0; c < num; c++)
            AT(to + (size_t)(i * num + c) * lanes) = OF(work + (size_t)(i * rows + c) * WIDTH);
}

WIDE void front_variances(const struct lane_matrix *m, int k, double *variance)
{
    const struct front *f = &m->plan->front[k];
    size_t rows = (size_t)front_last(f);
    double *factor = m->work, *work = factor + rows * rows * WIDTH;
    for (int b = 0; b < m->lanes; b += WIDTH) {
        expand(m, f, message_at(m, f, 0).with, b, factor, variance);
        for (int c = f->first_child; c < f[1].first_child; c++)
            send_factor(m, f, b, &m->plan->front[m->plan->child[c]], factor, work);
    }
    close_message(m, k);
}
