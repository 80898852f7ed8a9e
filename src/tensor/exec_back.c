/* exec_back.c: reverse-mode differentiation of a program: derivatives of the weighted total by
   rows, constants and network units. */
#include "tensor/exec.h"

#include <string.h>

#include "base/simd.h"

/* The weight of a lane in what a result adds to the total. */
static inline double lane_weight(const struct exec *x, const struct instr *c, int b)
{
    const double *w = x->weight[c->gradient_group];
    return w ? c->sum * w[b] : c->sum;
}

/* The derivatives of a tile's results: those of their rows, and the lane's weight if they add to
   the total. */
static const double *incoming(const struct exec *x, const struct instr *c, const struct tile *t)
{
    struct operand to = outputs(c);
    double *d = x->scratch->dres;
    const double *from = d;
    if (c->out >= 0) from = tile_read(x, &to, x->adj, t, d);
    if (c->sum) {
        if (c->out < 0)
            memset(d, 0, (size_t)t->n * sizeof *d);
        else if (from != d)
            memcpy(d, from, (size_t)t->n * sizeof *d);
        for (int i = 0; i < t->rows; i++)
            for (int b = 0; b < t->w; b++) d[i * t->w + b] += lane_weight(x, c, t->b0 + b);
        for (int i = t->rows * t->w; i < t->n; i++) d[i] = 0;
        from = d;
    }
    return from;
}

/* to[i] += d[i].  A derivative of 0 that comes in stops there, whatever the kernel makes of
   it: what ifelse or select did not choose may have an infinite slope. */
WIDE static void add(int n, const double *dout, const double *d, double *to)
{
    EACH(i, n)
    {
        double e = d[i];
        to[i] += dout[i] != 0 ? e : 0;
    }
}

WIDE static void keep(int n, const double *dout, double *d)
{
    EACH(i, n) d[i] = dout[i] != 0 ? d[i] : 0;
}

static double sum_of(int n, const double *dout, const double *d)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += dout[i] != 0 ? d[i] : 0;
    return sum;
}

/* Adds a tile's derivatives by an argument, in the order of the instances. */
static void outgoing(const struct exec *x, const struct operand *o, const struct tile *t,
                     const double *dout, double *d)
{
    int real = t->w < x->lanes - t->b0 ? t->w : x->lanes - t->b0;
    if (o->is_const) {
        for (int i = 0; i < t->rows; i++, d += t->w, dout += t->w)
            x->const_adj[operand_at(o, t->i0 + i, 0)] += sum_of(real, dout, d);
    } else if (o->unit) {
        keep(t->n, dout, d);
        tile_units(x, x->units.adj, o->base, t, d);
    } else if (t->w == x->cap && !o->idx && o->si == 1) {
        add(t->rows * t->w, dout, d, lanes_of(x, x->adj, operand_at(o, t->i0, 0)));
    } else if (t->w == 1) {
        for (int i = 0; i < t->rows; i++)
            *lanes_of(x, x->adj, operand_at(o, t->i0 + i, 0)) += dout[i] != 0 ? d[i] : 0;
    } else {
        for (int i = 0; i < t->rows; i++, d += t->w, dout += t->w)
            add(real, dout, d, lanes_of(x, x->adj, operand_at(o, t->i0 + i, 0)) + t->b0);
    }
}

WIDE static void scale_f(int n, float *x, const double *w)
{
    EACH(i, n) x[i] = w[i] != 0 ? x[i] * (float)w[i] : 0;
}

WIDE static void scale_d(int n, double *x, const double *w)
{
    EACH(i, n) x[i] = w[i] != 0 ? x[i] * w[i] : 0;
}

/* Derivatives that are there already, times the weight of the lane. */
static void back_ahead(struct exec *x, const struct instr *c)
{
    const struct operand *o = &c->arg[c->ahead - 1];
    double *w = x->scratch->dres;
    for (int b0 = 0, all = padded(x); b0 < all; b0 += TILE) {
        int n = all - b0 < TILE ? all - b0 : TILE;
        for (int b = 0; b < n; b++) w[b] = b0 + b < x->lanes ? lane_weight(x, c, b0 + b) : 0;
        for (int i = 0; i < c->n; i++) {
            size_t at = (size_t)(o->base + i) * (size_t)x->cap + (size_t)b0;
            if (x->is_float)
                scale_f(n, (float *)x->units.adj + at, w);
            else
                scale_d(n, (double *)x->units.adj + at, w);
        }
    }
}

static void back_map(struct exec *x, const struct instr *c)
{
    struct scratch *s = x->scratch;
    struct operand to = outputs(c);
    const double *a[INSTR_ARGS] = {0}, *out = s->res;
    double *da[INSTR_ARGS] = {0};
    if (!c->map_grad || (c->out < 0 && !c->sum)) return;
    if (is_ahead(x, c)) {
        back_ahead(x, c);
        return;
    }
    for (int k = 0; k < c->narg; k++)
        da[k] = !c->arg[k].data && (!c->arg[k].is_const || x->const_adj) ? s->darg[k] : NULL;
    for (struct tile t = {0}; tile_next(x, c, &t);) {
        for (int k = 0; k < c->narg; k++) a[k] = tile_read(x, &c->arg[k], x->row, &t, s->arg[k]);
        if (c->out >= 0)
            out = tile_read(x, &to, x->row, &t, s->res);
        else if (!c->blind)
            c->map(c->self, t.n, s->res, a); /* not kept */
        const double *dout = incoming(x, c, &t);
        c->map_grad(c->self, t.n, out, dout, a, da);
        for (int k = 0; k < c->narg; k++)
            if (da[k]) outgoing(x, &c->arg[k], &t, dout, da[k]);
    }
}

/* Where the derivatives by the arguments of an instance go: their rows; for a constant,
   lanes of scratch, or nowhere. */
static void point_back(const struct exec *x, const struct instr *c, int i)
{
    struct scratch *s = x->scratch;
    double **din = s->din, *scratch = s->dconst;
    for (int k = 0; k < c->narg; k++)
        for (int j = 0; j < c->arg[k].m; j++) {
            const struct operand *o = &c->arg[k];
            if (o->data) {
                *din++ = NULL;
            } else if (!o->is_const) {
                *din++ = lanes_of(x, x->adj, operand_at(o, i, j));
            } else if (x->const_adj) {
                memset(scratch, 0, (size_t)x->cap * sizeof *scratch);
                *din++ = scratch;
                scratch += x->cap;
            } else {
                *din++ = NULL;
            }
        }
}

static void add_constants(const struct exec *x, const struct instr *c, int i)
{
    double **din = x->scratch->din;
    for (int k = 0; k < c->narg; k++)
        for (int j = 0; j < c->arg[k].m; j++, din++) {
            if (!c->arg[k].is_const || !*din) continue;
            double *to = &x->const_adj[operand_at(&c->arg[k], i, j)];
            for (int b = 0; b < x->lanes; b++) *to += (*din)[b];
        }
}

static void back_block(struct exec *x, const struct instr *c)
{
    struct scratch *s = x->scratch;
    struct operand to = outputs(c);
    int L = x->lanes; /* no more: a kernel may sum over lanes (weights of a layer) */
    int kept = c->out >= 0 || c->kind == I_BDRAW;
    if (!c->block_grad || (!kept && !c->sum)) return;
    for (int i = 0; i < c->n; i++) {
        block_point(x, c, i);
        point_back(x, c, i);
        if (!kept && !c->blind)
            c->block(c->self, c->dim, padded(x), s->out, s->in, s->work); /* not kept */
        for (int j = 0; j < c->width; j++) {
            double *d = s->dout[j] = lanes_of(x, s->dlane, j);
            for (int b = 0; b < L; b++) d[b] = c->sum ? lane_weight(x, c, b) : 0;
            if (kept) {
                const double *from = lanes_of(x, x->adj, operand_at(&to, i, j));
                for (int b = 0; b < L; b++) d[b] += from[b];
            }
        }
        c->block_grad(c->self, c->dim, L, (const double *const *)s->out,
                      (const double *const *)s->dout, s->in, s->din, s->work);
        if (x->const_adj) add_constants(x, c, i);
    }
}

static void back_copy(struct exec *x, const struct instr *c)
{
    const struct operand *from = &c->arg[0], *to = &c->outs;
    for (int i = 0; i < c->n; i++)
        for (int j = 0; j < to->m; j++) {
            const double *d = lanes_of(x, x->adj, operand_at(to, i, j));
            int r = operand_at(from, i, j);
            if (!from->is_const) {
                double *out = lanes_of(x, x->adj, r);
                for (int b = 0; b < x->lanes; b++) out[b] += d[b];
            } else if (x->const_adj) {
                for (int b = 0; b < x->lanes; b++) x->const_adj[r] += d[b];
            }
        }
}

static void back_units(struct exec *x, const struct instr *c)
{
    for (int i = 0; i < c->n && !c->dim[1]; i++)
        get_unit(x, x->units.adj, c->dim[0] + i, lanes_of(x, x->adj, operand_at(&c->arg[0], i, 0)),
                 1);
}

static void back_dense(struct exec *x, const struct instr *c)
{
    x->product->back(c->self, x->param, &x->units);
}

static void back_rows(struct exec *x, const struct instr *c)
{
    for (int i = 0; i < c->n; i++)
        (c->dim[1] ? put_unit : add_unit)(x, x->units.adj, c->dim[0] + i,
                                          lanes_of(x, x->adj, c->out + i));
}

static void clear_units(const struct exec *x, int from, int to)
{
    size_t size = x->is_float ? sizeof(float) : sizeof(double), cap = (size_t)x->cap;
    if (to > from)
        memset((char *)x->units.adj + (size_t)from * cap * size, 0,
               (size_t)(to - from) * cap * size);
}

static void clear_rows(const struct exec *x)
{
    const struct row_range all = {x->data_rows, x->p->nrow}, *r = x->p->moving.a;
    size_t n = x->p->moving.n, cap = (size_t)x->cap;
    if (!n) r = &all, n = 1;
    for (; n--; r++)
        memset(x->adj + (size_t)r->from * cap, 0, (size_t)(r->to - r->from) * cap * sizeof *x->adj);
    if (x->const_adj) memset(x->const_adj, 0, x->p->constant.n * sizeof *x->const_adj);
}

/* The instructions to-1 .. from */
static void back_part(struct exec *x, size_t from, size_t to)
{
    for (size_t k = to; k-- > from;) {
        const struct instr *c = &x->p->code.a[k];
        if (c->kind == I_MAP) back_map(x, c);
        if (c->kind == I_BLOCK || c->kind == I_BDRAW) back_block(x, c);
        if (c->kind == I_COPY) back_copy(x, c);
        if (c->kind == I_UNITS) back_units(x, c);
        if (c->kind == I_DENSE) back_dense(x, c);
        if (c->kind == I_ROWS) back_rows(x, c);
    }
}

/* Before instructions are gone back through: the units that they write, and that are added to. */
static void clear_part(const struct exec *x, size_t from, size_t to)
{
    for (size_t k = from; k < to; k++) {
        const struct instr *c = &x->p->code.a[k];
        const struct dense *d = c->kind == I_DENSE ? c->self : NULL;
        if (d && !d->written) clear_units(x, d->to, d->to + d->n * d->out);
        if (c->kind == I_UNITS && !c->dim[1]) clear_units(x, c->dim[0], c->dim[0] + c->n);
    }
}

void exec_back(struct exec *x)
{
    clear_rows(x);
    clear_part(x, 0, x->p->code.n);
    back_part(x, 0, x->p->code.n);
}

static size_t segment_end(const struct prog *p, size_t s)
{
    return s + 1 < p->segment.n ? p->segment.a[s + 1].first : p->code.n;
}

static size_t before_segments(const struct prog *p)
{
    return p->segment.n ? p->segment.a[0].first : p->code.n;
}

void exec_begin(struct exec *x)
{
    clear_rows(x);
    clear_part(x, 0, before_segments(x->p));
    exec_part(x, 0, before_segments(x->p));
}

void exec_begun(struct exec *x, const struct exec *of)
{
    size_t size = x->is_float ? sizeof(float) : sizeof(double), n = (size_t)x->p->segment.a[0].unit;
    memcpy(x->units.unit, of->units.unit, n * (size_t)x->cap * size);
}

void exec_segment(struct exec *x, size_t s)
{
    size_t from = x->p->segment.a[s].first, end = segment_end(x->p, s);
    exec_part(x, from, end);
    clear_part(x, from, end);
    back_part(x, from, end);
}

void exec_end(struct exec *x) { back_part(x, 0, before_segments(x->p)); }

void exec_both(struct exec *x)
{
    exec_begin(x);
    for (size_t s = 0; s < x->p->segment.n; s++) exec_segment(x, s);
    exec_end(x);
}
