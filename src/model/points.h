/* points.h: draws of all random variables of a model, in from a file. */
#ifndef MODEL_POINTS_H
#define MODEL_POINTS_H

#include "model/view.h"

/* Reads what `nami simulate -o` has written, or another program: .npz (an array for each variable,
   first axis = draws) or data sets, one a draw (see data_read).  *x[row * *n + i] is draw i, to be
   freed; rows of what is computed are 0.  All that has a distribution must be there, in the model's
   shape, and possible: no NaN, nothing beyond the bounds of its distribution. */
int points_read(const struct model *m, const char *path, size_t *n, double **x, nami_err *err);

/* The row of an element that has a distribution; -1 for others. */
int point_row(const struct model *m, int e);
/* Can such an element be x, by the bounds of its distribution?  If not: what it must be, said of
   the i-th `of` "draw", "observation" ... */
int point_possible(const struct model *m, int e, double x);
int point_refuse(const struct model *m, int e, double x, const char *of, size_t i, nami_err *err);

#endif
