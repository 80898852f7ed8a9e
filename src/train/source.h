/* source.h: the source of minibatches: the model, a file of draws, observations, or a simulator
   that runs ahead in the background. */
#ifndef TRAIN_SOURCE_H
#define TRAIN_SOURCE_H

#include "data/split.h"
#include "train/trainer.h"

struct source;

/* Draws of the model, or of its simulator if it has one. `valid` points are reserved for
   validation. Batches have `batch` points. */
int source_model(const struct model *m, uint64_t seed, int batch, int valid, struct source **out,
                 nami_err *err);
/* The same for batches in parts: a simulator runs for those of this process only. */
int source_model_parts(const struct model *m, uint64_t seed, int batch, int valid,
                       const struct sum *parts, struct source **out, nami_err *err);
/* n given points x[row * n + i], of which it takes ownership. The last `valid`, but at most a
   tenth, are for validation; the others are reshuffled in each epoch. */
int source_points(const struct model *m, uint64_t seed, int batch, int valid, size_t n, double *x,
                  struct source **out, nami_err *err);
/* Observations, which are borrowed: only the rows of observed arrays are written. The training set
   is reshuffled in each epoch, and an incomplete last batch is dropped. The validation set is used
   completely: its last batch may be smaller (batch.count). */
int source_feeds(const struct feeds *f, const struct split *split, uint64_t seed, int batch,
                 struct source **out, nami_err *err);
void source_free(struct source *s);

/* The batch of this step, and the k-th validation batch; valid until the next call of the same
   function. The batch of a step depends only on its number. */
int source_batch(struct source *s, uint64_t step, struct batch *b, nami_err *err);
int source_valid(struct source *s, int k, struct batch *b);
int source_nvalid(const struct source *s);    /* batches */
int source_epoch(const struct source *s);     /* steps of an epoch; 0: draws are always fresh */
double source_waited(const struct source *s); /* seconds that training waited for a simulator */

#endif
