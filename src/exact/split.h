/* split.h: takes variables out of a program of log densities: the terms that depend on them become
   an integral, which the rest of the program evaluates. */
#ifndef EXACT_SPLIT_H
#define EXACT_SPLIT_H

#include "exact/integral.h"

/* p: a program whose total is a sum of terms (results of instructions with `sum`, in rows).  Its
   rows below nnode are given.  *g becomes the integral of all terms that depend on the variables
   (rows var[k].row), of this kind, with its body and components; *rest the program of the other
   terms and of the integral: its total is log of the integral over the variables of exp(total of
   p).  Rows below nnode have the same numbers in both.  The instructions of rest borrow from *g,
   which must outlive it and must not move.  NAMI_EINPUT or NAMI_ELIMIT if it is not possible, with
   the reason as a clause that follows the name of a variable.  Both must be freed, also after an
   error. */
int split_integral(const struct prog *p, int num_vars, const struct variable *var,
                   const struct integral_kind *kind, struct integral *g, struct prog *rest,
                   nami_err *err);
void integral_free(struct integral *g);

/* Appends to p, in whose first nnode rows the values of the model stand, what the inputs need of
   `rest`, and an instruction that draws the variables of g to their rows. */
int split_draw(const struct prog *rest, const struct integral *g, struct prog *p);
/* The same with their means instead of draws. */
int split_means(const struct prog *rest, const struct integral *g, struct prog *p);
/* Appends what computes the means of the variables, given the inputs, to rows first .. first +
   num_vars - 1, and their variances to the num_vars rows after these. */
int split_moments(const struct prog *rest, const struct integral *g, struct prog *p, int *first);

#endif
