/* rcall.h: the values of R's dump format, as they are read. */
#ifndef DATA_RCALL_H
#define DATA_RCALL_H

#include "data/data.h"
#include "data/rlex.h"

/* The shape of what an expression appended; ndim 0: a single number. */
struct shape {
    int ndim, dim[MAX_DIM];
    int row_major;
};

struct rdump {
    struct rlex r;
    struct data *d;
    struct dataset *set;
    vec(double) x; /* the value being read, and arguments behind it */
    int depth, in_list;
    size_t made; /* elements that the text does not spell out */
    nami_err *err;
};

/* A value: its elements are appended to p->x. */
int rdump_expr(struct rdump *p, struct shape *s);
/* name(...): the current token is what follows the bracket. */
int rdump_call(struct rdump *p, const char *name, size_t n, int line, int col, struct shape *s);
/* NAME = in front of an argument or value, whose text is then *name; 0 if there is none. */
int rdump_named(struct rdump *p, const char **name, size_t *n);
int rdump_expect(struct rdump *p, const char *what, const char *text);
int rdump_room(struct rdump *p, double n);

#endif
