/* instr_pool.c: pools vectors of units: the mean of a set of any size, the logarithm of its
   variance, and of its number of members. */
#include <math.h>

#include "tensor/exec.h"

/* Scaled to about -1 .. 1 for vectors of order 1.  A set without members has zeros. */
#define SPREAD(v)       (0.2 * log((v) + POOL_VARIANCE) + 0.5)
#define SPREAD_SLOPE(v) (0.2 / ((v) + POOL_VARIANCE))
#define COUNT(n)        (0.5 * log1p((double)(n)))

enum { POOL_LANES = 64 };

#define REAL  double
#define FN(x) x##_d
#include "tensor/pool.inc"

#define REAL  float
#define FN(x) x##_f
#include "tensor/pool.inc"

static void run_pool(struct exec *x, const struct instr *c)
{
    x->units.L = padded(x);
    (x->is_float ? forward_f : forward_d)(c->self, &x->units);
}

static void back_pool(struct exec *x, const struct instr *c)
{
    (x->is_float ? back_f : back_d)(c->self, &x->units);
}

static struct row_range units(const struct instr *c, int *add)
{
    const struct pooling *p = c->self;
    *add = 1;
    return (struct row_range){p->to, p->to + p->n * pooling_outputs(p)};
}

static void read_units(const struct instr *c, see_fn *see, void *arg)
{
    const struct pooling *p = c->self;
    for (int k = p->off[0]; k < p->off[p->n]; k++)
        for (int j = 0; j < p->width; j++) see(arg, PLACE_UNIT, p->from[k] + j);
}

static int shift_units(struct prog *p, struct instr *c, const struct unit_shift *s)
{
    const struct pooling *old = c->self;
    struct pooling *x = arena_array(&p->mem, struct pooling, 1);
    int *from = shifted_units(p, (size_t)old->off[old->n], old->from, s);
    if (!x || !from) return NAMI_ENOMEM;
    *x = *old;
    x->from = from;
    x->to += s->units;
    c->self = x;
    return 0;
}

/* It adds to the derivatives of all that it reads. */
static int note_reads(struct layer_reads *r, struct instr *c, int first_unit)
{
    const struct pooling *p = c->self;
    (void)first_unit;
    for (int k = p->off[0]; k < p->off[p->n]; k++)
        for (int j = 0; j < p->width; j++)
            if (r->owner[p->from[k] + j]) r->owner[p->from[k] + j]->written = ADDED;
    return 0;
}

const struct instr_type instr_type_pool = {.name = "pool",
                                           .run = run_pool,
                                           .back = back_pool,
                                           .units = units,
                                           .read_units = read_units,
                                           .shift_units = shift_units,
                                           .note_reads = note_reads};

struct instr *prog_emit_pool(struct prog *p, const struct pooling *pool)
{
    struct instr *x = prog_emit(p, I_POOL, pool->n, 1);
    if (x) x->self = pool;
    return x;
}
