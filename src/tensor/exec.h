/* exec.h: internals of the evaluator, shared by the instructions (instr_*.c), exec.c (forward) and
   exec_back.c (backward).

   An element-wise instruction is n rows of L lanes.  It is cut into tiles of up to
   TILE elements, and a kernel is called for each:

     whole   L is nearly cap: consecutive rows are one array; lanes L..cap-1 are
             computed too, and ignored
     row     L is large: one row, or part of it, at a time
     packed  L is small: many rows, gathered into scratch without gaps

   Kernels always see a multiple of 8 elements, so that vector code has no remainder
   loop: a lane's values do not depend on how many others there are. */
#ifndef TENSOR_EXEC_H
#define TENSOR_EXEC_H

#include "tensor/instr.h"

enum { TILE = 512, LANE_BLOCK = 8, SIGN_CAP = 256 };

/* Scratch; one allocation, with the rows. */
struct scratch {
    double (*arg)[TILE], (*darg)[TILE]; /* arguments and their derivatives */
    double *res, *dres;                 /* (TILE): results and their derivatives */
    float *single;                      /* (TILE): results in single precision */
    double *work;                       /* for block kernels */
    double *lane;                       /* (cap) for each result of a block without a row */
    double *dlane;                      /* (cap) for the derivatives of each result of a block */
    double *dconst;                     /* (cap) for each constant of a block; NULL if not wanted */
    struct lanes *in;                   /* arguments of one instance of a block */
    double **din, **out, **dout;
};

/* Rows i0 .. i0+rows-1 of the instruction, lanes b0 .. b0+w-1. */
struct tile {
    int i0, rows, b0, w;
    int n; /* elements: rows * w, rounded up to a multiple of 8 */
};

static inline int round_up(int n) { return (n + LANE_BLOCK - 1) / LANE_BLOCK * LANE_BLOCK; }

/* The number of lanes passed to kernels: rounded up to a multiple of 8 if possible. */
static inline int padded(const struct exec *x)
{
    int n = round_up(x->lanes);
    return n <= x->cap ? n : x->lanes;
}

static inline double *lanes_of(const struct exec *x, double *rows, int r)
{
    if (r < x->direct && rows == x->row) return x->node + (size_t)r * x->stride;
    return rows + (size_t)r * (size_t)x->cap;
}

/* The weight of a lane in the contribution of a result to the total. */
static inline double lane_weight(const struct exec *x, const struct instr *c, int b)
{
    const double *w = x->weight[c->gradient_group];
    return w ? c->sum * w[b] : c->sum;
}

static inline int whole(const struct exec *x)
{
    return x->lanes >= x->cap - x->cap / 4 && !x->direct;
}

/* Advances to the next tile of an instruction, starting from {0}; 0 at the end. */
static inline int tile_next(const struct exec *x, const struct instr *c, struct tile *t)
{
    int width = whole(x) ? x->cap : x->lanes;
    if (t->n) { /* the end of the previous tile */
        t->b0 += t->w;
        if (t->b0 >= width) {
            t->b0 = 0;
            t->i0 += t->rows;
        }
    }
    if (t->i0 >= c->n || width == 0) return 0;
    if (width > TILE / 2 || (!whole(x) && (width >= 64 || x->direct))) {
        t->rows = 1;
        t->w = width - t->b0 < TILE ? width - t->b0 : TILE;
    } else {
        t->rows = TILE / width < c->n - t->i0 ? TILE / width : c->n - t->i0;
        t->w = width;
    }
    t->n = round_up(t->rows * t->w);
    return 1;
}

/* Are the elements of an argument in a tile contiguous? */
static inline int in_place(const struct exec *x, const struct operand *o, const struct tile *t)
{
    if (t->rows == 1) return t->b0 + t->n <= x->cap;
    return t->w == x->cap && t->n == t->rows * t->w && !o->idx && o->si == 1;
}

/* The elements of an argument in a tile: in place if contiguous, otherwise copied to buf. */
const double *tile_read(const struct exec *x, const struct operand *o, double *rows,
                        const struct tile *t, double *buf);
/* The destination of the elements of a tile: the rows o themselves if contiguous, otherwise buf. */
static inline double *tile_place(const struct exec *x, const struct operand *o, double *rows,
                                 const struct tile *t, double *buf)
{
    return in_place(x, o, t) ? lanes_of(x, rows, operand_at(o, t->i0, 0)) + t->b0 : buf;
}

/* Copies a tile to units or their derivatives; `first` is the unit of instance 0. */
void tile_units(const struct exec *x, void *units, int first, const struct tile *t,
                const double *from);
/* Were the derivatives of this instruction computed in the forward pass? */
static inline int is_ahead(const struct exec *x, const struct instr *c)
{
    return c->ahead && x->adj && !x->const_adj;
}
/* Copies the lanes of a row to a unit, or adds them; all lanes of a unit to v; likewise from a unit
   to a row. */
void put_unit(const struct exec *x, void *units, int u, const double *from);
void fill_unit(const struct exec *x, void *units, int u, double v);
void add_unit(const struct exec *x, void *units, int u, const double *from);
void get_unit(const struct exec *x, const void *units, int u, double *to, int add);
void fill_lanes(double *to, double v, int n);
/* Adds results to the totals, and to that of their tag if wanted. */
void add_up(const struct exec *x, const struct instr *c, const struct tile *t, const double *v);
int is_tagged(const struct exec *x, const struct instr *c);

#endif
