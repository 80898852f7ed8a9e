/* instr_scaled.c: units times constants: interactions of data with the constants of a design. */
#include "tensor/exec.h"

static void run_scaled(struct exec *x, const struct instr *c)
{
    const struct scaled *s = c->self;
    size_t cap = (size_t)x->cap;
    for (int i = 0; i < s->n; i++) {
        size_t to = (size_t)(s->to + i) * cap, from = (size_t)s->from[i] * cap;
        for (size_t b = 0; b < (size_t)padded(x); b++)
            if (x->is_float)
                ((float *)x->units.unit)[to + b] =
                    (float)s->by[i] * ((float *)x->units.unit)[from + b];
            else
                ((double *)x->units.unit)[to + b] = s->by[i] * ((double *)x->units.unit)[from + b];
    }
}

static struct row_range units(const struct instr *c, int *add)
{
    const struct scaled *s = c->self;
    *add = 0;
    return (struct row_range){s->to, s->to + s->n};
}

static void read_units(const struct instr *c, see_fn *see, void *arg)
{
    const struct scaled *s = c->self;
    for (int i = 0; i < s->n; i++) see(arg, PLACE_UNIT, s->from[i]);
}

static int shift_units(struct prog *p, struct instr *c, const struct unit_shift *s)
{
    const struct scaled *old = c->self;
    struct scaled *x = arena_array(&p->mem, struct scaled, 1);
    int *from = shifted_units(p, (size_t)old->n, old->from, s);
    if (!x || !from) return NAMI_ENOMEM;
    *x = *old;
    x->from = from;
    x->to += s->units;
    c->self = x;
    return 0;
}

/* It has no derivatives: layers whose outputs it reads may gather theirs without it. */
static int note_reads(struct layer_reads *r, struct instr *c, int first_unit)
{
    (void)r, (void)c, (void)first_unit;
    return 0;
}

const struct instr_type instr_type_scaled = {.name = "scaled",
                                             .run = run_scaled,
                                             .units = units,
                                             .read_units = read_units,
                                             .shift_units = shift_units,
                                             .note_reads = note_reads};

struct instr *prog_emit_scaled(struct prog *p, const struct scaled *scaled)
{
    struct instr *x = prog_emit(p, I_SCALED, scaled->n, 1);
    if (x) x->self = scaled;
    return x;
}
