/* exec.c: runs a program forward, tile by tile: element-wise, block, draw and layer instructions,
   and totals. */
#include "tensor/exec.h"

#include <string.h>

#include "base/simd.h"

/* ---- tiles -------------------------------------------------------------------------- */

static int whole(const struct exec *x) { return x->lanes >= x->cap - x->cap / 4 && !x->direct; }

int tile_next(const struct exec *x, const struct instr *c, struct tile *t)
{
    int width = whole(x) ? x->cap : x->lanes;
    if (t->n) { /* the last one's end */
        t->b0 += t->w;
        if (t->b0 >= width) {
            t->b0 = 0;
            t->i0 += t->rows;
        }
    }
    if (t->i0 >= c->n || width == 0) return 0;
    if (width > TILE / 2 || (!whole(x) && (width >= 64 || x->direct))) {
        t->rows = 1;
        t->w = width - t->b0 < TILE ? width - t->b0 : TILE;
    } else {
        t->rows = TILE / width < c->n - t->i0 ? TILE / width : c->n - t->i0;
        t->w = width;
    }
    t->n = round_up(t->rows * t->w);
    return 1;
}

static int in_place(const struct exec *x, const struct operand *o, const struct tile *t)
{
    if (t->rows == 1) return t->b0 + t->n <= x->cap;
    return t->w == x->cap && t->n == t->rows * t->w && !o->idx && o->si == 1;
}

WIDE static void fill(double *to, double v, int n) { EACH(i, n) to[i] = v; }

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

/* Always whole groups of 8 lanes: cap has room for them. */
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

double *tile_place(const struct exec *x, const struct operand *o, double *rows,
                   const struct tile *t, double *buf)
{
    return in_place(x, o, t) ? lanes_of(x, rows, operand_at(o, t->i0, 0)) + t->b0 : buf;
}

static void tile_write(const struct exec *x, const struct operand *o, const struct tile *t,
                       const double *from)
{
    if (t->w == 1)
        for (int i = 0; i < t->rows; i++)
            *lanes_of(x, x->row, operand_at(o, t->i0 + i, 0)) = from[i];
    else
        for (int i = 0; i < t->rows; i++, from += t->w)
            memcpy(lanes_of(x, x->row, operand_at(o, t->i0 + i, 0)), from,
                   (size_t)t->w * sizeof *from);
}

/* ---- totals ------------------------------------------------------------------------- */

/* rows * w results, in the order of the instances: so a lane's sum does not depend on tiles. */
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
    for (int i = 0; i < t->rows; i++, v += t->w) EACH(b, w) to[b] += sign * v[b];
}

static int is_tagged(const struct exec *x, const struct instr *c)
{
    return x->by_tag && c->tag >= 0 && c->tag < x->ntag;
}

static void add_up(const struct exec *x, const struct instr *c, const struct tile *t,
                   const double *v)
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

/* ---- signs -------------------------------------------------------------------------- */

/* The lanes that are 1, in order: their number; -1 if one is neither 1 nor -1. */
WIDE static int find_ones(int n, const float *u, unsigned short *lane)
{
    int other = 0, m = 0;
    EACH(b, n) other |= u[b] * u[b] != 1;
    if (other) return -1;
    for (int b = 0; b < n; b++) {
        lane[m] = (unsigned short)b; /* the next one writes over it */
        m += u[b] > 0;
    }
    return m;
}

/* Lists of the units that are 1; none if they are not few. */
static void find_signs(const struct exec *x)
{
    struct signs *s = x->units.signs;
    int n = padded(x), all = 0;
    s->sure = 0;
    memset(s->nunit, 0, (size_t)n * sizeof *s->nunit);
    for (int k = 0; k < s->n; k++) {
        size_t cap = (size_t)x->cap;
        unsigned short *lane = s->lane + (size_t)k * cap;
        int m = find_ones(n, (const float *)x->units.unit + (size_t)(s->first + k) * cap, lane);
        if (m < 0) return;
        for (int i = 0; i < m; i++)
            s->unit[(size_t)lane[i] * (size_t)s->n + (size_t)s->nunit[lane[i]]++] =
                (unsigned short)k;
        s->nlane[k] = m;
        all += m;
    }
    s->sure = 5 * (int64_t)all < 2 * (int64_t)s->n * n;
}

/* ---- one instruction ---------------------------------------------------------------- */

/* Results in single precision. */
static void add_floats(double *to, int rows, int w, const float *v, double sign)
{
    for (int i = 0; i < rows; i++, v += w) EACH(b, w) to[b] += sign * (double)v[b];
}

/* A density of a network's outputs, with its derivatives: all lanes of some rows at a time. */
static void run_float(struct exec *x, const struct instr *c)
{
    float *out = x->scratch->single;
    int w = padded(x), most = w == x->cap ? TILE / w : 1;
    for (int i = 0, rows; i < c->n; i += rows) {
        rows = c->n - i < most ? c->n - i : most;
        size_t at = (size_t)(c->arg[1].base + i) * (size_t)x->cap;
        const double *a = lanes_of(x, x->row, c->arg[0].base + i);
        c->map_float(c->self, rows * w, out, &a, (float *)x->units.unit + at,
                     (float *)x->units.adj + at);
        add_floats(x->total, rows, w, out, c->sum);
        if (is_tagged(x, c)) add_floats(lanes_of(x, x->by_tag, c->tag), rows, w, out, c->sum);
    }
}

static void run_map(struct exec *x, const struct instr *c)
{
    if (is_ahead(x, c) && c->map_float && x->is_float && x->cap <= TILE) {
        run_float(x, c);
        return;
    }
    struct scratch *s = x->scratch;
    struct operand to = outputs(c);
    const double *a[INSTR_ARGS] = {0};
    for (struct tile t = {0}; tile_next(x, c, &t);) {
        for (int k = 0; k < c->narg; k++) a[k] = tile_read(x, &c->arg[k], x->row, &t, s->arg[k]);
        double *out = c->out < 0 ? s->res : tile_place(x, &to, x->row, &t, s->res);
        if (is_ahead(x, c)) {
            c->map_both(c->self, t.n, out, a, c->ahead - 1, s->dres);
            tile_units(x, x->units.adj, c->arg[c->ahead - 1].base, &t, s->dres);
        } else {
            c->map(c->self, t.n, out, a);
        }
        if (out == s->res && c->out >= 0) tile_write(x, &to, &t, out);
        if (c->to_units) tile_units(x, x->units.unit, c->to_units - 1, &t, out);
        if (c->sum) add_up(x, c, &t, out);
    }
    if (c->signs && x->units.signs && x->units.signs->first == c->to_units - 1) find_signs(x);
}

/* Row by row, since each has random numbers of its own. */
static void run_draw(struct exec *x, const struct instr *c)
{
    struct scratch *s = x->scratch;
    const double *a[INSTR_ARGS] = {0};
    int width = padded(x);
    struct tile t = {.rows = 1};
    for (t.i0 = 0; t.i0 < c->n; t.i0++)
        for (t.b0 = 0; t.b0 < width; t.b0 += TILE) {
            int row = operand_at(&c->outs, t.i0, 0);
            struct stream str = {x->seed, (uint32_t)row, x->first + (uint64_t)t.b0};
            t.n = t.w = width - t.b0 < TILE ? width - t.b0 : TILE;
            for (int k = 0; k < c->narg; k++)
                a[k] = tile_read(x, &c->arg[k], x->row, &t, s->arg[k]);
            c->draw(c->self, &str, t.n, lanes_of(x, x->row, row) + t.b0, a);
        }
}

int block_point(const struct exec *x, const struct instr *c, int i)
{
    struct scratch *s = x->scratch;
    struct operand to = outputs(c);
    struct lanes *in = s->in;
    for (int k = 0; k < c->narg; in += c->arg[k++].m) {
        const struct operand *o = &c->arg[k];
        if (i > 0 && operand_fixed(o)) continue; /* still there */
        for (int j = 0; j < o->m; j++) {
            int r = operand_at(o, i, j);
            in[j] = o->is_const ? (struct lanes){x->p->constant.a + r, 0}
                                : (struct lanes){lanes_of(x, x->row, r), 1};
        }
    }
    for (int j = 0; j < c->width; j++)
        s->out[j] = to.base < 0 && !to.idx ? lanes_of(x, s->lane, j)
                                           : lanes_of(x, x->row, operand_at(&to, i, j));
    return (int)(in - s->in);
}

static void run_block(struct exec *x, const struct instr *c)
{
    struct scratch *s = x->scratch;
    struct tile one = {.rows = 1, .w = x->lanes};
    for (int i = 0; i < c->n; i++) {
        block_point(x, c, i);
        c->block(c->self, c->dim, padded(x), s->out, s->in, s->work);
        if (c->sum)
            for (int j = 0; j < c->width; j++) add_up(x, c, &one, s->out[j]);
    }
}

static void run_bdraw(struct exec *x, const struct instr *c)
{
    struct scratch *s = x->scratch;
    for (int i = 0; i < c->n; i++) {
        struct stream str = {x->seed, (uint32_t)operand_at(&c->outs, i, 0), x->first};
        block_point(x, c, i);
        c->bdraw(c->self, &str, c->dim, padded(x), s->out, s->in, s->work);
    }
}

static void run_copy(struct exec *x, const struct instr *c)
{
    const struct operand *from = &c->arg[0], *to = &c->outs;
    int L = padded(x);
    for (int i = 0; i < c->n; i++)
        for (int j = 0; j < to->m; j++) {
            double *out = lanes_of(x, x->row, operand_at(to, i, j));
            int r = operand_at(from, i, j);
            if (from->is_const)
                fill(out, x->p->constant.a[r], L);
            else
                memcpy(out, lanes_of(x, x->row, r), (size_t)L * sizeof *out);
        }
}

static void run_units(struct exec *x, const struct instr *c)
{
    for (int i = 0; i < c->n; i++) {
        const double *from = lanes_of(x, x->row, operand_at(&c->arg[0], i, 0));
        put_unit(x, x->units.unit, c->dim[0] + i, from);
    }
}

static void run_dense(struct exec *x, const struct instr *c)
{
    x->units.L = padded(x);
    x->product->forward(c->self, x->param, &x->units);
}

static void run_rows(struct exec *x, const struct instr *c)
{
    for (int i = 0; i < c->n; i++)
        get_unit(x, x->units.unit, c->dim[0] + i, lanes_of(x, x->row, c->out + i), 0);
}

void exec_part(struct exec *x, size_t from, size_t to)
{
    static void (*const run[])(struct exec *, const struct instr *) = {
        [I_MAP] = run_map,   [I_BLOCK] = run_block, [I_DRAW] = run_draw,   [I_BDRAW] = run_bdraw,
        [I_COPY] = run_copy, [I_UNITS] = run_units, [I_DENSE] = run_dense, [I_ROWS] = run_rows,
    };
    if (from == 0) {
        memset(x->total, 0, (size_t)x->cap * sizeof *x->total);
        if (x->by_tag) memset(x->by_tag, 0, (size_t)x->ntag * (size_t)x->cap * sizeof *x->by_tag);
    }
    for (size_t k = from; k < to; k++) {
        const struct instr *c = &x->p->code.a[k];
        if (x->no_total && c->sum && c->out < 0 && !is_ahead(x, c)) continue;
        run[c->kind](x, c);
    }
}

void exec_run(struct exec *x) { exec_part(x, 0, x->p->code.n); }
