/* tensor.h: the evaluator. A program is a straight-line list of vector instructions over rows; a
   row is one scalar for `lanes` draws (particles, data sets) at once. A plate is one instruction
   with gathered rows; a chain is one instruction per level. Running a program neither allocates
   memory nor traverses trees. */
#ifndef TENSOR_TENSOR_H
#define TENSOR_TENSOR_H

#include "base/arena.h"
#include "base/kernel.h"
#include "base/vec.h"
#include "nami.h"
#include "tensor/product.h"

/* The rows that an argument of an instruction reads: element j (of m) of instance i (of n) is row
   idx[i * m + j] (or idx[j] if shared), or base + i * si + j * sj. If is_const, these number the
   program's constants instead. */
struct operand {
    int is_const, shared;
    int data; /* derivatives with respect to it are not needed */
    int unit; /* numbers of units (prog_trim) whose derivatives no other instruction uses */
    int m;    /* elements of an instance; 1 for element-wise operations */
    int base, si, sj;
    const int *idx; /* or NULL; lives in the program's arena */
};

/* The row (or constant) of element j of instance i. */
static inline int operand_at(const struct operand *o, int i, int j)
{
    if (o->idx) return o->shared ? o->idx[j] : o->idx[(size_t)i * (size_t)o->m + (size_t)j];
    return o->base + i * o->si + j * o->sj;
}

/* Do all instances read the same rows? */
static inline int operand_fixed(const struct operand *o) { return o->idx ? o->shared : o->si == 0; }

/* The kinds of instructions, I_MAP ...: a row each in instr.def, which says what they do. */
enum instr_kind {
#define INSTR(KIND, id) I_##KIND,
#include "tensor/instr.def"
#undef INSTR
    INSTR_KINDS
};

enum { INSTR_ARGS = 12, INSTR_DIMS = 13 };

/* One vector instruction: n instances of an operation. */
struct instr {
    enum instr_kind kind;
    int n;               /* instances */
    int width;           /* elements an instance writes; 1 if it is element-wise */
    int out;             /* first row written, contiguous; -1: results go to `outs` or to units, or
                            are only added to the total */
    struct operand outs; /* destination, for kinds that scatter their results (never const) */
    int narg;
    struct operand arg[INSTR_ARGS];
    int dim[INSTR_DIMS]; /* for block kernels */
    int to_units; /* with map, if not 0: results are units to_units - 1 ..., not rows (prog_trim) */
    int signs;    /* with map: results are -1 or 1 */
    int blind;    /* the gradient does not use the results: they need not be stored */
    int sum;      /* 1: add the results (log densities) to exec.total; -1: subtract */
    int gradient_group; /* with sum: exec.weight[gradient_group] are its weights in the backward
                           pass */
    int tag;            /* set by the caller: number of the statement */
    const void *self;
    map_fn *map;
    map_grad_fn *map_grad; /* NULL: no derivative (step, round, discrete) */
    map_both_fn *map_both; /* or NULL */
    map_float_fn *map_float;
    int ahead; /* prog_trim: results are computed along with their derivatives by
                  argument ahead - 1, its only one, a unit's */
    block_fn *block;
    block_grad_fn *block_grad;
    void (*draw)(const void *self, const struct stream *s, int n, double *out,
                 const double *const *a);
    void (*bdraw)(const void *self, const struct stream *s, const int *dim, int L,
                  double *const *out, const struct lanes *a, double *work);
    int nwork; /* doubles of scratch memory for a block kernel */
    /* Blocks with one instance: nkept further results, in the rows kept ..., which nothing but the
       block's own derivative reads. */
    int nkept, kept;
};

#define POOL_VARIANCE 1e-9 /* added to a variance: for sets of equal members */

/* Sets of vectors of units, pooled: instance i has the members off[i] .. off[i+1]-1, vectors of
   `width` units from unit from[k] on.  It writes their mean; if spread, the logarithm of their
   variance, unit by unit; and a last unit, the logarithm of their number. */
struct pooling {
    int n, width, spread;
    const int *off, *from;
    int to; /* instance i writes the units to + i * pooling_outputs() ... */
};
static inline int pooling_outputs(const struct pooling *p)
{
    return p->width * (1 + p->spread) + 1;
}

/* Units to + i = by[i] * unit from[i], of data: without derivatives. */
struct scaled {
    int n, to;
    const int *from;
    const double *by;
};

/* Units to + i = unit a[i] * unit b[i], of layers. */
struct times {
    int n, to;
    const int *a, *b;
};

struct row_range {
    int from, to; /* rows from .. to-1 */
};

/* Part of a program that no later instruction reads: code[first] up to the next segment. */
struct segment {
    size_t first;
    int unit; /* the first unit that it writes; those of the next segment follow its last */
};

/* A program: instructions, constants, and the sizes of its workspace. */
struct prog {
    struct arena mem;
    vec(struct instr) code;
    vec(double) constant;
    int nrow;      /* rows in all */
    int nnode;     /* the first rows are the model's variables; the rest are temporaries */
    int nunit;     /* units of networks */
    size_t nparam; /* their weights */
    vec(struct segment) segment;  /* or none; see exec_both */
    vec(struct row_range) moving; /* rows with derivatives; none: see prog_trim */
    int sign_first, nsign;        /* units that are -1 or 1: see struct signs; prog_trim */
};

void prog_free(struct prog *p);
/* Appends an instruction without arguments, results or tag; NULL: out of memory. */
struct instr *prog_emit(struct prog *p, enum instr_kind kind, int n, int width);
/* The same for kinds that need no other members: rows `to` = `from`; units unit ... = `from`,
   without derivatives if they are data; a layer; rows row ... = units unit ... (merged with the
   last instruction if contiguous). */
struct instr *prog_emit_copy(struct prog *p, int n, struct operand from, struct operand to);
struct instr *prog_emit_units(struct prog *p, int n, struct operand from, int unit, int data);
struct instr *prog_emit_layer(struct prog *p, const struct dense *d);
struct instr *prog_emit_rows(struct prog *p, int n, int unit, int row);
struct instr *prog_emit_scaled(struct prog *p, const struct scaled *scaled);
struct instr *prog_emit_times(struct prog *p, const struct times *times);
struct instr *prog_emit_pool(struct prog *p, const struct pooling *pool);
int prog_const(struct prog *p, double x); /* its number, or -1; equal constants are not merged */
/* Appends the instructions of another program to p. The first from->nnode rows are shared; its
   temporaries, units, weights and constants are numbered after those of p. */
int prog_append(struct prog *p, const struct prog *from);

/* ---- queries about instructions ---------------------------------------------------- */

/* The layer that instruction k computes; NULL: not a layer. */
const struct dense *prog_layer(const struct prog *p, size_t k);
int instr_draws(const struct instr *c);  /* Does it use random numbers? */
int instr_copies(const struct instr *c); /* Do its results equal its argument? */
/* Calls see() for each row and unit that it reads, or writes; possibly several times. */
enum instr_place { PLACE_ROW, PLACE_UNIT };
typedef void see_fn(void *arg, enum instr_place place, int number);
void instr_reads(const struct instr *c, see_fn *see, void *arg);
void instr_writes(const struct instr *c, see_fn *see, void *arg);

/* ---- running programs ----------------------------------------------------------------- */

enum { GRADIENT_GROUPS = 3 };

/* The workspace of one thread: rows, adjoints, scratch; allocated once. */
struct exec {
    const struct prog *p;
    int lanes;   /* lanes in use, at most cap */
    int cap;     /* a multiple of 8; or 1, for many rows of one lane */
    double *row; /* row r, lane b: row[(size_t)r * cap + b] */
    /* The first `direct` rows are stored elsewhere: row r, lane b at node[r * stride + b]. For
       results that are needed there; lanes is then a multiple of 8, and nothing else is written. */
    double *node;
    size_t stride;
    int direct;
    double *adj;   /* the same for derivatives of the total; NULL: not computed */
    double *total; /* per lane: sum of the results of instructions with `sum` */
    int no_total;  /* only derivatives are needed: skips instructions that only add to the total */
    double *const_adj; /* derivatives with respect to constants, summed over lanes; NULL: not
                          computed */
    double *by_tag;    /* by_tag[tag * cap + b]: the total by instruction tag; NULL: not computed */
    int ntag;
    int data_rows; /* the first rows have no derivatives: their adj is not written */
    /* Per lane: d loss / d total, for exec_back, by gradient group; NULL: 1. */
    const double *weight[GRADIENT_GROUPS];
    /* Networks: float if is_float, else double.  The caller sets param. */
    int is_float;
    struct chunk units;
    const struct product *product;
    const void *param;
    uint64_t seed, first;    /* for draws: lane b is draw first + b (first % 4 == 0) */
    struct scratch *scratch; /* private */
    void *mem;               /* private: memory freed by exec_fini */
};

enum { EXEC_GRAD = 1, EXEC_CONST_GRAD = 2, EXEC_FLOAT = 4 };
/* cap is rounded up to a multiple of 8, except for 1.  Sets lanes = cap, and all rows to 0. */
int exec_init(struct exec *x, const struct prog *p, int cap, int ntag, unsigned flags,
              nami_err *err);
void exec_fini(struct exec *x);
/* The same in memory of the caller, exec_size bytes, which are not cleared: for kernels, which do
   not allocate. No tags, no exec_fini. */
size_t exec_size(const struct prog *p, int cap, unsigned flags);
void exec_place(struct exec *x, const struct prog *p, int cap, unsigned flags, void *mem);
/* Runs all instructions for x->lanes lanes.  The rows of variables that no instruction
   writes are inputs and must be filled. */
void exec_run(struct exec *x);
/* The instructions from .. to-1; with from 0, totals are cleared first. */
void exec_part(struct exec *x, size_t from, size_t to);
/* After exec_run: adj = d(total)/d(row) for every row (times weight), const_adj and units.adj
   likewise; derivatives with respect to the weights of networks are computed by product->weights.
   The program must not reuse temporaries (each row written once). */
void exec_back(struct exec *x);
/* Its two steps: all derivatives to 0; backward, from what was added to adj in between. */
void exec_back_clear(struct exec *x);
void exec_back_run(struct exec *x);

/* exec_run and exec_back, segment by segment: forward and backward through each while its values
   are in the cache; instructions before the first segment are run first and differentiated last. */
void exec_both(struct exec *x);
/* Its steps: forward through the instructions before the segments; forward and backward through
   segment s; backward through the instructions before the segments. */
void exec_begin(struct exec *x);
void exec_begun(struct exec *x,
                const struct exec *of); /* after exec_begin of `of`, whose rows x shares */
void exec_segment(struct exec *x, size_t s);
void exec_end(struct exec *x);
/* Shares the rows of `of` and their derivatives, with separate units, scratch memory and totals, so
   that two threads can run different segments. exec_fini frees only the latter. */
int exec_share(struct exec *x, const struct exec *of, nami_err *err);
int prog_segment(struct prog *p); /* starts a segment; 0 or NAMI_ENOMEM */
/* Completes a program: determines which layers can gather their derivatives (product.h). */
int prog_finish(struct prog *p);
/* Optimizes a finished program of which only totals, derivatives and rows that are not outputs of
   networks are needed: element-wise instructions read from units where possible, and rows without
   derivatives are determined. Programs with segments are not changed. */
int prog_trim(struct prog *p);
/* Does a layer read exactly the units that are -1 or 1? See dense.signs. */
int prog_signs(const struct prog *p, const struct dense *d);
/* A copy of a finished program in which all segments use the same memory for their units, which
   stays in the cache: to be run segment by segment. It borrows from `of`. */
int prog_pack(struct prog *p, const struct prog *of);

/* The number of lanes for which this program fits the cache: a multiple of 8, 8..256. */
int exec_lanes(const struct prog *p);

/* The shape of a value: {ndim, d0, d1, ...}, as many dimensions as an array of the language has. */
enum { SHAPE = 1 + 8 };

static inline int shape_size(const int *shape)
{
    int n = 1;
    for (int i = 0; i < shape[0]; i++) n *= shape[i + 1];
    return n;
}

/* ---- functions of the model language ------------------------------------------------ */

/* One row for each in op.def, one record in op_*.c.  A function is either element-wise
   (map) and applies to scalars and, elementwise with recycling of scalars, to arrays; or a
   block function of whole arguments. */
enum { OP_TRIES = 6, SHAPE_VALUE = -1 };
struct op {
    const char *name; /* as in the language: "+", "exp", "inprod" */
    const char *args; /* for `nami list functions`: "x, y" */
    const char *what;
    int min_arg, max_arg; /* max -1: any number */
    map_fn *map;
    map_grad_fn *map_grad;
    block_fn *block;
    block_grad_fn *block_grad;
    int (*work)(const int *dim);
    /* Block functions: the result's shape from the arguments'.  shape[k] = {ndim, d0, d1, ...};
       ndim 0 is a scalar.  An argument named by a bit of `sizes` must be a constant, is given as
       {SHAPE_VALUE, its value}, and is not among the kernel's arguments (rep's times).  Fills out
       the same way, and dim[] for the kernel.  Returns 0, or -1 with *why a sentence ("the two
       differ in length"). */
    int (*shape)(int narg, const int (*shape)[SHAPE], int *out, int *dim, const char **why);
    unsigned sizes;
    /* Interval arithmetic for the check of supports: bounds of the result, (out[0], out[1]), from
       lo/hi of the arguments; NULL: unbounded.  For block functions over all elements.  An open end
       at 0 is DBL_TRUE_MIN, at 1 the number before it. */
    void (*range)(int narg, const double *lo, const double *hi, double *out);
    int integer;      /* 1: results are always integers; 2: if all arguments are integers */
    const char *jags; /* name in JAGS if different, or an expression in `args`; "": not available */
    double try_at[OP_TRIES]
                 [3]; /* element-wise: points to test gradients at; ends with a row of 0s */
};
#define OP(id) extern const struct op op_##id;
#include "tensor/op.def"
#undef OP
extern const struct op *const ops[]; /* in the order of op.def, NULL at the end */
/* Aliases: names in Stan, R, older versions of JAGS. */
struct op_alias {
    const char *alias, *name;
};
extern const struct op_alias op_aliases[]; /* ends with alias == NULL */
const struct op *op_find(const char *name,
                         size_t len); /* or NULL; knows aliases (pow, inv_logit) */

/* select(candidates, k): the k-th of m candidates, k from 1; NaN outside. dim = {m}. Not in op.def:
   used for random subscripts. With width w, candidates are m blocks of w: dim = {m, w}. */
extern const struct op op_select;

#endif
