/* instr_block.c: instructions with block kernels (vectors and matrices), one instance at a time,
   and their draws. */
#include <string.h>

#include "tensor/exec.h"

/* Do results have rows? Otherwise they are only added to the total. */
static int is_kept(const struct instr *c) { return type_of(c)->scatters || c->out >= 0; }

/* Fills s->in and s->out for instance i. */
static void block_point(const struct exec *x, const struct instr *c, int i)
{
    struct scratch *s = x->scratch;
    struct operand to = outputs(c);
    int kept = is_kept(c);
    struct lanes *in = s->in;
    for (int k = 0; k < c->narg; in += c->arg[k++].m) {
        const struct operand *o = &c->arg[k];
        if (i > 0 && operand_fixed(o)) continue; /* still there */
        for (int j = 0; j < o->m; j++) {
            int r = operand_at(o, i, j);
            in[j] = o->is_const ? (struct lanes){x->p->constant.a + r, 0}
                                : (struct lanes){lanes_of(x, x->row, r), 1};
        }
    }
    for (int j = 0; j < c->width; j++)
        s->out[j] = kept ? lanes_of(x, x->row, operand_at(&to, i, j)) : lanes_of(x, s->lane, j);
    for (int j = 0; j < c->nkept; j++) s->out[c->width + j] = lanes_of(x, x->row, c->kept + j);
}

static void run_block(struct exec *x, const struct instr *c)
{
    struct scratch *s = x->scratch;
    struct tile one = {.rows = 1, .w = x->lanes};
    for (int i = 0; i < c->n; i++) {
        block_point(x, c, i);
        c->block(c->self, c->dim, padded(x), s->out, s->in, s->work);
        if (c->sum)
            for (int j = 0; j < c->width; j++) add_up(x, c, &one, s->out[j]);
    }
}

static void run_bdraw(struct exec *x, const struct instr *c)
{
    struct scratch *s = x->scratch;
    for (int i = 0; i < c->n; i++) {
        struct stream str = {x->seed, (uint32_t)operand_at(&c->outs, i, 0), x->first};
        block_point(x, c, i);
        c->bdraw(c->self, &str, c->dim, padded(x), s->out, s->in, s->work);
    }
}

/* Sets the destinations of the derivatives with respect to the arguments of an instance: rows; for
   a constant, scratch lanes, or NULL. */
static void point_back(const struct exec *x, const struct instr *c, int i)
{
    struct scratch *s = x->scratch;
    double **din = s->din, *scratch = s->dconst;
    for (int k = 0; k < c->narg; k++)
        for (int j = 0; j < c->arg[k].m; j++) {
            const struct operand *o = &c->arg[k];
            if (o->data) {
                *din++ = NULL;
            } else if (!o->is_const) {
                *din++ = lanes_of(x, x->adj, operand_at(o, i, j));
            } else if (x->const_adj) {
                memset(scratch, 0, (size_t)x->cap * sizeof *scratch);
                *din++ = scratch;
                scratch += x->cap;
            } else {
                *din++ = NULL;
            }
        }
}

static void add_constants(const struct exec *x, const struct instr *c, int i)
{
    double **din = x->scratch->din;
    for (int k = 0; k < c->narg; k++)
        for (int j = 0; j < c->arg[k].m; j++, din++) {
            if (!c->arg[k].is_const || !*din) continue;
            double *to = &x->const_adj[operand_at(&c->arg[k], i, j)];
            for (int b = 0; b < x->lanes; b++) *to += (*din)[b];
        }
}

/* Fills s->dout, the incoming derivatives of instance i; are any not 0? */
static int incoming(const struct exec *x, const struct instr *c, int i)
{
    struct operand to = outputs(c);
    int L = x->lanes, kept = is_kept(c), any = 0;
    for (int j = 0; j < c->width; j++) {
        double *d = x->scratch->dout[j] = lanes_of(x, x->scratch->dlane, j);
        for (int b = 0; b < L; b++) d[b] = c->sum ? lane_weight(x, c, b) : 0;
        if (kept) {
            const double *from = lanes_of(x, x->adj, operand_at(&to, i, j));
            for (int b = 0; b < L; b++) d[b] += from[b];
        }
        for (int b = 0; b < L; b++) any |= d[b] != 0;
    }
    return any;
}

static void back_block(struct exec *x, const struct instr *c)
{
    struct scratch *s = x->scratch;
    int L = x->lanes; /* without padding: a kernel may sum over lanes (weights of a layer) */
    int kept = is_kept(c);
    if (!c->block_grad || (!kept && !c->sum)) return;
    for (int i = 0; i < c->n; i++) {
        block_point(x, c, i); /* also for what is skipped: later instances may share arguments */
        if (!incoming(x, c, i)) continue;
        point_back(x, c, i);
        if (!kept && !c->blind)
            c->block(c->self, c->dim, padded(x), s->out, s->in, s->work); /* not kept */
        c->block_grad(c->self, c->dim, L, (const double *const *)s->out,
                      (const double *const *)s->dout, s->in, s->din, s->work);
        if (x->const_adj) add_constants(x, c, i);
    }
}

static int has_back(const struct instr *c) { return c->block_grad != NULL; }

static int most(int a, int b) { return a > b ? a : b; }

static void needs(const struct instr *c, struct needs *need)
{
    int in = 0, constants = 0;
    for (int j = 0; j < c->narg; j++) {
        in += c->arg[j].m;
        if (c->arg[j].is_const) constants += c->arg[j].m;
    }
    need->in = most(need->in, in);
    need->dconst = most(need->dconst, constants);
    need->out = most(need->out, c->width + c->nkept);
    if (!is_kept(c)) need->lane = most(need->lane, c->width);
    need->work = most(need->work, c->nwork);
}

const struct instr_type instr_type_block = {
    .name = "block", .run = run_block, .back = back_block, .has_back = has_back, .needs = needs};

const struct instr_type instr_type_block_draw = {.name = "block_draw",
                                                 .draws = 1,
                                                 .scatters = 1,
                                                 .run = run_bdraw,
                                                 .back = back_block,
                                                 .has_back = has_back,
                                                 .needs = needs};
