/* instr_units.c: copies rows of the program to units of networks, and units to rows. */
#include "tensor/exec.h"

/* ---- rows to units ------------------------------------------------------------------ */

static void run_units(struct exec *x, const struct instr *c)
{
    for (int i = 0; i < c->n; i++) {
        int at = operand_at(&c->arg[0], i, 0);
        if (c->arg[0].is_const)
            fill_unit(x, x->units.unit, c->dim[0] + i, x->p->constant.a[at]);
        else
            put_unit(x, x->units.unit, c->dim[0] + i, lanes_of(x, x->row, at));
    }
}

static void back_units(struct exec *x, const struct instr *c)
{
    for (int i = 0; i < c->n && !c->dim[1]; i++)
        get_unit(x, x->units.adj, c->dim[0] + i, lanes_of(x, x->adj, operand_at(&c->arg[0], i, 0)),
                 1);
}

static int has_back(const struct instr *c) { return !c->dim[1]; }

static struct row_range units(const struct instr *c, int *add)
{
    *add = !c->dim[1];
    return (struct row_range){c->dim[0], c->dim[0] + c->n};
}

static int shift_units(struct prog *p, struct instr *c, const struct unit_shift *s)
{
    (void)p;
    if (c->dim[0] >= s->first) c->dim[0] += s->units;
    return 0;
}

/* Can the instructions that compute the rows of units without derivatives write units directly: are
   they element-wise, without other readers? Makes the change if `change`. */
static int to_units(struct row_users *u, const struct instr *c, int change)
{
    for (int i = 0, n; i < c->n; i += n) {
        int first = c->arg[0].base + i;
        if (u->writer[first] < 0) return 0;
        struct instr *x = &u->p->code.a[u->writer[first]];
        n = x->n;
        if (change) {
            x->to_units = 1 + c->dim[0] + i;
            x->out = -1;
            if (x->signs && n > u->p->nsign) u->p->sign_first = c->dim[0] + i, u->p->nsign = n;
            continue;
        }
        if (n > c->n - i || x->out != first || x->sum || x->map_grad) return 0;
        for (int k = 0; k < n; k++)
            if (u->reader[first + k] < 0) return 0;
    }
    return 1;
}

static void trim_units(struct row_users *u, struct instr *c)
{
    if (!c->dim[1] || c->arg[0].is_const || !operand_is_run(&c->arg[0], c->n, c->arg[0].base) || !to_units(u, c, 0))
        return;
    to_units(u, c, 1);
    c->n = 0;
}

const struct instr_type instr_type_units = {.name = "units",
                                            .run = run_units,
                                            .back = back_units,
                                            .has_back = has_back,
                                            .units = units,
                                            .shift_units = shift_units,
                                            .trim = trim_units};

struct instr *prog_emit_units(struct prog *p, int n, struct operand from, int unit, int data)
{
    struct instr *x = prog_emit(p, I_UNITS, n, 1);
    if (!x) return NULL;
    x->narg = 1;
    x->arg[0] = from;
    x->dim[0] = unit;
    x->dim[1] = data;
    return x;
}

/* ---- units to rows ------------------------------------------------------------------ */

static void run_rows(struct exec *x, const struct instr *c)
{
    for (int i = 0; i < c->n; i++)
        get_unit(x, x->units.unit, c->dim[0] + i, lanes_of(x, x->row, c->out + i), 0);
}

static void back_rows(struct exec *x, const struct instr *c)
{
    for (int i = 0; i < c->n; i++)
        (c->dim[1] ? put_unit : add_unit)(x, x->units.adj, c->dim[0] + i,
                                          lanes_of(x, x->adj, c->out + i));
}

static void read_units(const struct instr *c, see_fn *see, void *arg)
{
    for (int i = 0; i < c->n; i++) see(arg, PLACE_UNIT, c->dim[0] + i);
}

static int shift_rows(struct prog *p, struct instr *c, const struct unit_shift *s)
{
    c->dim[1] = 0; /* until it is finished */
    return shift_units(p, c, s);
}

static int note_reads(struct layer_reads *r, struct instr *c, int first_unit)
{
    struct dense *p = r->owner[c->dim[0]];
    (void)first_unit;
    struct layer_read x = {p, NULL, c, 0};
    c->dim[1] = 0;
    if (p && p->to == c->dim[0] && p->n * p->out == c->n) return p->nuse++, vec_push(&r->a, x);
    for (int i = 0; i < c->n; i++)
        if ((p = r->owner[c->dim[0] + i])) p->written = ADDED;
    return 0;
}

/* Is this the only differentiable argument of an instruction? */
static int is_only(const struct instr *c, int a)
{
    for (int k = 0; k < c->narg; k++)
        if (k != a && !c->arg[k].is_const && !c->arg[k].data) return 0;
    return c->map_both && c->map_grad && c->sum && c->out < 0;
}

/* Can the readers of these rows read units directly: is each row read once, by an element-wise
   instruction? Makes the change if `change`. */
static int by_units(struct row_users *u, const struct instr *c, int change)
{
    for (int i = 0, n; i < c->n; i += n) {
        int id = u->reader[c->out + i];
        if (id < 0) return 0;
        struct instr *x = &u->p->code.a[id / INSTR_ARGS];
        struct operand *o = &x->arg[id % INSTR_ARGS];
        n = x->n;
        if (!change &&
            (!type_of(x)->takes_units || n > c->n - i || !operand_is_run(o, n, c->out + i)))
            return 0;
        if (!change) continue;
        *o = (struct operand){.unit = 1, .m = 1, .base = c->dim[0] + i, .si = 1};
        if (is_only(x, id % INSTR_ARGS)) x->ahead = 1 + id % INSTR_ARGS;
        if (x->ahead != 2 || x->arg[0].is_const || x->arg[0].idx || x->arg[0].si != 1)
            x->map_float = NULL;
    }
    return 1;
}

static void trim_rows(struct row_users *u, struct instr *c)
{
    if (!c->dim[1] || !by_units(u, c, 0)) return;
    by_units(u, c, 1);
    c->n = 0;
}

const struct instr_type instr_type_rows = {.name = "rows",
                                           .run = run_rows,
                                           .back = back_rows,
                                           .read_units = read_units,
                                           .shift_units = shift_rows,
                                           .note_reads = note_reads,
                                           .trim = trim_rows};

struct instr *prog_emit_rows(struct prog *p, int n, int unit, int row)
{
    struct instr *x = p->code.n ? &p->code.a[p->code.n - 1] : NULL;
    if (x && x->kind == I_ROWS && x->dim[0] + x->n == unit && x->out + x->n == row) {
        x->n += n;
        return x;
    }
    if (!(x = prog_emit(p, I_ROWS, n, 1))) return NULL;
    x->dim[0] = unit;
    x->out = row;
    return x;
}
