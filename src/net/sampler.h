/* sampler.h: sampling from q(z | x), factor by factor.

   The rows of the observed variables are given; the program draws every latent of the inverse as
   soon as its parents are known, and its total is log q(z | x) of what it drew.  A hidden unit is
   computed once, when all its inputs are known.  Variables without a factor follow from the model:
   barren latents are drawn from their conditional prior, deterministic variables are computed. */
#ifndef NET_SAMPLER_H
#define NET_SAMPLER_H

#include "net/qnet.h"

/* The program that draws.  With derivatives, it is for the ELBO: log q is subtracted from the
   total, in gradient groups (joint.h), all draws of continuous latents have derivatives, and those
   of discrete ones can be fixed: fix[node] is a new row, whose number is taken instead of a draw if
   it is not NaN.  logit: see struct decoding. */
int sampler_prog(struct qnet *q, struct prog *p, int *fix, int *logit);

/* The sampling program with its stages, and the programs that complete a draw. */
struct sampler {
    const struct qnet *q;
    struct prog prog;
    size_t num_data;    /* the first instructions depend on the data alone, */
    vec(int) unit, row; /* and later ones read these units and rows of theirs */
    vec(size_t) wave;   /* draws come in waves: where the instructions of each end in prog */
    int *known;         /* of nodes: the wave after which a latent is known; -1: has no factor */
    struct prog rest;   /* from the rows: barren latents, what is computed */
    struct prog pred;   /* the same, and the observed variables anew: posterior prediction */
    struct prog barren; /* its total is log p of the barren latents, given their parents */
};

int sampler_make(struct sampler *s, struct qnet *q, nami_err *err);
void sampler_free(struct sampler *s);

#endif
