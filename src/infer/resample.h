/* resample.h: equally weighted draws from weighted ones, by systematic resampling. */
#ifndef INFER_RESAMPLE_H
#define INFER_RESAMPLE_H

#include <stddef.h>

/* The state of a data set whose draws come block by block; {0} before its first. */
struct resample {
    double below; /* the weight of all draws so far */
    size_t given; /* their copies */
    size_t seen;
};

/* How often each of the next n draws of a data set of `per` is taken: the copies of all draws sum
   to `per`, and those of a draw are its weight times `per`, rounded up or down.  Copies are side by
   side, so that programs that estimate effective sample sizes from autocorrelations notice them.
   logw: logarithms of normalized weights.  Returns 1 if each draw is taken once. */
int resample(struct resample *r, size_t per, size_t n, const double *logw, unsigned *copies);

#endif
