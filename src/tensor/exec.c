/* exec.c: runs a program forward; helpers shared by the instructions: tiles, totals, units. */
#include "tensor/exec.h"

#include <string.h>

#include "base/simd.h"

/* ---- tiles -------------------------------------------------------------------------- */

WIDE static void fill(double *to, double v, int n) { EACH(i, n) to[i] = v; }

void fill_lanes(double *to, double v, int n) { fill(to, v, n); }

static const double *read_constants(const struct exec *x, const struct operand *o,
                                    const struct tile *t, double *buf)
{
    const double *value = x->p->constant.a;
    if (operand_fixed(o)) {
        if (t->i0 == 0 && t->b0 == 0)
            fill(buf, value[operand_at(o, 0, 0)], t->n); /* no later tile is larger */
    } else if (t->w == 1) {
        for (int i = 0; i < t->rows; i++) buf[i] = value[operand_at(o, t->i0 + i, 0)];
    } else {
        double *to = buf;
        for (int i = 0; i < t->rows; i++, to += t->w)
            fill(to, value[operand_at(o, t->i0 + i, 0)], t->w);
    }
    return buf;
}

/* Always processes groups of 8 lanes: cap has space for them. */
WIDE static void narrow(int n, float *to, const double *from) { EACH(b, n) to[b] = (float)from[b]; }
WIDE static void widen(int n, double *to, const float *from) { EACH(b, n) to[b] = from[b]; }

static const double *read_units(const struct exec *x, const struct operand *o, const struct tile *t,
                                double *buf)
{
    int all = t->w == x->cap, n = all ? t->rows * t->w : t->w;
    for (int i = 0; i < (all ? 1 : t->rows); i++) {
        size_t at = (size_t)(o->base + t->i0 + i) * (size_t)x->cap + (size_t)t->b0;
        if (x->is_float)
            widen(n, buf + i * t->w, (const float *)x->units.unit + at);
        else
            memcpy(buf + i * t->w, (const double *)x->units.unit + at, (size_t)n * sizeof *buf);
    }
    return buf;
}

void tile_units(const struct exec *x, void *units, int first, const struct tile *t,
                const double *from)
{
    int all = t->w == x->cap, n = all ? t->rows * t->w : t->w;
    for (int i = 0; i < (all ? 1 : t->rows); i++, from += n) {
        size_t at = (size_t)(first + t->i0 + i) * (size_t)x->cap + (size_t)t->b0;
        if (x->is_float)
            narrow(n, (float *)units + at, from);
        else
            memcpy((double *)units + at, from, (size_t)n * sizeof *from);
    }
}

const double *tile_read(const struct exec *x, const struct operand *o, double *rows,
                        const struct tile *t, double *buf)
{
    if (o->is_const) return read_constants(x, o, t, buf);
    if (o->unit) return read_units(x, o, t, buf);
    if (in_place(x, o, t)) return lanes_of(x, rows, operand_at(o, t->i0, 0)) + t->b0;
    double *to = buf;
    if (t->w == 1)
        for (int i = 0; i < t->rows; i++) *to++ = *lanes_of(x, rows, operand_at(o, t->i0 + i, 0));
    else
        for (int i = 0; i < t->rows; i++, to += t->w)
            memcpy(to, lanes_of(x, rows, operand_at(o, t->i0 + i, 0)), (size_t)t->w * sizeof *to);
    return buf;
}

/* ---- totals ------------------------------------------------------------------------- */

WIDE static void sum_rows(int rows, int w, int stride, double *to, const double *v, double sign)
{
    if (w == LANE_BLOCK) /* the common case, without an outer loop */
        for (int i = 0; i < rows; i++, v += stride) EACH(b, LANE_BLOCK) to[b] += sign * v[b];
    else
        for (int i = 0; i < rows; i++, v += stride) EACH(b, w) to[b] += sign * v[b];
}

/* Adds rows * w results in the order of the instances, so that the sum of a lane does not depend on
   tiles. */
static void add_rows(const struct exec *x, double *to, const struct tile *t, const double *v,
                     double sign)
{
    int w = t->w < x->lanes - t->b0 ? t->w : x->lanes - t->b0;
    to += t->b0;
    if (w == 1) {
        double sum = *to;
        for (int i = 0; i < t->rows; i++) sum += sign * v[(size_t)i * (size_t)t->w];
        *to = sum;
        return;
    }
    sum_rows(t->rows, w, t->w, to, v, sign);
}

int is_tagged(const struct exec *x, const struct instr *c)
{
    return x->by_tag && c->tag >= 0 && c->tag < x->ntag;
}

void add_up(const struct exec *x, const struct instr *c, const struct tile *t, const double *v)
{
    add_rows(x, x->total, t, v, c->sum);
    if (is_tagged(x, c)) add_rows(x, lanes_of(x, x->by_tag, c->tag), t, v, c->sum);
}

/* ---- units -------------------------------------------------------------------------- */

WIDE static void widen_add(int n, double *to, const float *from) { EACH(b, n) to[b] += from[b]; }
WIDE static void narrow_add(int n, float *to, const double *from)
{
    EACH(b, n) to[b] += (float)from[b];
}
WIDE static void plain_add(int n, double *to, const double *from) { EACH(b, n) to[b] += from[b]; }

void put_unit(const struct exec *x, void *units, int u, const double *from)
{
    size_t at = (size_t)u * (size_t)x->cap;
    if (x->is_float)
        narrow(padded(x), (float *)units + at, from);
    else
        memcpy((double *)units + at, from, (size_t)padded(x) * sizeof *from);
}

void fill_unit(const struct exec *x, void *units, int u, double v)
{
    size_t at = (size_t)u * (size_t)x->cap;
    for (int b = 0; b < padded(x); b++)
        if (x->is_float)
            ((float *)units)[at + (size_t)b] = (float)v;
        else
            ((double *)units)[at + (size_t)b] = v;
}

void add_unit(const struct exec *x, void *units, int u, const double *from)
{
    size_t at = (size_t)u * (size_t)x->cap;
    if (x->is_float)
        narrow_add(padded(x), (float *)units + at, from);
    else
        plain_add(padded(x), (double *)units + at, from);
}

void get_unit(const struct exec *x, const void *units, int u, double *to, int add)
{
    size_t at = (size_t)u * (size_t)x->cap;
    int n = padded(x);
    if (x->is_float)
        (add ? widen_add : widen)(n, to, (const float *)units + at);
    else if (add)
        plain_add(n, to, (const double *)units + at);
    else
        memcpy(to, (const double *)units + at, (size_t)n * sizeof *to);
}

/* ------------------------------------------------------------------------------------- */

void exec_part(struct exec *x, size_t from, size_t to)
{
    if (from == 0) {
        memset(x->total, 0, (size_t)x->cap * sizeof *x->total);
        if (x->by_tag) memset(x->by_tag, 0, (size_t)x->ntag * (size_t)x->cap * sizeof *x->by_tag);
    }
    for (size_t k = from; k < to; k++) {
        const struct instr *c = &x->p->code.a[k];
        if (x->no_total && c->sum && c->out < 0 && !is_ahead(x, c)) continue;
        type_of(c)->run(x, c);
    }
}

void exec_run(struct exec *x) { exec_part(x, 0, x->p->code.n); }
