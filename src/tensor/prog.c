#include "tensor/tensor.h"

#include <stdlib.h>

void prog_free(struct prog *p)
{
    arena_free(&p->mem);
    vec_free(&p->code);
    vec_free(&p->constant);
    vec_free(&p->segment);
    p->nrow = p->nnode = p->nunit = 0;
}

int prog_segment(struct prog *p)
{
    struct segment s = {p->code.n, p->nunit};
    return vec_push(&p->segment, s) ? NAMI_ENOMEM : 0;
}

int prog_const(struct prog *p, double x)
{
    return vec_push(&p->constant, x) ? -1 : (int)p->constant.n - 1;
}

/* All rows of these lanes take about 512 KB: half of a usual second-level cache. */
/* Fewer than 64 and the kernels' calls cost more than the cache saves (measured on the tree,
   state-space and mixture examples); but not more than 64 MB. */
int exec_lanes(const struct prog *p)
{
    enum { CACHE = 1 << 20, MEMORY = 1 << 26, FEW = 64, MANY = 256, FEWEST = 8 };
    int rows = p->nrow + p->nunit > 0 ? p->nrow + p->nunit : 1, lanes = CACHE / 8 / rows / 8 * 8;
    if (lanes < FEW) lanes = FEW;
    if (lanes > MANY) lanes = MANY;
    if (lanes > MEMORY / 8 / rows) lanes = MEMORY / 8 / rows / 8 * 8;
    return lanes < FEWEST ? FEWEST : lanes;
}
