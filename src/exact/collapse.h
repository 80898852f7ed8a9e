/* collapse.h: a model some of whose latents are integrated out exactly, step by step.  A step
   integrates latents of one kind out of the program that the steps before left; what the last step
   leaves is the collapsed density, log p(x, z_N), of the latents z_N that stay. */
#ifndef EXACT_COLLAPSE_H
#define EXACT_COLLAPSE_H

#include "base/arena.h"
#include "exact/split.h"
#include "model/problem.h"
#include "model/view.h"

struct exact_step {
    const struct integral_kind *kind;
    vec(int) node;
    struct integral integral;
    struct prog rest;
};

/* The conditional moments of an exact latent: rows of collapse.moments. */
struct exact_moment {
    int row; /* of the latent, in the model */
    int mean, variance;
};

struct collapse {
    struct arena mem;
    const struct model *model;
    struct prog start; /* log p(x, z) without barren latents */
    vec(struct exact_step *) step;
    int by_name;       /* the user named what to integrate out: costly kinds are welcome */
    int num_left;      /* scalars of latents that stay */
    const char **kind; /* by node: of an exact latent; otherwise NULL */
    const char **why;  /* by node: why a latent stays, a clause that follows its name; or NULL */
    struct prog draw;  /* draws the exact latents given the others, in their rows */
    struct prog mean;  /* their means instead; inner ones given the means of outer ones */
    /* Conditional means and variances of the exact latents, given the values of all latents
       that were integrated out after them or not at all; not for costly integrals of costly ones. */
    struct prog moments;
    vec(struct exact_moment) moment;
    double cost; /* operations for each draw, about */
};

/* Finds out which latents can be integrated out, in an order that is natural in this mode (best is
   not one). which: NULL or "auto"; "none"; "all", also by costly integrals; or a list of names.  A
   model without a density, or with latents that are not to be inferred, has none.  Call
   collapse_free also after an error. */
int collapse_make(struct collapse *c, const struct model *m, const struct problem *p,
                  const char *which, nami_err *err);
/* The same without a choice: the nodes of each step are known (kind[node], of a stored inverse). */
int collapse_again(struct collapse *c, const struct model *m, const struct problem *p,
                   const char *const *kind, nami_err *err);
void collapse_free(struct collapse *c);

/* Its total is log p(x, z_N), its first rows are the model's. */
const struct prog *collapse_density(const struct collapse *c);

/* ---- inside ------------------------------------------------------------------------------ */

/* The density of all but barren latents, no steps. */
int collapse_start(struct collapse *c, const struct model *m, const unsigned char *role,
                   nami_err *err);
/* Adds a step for these nodes.  NAMI_EINPUT or NAMI_ELIMIT, with a clause, if it is not possible:
   then nothing has changed. */
int collapse_step(struct collapse *c, int n, const int *node, const struct integral_kind *kind,
                  nami_err *err);
void collapse_pop(struct collapse *c); /* takes the last step back */
/* Takes back the steps from `first` on, as many as out has place for, and gives them to the caller.
 */
void collapse_cut(struct collapse *c, size_t first, struct exact_step **out);
/* Puts n steps that were cut there back, in place of those that are there now. */
void collapse_put_back(struct collapse *c, size_t first, size_t n, struct exact_step **step);
void exact_step_free(struct exact_step *step);
double prog_cost(const struct prog *p); /* operations for each lane, about */

#endif
