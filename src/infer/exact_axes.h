/* exact_axes.h: joint iteration over a table and a smaller one over a subset of its variables. */
#ifndef INFER_EXACT_AXES_H
#define INFER_EXACT_AXES_H

#include "infer/exact.h"

/* Axes of the larger table, the last one varying fastest, and their strides in the smaller one: 0
   for variables that it does not contain. Adjacent axes that are contiguous in both are merged. */
enum { AXES = 64 };
struct axes {
    int n;
    size_t size[AXES], stride[AXES];
};

/* stride[k] is that of var[k] in the smaller table. */
void axes_init(struct axes *a, const struct dnet *d, const struct dclique *c, const int *var,
               int nvar, const size_t *stride);
/* The same for a subset of the clique in the same order, the last varying fastest. */
void axes_sub(struct axes *a, const struct dnet *d, const struct dclique *c, const int *var,
              int nvar);

/* Called for each run of the last axis: t[0 .. n-1] corresponds to s[0], s[stride], ... */
typedef void axes_run(size_t n, size_t stride, double *t, double *s, size_t half);
void axes_each(const struct axes *a, axes_run *run, double *t, double *s, size_t half);

axes_run run_add;     /* t += s */
axes_run run_max;     /* s = max(s, t) */
axes_run run_exp;     /* s[half ..] += exp(t - s) */
axes_run run_collect; /* s += exp(t) */

/* s = log sum exp(t) over the variables that s does not contain; s has space for 2 * size. */
void axes_log_sum(const struct axes *a, double *t, double *s, size_t size);

/* The smallest clique that contains the latent ones of these variables: -1 if none is latent, -2 if
   there is no such clique. */
int ctree_find(const struct ctree *t, const int *var, int n);

#endif
