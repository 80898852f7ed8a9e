/* instr_map.c: element-wise instructions, forward and backward, tile by tile. */
#include <string.h>

#include "base/simd.h"
#include "tensor/exec.h"

/* ---- signs -------------------------------------------------------------------------- */

/* The lanes that are 1, in order: their number; -1 if one is neither 1 nor -1. */
WIDE static int find_ones(int n, const float *u, unsigned short *lane)
{
    int other = 0, m = 0;
    EACH(b, n) other |= u[b] * u[b] != 1;
    if (other) return -1;
    for (int b = 0; b < n; b++) {
        lane[m] = (unsigned short)b; /* overwritten by the next one unless counted */
        m += u[b] > 0;
    }
    return m;
}

/* Lists the units that are 1; none if they are too many. */
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

/* ---- forward ------------------------------------------------------------------------ */

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

/* Results in single precision. */
static void add_floats(double *to, int rows, int w, const float *v, double sign)
{
    for (int i = 0; i < rows; i++, v += w) EACH(b, w) to[b] += sign * (double)v[b];
}

/* A density of network outputs with its derivatives: all lanes of a block of rows at a time. */
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

/* ---- backward ----------------------------------------------------------------------- */

static void add_lane_weights(const struct exec *x, const struct instr *c, const struct tile *t,
                             double *d)
{
    const double *w = x->weight[c->gradient_group];
    int n = t->rows * t->w;
    for (int i = 0; i < n && !w; i++) d[i] += c->sum;
    for (int i = 0; i < n && w; i += t->w)
        for (int b = 0; b < t->w; b++) d[i + b] += c->sum * w[t->b0 + b];
    for (int i = n; i < t->n; i++) d[i] = 0;
}

/* The incoming derivatives of the results of a tile: those of their rows, plus the weight of the
   lane if they add to the total. */
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
        add_lane_weights(x, c, t, d);
        from = d;
    }
    return from;
}

/* to[i] += d[i].  An incoming derivative of 0 is not propagated, whatever the kernel computes: a
   branch not chosen by ifelse or select may have an infinite slope. */
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

/* Adds the derivatives of a tile with respect to an argument, in the order of the instances. */
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

/* Multiplies derivatives computed in the forward pass by the weight of the lane. */
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

static int has_back(const struct instr *c) { return c->map_grad != NULL; }

const struct instr_type instr_type_map = {
    .name = "map", .takes_units = 1, .run = run_map, .back = back_map, .has_back = has_back};
