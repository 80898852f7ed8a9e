#include "tensor/tensor.h"

#include <stdlib.h>

void prog_free(struct prog *p)
{
    arena_free(&p->mem);
    vec_free(&p->code);
    vec_free(&p->constant);
    p->nrow = p->nnode = 0;
}

int prog_const(struct prog *p, double x)
{
    return vec_push(&p->constant, x) ? -1 : (int)p->constant.n - 1;
}

/* All rows of these lanes take about 512 KB: half of a usual second-level cache. */
int exec_lanes(const struct prog *p)
{
    enum { ROOM = 1 << 19, FEW = 8, MANY = 256 };
    int lanes = ROOM / 8 / (p->nrow > 0 ? p->nrow : 1) / 8 * 8;
    return lanes < FEW ? FEW : lanes > MANY ? MANY : lanes;
}
