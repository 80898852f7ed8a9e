/* prog.c: builds programs: instructions, segments, packed units, concatenation of programs; the
   number of lanes that fits the cache. */
#include <stdlib.h>

#include "tensor/instr.h"

void prog_free(struct prog *p)
{
    arena_free(&p->mem);
    vec_free(&p->code);
    vec_free(&p->constant);
    vec_free(&p->segment);
    vec_free(&p->moving);
    p->nrow = p->nnode = p->nunit = 0;
}

int prog_segment(struct prog *p)
{
    struct segment s = {p->code.n, p->nunit};
    return vec_push(&p->segment, s) ? NAMI_ENOMEM : 0;
}

/* ---- segments that take turns ------------------------------------------------------- */

int prog_pack(struct prog *p, const struct prog *of)
{
    int first = of->segment.n ? of->segment.a[0].unit : of->nunit, rc = 0;
    *p = (struct prog){.nrow = of->nrow, .nnode = of->nnode, .nparam = of->nparam, .nunit = first};
    for (size_t k = 0; k < of->constant.n && !rc; k++)
        rc = vec_push(&p->constant, of->constant.a[k]);
    for (size_t k = 0, s = 0; k < of->code.n && !rc; k++) {
        struct instr c = of->code.a[k];
        if (s < of->segment.n && of->segment.a[s].first == k) {
            struct segment x = {k, first};
            int end = ++s < of->segment.n ? of->segment.a[s].unit : of->nunit;
            int width = end - of->segment.a[s - 1].unit;
            if (p->nunit < first + width) p->nunit = first + width;
            rc = vec_push(&p->segment, x);
        }
        struct unit_shift down = {first, s ? first - of->segment.a[s - 1].unit : 0, 0};
        if (!rc && s && type_of(&c)->shift_units) rc = type_of(&c)->shift_units(p, &c, &down);
        if (!rc) rc = vec_push(&p->code, c);
    }
    return rc ? NAMI_ENOMEM : prog_finish(p);
}

/* ------------------------------------------------------------------------------------- */

struct instr *prog_emit(struct prog *p, enum instr_kind kind, int n, int width)
{
    struct instr x = {.kind = kind, .n = n, .width = width, .tag = -1, .out = -1};
    return vec_push(&p->code, x) ? NULL : &p->code.a[p->code.n - 1];
}

int prog_const(struct prog *p, double x)
{
    return vec_push(&p->constant, x) ? -1 : (int)p->constant.n - 1;
}

/* All rows of these lanes take about 512 KB: half of a usual second-level cache. */
/* With fewer than 64, calls of kernels cost more than the cache saves (measured on the tree,
   state-space and mixture examples); but not more than 64 MB. */
int exec_lanes(const struct prog *p)
{
    enum { CACHE = 1 << 20, MEMORY = 1 << 26, FEW = 64, MANY = 256, FEWEST = 8 };
    int rows = p->nrow + p->nunit > 0 ? p->nrow + p->nunit : 1, lanes = CACHE / 8 / rows / 8 * 8;
    if (lanes < FEW) lanes = FEW;
    if (lanes > MANY) lanes = MANY;
    if (lanes > MEMORY / 8 / rows) lanes = MEMORY / 8 / rows / 8 * 8;
    return lanes < FEWEST ? FEWEST : lanes;
}

/* ---- one program behind another ----------------------------------------------------- */

struct shift {
    struct prog *p;
    int same; /* rows below this keep their numbers */
    int row, unit, constant;
    size_t param;
};

static int shift_row(const struct shift *s, int r) { return r < s->same ? r : r + s->row; }

/* Rows that are partly shifted become a list. */
static int shift_operand(const struct shift *s, struct operand *o, int n)
{
    if (o->is_const && !o->idx) return o->base += s->constant, 0;
    int fixed = o->idx ? o->shared : 0, count = (fixed ? 1 : n) * o->m;
    int first = operand_at(o, 0, 0), last = operand_at(o, n - 1, o->m - 1);
    if (!o->idx && (first < s->same) == (last < s->same)) {
        o->base = shift_row(s, o->base);
        return 0;
    }
    int *idx = arena_array(&s->p->mem, int, count + 1);
    if (!idx) return NAMI_ENOMEM;
    for (int k = 0; k < count; k++) {
        int r = operand_at(o, k / o->m, k % o->m);
        idx[k] = o->is_const ? r + s->constant : shift_row(s, r);
    }
    o->idx = idx;
    return 0;
}

static int shift_instr(const struct shift *s, struct instr *c)
{
    const struct instr_type *t = type_of(c);
    struct unit_shift up = {0, s->unit, s->param};
    int rc = 0;
    for (int k = 0; k < c->narg && !rc; k++) rc = shift_operand(s, &c->arg[k], c->n);
    if (t->scatters && !rc) rc = shift_operand(s, &c->outs, c->n);
    if (!t->scatters && c->out >= 0) c->out = shift_row(s, c->out);
    c->kept = shift_row(s, c->kept);
    if (t->shift_units && !rc) rc = t->shift_units(s->p, c, &up);
    return rc;
}

int prog_append(struct prog *p, const struct prog *from)
{
    struct shift s = {p,        from->nnode,        p->nrow - from->nnode,
                      p->nunit, (int)p->constant.n, p->nparam};
    int rc = 0;
    for (size_t i = 0; i < from->constant.n && !rc; i++)
        rc = vec_push(&p->constant, from->constant.a[i]);
    for (size_t i = 0; i < from->code.n && !rc; i++) {
        struct instr c = from->code.a[i];
        if (!(rc = shift_instr(&s, &c))) rc = vec_push(&p->code, c);
    }
    p->nrow += from->nrow - from->nnode;
    p->nunit += from->nunit;
    p->nparam += from->nparam;
    return rc ? NAMI_ENOMEM : 0;
}
