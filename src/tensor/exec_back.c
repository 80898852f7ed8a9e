#include "tensor/exec.h"

#include <string.h>

#include "base/simd.h"

/* A derivative of 0 that comes in stops there, whatever the kernel makes of it: what
   was not chosen by ifelse or select may have an infinite slope. */
VECTOR static void mask(int n, const double *dout, double *da)
{
    EACH(i, n) da[i] = dout[i] != 0 ? da[i] : 0;
}

/* The derivatives of a tile's results: those of their rows, and 1 if they add to the total. */
static const double *incoming(const struct exec *x, const struct instr *c, const struct tile *t)
{
    struct operand to = outputs(c);
    double *d = x->scratch->dres;
    const double *from = d;
    if (c->out >= 0) from = tile_read(x, &to, x->adj, t, d);
    if (c->sum) {
        for (int i = 0; i < t->n; i++) d[i] = c->out >= 0 ? from[i] + 1 : 1;
        from = d;
    }
    return from;
}

/* Adds a tile's derivatives by an argument, in the order of the instances. */
static void outgoing(const struct exec *x, const struct operand *o, const struct tile *t,
                     const double *d)
{
    int real = t->w < x->lanes - t->b0 ? t->w : x->lanes - t->b0;
    for (int i = 0; i < t->rows; i++, d += t->w) {
        int r = operand_at(o, t->i0 + i, 0);
        if (o->is_const) {
            for (int b = 0; b < real; b++) x->const_adj[r] += d[b];
        } else {
            double *to = lanes_of(x, x->adj, r) + t->b0;
            for (int b = 0; b < real; b++) to[b] += d[b];
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
    for (int k = 0; k < c->narg; k++)
        da[k] = !c->arg[k].is_const || x->const_adj ? s->darg + k * TILE : NULL;
    for (struct tile t = {0}; tile_next(x, c, &t);) {
        for (int k = 0; k < c->narg; k++)
            a[k] = tile_read(x, &c->arg[k], x->row, &t, s->arg + k * TILE);
        if (c->out >= 0)
            out = tile_read(x, &to, x->row, &t, s->res);
        else
            c->map(c->self, t.n, s->res, a); /* not kept */
        const double *dout = incoming(x, c, &t);
        c->map_grad(c->self, t.n, out, dout, a, da);
        for (int k = 0; k < c->narg; k++)
            if (da[k]) {
                mask(t.n, dout, da[k]);
                outgoing(x, &c->arg[k], &t, da[k]);
            }
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
            if (!o->is_const) {
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
    int L = round_up(x->lanes);
    if (!c->block_grad || (c->out < 0 && !c->sum)) return;
    for (int i = 0; i < c->n; i++) {
        block_point(x, c, i);
        point_back(x, c, i);
        if (c->out < 0) c->block(c->self, c->dim, L, s->out, s->in, s->work); /* not kept */
        for (int j = 0; j < c->width; j++) {
            double *d = s->dout[j] = lanes_of(x, s->dlane, j);
            for (int b = 0; b < L; b++) d[b] = c->sum;
            if (c->out >= 0) {
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

void exec_back(struct exec *x)
{
    const struct prog *p = x->p;
    memset(x->adj, 0, (size_t)p->nrow * (size_t)x->cap * sizeof *x->adj);
    if (x->const_adj) memset(x->const_adj, 0, p->constant.n * sizeof *x->const_adj);
    for (size_t k = p->code.n; k-- > 0;) {
        const struct instr *c = &p->code.a[k];
        if (c->kind == I_MAP) back_map(x, c);
        if (c->kind == I_BLOCK) back_block(x, c);
        if (c->kind == I_COPY) back_copy(x, c);
    }
}
