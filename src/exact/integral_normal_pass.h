/* integral_normal_pass.h: a pass of a kernel of linear Gaussian integrals over its lanes. */
#ifndef EXACT_INTEGRAL_NORMAL_PASS_H
#define EXACT_INTEGRAL_NORMAL_PASS_H

#include "exact/integral_normal.h"

struct pass {
    const struct integral *g;
    const struct normal *n;
    int with_back;
    struct visit v;
    double *slab, *scratch;
    int first, lanes; /* of the chunk in the slab */
    double *data;     /* the chunk's entries of the slab */
    struct lane_matrix matrix;
    double *point; /* variables by pivot */
    double *total; /* by component */
};

/* Entries of the scratch memory, and of the slab. */
static inline double *at(const struct pass *p, size_t entry)
{
    return p->scratch + entry * (size_t)p->lanes;
}

static inline double *of(const struct pass *p, size_t entry)
{
    return p->data + entry * (size_t)p->lanes;
}

/* Lanes of the chunk that are wanted. */
static inline int pass_live(const struct pass *p)
{
    int left = p->v.x.lanes - p->first;
    return left < p->lanes ? left : p->lanes;
}

void pass_begin(struct pass *p, const struct integral *g, int with_back, double *work);
/* All coefficients of lanes from .. from + num - 1. */
void pass_probe(struct pass *p, const struct lanes *in, int from, int num);
/* The next chunk of the slab; 0 at the end. */
int pass_next(struct pass *p);
/* Residuals of vectors whitened; the triangular form; total = -1/2 times the squares at the mean.
 */
void pass_eliminate(struct pass *p);
/* total += constants and determinants of the scales */
void pass_add_scales(struct pass *p);
/* point: from independent standard normal numbers to variables, or from 0 to their means. */
void pass_solve(struct pass *p);

/* 1 / standard deviation of residual k; NULL: it is whitened. */
const double *pass_weight(const struct pass *p, const struct normal_bundle *b, int k);
/* Derivatives with respect to residuals, instead of those with respect to whitened ones. */
void pass_whiten_back(const struct pass *p, const struct normal_bundle *b);
/* Derivatives with respect to the scales; of the slab: see integral_normal_back.c. */
void pass_finish_scales(const struct pass *p);
/* All runs again, backward; the last one has just been made. */
void pass_probe_back(struct pass *p, double *const *din, int from);

#endif
