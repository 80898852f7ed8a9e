/* instr.h: kinds of instructions: one row of instr.def and one record in an instr_*.c for each. The
   evaluator, the backward pass, prog_finish, prog_trim and the queries of tensor.h use the record;
   nothing else in src/tensor/ depends on the kind. */
#ifndef TENSOR_INSTR_H
#define TENSOR_INSTR_H

#include "tensor/tensor.h"

/* Scratch memory that the instructions of a program need: the maximum of each. */
struct needs {
    int in, out; /* elements of all arguments, and of all results, of an instance */
    int lane;    /* results without a row */
    int dconst;  /* constants with derivatives */
    int work;    /* doubles for a kernel */
};

/* Renumbering: units from `first` on are shifted by units, weights by params. */
struct unit_shift {
    int first, units;
    size_t params;
};

/* A copy of n numbers of units, renumbered; NULL: out of memory. */
int *shifted_units(struct prog *p, size_t n, const int *unit, const struct unit_shift *s);

/* prog_finish: layer d, from its input k on, or rows read all outputs of layer p. */
struct layer_read {
    struct dense *p, *d;
    struct instr *rows;
    int k;
};

struct layer_reads {
    vec(struct layer_read) a;
    struct dense **owner; /* by unit: the layer that writes it, or NULL */
};

enum { ADDED = -1 }; /* temporary value of dense.written: there are partial reads */

/* Readers and writers of rows, for prog_trim. */
struct row_users {
    struct prog *p;
    int *reader; /* instruction * INSTR_ARGS + argument, NO_INSTR or MANY_INSTRS */
    int *writer; /* an instruction that can write units instead, or NO_INSTR */
};
enum { NO_INSTR = -1, MANY_INSTRS = -2 };

/* A kind of instruction.  Arguments, `out`, `outs`, `to_units` and `sum` mean the same for all;
   units that a kind reads and writes in addition are reported by the functions below, which are
   NULL if there are none. */
struct instr_type {
    const char *name;
    int draws;       /* uses random numbers: the streams of the rows written */
    int scatters;    /* results are written to the rows `outs`, not to out ... */
    int copies;      /* results equal arg[0] */
    int takes_units; /* arguments and results may be units: see prog_trim */
    void (*run)(struct exec *x, const struct instr *c);
    /* Backward pass: adds to the derivatives of the arguments; NULL: not differentiable. */
    void (*back)(struct exec *x, const struct instr *c);
    /* Does back have an effect? NULL: always, if not NULL. */
    int (*has_back)(const struct instr *c);
    void (*needs)(const struct instr *c, struct needs *most);

    /* The range of units that it writes; add: their derivatives are accumulated and must be cleared
       first. */
    struct row_range (*units)(const struct instr *c, int *add);
    void (*read_units)(const struct instr *c, see_fn *see, void *arg);
    int (*shift_units)(struct prog *p, struct instr *c, const struct unit_shift *s);
    /* prog_finish: records the layers whose units it reads; those of its segment begin at
       first_unit. 0 or NAMI_ENOMEM. */
    int (*note_reads)(struct layer_reads *r, struct instr *c, int first_unit);
    /* prog_trim: if the readers or writers of its rows can use units instead, they are changed, and
       this instruction is left with no instances. */
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

/* The destination of the results, as an operand. */
static inline struct operand outputs(const struct instr *c)
{
    if (type_of(c)->scatters) return c->outs;
    return (struct operand){.m = c->width, .base = c->out, .si = c->width, .sj = 1};
}

/* Are these rows r, r + 1, ... for instance 0, 1, ...? */
int operand_is_run(const struct operand *o, int n, int r);

#endif
