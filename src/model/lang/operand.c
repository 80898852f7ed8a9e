/* operand.c: operands: the rows that an instruction reads and writes. */
#include <limits.h>

#include "model/lang/compile.h"

int *index_array(struct compiler *c, size_t n) { return arena_array(&c->p->mem, int, n ? n : 1); }

int operand_of(struct compiler *c, const int *idx, int n, int m, struct operand *out)
{
    int si = n > 1 ? idx[m] - idx[0] : 0, sj = m > 1 ? idx[1] - idx[0] : 0;
    int affine = 1, shared = 1;
    for (int i = 0; i < n && (affine || shared); i++)
        for (int j = 0; j < m; j++) {
            affine &= idx[(size_t)i * (size_t)m + (size_t)j] == idx[0] + i * si + j * sj;
            shared &= idx[(size_t)i * (size_t)m + (size_t)j] == idx[j];
        }
    *out = (struct operand){.m = m, .base = m ? idx[0] : 0, .si = si, .sj = sj};
    if (affine) return 0;
    size_t size = shared ? (size_t)m : (size_t)n * (size_t)m;
    int *copy = index_array(c, size);
    if (!copy) return NAMI_ENOMEM;
    memcpy(copy, idx, sizeof(int) * size);
    out->shared = shared;
    out->idx = copy;
    return 0;
}

int operand_flat(struct compiler *c, const struct operand *o, int m, struct operand *out)
{
    if (m == 1 && o->m == 1) {
        *out = *o;
        return 0;
    }
    int *idx = index_array(c, (size_t)c->n * (size_t)m);
    if (!idx) return NAMI_ENOMEM;
    for (int i = 0; i < c->n; i++)
        for (int j = 0; j < m; j++)
            idx[(size_t)i * (size_t)m + (size_t)j] = operand_at(o, i, o->m == 1 ? 0 : j);
    int rc = operand_of(c, idx, c->n * m, 1, out);
    out->is_const = o->is_const;
    return rc;
}

int fits(struct compiler *c, double m)
{
    double most = 4.0 * c->m->ir.limit;
    if (c->n * m + c->temp <= most) return 1;
    diag_error(&c->m->source.diags, c->s->rel->at, NULL,
               "this makes the model too large: it has more than %.10g values", most);
    return 0;
}

struct instr *emit(struct compiler *c, enum instr_kind kind, int n, int width)
{
    struct instr *x = prog_emit(c->p, kind, n, width);
    if (x) x->tag = (int)(c->s - c->m->ir.statements.a);
    return x;
}

int new_rows(struct compiler *c, size_t n)
{
    int first = c->temp;
    c->temp += (int)n;
    if (c->temp > c->p->nrow) c->p->nrow = c->temp;
    return first;
}

void val_of_rows(struct val *v, int first, const int *shape)
{
    int m = shape_size(shape);
    memcpy(v->shape, shape, sizeof v->shape);
    v->o = (struct operand){.m = m, .base = first, .si = m, .sj = 1};
}

int operand_rows(struct compiler *c, struct val *v)
{
    if (!v->o.is_const) return 0;
    int first = new_rows(c, (size_t)c->n * (size_t)v->o.m), shape[SHAPE];
    struct operand flat, to = {.m = 1, .base = first, .si = 1};
    if (operand_flat(c, &v->o, v->o.m, &flat)) return NAMI_ENOMEM;
    if (!prog_emit_copy(c->p, c->n * v->o.m, flat, to)) return NAMI_ENOMEM;
    memcpy(shape, v->shape, sizeof shape);
    val_of_rows(v, first, shape);
    return 0;
}

static size_t slot_of(const struct compiler *c, uint64_t bits)
{
    size_t i = (size_t)((bits * 0x9e3779b97f4a7c15u) >> 32) & (c->cap_seen - 1);
    while (c->seen[i].id && c->seen[i].bits != bits) i = (i + 1) & (c->cap_seen - 1);
    return i;
}

static int grow_seen(struct compiler *c)
{
    struct compiler old = *c;
    c->cap_seen = old.cap_seen ? 2 * old.cap_seen : 64;
    c->seen = mem_zero(c->cap_seen, sizeof *c->seen);
    if (!c->seen) {
        *c = old;
        return -1;
    }
    for (size_t i = 0; i < old.cap_seen; i++)
        if (old.seen[i].id) c->seen[slot_of(c, old.seen[i].bits)] = old.seen[i];
    free(old.seen);
    return 0;
}

int shared_const(struct compiler *c, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (2 * c->nseen >= c->cap_seen && grow_seen(c)) return -1;
    size_t i = slot_of(c, bits);
    if (!c->seen[i].id) {
        int id = prog_const(c->p, x);
        if (id < 0) return -1;
        c->seen[i].bits = bits;
        c->seen[i].id = id + 1;
        c->nseen++;
    }
    return c->seen[i].id - 1;
}
