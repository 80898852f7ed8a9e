/* gallery.h: variables that are images, as pictures: draws of one, or data and what is predicted of
   them. */
#ifndef REPORT_GALLERY_H
#define REPORT_GALLERY_H

#include "data/draws.h"

/* Two dimensions, or one whose length is a square, both above 1. */
int gallery_shape(const struct draws_var *v, int *height, int *width);
/* The first image among variables; NAMI_EUSAGE if there is none. */
int gallery_find(int nvar, const struct draws_var *var, const struct draws_var **out,
                 nami_err *err);

/* Draws of an image, n of them: x[(v->base + e) * n + i].  Shades: numbers in [0, 1] are as they
   are; if there are others, the least is black and the largest white. */
int gallery_draws(const struct draws_var *v, size_t n, const double *x, const char *path,
                  nami_err *err);

/* Images of data sets, each above the mean of what is predicted of it: lines of ten, the first
   GALLERY_SETS data sets. */
enum { GALLERY_COLUMNS = 10, GALLERY_SETS = 40 };

struct gallery {
    const struct draws_var *var;
    size_t nset, k;
    double *sum, *weight; /* of predictions: (nset, k), (nset) */
};

int gallery_begin(struct gallery *g, const struct draws_var *v, size_t nset, nami_err *err);
/* Predictions number i of x[(var->base + e) * n + i] for this data set, with its weight. */
void gallery_put(struct gallery *g, size_t set, double weight, size_t n, const double *x, size_t i);
/* x[(var->base + e) * nset + s]: data set s. */
int gallery_save(const struct gallery *g, const double *x, size_t nset, const char *path,
                 nami_err *err);
void gallery_free(struct gallery *g);

#endif
