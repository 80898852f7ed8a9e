/* formula.h: what an inference network computes, in a form that other languages can express.

   A tape is a list of steps.  A step is a layer, a pooling, or a formula: operations on numbers,
   the same for n instances, which reads rows, units and noise, and stores rows and units or adds
   to log q.  One program of tensor/ becomes one tape (export.c); export_c.c and export_onnx.c
   write tapes down. */
#ifndef NET_FORMULA_H
#define NET_FORMULA_H

#include "base/arena.h"
#include "base/vec.h"
#include "tensor/tensor.h"

enum formula_op {
#define FORMULA(id, narg, c, onnx) F_##id,
#include "net/formula.def"
#undef FORMULA
    FORMULA_OPS
};

struct formula_info {
    int narg;
    const char *c, *onnx;
};
extern const struct formula_info formula_ops[FORMULA_OPS];
int formula_is_test(enum formula_op op); /* is its result true or false? */

enum value_kind {
    VALUE_NUMBER, /* number */
    VALUE_TABLE,  /* table[n]: a number for each instance */
    VALUE_LOAD,   /* the row or unit at[n] */
    VALUE_NOISE,  /* number at[n] of the uniform (place 0) or normal (1) numbers */
    VALUE_OP,
    VALUE_STORE, /* arg[0] to the rows or units at[n] */
    VALUE_TOTAL  /* adds sign * arg[0] to log q */
};

struct formula_value {
    enum value_kind kind;
    enum formula_op op;
    int arg[3]; /* numbers of values before it */
    int place;  /* enum instr_place, or the kind of noise */
    int sign;
    int used; /* something is stored that depends on it */
    double number;
    const int *at;
    const double *table;
};

enum step_kind { STEP_FORMULA, STEP_LAYER, STEP_POOL };

struct step {
    enum step_kind kind;
    int n;
    int first, end; /* values */
    const struct dense *layer;
    const struct pooling *pool;
    const char *what; /* for comments; or NULL */
};

/* Random numbers that a draw takes.  In the engine (base/stream.h) they are part `part` of the
   stream of a row, or, with use >= 0, number `part` of the generator of its use-th rejection. */
enum noise_kind { NOISE_UNIFORM, NOISE_NORMAL, NOISE_KINDS };
struct noise {
    int row, part, use;
};

struct tape {
    struct arena mem;
    vec(struct formula_value) value;
    vec(struct step) step;
    vec(struct noise) noise[NOISE_KINDS];
    int n;         /* instances of the step that is written */
    const int *to; /* its rows, for noise */
    int oom;
};

void tape_free(struct tape *t);
/* Begins a formula of n instances; ends it: values that nothing depends on are marked. */
void tape_begin(struct tape *t, int n, const char *what);
void tape_end(struct tape *t);
void tape_step(struct tape *t, const struct step *s); /* a layer or a pooling */

/* Values of the formula.  They return the number of the value; 0 if memory is short (tape.oom). */
int tape_number(struct tape *t, double x);
int tape_table(struct tape *t, const double *x);         /* x[n], copied */
int tape_load(struct tape *t, int place, const int *at); /* at[n], copied */
int tape_noise(struct tape *t, enum noise_kind kind, int part, int use);
int tape_op(struct tape *t, enum formula_op op, int a, int b, int c);
void tape_store(struct tape *t, int place, const int *at, int value);
void tape_total(struct tape *t, int value, int sign);
/* The first is number 0 .. n-1 of an array: the rows of element j of an operand. */
const int *tape_rows(struct tape *t, const struct operand *o, int n, int j);

/* ---- shorthand for formulas, on a tape t ---- */
#define N(x)          tape_number(t, x)
#define ADD(a, b)     tape_op(t, F_ADD, a, b, 0)
#define SUB(a, b)     tape_op(t, F_SUB, a, b, 0)
#define MUL(a, b)     tape_op(t, F_MUL, a, b, 0)
#define DIV(a, b)     tape_op(t, F_DIV, a, b, 0)
#define MAX(a, b)     tape_op(t, F_MAX, a, b, 0)
#define MIN(a, b)     tape_op(t, F_MIN, a, b, 0)
#define NEG(a)        tape_op(t, F_NEG, a, 0, 0)
#define ABS(a)        tape_op(t, F_ABS, a, 0, 0)
#define EXP(a)        tape_op(t, F_EXP, a, 0, 0)
#define LOG(a)        tape_op(t, F_LOG, a, 0, 0)
#define SQRT(a)       tape_op(t, F_SQRT, a, 0, 0)
#define TANH(a)       tape_op(t, F_TANH, a, 0, 0)
#define SIN(a)        tape_op(t, F_SIN, a, 0, 0)
#define COS(a)        tape_op(t, F_COS, a, 0, 0)
#define LOG1P(a)      tape_op(t, F_LOG1P, a, 0, 0)
#define LESS(a, b)    tape_op(t, F_LESS, a, b, 0)
#define AT_MOST(a, b) tape_op(t, F_LESS_EQUAL, a, b, 0)
#define EQUAL(a, b)   tape_op(t, F_EQUAL, a, b, 0)
#define BOTH(a, b)    tape_op(t, F_AND, a, b, 0)
#define IF(a, b, c)   tape_op(t, F_SELECT, a, b, c)
#define SQUARE(a)     MUL(a, a)

#endif
