/* samples.h: the draws that a run trains on: fresh ones of the model, or those of a file. */
#ifndef TRAIN_SAMPLES_H
#define TRAIN_SAMPLES_H

#include "train/training.h"

/* path NULL: of the model, with this seed.  A run that was read from a file wants what it had: as
   many draws of a file, if they came from one.  *out is new, or NULL after an error. */
int samples_source(struct training *r, const char *path, uint64_t seed, struct source **out,
                   nami_err *err);

#endif
