/* instr_layer.c: layers of networks, from units to units, by the kernels of product.h. */
#include "tensor/exec.h"

static void run_dense(struct exec *x, const struct instr *c)
{
    x->units.L = padded(x);
    x->product->forward(c->self, x->param, &x->units);
}

static void back_dense(struct exec *x, const struct instr *c)
{
    x->product->back(c->self, x->param, &x->units);
}

static struct row_range units(const struct instr *c, int *add)
{
    const struct dense *d = c->self;
    *add = !d->written;
    return (struct row_range){d->to, d->to + d->n * d->out};
}

static void read_units(const struct instr *c, see_fn *see, void *arg)
{
    const struct dense *d = c->self;
    for (size_t i = 0; i < (size_t)d->n * (size_t)d->in; i++) see(arg, PLACE_UNIT, d->from[i]);
}

static int shift_units(struct prog *p, struct instr *c, const struct unit_shift *s)
{
    const struct dense *old = c->self;
    struct dense *d = arena_array(&p->mem, struct dense, 1);
    int *from = shifted_units(p, (size_t)old->n * (size_t)old->in, old->from, s);
    if (!d || !from) return NAMI_ENOMEM;
    *d = *old;
    d->from = from;
    d->to += s->units;
    d->w += s->params;
    d->nuse = d->pulled = d->written = 0; /* until it is finished */
    c->self = d;
    return 0;
}

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

/* Derivatives of inputs are gathered up to the first input that does not belong to a completely
   read layer of this segment, whose units begin at first_unit. */
static int note_reads(struct layer_reads *r, struct instr *c, int first_unit)
{
    struct dense *d = (struct dense *)c->self, *p;
    int k = 0;
    d->use = NULL;
    d->nuse = d->written = 0;
    for (int j = 0; j < d->n * d->out; j++) r->owner[d->to + j] = d;
    for (; k < d->back && (p = r->owner[d->from[k]]); k += p->out) {
        struct layer_read x = {p, d, NULL, k};
        if (p->to < first_unit || !reads_all(d, k, p)) break;
        if (vec_push(&r->a, x)) return NAMI_ENOMEM;
        p->nuse++;
    }
    d->pulled = k;
    for (int i = 0; i < d->n; i++)
        for (int j = k; j < d->back; j++)
            if ((p = r->owner[d->from[(size_t)i * (size_t)d->in + (size_t)j]])) p->written = ADDED;
    return 0;
}

const struct instr_type instr_type_layer = {.name = "layer",
                                            .run = run_dense,
                                            .back = back_dense,
                                            .units = units,
                                            .read_units = read_units,
                                            .shift_units = shift_units,
                                            .note_reads = note_reads};

struct instr *prog_emit_layer(struct prog *p, const struct dense *d)
{
    struct instr *x = prog_emit(p, I_DENSE, d->n, d->out);
    if (x) x->self = d;
    return x;
}

const struct dense *prog_layer(const struct prog *p, size_t k)
{
    return p->code.a[k].kind == I_DENSE ? p->code.a[k].self : NULL;
}
