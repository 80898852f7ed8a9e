/* instr_draw.c: element-wise draws. */
#include "tensor/exec.h"

/* Row by row, since each has its own random stream. */
static void run_draw(struct exec *x, const struct instr *c)
{
    struct scratch *s = x->scratch;
    const double *a[INSTR_ARGS] = {0};
    int width = padded(x);
    struct tile t = {.rows = 1};
    for (t.i0 = 0; t.i0 < c->n; t.i0++)
        for (t.b0 = 0; t.b0 < width; t.b0 += TILE) {
            int row = operand_at(&c->outs, t.i0, 0);
            struct stream str = {x->seed, (uint32_t)row, x->first + (uint64_t)t.b0};
            t.n = t.w = width - t.b0 < TILE ? width - t.b0 : TILE;
            for (int k = 0; k < c->narg; k++)
                a[k] = tile_read(x, &c->arg[k], x->row, &t, s->arg[k]);
            c->draw(c->self, &str, t.n, lanes_of(x, x->row, row) + t.b0, a);
        }
}

const struct instr_type instr_type_draw = {
    .name = "draw", .draws = 1, .scatters = 1, .run = run_draw};
