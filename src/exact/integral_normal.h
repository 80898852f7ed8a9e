/* integral_normal.h: the plan of an integral over linear Gaussian variables: how its kernels
   (integral_normal*.c) read coefficients from runs of the body, and where numbers are stored.

   Terms with the same variables form a bundle: a matrix with a row for each variable, their
   coefficients, and one for the residuals at 0, and a column for each residual. */
#ifndef EXACT_INTEGRAL_NORMAL_H
#define EXACT_INTEGRAL_NORMAL_H

#include "exact/integral.h"
#include "exact/lane_qr.h"

struct normal_bundle {
    int comp;
    int front; /* that of its first pivot; -1: it has no variables */
    int num_vars, num_residuals;
    int matrix;            /* -1: residuals have standard deviations */
    size_t first_var;      /* in normal.at, normal.pivot; num_vars of each */
    size_t first_residual; /* in normal.sd_of */
    size_t data;           /* entry: (num_vars + 1, num_residuals) */
    int end;               /* columns of its front that its residuals reach */
    size_t record;         /* entry: of its residuals, one after the other */
};

/* Row `row` of a run is entry `entry`; that of a run at 0 is entry `base`. */
struct normal_probe {
    int row, entry, base;
};

struct normal_matrix {
    int size;
    enum scale kind;
    const int *scale; /* as in struct normal_term */
    size_t factor;    /* entry: its Cholesky factor, a packed triangle */
    size_t gradient;  /* entry: (size, size) */
};

/* A standard deviation occurs so often in a component. */
struct normal_use {
    int sd, comp, count;
};

struct normal {
    struct lane_qr qr;
    int num_bundles, *bundle_start; /* (num_fronts + 1) by front; those without variables follow */
    struct normal_bundle *bundle;
    int *at, *pivot;  /* by variable of a bundle, ascending: row of its front, pivot */
    int *sd_of;       /* by residual of a bundle without a matrix: number of its sd */
    int num_sds, *sd; /* different standard deviations: rows of the body, or ~k */
    int num_matrices;
    struct normal_matrix *matrix;
    int num_uses;
    struct normal_use *use;
    int *front_comp;  /* (num_fronts) */
    double *constant; /* (num_comps) log integral: the powers of 2 pi */
    /* Run 0 is at 0; in run 1 + c, the variables of color c are not.  No residual reads two of one
       color. */
    int num_colors, *color;
    size_t *probe_start; /* (num_colors + 2) by run */
    struct normal_probe *probe;
    /* Numbers of a slab are stored in chunks of so many lanes: dense matrices fit the cache. */
    int chunk;
    size_t num_slab, num_scratch; /* entries that last for a slab, for a chunk */
    size_t sd_gradient;           /* entries of the slab */
    /* Entries of the scratch memory. */
    size_t weight, log_weight, log_factor, value, update, point, total, incoming;
    size_t record, message, work; /* of struct lane_matrix */
    size_t residual;              /* of struct lane_residual: one, or all of a matrix */
};

int normal_plan(struct integral *g, nami_err *err);
block_grad_fn normal_back;

#endif
