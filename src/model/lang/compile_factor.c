/* compile_factor.c: factors an argument (Cholesky) that many draws share once, before the selection
   among several candidates. */
#include "model/lang/compile.h"

/* n arguments of m elements each, one behind the other in `from`, worked on. */
static int emit_factor(struct compiler *c, const struct operand *from, int n, int m, int *out)
{
    const struct dist *d = c->s->dist;
    struct instr *x = emit(c, I_BLOCK, n, m);
    if (!x) return NAMI_ENOMEM;
    x->narg = 1;
    x->arg[0] = *from;
    x->arg[0].m = m;
    x->arg[0].shared = 0;
    x->arg[0].si = m * from->sj;
    x->dim[0] = m;
    x->self = d;
    x->block = d->factor;
    x->nwork = d->work((int[]){m, m, m, 0, 0});
    x->out = *out = new_rows(c, (size_t)n * (size_t)m);
    return 0;
}

int compile_factored(struct compiler *c, struct val *out, int *done)
{
    const struct dist *d = c->s->dist;
    const struct term *t = c->s->arg[d->factor_arg];
    int k = c->inst[0] - c->s->first, rc, first;
    *done = 0;
    if (t->kind != T_REF || c->n < 2) return 0;
    const struct foot *f = &c->s->foot[t->ref];
    if (!f->random[k]) return 0;
    int m = shape_size(f->shape[k]), pick = f->pick[k] ? f->pick[k] : 1;
    if (pick >= c->n) return 0;
    struct operand from;
    struct val index;
    if ((rc = compile_elements(c, t, m * pick, &from))) return rc;
    if (from.is_const || !operand_fixed(&from)) return 0;
    if (f->pick[k] && (rc = compile_choice(c, t, &index))) return rc;
    if ((rc = emit_factor(c, &from, pick, m, &first))) return rc;
    *done = 1;
    struct operand all = {.m = m * pick, .base = first, .sj = 1};
    if (f->pick[k]) return emit_select(c, &all, &index, pick, f->shape[k], out);
    memcpy(out->shape, f->shape[k], sizeof out->shape);
    out->o = all;
    return 0;
}
