/* instr.c: the table of kinds of instructions, and queries about instructions. */
#include "tensor/instr.h"

const struct instr_type *const instr_types[INSTR_KINDS] = {
#define INSTR(KIND, id) [I_##KIND] = &instr_type_##id,
#include "tensor/instr.def"
#undef INSTR
};

int instr_draws(const struct instr *c) { return type_of(c)->draws; }
int instr_copies(const struct instr *c) { return type_of(c)->copies; }

int operand_is_run(const struct operand *o, int n, int r)
{
    if (o->m != 1) return 0;
    for (int i = 0; i < n; i++)
        if (operand_at(o, i, 0) != r + i) return 0;
    return 1;
}

static void see_operand(const struct operand *o, int n, see_fn *see, void *arg)
{
    enum instr_place place = o->unit ? PLACE_UNIT : PLACE_ROW;
    for (int i = 0; i < (operand_fixed(o) && n ? 1 : n); i++)
        for (int j = 0; j < o->m; j++) see(arg, place, operand_at(o, i, j));
}

void instr_reads(const struct instr *c, see_fn *see, void *arg)
{
    for (int k = 0; k < c->narg; k++)
        if (!c->arg[k].is_const) see_operand(&c->arg[k], c->n, see, arg);
    if (type_of(c)->read_units) type_of(c)->read_units(c, see, arg);
}

void instr_writes(const struct instr *c, see_fn *see, void *arg)
{
    const struct instr_type *t = type_of(c);
    struct operand to = outputs(c);
    int add;
    if (t->scatters || c->out >= 0) see_operand(&to, c->n, see, arg);
    for (int i = 0; c->to_units && i < c->n; i++) see(arg, PLACE_UNIT, c->to_units - 1 + i);
    struct row_range own = t->units ? t->units(c, &add) : (struct row_range){0};
    for (int u = own.from; u < own.to; u++) see(arg, PLACE_UNIT, u);
}

int *shifted_units(struct prog *p, size_t n, const int *unit, const struct unit_shift *s)
{
    int *to = arena_array(&p->mem, int, n + 1);
    for (size_t i = 0; to && i < n; i++) to[i] = unit[i] + (unit[i] < s->first ? 0 : s->units);
    return to;
}
