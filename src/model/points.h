/* points.h: reads draws of all random variables of a model from a file. */
#ifndef MODEL_POINTS_H
#define MODEL_POINTS_H

#include "model/view.h"

/* Reads a file of simulated draws: .npz (an array for each variable, first axis: draws) or data
   sets, one for each draw (see data_read). *x[row * *n + i] is draw i, to be freed by the caller;
   rows of deterministic variables are 0. All stochastic variables must be present, with the shapes
   of the model and values in the supports of their distributions. */
int points_read(const struct model *m, const char *path, size_t *n, double **x, nami_err *err);

/* The row of a stochastic element; -1 for others. */
int point_row(const struct model *m, int e);
/* Is x in the support of the distribution of such an element? If not, the error for item i of `of`
   ("draw", "observation", ...). */
int point_possible(const struct model *m, int e, double x);
int point_refuse(const struct model *m, int e, double x, const char *of, size_t i, nami_err *err);

#endif
