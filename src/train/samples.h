/* samples.h: the training data of a run: fresh draws of the model, draws from a file, or
   observations. */
#ifndef TRAIN_SAMPLES_H
#define TRAIN_SAMPLES_H

#include "train/training.h"

/* Reads a file of draws to r->points: before training_prepare, which then draws none, or, for a
   resumed run, after network_read. path NULL: none. A resumed run requires the same number of draws
   as before, if they came from a file. */
int samples_read(struct training *r, const char *path, nami_err *err);
/* Reads observations, "x=FILE" or "FILE" (feed.h), or, without files, takes those of data sets;
   splits them according to the plan. To be called at the same point as samples_read. */
int samples_feed(struct training *r, const char *const *file, int nfile, const struct data *sets,
                 nami_err *err);
/* Preprocesses observations as for training (brightness, according to the plan); checks that all
   observed arrays are present.
 */
int samples_brighten(const struct network *n, struct feeds *f, nami_err *err);
int samples_complete(const struct network *n, const struct feeds *f, nami_err *err);
/* The source of minibatches: the above, of which it takes ownership, or draws of the model with
   this seed. NULL after an error. */
int samples_source(struct training *r, uint64_t seed, struct source **out, nami_err *err);

#endif
