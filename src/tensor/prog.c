#include "tensor/tensor.h"

#include <stdlib.h>
#include <string.h>

void prog_free(struct prog *p)
{
    arena_free(&p->mem);
    vec_free(&p->code);
    vec_free(&p->constant);
    vec_free(&p->segment);
    vec_free(&p->clear);
    p->nrow = p->nnode = p->nunit = 0;
}

int prog_segment(struct prog *p)
{
    struct segment s = {p->code.n, p->nunit, 0};
    return vec_push(&p->segment, s) ? NAMI_ENOMEM : 0;
}

/* ---- which derivatives are the first ones --------------------------------------------------- */

/* Marks units and says whether none of them was marked before, nor comes twice. */
static int mark(unsigned char *seen, const int *unit, size_t n, int first)
{
    int fresh = 1;
    for (size_t i = 0; i < n; i++) {
        if (unit[i] < first || seen[unit[i]]) fresh = 0;
        seen[unit[i]] = 1;
    }
    return fresh;
}

/* Backwards through a dense layer: its outputs must have been reached; are its inputs new? */
static int finish_dense(struct prog *p, struct dense *d, unsigned char *seen, unsigned char *was,
                        int first)
{
    size_t out = (size_t)d->n * (size_t)d->out;
    int fresh = 1;
    for (size_t k = 0; k < out; k++) {
        int u = d->to + (int)k;
        if (!seen[u] && u >= first && vec_push(&p->clear, u)) return NAMI_ENOMEM;
        seen[u] = 1;
    }
    memcpy(was, seen, (size_t)p->nunit);
    for (int i = 0; i < d->n; i++)
        fresh &= mark(seen, d->from + (size_t)i * (size_t)d->in, (size_t)d->back, first);
    d->fresh = fresh;
    for (int i = 0; i < d->n && !fresh; i++)
        for (int k = 0; k < d->back; k++) {
            int u = d->from[(size_t)i * (size_t)d->in + (size_t)k];
            if (was[u] || u < first) continue;
            was[u] = 1;
            if (vec_push(&p->clear, u)) return NAMI_ENOMEM;
        }
    return 0;
}

int prog_finish(struct prog *p)
{
    unsigned char *seen = mem_zero((size_t)p->nunit + 1, 1),
                  *was = mem_zero((size_t)p->nunit + 1, 1);
    int rc = seen && was ? 0 : NAMI_ENOMEM;
    for (size_t s = 0; s < p->segment.n && !rc; s++) {
        size_t end = s + 1 < p->segment.n ? p->segment.a[s + 1].first : p->code.n;
        int first = p->segment.a[s].unit;
        p->segment.a[s].clear = p->clear.n;
        for (size_t k = end; k-- > p->segment.a[s].first && !rc;) {
            struct instr *c = &p->code.a[k];
            if (c->kind == I_ROWS) {
                c->dim[1] = 1;
                for (int i = 0; i < c->n; i++)
                    if (c->dim[0] + i < first || seen[c->dim[0] + i]) c->dim[1] = 0;
                for (int i = 0; i < c->n && !rc; i++) {
                    int u = c->dim[0] + i;
                    if (!c->dim[1] && !seen[u] && u >= first) rc = vec_push(&p->clear, u);
                    seen[u] = 1;
                }
            } else if (c->kind == I_DENSE) {
                rc = finish_dense(p, (struct dense *)c->self, seen, was, first);
            }
        }
    }
    free(seen);
    free(was);
    return rc ? NAMI_ENOMEM : 0;
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
