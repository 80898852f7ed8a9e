/* compile.h: private to the compiler of models to programs. */
#ifndef MODEL_LANG_COMPILE_H
#define MODEL_LANG_COMPILE_H

#include "model/lang/lang.h"

/* The value of a term for all instances of a group: o.m elements each. */
struct val {
    struct operand o;
    int shape[SHAPE];
};

struct compiler {
    struct model *m;
    struct prog *p;
    const struct stmt *s;
    const int *inst; /* the group: instances of one statement, on one level and of one shape */
    int n;
    int temp; /* the next free row */
    int base; /* the first temporary */
    struct {
        uint64_t bits;
        int id; /* 0: free; else 1 + the constant's number */
    } * seen;   /* hash table of existing constants */
    size_t nseen, cap_seen;
};

/* 0, IS_WRONG (reported), or NAMI_ENOMEM */
int compile_term(struct compiler *c, const struct term *t, struct val *out);
int compile_group(struct compiler *c, int by_density);
/* For a reference: all elements that it may read, m for each instance; the index of the choice,
   from 1. */
int compile_elements(struct compiler *c, const struct term *t, int m, struct operand *out);
int compile_choice(struct compiler *c, const struct term *t, struct val *out);
int emit_select(struct compiler *c, const struct operand *from, const struct val *index, int pick,
                const int *shape, struct val *out);
/* Factors (e.g. Cholesky) the argument of s->dist that sampling needs factored, if many draws share
   it: 0 and *done. */
int compile_factored(struct compiler *c, struct val *out, int *done);

#define counter_of(c, i) instance_counter((c)->m, (c)->inst[i])

/* operand.c; is there room for m more values for each instance? If not, an error is reported. */
int fits(struct compiler *c, double m);
int *index_array(struct compiler *c,
                 size_t n); /* in the memory of the program; NULL: out of memory */
/* Rows (or constants) idx[n * m] as an operand, in affine form if possible. */
int operand_of(struct compiler *c, const int *idx, int n, int m, struct operand *out);
/* The same elements, one instance each, recycled to m elements. */
int operand_flat(struct compiler *c, const struct operand *o, int m, struct operand *out);
/* The number of a constant, shared by equal ones; -1: out of memory. */
int shared_const(struct compiler *c, double x);
/* Copies constants to rows. */
int operand_rows(struct compiler *c, struct val *v);
struct instr *emit(struct compiler *c, enum instr_kind kind, int n,
                   int width);              /* NULL: out of memory */
int new_rows(struct compiler *c, size_t n); /* the first of n */
void val_of_rows(struct val *v, int first, const int *shape);

#endif
