/* integral_call.h: integrals made by hand: instructions of a body; kernels on arrays. */
#ifndef TESTS_INTEGRAL_CALL_H
#define TESTS_INTEGRAL_CALL_H

#include <math.h>
#include <stdlib.h>

#include "exact/integral.h"
#include "run.h"

static inline struct operand rows(int base, int step, int m)
{
    return (struct operand){.m = m, .base = base, .si = step, .sj = 1};
}

static inline struct operand constant(struct prog *p, double x)
{
    int k = prog_const(p, x);
    assert_true(k >= 0);
    return (struct operand){.is_const = 1, .m = 1, .base = k, .sj = 1};
}

static inline int map_of(struct prog *p, const struct op *op, int n, struct operand a,
                         struct operand b)
{
    struct instr *c = prog_emit(p, I_MAP, n, 1);
    assert_non_null(c);
    c->self = op;
    c->map = op->map;
    c->map_grad = op->map_grad;
    c->narg = 2;
    c->arg[0] = a;
    c->arg[1] = b;
    c->out = p->nrow;
    p->nrow += n;
    return c->out;
}

/* ---- kernels on arrays ------------------------------------------------------------------ */

/* Values of `lanes` lanes: inputs (num_inputs, lanes), and so on. */
struct call {
    const struct integral *g;
    int lanes;
    double *work, *out, *in, *dout, *din;
    double **outs, **dins;
    struct lanes *ins;
};

static inline double *doubles(size_t n)
{
    double *x = calloc(n + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

static inline struct call call_new(const struct integral *g, int lanes)
{
    size_t num = (size_t)g->num_inputs;
    size_t most = (size_t)(g->num_comps + g->kept + 2 * g->num_vars);
    size_t L = (size_t)lanes;
    struct call c = {g,
                     lanes,
                     doubles((size_t)integral_work(g)),
                     doubles(most * L),
                     doubles(num * L),
                     doubles((size_t)g->num_comps * L),
                     doubles(num * L),
                     calloc(most, sizeof(double *)),
                     calloc(num + 1, sizeof(double *)),
                     calloc(num + 1, sizeof(struct lanes))};
    for (size_t k = 0; k < most; k++) c.outs[k] = c.out + k * L;
    for (size_t k = 0; k < num; k++) {
        c.dins[k] = c.din + k * L;
        c.ins[k] = (struct lanes){c.in + k * L, 1};
    }
    /* what a kernel does not write must not be read */
    for (int k = 0, n = integral_work(g); k < n; k++) c.work[k] = NAN;
    return c;
}

static inline void call_free(struct call *c)
{
    free(c->work), free(c->out), free(c->in), free(c->dout), free(c->din);
    free(c->outs), free(c->dins), free(c->ins);
}

static inline void call_run(struct call *c)
{
    c->g->kind->run(c->g, NULL, c->lanes, c->outs, c->ins, c->work);
}

static inline void call_moments(struct call *c)
{
    c->g->kind->moments(c->g, NULL, c->lanes, c->outs, c->ins, c->work);
}

static inline void call_back(struct call *c)
{
    const double **dout = calloc((size_t)c->g->num_comps, sizeof *dout);
    for (int k = 0; k < c->g->num_comps; k++) dout[k] = c->dout + (size_t)k * (size_t)c->lanes;
    memset(c->din, 0, sizeof *c->din * (size_t)c->g->num_inputs * (size_t)c->lanes);
    c->g->kind->back(c->g, NULL, c->lanes, NULL, dout, c->ins, c->dins, c->work);
    free(dout);
}

static inline void call_draw(struct call *c, uint64_t seed, uint64_t first)
{
    struct stream s = {seed, 0, first};
    c->g->kind->draw(c->g, &s, NULL, c->lanes, c->outs, c->ins, c->work);
}

#endif
