/* conjugate.h: integrals with a closed form.  As a function of the variables of a component, the
   log integrand is

       log f(v) = c + sum over k of theta_k T_k(v)

   with known statistics T: an unnormalized density of an exponential family.  Its coefficients are
   found from values of the integrand, not from the names of distributions, so that a prior and
   likelihoods of any names are recognized.

   The body is evaluated at a center and at one further probe for each coefficient; the differences
   of log f are linear in theta.  Far from the mass of the integrand they lose digits, so the center
   moves to the mean that the fit implies, until it is there.  Then log Z = log f(center) - log
   p(center), with the normalized density p of the family: large numbers cancel inside of p, whose
   formulas take care of it. */
#ifndef EXACT_CONJUGATE_H
#define EXACT_CONJUGATE_H

#include <math.h>

#include "dist/dist.h"
#include "exact/integral.h"

enum { CONJUGATE_CHECKS = 10, MATRIX_ORDER = 16 /* rows at most */ };
enum fit_state { FIT_MOVING, FIT_FOUND, FIT_IMPOSSIBLE, FIT_NOT_FINITE };

/* The fit of one component, for the lanes of a slab.  Arrays have rows of `stride` doubles. */
struct fit {
    const struct family *family;
    int num_vars, num_params, num_args; /* args: of dist, at least num_params rows */
    int live, lanes, stride; /* lanes: rounded up to groups of 8, of which the body may skip some */
    double *center;          /* (num_vars) in the coordinates of family.values */
    double *state;  /* enum fit_state: the center moves, is found; f is 0; log f is not finite */
    double *value;  /* log f at the center, */
    double *size;   /* and the sum of the absolute values of its terms */
    double *param;  /* (num_args) log f at probes 1 .. minus value; then arguments of dist */
    double *weight; /* (num_args) d log Z / d log f at probes 1 .. */
    double *work;   /* (FIT_WORK) */
    double *one;    /* (3 num_args), of one lane */
    struct lanes *element; /* (2 num_vars) for block kernels */
    double **pointer;
    double *scratch; /* of dist's kernels */
};
enum { FIT_WORK = 12 };
static inline double *fit_row(const struct fit *f, double *rows, int k)
{
    return rows + (size_t)k * (size_t)f->stride;
}

/* What a component is: a scalar, with two arguments of dist; a simplex, with one for each element;
   a symmetric positive definite matrix, with a number and a matrix. */
enum family_shape { SHAPE_NUMBER, SHAPE_SIMPLEX, SHAPE_MATRIX };

struct family {
    const struct dist *dist; /* of the variables, given the integrand */
    enum family_shape shape;
    double low, high;                   /* support of each variable; of matrices, of the diagonal */
    void (*start)(const struct fit *f); /* the first center */
    /* Values of the variables (num_vars) at a point: 0 the center, 1 .. num_params the probes,
       then CONJUGATE_CHECKS others, at which the fit is checked. */
    void (*values)(const struct fit *f, int point, double *var);
    void (*statistic)(const struct fit *f, int k, const double *var, double *out); /* T_k */
    void (*solve)(const struct fit *f); /* differences in param to arguments of dist */
    void (*move)(const struct fit *f);  /* centers and states of the lanes that move */
    /* log p at the center, and its derivatives by the arguments (num_params), if not NULL. */
    void (*density)(const struct fit *f, double *out, double *by_param);
    void (*weigh)(const struct fit *f); /* weights from these derivatives, which stand there */
    /* Scalars: a positive coordinate x of the variable, near alpha / beta if v is near its mean.
       The probes are at x, x / 2 and 2 x. */
    void (*value)(int n, const double *x, double *var);
    double most;     /* of x: further on, v is rounded to the end of its support */
    double shift[2]; /* argument k = theta_k + shift[k]; of a simplex, theta_k + shift[0] */
    /* Matrices: what stands in param becomes arguments of dist; log f at values of the variables,
       as the fit has it, relative to that at the center, without statistics. */
    int inverse; /* its inverse has a Wishart density */
    void (*arguments)(const struct fit *f, double *to);
    void (*predict)(const struct fit *f, const double *var, double *out);
};

int conjugate_plan(struct integral *g, const struct family *family, nami_err *err);
block_fn conjugate_run, conjugate_moments;
block_grad_fn conjugate_back;
void conjugate_draw(const void *self, const struct stream *s, const int *dim, int L,
                    double *const *out, const struct lanes *in, double *work);
int conjugate_fits(const struct integral *g, int L, const struct lanes *in, double *work);

#define CONJUGATE_KERNELS                                                                          \
    .plan = plan, .run = conjugate_run, .back = conjugate_back, .draw = conjugate_draw,            \
    .moments = conjugate_moments, .fits = conjugate_fits, .misfit = "is not conjugate"

/* ---- scalars: conjugate_scalar.c ------------------------------------------------------------ */

void scalar_start(const struct fit *f);
void scalar_values(const struct fit *f, int point, double *var);
void scalar_solve(const struct fit *f);
void scalar_move(const struct fit *f);
void scalar_weigh(const struct fit *f);
/* The density of a distribution with arguments alpha and beta at x. */
void scalar_density(const struct fit *f, const struct dist *dist, const double *x, double *out,
                    double *by_param);

#define SCALAR_FAMILY                                                                              \
    .start = scalar_start, .values = scalar_values, .statistic = statistic, .solve = scalar_solve, \
    .move = scalar_move, .density = log_density, .weigh = scalar_weigh, .value = value

/* ---- matrices: conjugate_matrix.c ------------------------------------------------------------ */

void matrix_start(const struct fit *f);
void matrix_values(const struct fit *f, int point, double *var);
void matrix_solve(const struct fit *f);
void matrix_move(const struct fit *f);
void matrix_density(const struct fit *f, double *out, double *by_param);
void matrix_weigh(const struct fit *f);
void matrix_arguments(const struct fit *f, double *to);
void matrix_predict(const struct fit *f, const double *var, double *out);

#define MATRIX_FAMILY                                                                              \
    .shape = SHAPE_MATRIX, .high = INFINITY, .start = matrix_start, .values = matrix_values,       \
    .solve = matrix_solve, .move = matrix_move, .density = matrix_density, .weigh = matrix_weigh,  \
    .arguments = matrix_arguments, .predict = matrix_predict

#endif
