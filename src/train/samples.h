/* samples.h: the training data of a run: fresh draws of the model, draws from a file, or
   observations. */
#ifndef TRAIN_SAMPLES_H
#define TRAIN_SAMPLES_H

#include "train/training.h"

/* Reads a file of draws to r->points: before training_prepare, which then needs no others, or, for
   a run that goes on, after network_read.  path NULL: none.  A run that goes on wants what it had:
   as many draws of a file, if they came from one. */
int samples_read(struct training *r, const char *path, nami_err *err);
/* Observations to learn from, "x=FILE" or "FILE" (feed.h), or, without files, data sets; shared out
   as the plan says; as of samples_read, before or after. */
int samples_feed(struct training *r, const char *const *file, int nfile, const struct data *sets,
                 nami_err *err);
/* Observations as a network was trained on: brightness by the plan; is all that is observed there?
 */
int samples_brighten(const struct network *n, struct feeds *f, nami_err *err);
int samples_complete(const struct network *n, const struct feeds *f, nami_err *err);
/* These, which are taken over, or draws of the model with this seed.  NULL after an error. */
int samples_source(struct training *r, uint64_t seed, struct source **out, nami_err *err);

#endif
