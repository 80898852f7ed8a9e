/* gallery.h: pictures of image-valued variables: draws, or data with their posterior predictive
   means. */
#ifndef REPORT_GALLERY_H
#define REPORT_GALLERY_H

#include "data/draws.h"

/* Is v an image?  Two dimensions, or a vector whose length is a square; sides larger than 1. */
int gallery_shape(const struct draws_var *v, int *height, int *width);
/* The first image among variables; NAMI_EUSAGE if there is none. */
int gallery_find(int nvar, const struct draws_var *var, const struct draws_var **out,
                 nami_err *err);

/* n draws of an image: x[(v->base + e) * n + i].  Values in [0, 1] are gray levels; if there are
   others, the smallest is black and the largest white. */
int gallery_draws(const struct draws_var *v, size_t n, const double *x, const char *path,
                  nami_err *err);

/* Observed images, each above its posterior predictive mean, in rows of ten; the first GALLERY_SETS
   data sets. */
enum { GALLERY_COLUMNS = 10, GALLERY_SETS = 40 };

struct gallery {
    const struct draws_var *var;
    size_t nset, k;
    double *sum, *weight; /* weighted sum of predictions, sum of weights: (nset, k), (nset) */
};

int gallery_begin(struct gallery *g, const struct draws_var *v, size_t nset, nami_err *err);
/* Adds prediction i, x[(var->base + e) * n + i], for this data set, with its weight. */
void gallery_put(struct gallery *g, size_t set, double weight, size_t n, const double *x, size_t i);
/* x[(var->base + e) * nset + s]: data set s. */
int gallery_save(const struct gallery *g, const double *x, size_t nset, const char *path,
                 nami_err *err);
void gallery_free(struct gallery *g);

#endif
