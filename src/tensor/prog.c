#include "tensor/tensor.h"

#include <stdlib.h>

void prog_free(struct prog *p)
{
    arena_free(&p->mem);
    vec_free(&p->code);
    vec_free(&p->constant);
    vec_free(&p->segment);
    vec_free(&p->clear);
    p->nrow = p->nnode = p->nunit = 0;
}

int prog_segment(struct prog *p)
{
    struct segment s = {p->code.n, p->nunit, 0};
    return vec_push(&p->segment, s) ? NAMI_ENOMEM : 0;
}

/* ---- which derivatives are the first ones ------------------------------------------- */

/* Backwards, adj of a unit is reached by one instruction after the other; the first may write it, the
   others add.  A unit that is first reached by one that also adds must be cleared before. */
struct reach {
    struct prog *p;
    unsigned char *seen; /* of units */
    int first;           /* of the segment: units before it are cleared always */
};

/* Units that an instruction reaches: their number is added to *again if they were before, else
   they are listed in p->clear. */
static int reach(struct reach *r, int unit, int *again)
{
    if (unit < r->first || r->seen[unit]) return (*again)++, 0;
    r->seen[unit] = 1;
    return vec_push(&r->p->clear, unit);
}

/* Were all of them new?  Then they are written, and need not be cleared. */
static int all_new(struct prog *p, size_t listed, int again)
{
    if (!again) p->clear.n = listed;
    return !again;
}

/* Units that nothing has reached stay in the list: their adj is read. */
static int finish_units(struct reach *r, const struct instr *c)
{
    int again = 0, rc = 0;
    for (int i = 0; i < c->n && !rc; i++) rc = reach(r, c->dim[0] + i, &again);
    return rc;
}

static int finish_rows(struct reach *r, struct instr *c)
{
    size_t listed = r->p->clear.n;
    int again = 0, rc = 0;
    for (int i = 0; i < c->n && !rc; i++) rc = reach(r, c->dim[0] + i, &again);
    c->dim[1] = all_new(r->p, listed, again);
    return rc;
}

/* Outputs that nothing has reached stay in the list: their adj is read. */
static int finish_dense(struct reach *r, struct dense *d)
{
    int again = 0, rc = 0;
    for (int k = 0; k < d->n * d->out && !rc; k++) rc = reach(r, d->to + k, &again);
    size_t listed = r->p->clear.n;
    again = 0;
    for (int i = 0; i < d->n; i++)
        for (int k = 0; k < d->back && !rc; k++)
            rc = reach(r, d->from[(size_t)i * (size_t)d->in + (size_t)k], &again);
    d->fresh = all_new(r->p, listed, again);
    return rc;
}

int prog_finish(struct prog *p)
{
    struct reach r = {.p = p, .seen = mem_zero((size_t)p->nunit + 1, 1)};
    int rc = r.seen ? 0 : NAMI_ENOMEM;
    for (size_t s = 0; s < p->segment.n && !rc; s++) {
        size_t end = s + 1 < p->segment.n ? p->segment.a[s + 1].first : p->code.n;
        r.first = p->segment.a[s].unit;
        p->segment.a[s].clear = p->clear.n;
        for (size_t k = end; k-- > p->segment.a[s].first && !rc;) {
            struct instr *c = &p->code.a[k];
            if (c->kind == I_UNITS && !c->dim[1]) rc = finish_units(&r, c);
            if (c->kind == I_ROWS) rc = finish_rows(&r, c);
            if (c->kind == I_DENSE) rc = finish_dense(&r, (struct dense *)c->self);
        }
    }
    free(r.seen);
    return rc ? NAMI_ENOMEM : 0;
}

int prog_whole(struct prog *p)
{
    struct segment all = {0};
    return vec_push(&p->segment, all) ? NAMI_ENOMEM : prog_finish(p);
}

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
/* Fewer than 64 and the kernels' calls cost more than the cache saves (measured on the tree,
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
    int same; /* rows before this keep their numbers */
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

static int shift_dense(const struct shift *s, struct instr *c)
{
    struct dense *d = arena_array(&s->p->mem, struct dense, 1);
    const struct dense *old = c->self;
    int n = old->n * old->in, *from = arena_array(&s->p->mem, int, n + 1);
    if (!d || !from) return NAMI_ENOMEM;
    *d = *old;
    for (int i = 0; i < n; i++) from[i] = old->from[i] + s->unit;
    d->from = from;
    d->to += s->unit;
    d->w += s->param;
    c->self = d;
    return 0;
}

static int shift_instr(const struct shift *s, struct instr *c)
{
    int rc = 0, outs = c->kind == I_COPY || c->kind == I_DRAW || c->kind == I_BDRAW;
    for (int k = 0; k < c->narg && !rc; k++) rc = shift_operand(s, &c->arg[k], c->n);
    if (outs && !rc) rc = shift_operand(s, &c->outs, c->n);
    if (!outs && c->out >= 0) c->out = shift_row(s, c->out);
    if (c->kind == I_UNITS || c->kind == I_ROWS) c->dim[0] += s->unit;
    if (c->kind == I_DENSE && !rc) rc = shift_dense(s, c);
    return rc;
}

int prog_append(struct prog *p, const struct prog *from)
{
    struct shift s = {p, from->nnode, p->nrow - from->nnode, p->nunit, (int)p->constant.n,
                      p->nparam};
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
