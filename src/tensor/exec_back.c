/* exec_back.c: reverse-mode differentiation of a program: derivatives of the weighted total with
   respect to rows, constants and network units. */
#include "tensor/exec.h"

#include <string.h>

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

/* Backward through the instructions to-1 .. from */
static void back_part(struct exec *x, size_t from, size_t to)
{
    for (size_t k = to; k-- > from;) {
        const struct instr *c = &x->p->code.a[k];
        if (type_of(c)->back) type_of(c)->back(x, c);
    }
}

/* Before a backward pass: clears the derivatives of units that are accumulated. */
static void clear_part(const struct exec *x, size_t from, size_t to)
{
    for (size_t k = from; k < to; k++) {
        const struct instr *c = &x->p->code.a[k];
        int add = 0;
        struct row_range r = type_of(c)->units ? type_of(c)->units(c, &add) : (struct row_range){0};
        if (add) clear_units(x, r.from, r.to);
    }
}

void exec_back_clear(struct exec *x)
{
    clear_rows(x);
    clear_part(x, 0, x->p->code.n);
}

void exec_back_run(struct exec *x) { back_part(x, 0, x->p->code.n); }

void exec_back(struct exec *x)
{
    exec_back_clear(x);
    exec_back_run(x);
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
