/* trim.c: optimizes a program of which only the total and its derivatives are needed. */
#include <stdint.h>
#include <stdlib.h>

#include "tensor/instr.h"

enum { FEWEST = 32 };

/* The reader of each row: instruction * INSTR_ARGS + argument, NO_INSTR or MANY_INSTRS. */
static void find_readers(const struct prog *p, int *reader)
{
    for (int r = 0; r < p->nrow; r++) reader[r] = NO_INSTR;
    for (size_t k = 0; k < p->code.n; k++) {
        const struct instr *c = &p->code.a[k];
        for (int a = 0; a < c->narg; a++) {
            const struct operand *o = &c->arg[a];
            int fixed = operand_fixed(o);
            for (int i = 0; i < (o->is_const ? 0 : fixed ? 1 : c->n); i++)
                for (int j = 0; j < o->m; j++) {
                    int *at = &reader[operand_at(o, i, j)];
                    *at = *at == NO_INSTR && !fixed ? (int)k * INSTR_ARGS + a : MANY_INSTRS;
                }
        }
    }
}

static int is_equal(const struct operand *o, int n, const double *constant)
{
    if (o->m != 1) return 0;
    for (int i = 1; i < n; i++)
        if (!(constant[operand_at(o, i, 0)] == constant[operand_at(o, 0, 0)])) return 0;
    return 1;
}

/* Converts lists of consecutive rows, and of equal constants, to affine operands. */
static void tell_runs(struct prog *p)
{
    for (size_t k = 0; k < p->code.n; k++)
        for (int a = 0; a < p->code.a[k].narg; a++) {
            struct operand *o = &p->code.a[k].arg[a];
            int n = p->code.a[k].n, first = operand_at(o, 0, 0);
            if (o->is_const ? !is_equal(o, n, p->constant.a)
                            : n < 2 || !operand_is_run(o, n, first))
                continue;
            o->idx = NULL;
            o->base = first;
            o->si = !o->is_const;
        }
}

/* The instruction that can write units instead of each row. */
static void find_writers(const struct prog *p, int *writer)
{
    for (int r = 0; r < p->nrow; r++) writer[r] = NO_INSTR;
    for (size_t k = 0; k < p->code.n; k++) {
        const struct instr *c = &p->code.a[k];
        for (int i = 0; type_of(c)->takes_units && c->out >= 0 && i < c->n; i++)
            writer[c->out + i] = (int)k;
    }
}

static void trim_instrs(struct row_users *u)
{
    for (size_t k = 0; k < u->p->code.n; k++) {
        struct instr *c = &u->p->code.a[k];
        if (type_of(c)->trim) type_of(c)->trim(u, c);
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
        struct dense *d = (struct dense *)prog_layer(p, k);
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

static void mark(unsigned char *moves, const struct operand *o, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < o->m; j++) moves[operand_at(o, i, j)] = 1;
}

static int find_moving(struct prog *p, unsigned char *moves)
{
    for (size_t k = 0; k < p->code.n; k++) {
        const struct instr *c = &p->code.a[k];
        if (!instr_has_back(c)) continue;
        for (int a = 0; a < c->narg; a++)
            if (!c->arg[a].is_const && !c->arg[a].data && !c->arg[a].unit)
                mark(moves, &c->arg[a], c->n);
        struct operand to = outputs(c);
        if (type_of(c)->scatters || c->out >= 0) mark(moves, &to, c->n);
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
    struct row_users u = {p, raw_array(int, p->nrow + 1), raw_array(int, p->nrow + 1)};
    unsigned char *moves = new_array(unsigned char, p->nrow + 1);
    int rc = u.reader && u.writer && moves ? 0 : NAMI_ENOMEM;
    if (!rc) {
        tell_runs(p);
        find_readers(p, u.reader);
        find_writers(p, u.writer);
        trim_instrs(&u);
        find_signs(p);
        drop_empty(p);
        rc = find_moving(p, moves);
    }
    free(u.reader);
    free(u.writer);
    free(moves);
    return rc;
}
