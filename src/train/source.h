/* source.h: the source of minibatches: the model, a file of draws, observations, or a simulator
   that runs ahead in the background. */
#ifndef TRAIN_SOURCE_H
#define TRAIN_SOURCE_H

#include "data/split.h"
#include "train/trainer.h"

struct source;

/* Of the model itself, or of its simulator if it has one.  `valid` points are kept for
   validation.  Batches are of `batch` points. */
int source_model(const struct model *m, uint64_t seed, int batch, int valid, struct source **out,
                 nami_err *err);
/* Of n given points x[row * n + i], which are taken over (freed).  The last `valid`, but no more
   than a tenth, are for validation; the others are shuffled anew in each epoch. */
int source_points(const struct model *m, uint64_t seed, int batch, int valid, size_t n, double *x,
                  struct source **out, nami_err *err);
/* Of observations, which stay the caller's: only rows that they feed are written.  Those to train
   on are shuffled anew in each epoch, and what is left of it below a batch is not used: next time,
   others are.  All to validate with are used: the last batch may have fewer (batch.count). */
int source_feeds(const struct feeds *f, const struct split *split, uint64_t seed, int batch,
                 struct source **out, nami_err *err);
void source_free(struct source *s);

/* The batch of this step, and the k-th of the validation batches.  They stay until the next call
   of the same function. A step's batch depends on its number only. */
int source_batch(struct source *s, uint64_t step, struct batch *b, nami_err *err);
int source_valid(struct source *s, int k, struct batch *b);
int source_nvalid(const struct source *s);    /* batches */
double source_waited(const struct source *s); /* seconds that training waited for a simulator */

#endif
