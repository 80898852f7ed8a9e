/* decode.c: values of variables from their coordinates, for many variables at once:
   x = f(v), v = mean + sd u, where f is

       line       v
       half       edge + exp(v), or edge - exp(v)
       interval   lo + (hi - lo) / (1 + exp(-v)), from the nearer end */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/simd.h"
#include "dist/math.h"
#include "net/encoding.h"

enum shape { LINE, HALF, INTERVAL, NSHAPE };

/* Arguments: the coordinate; mean, sd; and two more, edge and sign or lo and hi. */
WIDE static void line_map(const void *self, int n, double *out, const double *const *a)
{
    (void)self;
    EACH(i, n) out[i] = a[1][i] + a[2][i] * a[0][i];
}

WIDE static void line_grad(const void *self, int n, const double *out, const double *dout,
                           const double *const *a, double *const *da)
{
    (void)self, (void)out;
    if (!da[0]) return;
    EACH(i, n) da[0][i] = a[2][i] * dout[i];
}

WIDE static void half_map(const void *self, int n, double *out, const double *const *a)
{
    (void)self;
    EACH(i, n) out[i] = a[3][i] + a[4][i] * exp(a[1][i] + a[2][i] * a[0][i]);
}

WIDE static void half_grad(const void *self, int n, const double *out, const double *dout,
                           const double *const *a, double *const *da)
{
    (void)self, (void)out;
    if (!da[0]) return;
    EACH(i, n) da[0][i] = dout[i] * a[2][i] * a[4][i] * exp(a[1][i] + a[2][i] * a[0][i]);
}

/* Never an end itself: a density may be 0 or infinite there. */
INLINE double between(double lo, double hi, double v)
{
    double e = exp(-fabs(v)), s = (hi - lo) * e / (1 + e), x = v < 0 ? lo + s : hi - s;
    double above = 0.75 * DBL_EPSILON * fabs(lo), below = 0.75 * DBL_EPSILON * fabs(hi);
    double least = lo + (above > DBL_MIN ? above : DBL_MIN);
    double most = hi - (below > DBL_MIN ? below : DBL_MIN);
    x = x < least ? least : x; /* NaN stays */
    return x > most ? most : x;
}

WIDE static void interval_map(const void *self, int n, double *out, const double *const *a)
{
    (void)self;
    EACH(i, n) out[i] = between(a[3][i], a[4][i], a[1][i] + a[2][i] * a[0][i]);
}

WIDE static void interval_grad(const void *self, int n, const double *out, const double *dout,
                               const double *const *a, double *const *da)
{
    (void)self, (void)out;
    if (!da[0]) return;
    EACH(i, n)
    { /* of x as it was rounded: what is singular at an end, as d log(hi - x)/dx, cancels */
        double lo = a[3][i], hi = a[4][i], x = between(lo, hi, a[1][i] + a[2][i] * a[0][i]);
        da[0][i] = dout[i] * a[2][i] * ((x - lo) / (hi - lo) * (hi - x));
    }
}

/* log |dx/du|: log sd; + v; + log(hi - lo) - |v| - 2 log(1 + exp(-|v|)) */
WIDE static void line_log(const void *self, int n, double *out, const double *const *a)
{
    (void)self;
    EACH(i, n) out[i] = log(a[2][i]);
}

WIDE static void half_log(const void *self, int n, double *out, const double *const *a)
{
    (void)self;
    EACH(i, n) out[i] = log(a[2][i]) + a[1][i] + a[2][i] * a[0][i];
}

WIDE static void interval_log(const void *self, int n, double *out, const double *const *a)
{
    (void)self;
    EACH(i, n)
    {
        double v = fabs(a[1][i] + a[2][i] * a[0][i]);
        out[i] = log(a[2][i] * (a[4][i] - a[3][i])) - v - 2 * log1p(exp(-v));
    }
}

WIDE static void interval_log_grad(const void *self, int n, const double *out, const double *dout,
                                   const double *const *a, double *const *da)
{
    (void)self, (void)out;
    if (!da[0]) return;
    EACH(i, n)
    {
        double v = a[1][i] + a[2][i] * a[0][i], e = exp(-fabs(v)), t = (1 - e) / (1 + e);
        da[0][i] = dout[i] * a[2][i] * (v < 0 ? t : -t);
    }
}

static const struct {
    map_fn *map, *log;
    map_grad_fn *grad, *log_grad;
} shapes[NSHAPE] = {
    [LINE] = {line_map, line_log, line_grad, NULL},
    [HALF] = {half_map, half_log, half_grad, line_grad},
    [INTERVAL] = {interval_map, interval_log, interval_grad, interval_log_grad},
};

/* ---- instructions ------------------------------------------------------------------- */

static int shape_of(const struct encoding *c, double *p)
{
    double lo = c->lo > domains[c->domain].lo ? c->lo : domains[c->domain].lo;
    double hi = c->hi < domains[c->domain].hi ? c->hi : domains[c->domain].hi;
    if (c->kind != ENCODING_REAL || domains[c->domain].tied) return -1;
    p[0] = isinf(lo) ? hi : lo;
    p[1] = isinf(lo) ? -1 : isinf(hi) ? 1 : hi;
    return isinf(lo) && isinf(hi) ? LINE : isinf(lo) || isinf(hi) ? HALF : INTERVAL;
}

/* An instruction on n coordinates, u their rows; constants begin at `at`, four each. */
static struct instr *emit(struct prog *p, int n, const int *u, int at)
{
    struct instr *x = prog_emit(p, I_MAP, n, 1);
    if (!x) return NULL;
    x->narg = 5;
    x->blind = 1;
    x->arg[0] = (struct operand){.m = 1, .idx = u};
    for (int k = 0; k < 4; k++)
        x->arg[k + 1] = (struct operand){.is_const = 1, .m = 1, .base = at + k, .si = 4};
    return x;
}

/* Rows of logit(x) for elements that lie in (0, 1). */
static int logits(int n, const int *u, const int *row, int at, int *logit, struct prog *p)
{
    struct instr *x = emit(p, n, u, at);
    if (!x) return NAMI_ENOMEM;
    x->map = shapes[LINE].map;
    x->self = &encoding_kernels[KERNEL_LINE];
    x->map_grad = shapes[LINE].grad;
    x->out = p->nrow;
    for (int i = 0; i < n; i++) {
        const double *ends = p->constant.a + (size_t)at + 4 * (size_t)i + 2;
        if (ends[0] == 0 && ends[1] == 1) logit[row[i]] = p->nrow + i;
    }
    p->nrow += n;
    return 0;
}

static int decode(enum shape s, int n, const int *u, const int *row, int at,
                  const struct decoding *how, struct prog *p)
{
    struct instr *x = emit(p, n, u, at);
    if (!x) return NAMI_ENOMEM;
    x->map = shapes[s].map;
    x->self = &encoding_kernels[KERNEL_LINE + (int)s];
    x->map_grad = shapes[s].grad;
    x->out = p->nrow;
    p->nrow += n;
    struct operand from = {.m = 1, .base = p->nrow - n, .si = 1}, to = {.m = 1, .idx = row};
    if (!prog_emit_copy(p, n, from, to)) return NAMI_ENOMEM;
    if (!(x = emit(p, n, u, at))) return NAMI_ENOMEM;
    x->map = shapes[s].log;
    x->self = &encoding_kernels[KERNEL_LINE_LOG + (int)s];
    x->map_grad = shapes[s].log_grad;
    x->sum = how->sum;
    x->gradient_group = how->gradient_group;
    x->tag = how->tag;
    return s == INTERVAL && how->logit ? logits(n, u, row, at, how->logit, p) : 0;
}

/* All encodings of one shape: constants, rows of coordinates and elements; m elements. */
static int decode_all(enum shape s, const struct encoding *const *c, int n, int m, struct prog *p,
                      const struct decoding *how, unsigned char *done)
{
    int at = (int)p->constant.n, k = 0;
    int *u = arena_array(&p->mem, int, m), *row = arena_array(&p->mem, int, m);
    if (!u || !row) return NAMI_ENOMEM;
    for (int i = 0; i < n; i++) {
        double number[4];
        if (shape_of(c[i], number + 2) != (int)s) continue;
        done[i] = 1;
        for (int e = 0; e < c[i]->num_elements; e++, k++) {
            u[k] = c[i]->coord + e;
            row[k] = c[i]->row[e];
            number[0] = c[i]->mean[e], number[1] = c[i]->sd[e];
            for (int l = 0; l < 4; l++)
                if (vec_push(&p->constant, number[l])) return NAMI_ENOMEM;
        }
    }
    return decode(s, m, u, row, at, how, p);
}

/* Simplices and matrices one by one; encoding_jacobian has the logarithm of the inverse. */
static int decode_one(const struct encoding *c, struct prog *p, const struct decoding *how)
{
    int rc = encoding_decode(c, p);
    if (rc || c->kind != ENCODING_REAL || (rc = encoding_jacobian(c, p, how->tag))) return rc;
    struct instr *x = &p->code.a[p->code.n - 1];
    x->sum = -how->sum;
    x->gradient_group = how->gradient_group;
    return 0;
}

int encodings_decode(const struct encoding *const *c, int n, struct prog *p,
                     const struct decoding *how)
{
    unsigned char *done = new_array(unsigned char, n + 1);
    if (!done) return NAMI_ENOMEM;
    int rc = 0;
    for (int s = 0; s < NSHAPE && !rc; s++) {
        double more[2];
        int m = 0;
        for (int i = 0; i < n; i++)
            if (shape_of(c[i], more) == s) m += c[i]->num_elements;
        if (m) rc = decode_all((enum shape)s, c, n, m, p, how, done);
    }
    for (int i = 0; i < n && !rc; i++)
        if (!done[i]) rc = decode_one(c[i], p, how);
    free(done);
    return rc;
}
