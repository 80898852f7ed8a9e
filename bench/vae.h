/* vae.h: a relaxed-Bernoulli VAE as a program: minus its ELBO is the loss.  784 binary pixels, 30
   latents, two hidden layers of 200 each way, temperature 2/3; on the logistic scale. */
#ifndef BENCH_VAE_H
#define BENCH_VAE_H

#include <stdlib.h>

#include "base/rng.h"
#include "train/trainer.h"

enum { PIXELS = 784, LATENTS = 30, HIDDEN = 200, IMAGES = 10000, VAE_BATCH = 100 };

static inline struct instr *vae_emit(struct prog *p, enum instr_kind kind, int n, int narg)
{
    struct instr *x = prog_emit(p, kind, n, 1);
    if (!x) abort();
    x->narg = narg;
    x->tag = 0;
    return x;
}

static inline struct operand vae_rows(int base)
{
    return (struct operand){.m = 1, .base = base, .si = 1};
}
static inline struct operand vae_const(struct prog *p, double x)
{
    return (struct operand){.is_const = 1, .m = 1, .base = prog_const(p, x)};
}

static inline int vae_map(struct prog *p, int n, const char *op, struct operand a, struct operand b)
{
    const struct op *o = op_find(op, strlen(op));
    struct instr *x = vae_emit(p, I_MAP, n, o->min_arg);
    x->map = o->map, x->map_grad = o->map_grad, x->self = o;
    x->arg[0] = a, x->arg[1] = b;
    x->out = p->nrow;
    p->nrow += n;
    return x->out;
}

static inline struct instr *vae_logp(struct prog *p, int n, const struct dist *d, struct operand v,
                                     struct operand a, struct operand b)
{
    struct instr *x = vae_emit(p, I_MAP, n, d->narg + 1);
    x->map = d->logp, x->map_grad = d->grad, x->self = d;
    x->arg[0] = v, x->arg[1] = a, x->arg[2] = b;
    x->blind = 1;
    return x;
}

/* 2 hidden layers from n rows to m rows; data: the rows have no derivatives */
static inline int vae_net(struct qnet *q, int rows, int n, int m, int data, const char *name)
{
    struct prog *p = &q->prog;
    int width[] = {n, HIDDEN, HIDDEN, m}, from[PIXELS], unit = p->nunit;
    struct instr *x = vae_emit(p, I_UNITS, n, 1);
    x->arg[0] = vae_rows(rows), x->dim[0] = unit, x->dim[1] = data;
    p->nunit += n;
    for (int l = 0; l < 3; l++) {
        for (int i = 0; i < width[l]; i++) from[i] = unit + i;
        unit = net_layer(q, 1, width[l], data && !l ? 0 : width[l], from, width[l + 1],
                         l < 2 ? ACT_TANH : ACT_LINEAR, name);
        if (unit < 0) abort();
    }
    x = vae_emit(p, I_ROWS, m, 0);
    x->dim[0] = unit, x->out = p->nrow;
    p->nrow += m;
    return x->out;
}

static inline void vae_make(struct qnet *q, struct model *m)
{
    struct prog *p = &q->prog;
    const struct operand none = {0};
    static struct part part = {"elbo", 1};
    m->nrow = p->nrow = p->nnode = PIXELS;
    q->m = m, q->part = &part, q->npart = 1;
    int logit = vae_net(q, 0, PIXELS, LATENTS, 1, "enc");
    struct instr *x = vae_emit(p, I_DRAW, LATENTS, 2);
    int noise = p->nrow;
    x->outs = vae_rows(noise), x->self = &dist_logistic, x->draw = dist_logistic.sample;
    x->arg[0] = vae_const(p, 0), x->arg[1] = vae_const(p, 1);
    p->nrow += LATENTS;
    int v = vae_map(p, LATENTS, "+", vae_rows(logit), vae_rows(noise));
    int y = vae_map(p, LATENTS, "*", vae_rows(v), vae_const(p, 1.5));
    int z = vae_map(p, LATENTS, "ilogit", vae_rows(y), none);
    int out = vae_net(q, z, LATENTS, PIXELS, 0, "dec");
    x = vae_logp(p, PIXELS, &dist_bernoulli_logit, vae_rows(0), vae_rows(out), none);
    x->sum = x->arg[0].data = 1;
    vae_logp(p, LATENTS, &dist_logistic, vae_rows(v), vae_const(p, 0), vae_const(p, 1))->sum = 1;
    x = vae_logp(p, LATENTS, &dist_logistic, vae_rows(v), vae_rows(logit), vae_const(p, 1));
    x->out = p->nrow;
    p->nrow += LATENTS;
    int minus = vae_map(p, LATENTS, "*", vae_rows(p->nrow - LATENTS), vae_const(p, -1));
    p->code.a[p->code.n - 1].sum = minus > 0;
    if (prog_finish(p)) abort();
}

/* Ten thousand images, a fifth of their pixels on; a hundred of them at random. */
static inline struct batch vae_batch(int step)
{
    static double *image;
    static int index[VAE_BATCH];
    struct rng r;
    if (!image) {
        image = malloc(sizeof *image * IMAGES * PIXELS);
        if (!image) abort();
        rng_init(&r, 3, 0);
        for (int i = 0; i < IMAGES * PIXELS; i++) image[i] = rng_unit(&r) < 0.2;
    }
    rng_init(&r, 4, (uint64_t)step);
    for (int i = 0; i < VAE_BATCH; i++) index[i] = (int)(rng_unit(&r) * IMAGES);
    return (struct batch){.point = image, .index = index, .seed = 5, .first = (uint64_t)step * 104};
}

#endif
