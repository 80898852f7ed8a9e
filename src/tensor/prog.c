#include "tensor/tensor.h"

#include <stdlib.h>
#include <string.h>

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

/* Backwards, adj of a unit is reached by one instruction after the other; the first may write it,
   the others add.  A unit that is first reached by one that also adds must be cleared before. */
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
        memset(r.seen + r.first, 0, (size_t)(p->nunit - r.first));
        p->segment.a[s].clear = p->clear.n;
        for (size_t k = end; k-- > p->segment.a[s].first && !rc;) {
            struct instr *c = &p->code.a[k];
            if (c->kind == I_ROWS) rc = finish_rows(&r, c);
            if (c->kind == I_DENSE) rc = finish_dense(&r, (struct dense *)c->self);
        }
    }
    free(r.seen);
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
            struct segment x = {k, first, 0};
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
