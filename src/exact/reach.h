/* reach.h: which variables each row of a program depends on, and how: not at all, affinely, or
   otherwise. */
#ifndef EXACT_REACH_H
#define EXACT_REACH_H

#include "exact/integral.h"

enum degree { CONSTANT, AFFINE, OTHER };

struct reach {
    size_t *start;         /* row r depends on the variables pool[start[r]] .., ascending: */
    int *count;            /* so many */
    unsigned char *degree; /* enum degree */
    const char **why;      /* of rows that are OTHER: the operation */
    vec(int) pool;
    vec(int) work;
    int read_by_network; /* a variable that is, or -1 */
};

/* The rows of p; at the start, row[k] depends on variable k alone. */
int reach_make(struct reach *s, const struct prog *p, int num_vars, const int *row, nami_err *err);
void reach_free(struct reach *s);

/* The degree of the result of an operation, given those of its arguments. */
enum degree degree_combine(const struct op *op, const enum degree *d, int num_args);

/* The integral that an instruction evaluates, or NULL. */
const struct integral *instr_integral(const struct instr *c);

#endif
