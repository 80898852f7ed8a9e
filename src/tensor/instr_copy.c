/* instr_copy.c: copies rows and constants to other rows. */
#include <string.h>

#include "tensor/exec.h"

static void run_copy(struct exec *x, const struct instr *c)
{
    const struct operand *from = &c->arg[0], *to = &c->outs;
    int L = padded(x);
    for (int i = 0; i < c->n; i++)
        for (int j = 0; j < to->m; j++) {
            double *out = lanes_of(x, x->row, operand_at(to, i, j));
            int r = operand_at(from, i, j);
            if (from->is_const)
                fill_lanes(out, x->p->constant.a[r], L);
            else
                memcpy(out, lanes_of(x, x->row, r), (size_t)L * sizeof *out);
        }
}

static void back_copy(struct exec *x, const struct instr *c)
{
    const struct operand *from = &c->arg[0], *to = &c->outs;
    for (int i = 0; i < c->n; i++)
        for (int j = 0; j < to->m; j++) {
            const double *d = lanes_of(x, x->adj, operand_at(to, i, j));
            int r = operand_at(from, i, j);
            if (!from->is_const) {
                double *out = lanes_of(x, x->adj, r);
                for (int b = 0; b < x->lanes; b++) out[b] += d[b];
            } else if (x->const_adj) {
                for (int b = 0; b < x->lanes; b++) x->const_adj[r] += d[b];
            }
        }
}

const struct instr_type instr_type_copy = {
    .name = "copy", .scatters = 1, .copies = 1, .run = run_copy, .back = back_copy};

struct instr *prog_emit_copy(struct prog *p, int n, struct operand from, struct operand to)
{
    struct instr *x = prog_emit(p, I_COPY, n, 1);
    if (!x) return NULL;
    x->narg = 1;
    x->arg[0] = from;
    x->outs = to;
    return x;
}
