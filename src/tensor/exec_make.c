/* exec_make.c: allocates the workspace of a program as one block. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "tensor/exec.h"

static struct needs needs_of(const struct prog *p)
{
    struct needs need = {0};
    for (size_t k = 0; k < p->code.n; k++) {
        const struct instr *c = &p->code.a[k];
        if (type_of(c)->needs) type_of(c)->needs(c, &need);
    }
    return need;
}

/* Takes the next n objects from a block, aligned to a cache line; if mem is NULL, only counts. */
static void *cut(char *mem, size_t *used, size_t n, size_t size)
{
    size_t at = *used;
    if (size && n > (SIZE_MAX / 4 - at) / size) return *used = SIZE_MAX / 2, NULL;
    *used = at + (n * size + 63) / 64 * 64;
    return mem ? mem + at : NULL;
}

static struct signs *cut_signs(const struct prog *p, size_t cap, char *mem, size_t *used)
{
    size_t n = (size_t)p->nsign;
    struct signs none = {0}, *s = cut(mem, used, 1, sizeof *s), *to = s ? s : &none;
    *to = (struct signs){.first = p->sign_first, .n = p->nsign};
    to->unit = cut(mem, used, cap * n, sizeof *to->unit);
    to->lane = cut(mem, used, cap * n, sizeof *to->lane);
    to->nunit = cut(mem, used, cap, sizeof *to->nunit);
    to->nlane = cut(mem, used, n, sizeof *to->nlane);
    to->work = cut(mem, used, 32 * (n + 3), sizeof *to->work);
    return s;
}

static size_t lay_out(struct exec *x, struct needs need, unsigned flags, char *mem)
{
    const struct prog *p = x->p;
    size_t cap = (size_t)x->cap, rows = (size_t)p->nrow * cap, used = 0;
    size_t in = (size_t)need.in, out = (size_t)need.out;
    struct scratch none, *s = cut(mem, &used, 1, sizeof *s);
    x->scratch = s;
    if (!s) s = &none; /* counting */
    s->arg = cut(mem, &used, INSTR_ARGS, sizeof *s->arg);
    s->darg = cut(mem, &used, INSTR_ARGS, sizeof *s->arg);
    s->res = cut(mem, &used, TILE, sizeof(double));
    s->dres = cut(mem, &used, TILE, sizeof(double));
    s->single = cut(mem, &used, TILE, sizeof(float));
    s->work = cut(mem, &used, (size_t)need.work, sizeof(double));
    s->lane = cut(mem, &used, (size_t)need.lane * cap, sizeof(double));
    s->in = cut(mem, &used, in, sizeof *s->in);
    s->din = cut(mem, &used, in, sizeof *s->din);
    s->out = cut(mem, &used, out, sizeof *s->out);
    s->dout = cut(mem, &used, out, sizeof *s->dout);
    s->dconst = s->dlane = NULL;
    if (flags & EXEC_GRAD) s->dlane = cut(mem, &used, out * cap, sizeof(double));
    if (flags & EXEC_CONST_GRAD) {
        s->dconst = cut(mem, &used, (size_t)need.dconst * cap, sizeof(double));
        x->const_adj = cut(mem, &used, p->constant.n, sizeof(double));
    }
    x->total = cut(mem, &used, cap, sizeof(double));
    if (x->ntag) x->by_tag = cut(mem, &used, (size_t)x->ntag * cap, sizeof(double));
    x->row = cut(mem, &used, rows, sizeof(double));
    if (flags & EXEC_GRAD) x->adj = cut(mem, &used, rows, sizeof(double));
    if (p->nunit) {
        size_t units = (size_t)p->nunit * cap, size = x->is_float ? sizeof(float) : sizeof(double);
        x->units.unit = cut(mem, &used, units, size);
        if (flags & EXEC_GRAD) x->units.adj = cut(mem, &used, units, size);
        if (p->nsign && x->is_float && x->cap <= SIGN_CAP)
            x->units.signs = cut_signs(p, cap, mem, &used);
    }
    return used;
}

static struct exec begin(const struct prog *p, int cap, int ntag, unsigned flags)
{
    struct exec x = {.p = p, .cap = cap > 1 ? round_up(cap) : 1, .ntag = ntag};
    if (p->nunit) { /* layers require complete groups of lanes */
        x.cap = round_up(x.cap);
        x.is_float = (flags & EXEC_FLOAT) != 0;
        x.product = product_best(x.is_float);
        x.units = (struct chunk){.cap = x.cap};
    }
    x.lanes = x.cap;
    return x;
}

/* The start of a cache line in a block that is 64 bytes larger than what is placed there. */
static char *line(void *mem) { return (char *)mem + (-(uintptr_t)mem & 63); }

int exec_init(struct exec *x, const struct prog *p, int cap, int ntag, unsigned flags,
              nami_err *err)
{
    if (flags & EXEC_CONST_GRAD) flags |= EXEC_GRAD;
    *x = begin(p, cap, ntag, flags);
    struct needs need = needs_of(p);
    size_t size = lay_out(x, need, flags, NULL);
    if (size >= SIZE_MAX / 2 || !(x->mem = mem_zero(size + 64, 1))) return err_nomem(err);
    lay_out(x, need, flags, line(x->mem));
    return 0;
}

size_t exec_size(const struct prog *p, int cap, unsigned flags)
{
    struct exec x = begin(p, cap, 0, flags);
    return lay_out(&x, needs_of(p), flags, NULL) + 64;
}

void exec_place(struct exec *x, const struct prog *p, int cap, unsigned flags, void *mem)
{
    *x = begin(p, cap, 0, flags);
    lay_out(x, needs_of(p), flags, line(mem));
}

int exec_share(struct exec *x, const struct exec *of, nami_err *err)
{
    struct prog none = *of->p; /* as exec_init, for no rows */
    none.nrow = 0;
    struct exec own = {.p = &none, .cap = of->cap, .is_float = of->is_float, .units = of->units};
    struct needs need = needs_of(of->p);
    size_t size = lay_out(&own, need, EXEC_GRAD, NULL);
    *x = (struct exec){0};
    void *block = size >= SIZE_MAX / 2 ? NULL : mem_zero(size + 64, 1);
    if (!block) return err_nomem(err);
    lay_out(&own, need, EXEC_GRAD, line(block));
    *x = *of;
    x->scratch = own.scratch;
    x->total = own.total;
    x->units = own.units;
    x->mem = block;
    return 0;
}

void exec_fini(struct exec *x)
{
    free(x->mem);
    *x = (struct exec){0};
}
