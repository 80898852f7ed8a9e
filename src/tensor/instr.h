/* instr.h: what a kind of instruction is: one row of instr.def and one record in an instr_*.c.  The
   evaluator, the backward pass, prog_finish, prog_trim and the questions of tensor.h ask the
   record; nothing else in src/tensor/ names a kind. */
#ifndef TENSOR_INSTR_H
#define TENSOR_INSTR_H

#include "tensor/tensor.h"

/* Scratch that the instructions of a program need: the most of each. */
struct needs {
    int in, out; /* elements of all arguments, and of all results, of an instance */
    int lane;    /* results that have no row */
    int dconst;  /* constants with derivatives */
    int work;    /* doubles for a kernel */
};

/* Units from `first` on get other numbers: + units; weights + params. */
struct unit_shift {
    int first, units;
    size_t params;
};

/* prog_finish: layer d, from its input k on, or rows read what layer p writes: all of it. */
struct layer_read {
    struct dense *p, *d;
    struct instr *rows;
    int k;
};

struct layer_reads {
    vec(struct layer_read) a;
    struct dense **owner; /* of units: the layer that has written it, or NULL */
};

enum { ADDED = -1 }; /* dense.written, for the time being: somebody adds to parts of it */

/* Rows by who reads and who writes them, for prog_trim. */
struct row_users {
    struct prog *p;
    int *reader; /* instruction * INSTR_ARGS + argument, NO_INSTR or MANY_INSTRS */
    int *writer; /* an instruction that can write units instead, or NO_INSTR */
};
enum { NO_INSTR = -1, MANY_INSTRS = -2 };

/* A kind of instruction.  Arguments, `out`, `outs`, `to_units` and `sum` mean the same for all;
   what a kind reads and writes besides, units of its own, is said by the functions below, which are
   NULL where there are none. */
struct instr_type {
    const char *name;
    int draws;       /* takes random numbers: the streams are those of the rows written */
    int scatters;    /* results go to the rows `outs`, not to out ... */
    int copies;      /* results are arg[0] */
    int takes_units; /* arguments may be units, and results go to units: see prog_trim */
    void (*run)(struct exec *x, const struct instr *c);
    /* Adds to the derivatives of what was read; NULL: none go through it. */
    void (*back)(struct exec *x, const struct instr *c);
    /* Does back do anything?  NULL: always, if there is one. */
    int (*has_back)(const struct instr *c);
    void (*needs)(const struct instr *c, struct needs *most);

    /* Units of its own.  Those written are a range; add: is something added to their derivatives
       before anything is written there, so that these must be cleared? */
    struct row_range (*units)(const struct instr *c, int *add);
    void (*read_units)(const struct instr *c, see_fn *see, void *arg);
    int (*shift_units)(struct prog *p, struct instr *c, const struct unit_shift *s);
    /* prog_finish: notes which layers' units it reads; those of its segment begin at first_unit.  0
       or NAMI_ENOMEM. */
    int (*note_reads)(struct layer_reads *r, struct instr *c, int first_unit);
    /* prog_trim: if those that read its rows, or write them, can use the units instead, they do,
       and it is left with no instances. */
    void (*trim)(struct row_users *u, struct instr *c);
};
#define INSTR(KIND, id) extern const struct instr_type instr_type_##id;
#include "tensor/instr.def"
#undef INSTR
extern const struct instr_type *const instr_types[INSTR_KINDS];

static inline const struct instr_type *type_of(const struct instr *c)
{
    return instr_types[c->kind];
}

static inline int instr_has_back(const struct instr *c)
{
    const struct instr_type *t = type_of(c);
    return t->back && (!t->has_back || t->has_back(c));
}

/* Where results go, as an operand. */
static inline struct operand outputs(const struct instr *c)
{
    if (type_of(c)->scatters) return c->outs;
    return (struct operand){.m = c->width, .base = c->out, .si = c->width, .sj = 1};
}

/* Are these rows r, r + 1, ... for instance 0, 1, ...? */
int operand_is_run(const struct operand *o, int n, int r);

#endif
