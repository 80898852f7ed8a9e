/* trim.c: optimizes a program of which only the total and its derivatives are needed. */
#include <stdint.h>
#include <stdlib.h>

#include "tensor/tensor.h"

enum { NOBODY = -1, MANY = -2, FEWEST = 32 };

/* Who reads each row: instruction * INSTR_ARGS + argument, NOBODY or MANY. */
static void find_readers(const struct prog *p, int *reader)
{
    for (int r = 0; r < p->nrow; r++) reader[r] = NOBODY;
    for (size_t k = 0; k < p->code.n; k++) {
        const struct instr *c = &p->code.a[k];
        for (int a = 0; a < c->narg; a++) {
            const struct operand *o = &c->arg[a];
            int fixed = operand_fixed(o);
            for (int i = 0; i < (o->is_const ? 0 : fixed ? 1 : c->n); i++)
                for (int j = 0; j < o->m; j++) {
                    int *at = &reader[operand_at(o, i, j)];
                    *at = *at == NOBODY && !fixed ? (int)k * INSTR_ARGS + a : MANY;
                }
        }
    }
}

/* Are these rows r, r + 1, ... for instance 0, 1, ...? */
static int is_run(const struct operand *o, int n, int r)
{
    if (o->m != 1) return 0;
    for (int i = 0; i < n; i++)
        if (operand_at(o, i, 0) != r + i) return 0;
    return 1;
}

static int is_equal(const struct operand *o, int n, const double *constant)
{
    if (o->m != 1) return 0;
    for (int i = 1; i < n; i++)
        if (!(constant[operand_at(o, i, 0)] == constant[operand_at(o, 0, 0)])) return 0;
    return 1;
}

/* Rows that follow each other, and constants that are the same, are said to be so. */
static void tell_runs(struct prog *p)
{
    for (size_t k = 0; k < p->code.n; k++)
        for (int a = 0; a < p->code.a[k].narg; a++) {
            struct operand *o = &p->code.a[k].arg[a];
            int n = p->code.a[k].n, first = operand_at(o, 0, 0);
            if (o->is_const ? !is_equal(o, n, p->constant.a) : n < 2 || !is_run(o, n, first))
                continue;
            o->idx = NULL;
            o->base = first;
            o->si = !o->is_const;
        }
}

/* Is an argument all that an instruction is differentiated by? */
static int is_only(const struct instr *c, int a)
{
    for (int k = 0; k < c->narg; k++)
        if (k != a && !c->arg[k].is_const && !c->arg[k].data) return 0;
    return c->map_both && c->map_grad && c->sum && c->out < 0;
}

/* The instructions that read these rows of units, if each is read once, by one that is
   element-wise; it is done if `change`. */
static int by_units(struct prog *p, const struct instr *c, const int *reader, int change)
{
    for (int i = 0, n; i < c->n; i += n) {
        int id = reader[c->out + i];
        if (id < 0) return 0;
        struct instr *x = &p->code.a[id / INSTR_ARGS];
        struct operand *o = &x->arg[id % INSTR_ARGS];
        n = x->n;
        if (!change && (x->kind != I_MAP || n > c->n - i || !is_run(o, n, c->out + i))) return 0;
        if (!change) continue;
        *o = (struct operand){.unit = 1, .m = 1, .base = c->dim[0] + i, .si = 1};
        if (is_only(x, id % INSTR_ARGS)) x->ahead = 1 + id % INSTR_ARGS;
        if (x->ahead != 2 || x->arg[0].is_const || x->arg[0].idx || x->arg[0].si != 1)
            x->map_float = NULL;
    }
    return 1;
}

static void use_units(struct prog *p, const int *reader)
{
    for (size_t k = 0; k < p->code.n; k++) {
        struct instr *c = &p->code.a[k];
        if (c->kind != I_ROWS || !c->dim[1] || !by_units(p, c, reader, 0)) continue;
        by_units(p, c, reader, 1);
        c->n = 0;
    }
}

/* ---- results to units --------------------------------------------------------------- */

/* The instructions that compute units without derivatives, if they are element-wise and nobody
   else reads what they compute; it is done if `change`. */
static int to_units(struct prog *p, const struct instr *c, const int *reader, const int *writer,
                    int change)
{
    for (int i = 0, n; i < c->n; i += n) {
        int first = c->arg[0].base + i;
        if (writer[first] < 0) return 0;
        struct instr *x = &p->code.a[writer[first]];
        n = x->n;
        if (change) {
            x->to_units = 1 + c->dim[0] + i;
            x->out = -1;
            if (x->signs && n > p->nsign) p->sign_first = c->dim[0] + i, p->nsign = n;
            continue;
        }
        if (n > c->n - i || x->out != first || x->sum || x->map_grad) return 0;
        for (int k = 0; k < n; k++)
            if (reader[first + k] < 0) return 0;
    }
    return 1;
}

static void put_units(struct prog *p, const int *reader, int *writer)
{
    for (int r = 0; r < p->nrow; r++) writer[r] = NOBODY;
    for (size_t k = 0; k < p->code.n; k++) {
        const struct instr *c = &p->code.a[k];
        for (int i = 0; c->kind == I_MAP && c->out >= 0 && i < c->n; i++)
            writer[c->out + i] = (int)k;
    }
    for (size_t k = 0; k < p->code.n; k++) {
        struct instr *c = &p->code.a[k];
        if (c->kind != I_UNITS || !c->dim[1] || !is_run(&c->arg[0], c->n, c->arg[0].base) ||
            !to_units(p, c, reader, writer, 0))
            continue;
        to_units(p, c, reader, writer, 1);
        c->n = 0;
    }
}

int prog_signs(const struct prog *p, const struct dense *d)
{
    if (!p->nsign || d->n != 1 || d->in != p->nsign) return 0;
    for (int i = 0; i < d->in; i++)
        if (d->from[i] != p->sign_first + i) return 0;
    return 1;
}

static void find_signs(struct prog *p)
{
    if (p->nsign < FEWEST || p->nsign > UINT16_MAX) p->nsign = 0;
    for (size_t k = 0; k < p->code.n; k++) {
        struct dense *d = p->code.a[k].kind == I_DENSE ? (struct dense *)p->code.a[k].self : NULL;
        if (d) d->signs = prog_signs(p, d);
    }
}

static void drop_empty(struct prog *p)
{
    size_t kept = 0;
    for (size_t k = 0; k < p->code.n; k++)
        if (p->code.a[k].n) p->code.a[kept++] = p->code.a[k];
    p->code.n = kept;
}

/* ---- rows that have derivatives ----------------------------------------------------- */

static int has_derivatives(const struct instr *c)
{
    return c->kind == I_COPY || c->kind == I_ROWS || (c->kind == I_UNITS && !c->dim[1]) ||
           c->map_grad || c->block_grad;
}

static void mark(unsigned char *moves, const struct operand *o, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < o->m; j++) moves[operand_at(o, i, j)] = 1;
}

static int find_moving(struct prog *p, unsigned char *moves)
{
    for (size_t k = 0; k < p->code.n; k++) {
        const struct instr *c = &p->code.a[k];
        if (!has_derivatives(c)) continue;
        for (int a = 0; a < c->narg; a++)
            if (!c->arg[a].is_const && !c->arg[a].data && !c->arg[a].unit)
                mark(moves, &c->arg[a], c->n);
        if (c->kind == I_COPY || c->kind == I_BDRAW || c->kind == I_DRAW)
            mark(moves, &c->outs, c->n);
        else if (c->out >= 0)
            for (int i = 0; i < c->n * c->width; i++) moves[c->out + i] = 1;
    }
    for (int r = 0; r < p->nrow; r++) {
        struct row_range x = {r, r};
        while (x.to < p->nrow && moves[x.to]) x.to++;
        if (x.to > r && vec_push(&p->moving, x)) return NAMI_ENOMEM;
        r = x.to;
    }
    return 0;
}

int prog_trim(struct prog *p)
{
    if (p->segment.n) return 0;
    int *reader = raw_array(int, p->nrow + 1), *writer = raw_array(int, p->nrow + 1);
    unsigned char *moves = new_array(unsigned char, p->nrow + 1);
    int rc = reader && writer && moves ? 0 : NAMI_ENOMEM;
    if (!rc) {
        tell_runs(p);
        find_readers(p, reader);
        use_units(p, reader);
        put_units(p, reader, writer);
        find_signs(p);
        drop_empty(p);
        rc = find_moving(p, moves);
    }
    free(reader);
    free(writer);
    free(moves);
    return rc;
}
