/* instr_times.c: units times units: gates of networks. */
#include "tensor/exec.h"

/* to = a b, unit by unit. */
#define FORWARD(REAL)                                                                              \
    {                                                                                              \
        const REAL *a = (const REAL *)x->units.unit + (size_t)t->a[i] * cap;                       \
        const REAL *b = (const REAL *)x->units.unit + (size_t)t->b[i] * cap;                       \
        REAL *to = (REAL *)x->units.unit + (size_t)(t->to + i) * cap;                              \
        for (size_t l = 0; l < L; l++) to[l] = a[l] * b[l];                                        \
    }

/* da += b dto, db += a dto */
#define BACK(REAL)                                                                                 \
    {                                                                                              \
        const REAL *a = (const REAL *)x->units.unit + (size_t)t->a[i] * cap;                       \
        const REAL *b = (const REAL *)x->units.unit + (size_t)t->b[i] * cap;                       \
        const REAL *dto = (const REAL *)x->units.adj + (size_t)(t->to + i) * cap;                  \
        REAL *da = (REAL *)x->units.adj + (size_t)t->a[i] * cap;                                   \
        REAL *db = (REAL *)x->units.adj + (size_t)t->b[i] * cap;                                   \
        for (size_t l = 0; l < L; l++) da[l] += b[l] * dto[l];                                     \
        for (size_t l = 0; l < L; l++) db[l] += a[l] * dto[l];                                     \
    }

static void run_times(struct exec *x, const struct instr *c)
{
    const struct times *t = c->self;
    size_t cap = (size_t)x->cap, L = (size_t)padded(x);
    for (int i = 0; i < t->n; i++)
        if (x->is_float)
            FORWARD(float)
        else
            FORWARD(double)
}

static void back_times(struct exec *x, const struct instr *c)
{
    const struct times *t = c->self;
    size_t cap = (size_t)x->cap, L = (size_t)padded(x);
    for (int i = 0; i < t->n; i++)
        if (x->is_float)
            BACK(float)
        else
            BACK(double)
}

static struct row_range units(const struct instr *c, int *add)
{
    const struct times *t = c->self;
    *add = 1;
    return (struct row_range){t->to, t->to + t->n};
}

static void read_units(const struct instr *c, see_fn *see, void *arg)
{
    const struct times *t = c->self;
    for (int i = 0; i < t->n; i++) {
        see(arg, PLACE_UNIT, t->a[i]);
        see(arg, PLACE_UNIT, t->b[i]);
    }
}

static int shift_units(struct prog *p, struct instr *c, const struct unit_shift *s)
{
    const struct times *old = c->self;
    struct times *t = arena_array(&p->mem, struct times, 1);
    int *a = shifted_units(p, (size_t)old->n, old->a, s);
    int *b = shifted_units(p, (size_t)old->n, old->b, s);
    if (!t || !a || !b) return NAMI_ENOMEM;
    *t = (struct times){old->n, old->to + s->units, a, b};
    c->self = t;
    return 0;
}

/* It adds to the derivatives of all that it reads. */
static int note_reads(struct layer_reads *r, struct instr *c, int first_unit)
{
    const struct times *t = c->self;
    (void)first_unit;
    for (int i = 0; i < t->n; i++) {
        if (r->owner[t->a[i]]) r->owner[t->a[i]]->written = ADDED;
        if (r->owner[t->b[i]]) r->owner[t->b[i]]->written = ADDED;
    }
    return 0;
}

const struct instr_type instr_type_times = {.name = "times",
                                            .run = run_times,
                                            .back = back_times,
                                            .units = units,
                                            .read_units = read_units,
                                            .shift_units = shift_units,
                                            .note_reads = note_reads};

struct instr *prog_emit_times(struct prog *p, const struct times *times)
{
    struct instr *x = prog_emit(p, I_TIMES, times->n, 1);
    if (x) x->self = times;
    return x;
}
