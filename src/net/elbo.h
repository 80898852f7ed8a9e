/* elbo.h: the evidence lower bound (ELBO), for learning a model together with its inference
   network.

   A program that draws the latents from q(z | x), reparameterized where they are continuous, and
   whose total is log p(x, z) - log q(z | x).  Its weights are those of q, then those of the
   model's networks.  Terms belong to gradient groups (enum gradient_group): log p(x | z), the terms
   of continuous latents, and log q of discrete ones, which have a score-function gradient instead
   of a pathwise one. */
#ifndef NET_ELBO_H
#define NET_ELBO_H

#include "net/joint.h"

enum { ELBO_CONFIGS = 64 }; /* of discrete latents: more are drawn, not enumerated */

/* A discrete latent. */
struct choice {
    int node, loss_term;
    int row;         /* its number, if it is fixed; NaN: drawn (see sampler_prog) */
    int states, low; /* states 0: it is a count */
};

/* The program, its layers, its loss terms and its discrete latents. */
struct elbo {
    struct qnet *q;
    struct prog prog;
    vec(struct block) block;     /* all layers: those of q, then those of the model's networks */
    struct loss_term *loss_term; /* those of q, then the prior and the data */
    int num_loss_terms;
    vec(struct choice) choice;
    int configs; /* of all choices together; 1 without any; 0: too many to enumerate */
    struct arena mem;
};

/* q must outlive it.  NAMI_EINPUT if the model has no density or a latent no factor. */
int elbo_make(struct elbo *e, struct qnet *q, nami_err *err);
void elbo_free(struct elbo *e);
/* The number of the loss term log p(x | z). */
static inline int elbo_data(const struct elbo *e) { return e->num_loss_terms - 1; }
/* The state of choice k in configuration c. */
int elbo_state(const struct elbo *e, int c, int k);
/* Weights to start from: param[e->prog.nparam]. */
void elbo_start(const struct elbo *e, uint64_t seed, float *param);
/* Copies the weights of the model's networks from the parameters to the model. */
void elbo_model(const struct elbo *e, const float *param);

#endif
