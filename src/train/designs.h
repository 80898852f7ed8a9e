/* designs.h: the designs that an open network is trained on, and a network for each of them.

   A design has sizes, constants and a pattern of missing observations (design_draw.h).  All
   networks have the weights of the kinds of their terms and steps (net/kinds.h); a step of training
   takes one design.  The first design is that of the data at hand; its trainer holds all weights:
   those of the first network, then those of kinds that it does not have.  Which designs there are,
   and which one a step takes, depends on the seed alone. */
#ifndef TRAIN_DESIGNS_H
#define TRAIN_DESIGNS_H

#include "net/network.h"
#include "train/trainer.h"

struct designs;

int designs_wanted(const struct plan *plan);

/* Draws designs by the plan of `first`, which is inverted; makes the networks of all, that of
   `first` included, with its table of kinds if it was read from a file.  *out is freed with
   designs_free, also after an error; `first` must outlive it. */
int designs_make(struct designs **out, struct network *first, int threads, nami_err *err);
void designs_free(struct designs *d);

/* The trainers; *t, the first, is the caller's. */
int designs_start(struct designs *d, struct trainer *t, int batch, int threads, nami_err *err);
/* Loss, total, grad and norm of a step in *t; the same of a validation batch, without gradients. 0,
 * or as trainer_gradient. */
int designs_gradient(struct designs *d, struct trainer *t, uint64_t step, const struct batch *b);
int designs_loss(struct designs *d, struct trainer *t, int k, const struct batch *b);

/* Calls each() for the weights that the first network does not have: see network_each_weight. */
int designs_each_weight(const struct designs *d,
                        int (*each)(void *arg, const char *name, int num_dims, const size_t *dim,
                                    size_t at, nami_err *err),
                        void *arg, nami_err *err);
/* These weights of a file to param. */
int designs_take_weights(const struct designs *d, const struct network *n, float *param,
                         nami_err *err);

#endif
