/* points.h: draws of all random variables of a model, in from a file. */
#ifndef MODEL_POINTS_H
#define MODEL_POINTS_H

#include "model/model.h"

/* Reads what `nami simulate -o` has written, or another program: .npz (an array for each variable,
   first axis = draws) or data sets, one a draw (see data_read).  *x[row * *n + i] is draw i, to be
   freed; rows of what is computed are 0.  All that has a distribution must be there, in the model's
   shape, and possible: no NaN, nothing beyond the bounds of its distribution. */
int points_read(const struct model *m, const char *path, size_t *n, double **x, nami_err *err);

#endif
