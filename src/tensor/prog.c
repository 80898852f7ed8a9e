/* prog.c: builds programs: segments, layers that pull their derivatives, packed units, the number
   of lanes that suits the cache. */
#include "tensor/tensor.h"

#include <stdlib.h>

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

/* ---- who pulls ---------------------------------------------------------------------- */

/* Layer d, from its input k on, or rows read what layer p writes: all of it. */
struct read {
    struct dense *p, *d;
    struct instr *rows;
    int k;
};

struct reads {
    vec(struct read) a;
    struct dense **owner; /* of units: the layer that has written it */
};

enum { ADDED = -1 }; /* dense.written, for the time being: somebody adds to parts of it */

/* Are the inputs k ... of d all outputs of p, instance by instance? */
static int reads_all(const struct dense *d, int k, const struct dense *p)
{
    if (p->n != d->n || k + p->out > d->back) return 0;
    for (int i = 0; i < d->n; i++)
        for (int j = 0; j < p->out; j++)
            if (d->from[(size_t)i * (size_t)d->in + (size_t)(k + j)] != p->to + i * p->out + j)
                return 0;
    return 1;
}

/* Inputs are pulled up to the first that is not part of all that a layer of this segment, whose
   units begin at `first`, writes. */
static int read_dense(struct reads *r, struct dense *d, int first)
{
    struct dense *p;
    int k = 0;
    d->use = NULL;
    d->nuse = d->written = 0;
    for (int j = 0; j < d->n * d->out; j++) r->owner[d->to + j] = d;
    for (; k < d->back && (p = r->owner[d->from[k]]); k += p->out) {
        struct read x = {p, d, NULL, k};
        if (p->to < first || !reads_all(d, k, p)) break;
        if (vec_push(&r->a, x)) return NAMI_ENOMEM;
        p->nuse++;
    }
    d->pulled = k;
    for (int i = 0; i < d->n; i++)
        for (int j = k; j < d->back; j++)
            if ((p = r->owner[d->from[(size_t)i * (size_t)d->in + (size_t)j]])) p->written = ADDED;
    return 0;
}

static int read_rows(struct reads *r, struct instr *c)
{
    struct dense *p = r->owner[c->dim[0]];
    struct read x = {p, NULL, c, 0};
    c->dim[1] = 0;
    if (p && p->to == c->dim[0] && p->n * p->out == c->n) return p->nuse++, vec_push(&r->a, x);
    for (int i = 0; i < c->n; i++)
        if ((p = r->owner[c->dim[0] + i])) p->written = ADDED;
    return 0;
}

/* Who is added to by one is added to by all that read it. */
static void settle(struct reads *r)
{
    for (int changed = 1; changed;) {
        changed = 0;
        for (struct read *x = r->a.a; x < r->a.a + r->a.n; x++) {
            int pulls = x->p->written != ADDED;
            if (pulls && (x->rows ? x->p->nuse > 1 : x->k >= x->d->pulled))
                x->p->written = ADDED, changed = 1;
            if (!pulls && x->d && x->k < x->d->pulled) x->d->pulled = x->k, changed = 1;
        }
    }
}

static int list_uses(struct prog *p, const struct reads *r)
{
    for (struct read *x = r->a.a; x < r->a.a + r->a.n; x++) {
        struct dense *d = x->p;
        if (d->written == ADDED || x->rows) {
            if (x->rows) x->rows->dim[1] = d->written != ADDED;
            d->nuse = 0;
        } else {
            if (!d->written && !(d->use = arena_array(&p->mem, struct use, d->nuse)))
                return NAMI_ENOMEM;
            if (!d->written) d->nuse = 0;
            ((struct use *)d->use)[d->nuse++] = (struct use){x->d, x->k};
        }
        if (d->written != ADDED) d->written = 1;
    }
    return 0;
}

int prog_finish(struct prog *p)
{
    struct reads r = {.owner = new_array(struct dense *, p->nunit + 1)};
    int rc = r.owner ? 0 : NAMI_ENOMEM, first = 0;
    for (size_t k = 0, s = 0; k < p->code.n && !rc; k++) {
        struct instr *c = &p->code.a[k];
        if (s < p->segment.n && k == p->segment.a[s].first) first = p->segment.a[s++].unit;
        if (c->kind == I_ROWS) rc = read_rows(&r, c);
        if (c->kind == I_DENSE) rc = read_dense(&r, (struct dense *)c->self, first);
    }
    if (!rc) {
        settle(&r);
        rc = list_uses(p, &r);
    }
    for (size_t k = 0; k < p->code.n; k++) {
        struct dense *d = p->code.a[k].kind == I_DENSE ? (struct dense *)p->code.a[k].self : NULL;
        if (d && d->written == ADDED) d->written = 0;
    }
    vec_free(&r.a);
    free(r.owner);
    return rc ? NAMI_ENOMEM : 0;
}

/* ---- segments that take turns ------------------------------------------------------- */

/* Units from `first` on move down by `shift`. */
static int pack_instr(struct prog *p, struct instr *c, int first, int shift)
{
    if ((c->kind == I_ROWS || c->kind == I_UNITS) && c->dim[0] >= first) c->dim[0] -= shift;
    if (c->kind != I_DENSE) return 0;
    const struct dense *old = c->self;
    size_t n = (size_t)old->n * (size_t)old->in;
    struct dense *d = arena_array(&p->mem, struct dense, 1);
    int *from = arena_array(&p->mem, int, n + 1);
    if (!d || !from) return NAMI_ENOMEM;
    for (size_t i = 0; i < n; i++) from[i] = old->from[i] - (old->from[i] < first ? 0 : shift);
    *d = *old;
    d->from = from;
    d->to -= shift;
    c->self = d;
    return 0;
}

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
        if (!rc && s) rc = pack_instr(p, &c, first, of->segment.a[s - 1].unit - first);
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
    d->nuse = d->pulled = d->written = 0; /* until it is finished */
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
    if (c->kind == I_ROWS) c->dim[1] = 0;
    if (c->kind == I_DENSE && !rc) rc = shift_dense(s, c);
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
