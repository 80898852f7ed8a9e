/* integral.h: sums and integrals as instructions of a program.

   An integral has variables and terms: it is log of the integral (or sum) over the variables of
   exp(sum of terms).  The terms are computed by a program of its own, the body, which its kernel
   runs at several values of the variables.  Variables that share a term are in one component;
   components are integrated separately, all of them in the same runs of the body.  Integrals nest:
   a body may contain integrals.

   In a program, an integral is an instruction I_BLOCK with one argument, the inputs of the body,
   and one result for each component (kind->run, kind->back); or I_BDRAW, whose results are draws of
   the variables, given the inputs, from the normalized integrand (kind->draw).

   A kind of integral is one file integral_<id>.c and one row of integral.def. */
#ifndef EXACT_INTEGRAL_H
#define EXACT_INTEGRAL_H

#include "tensor/tensor.h"

struct integral;

struct integral_kind {
    const char *name, *what; /* "normal"; for `nami list` */
    /* Checks the components and plans the computation: sets g->own (in g->body.mem), g->extra and
       g->runs.  NAMI_ELIMIT or NAMI_EINPUT if it is not of this kind, with the reason as a clause
       that follows the name of a variable: "has a table of 1e9 entries". */
    int (*plan)(struct integral *g, nami_err *err);
    block_fn *run; /* out[c]: log integral of component c */
    block_grad_fn
        *back; /* it may not rely on out[c], but, unless out is NULL, on what g->kept says */
    void (*draw)(const void *self, const struct stream *s, const int *dim, int L,
                 double *const *out, const struct lanes *in, double *work); /* out[v] */
    /* out[v]: mean of variable v, out[num_vars + v]: its variance, given the inputs. */
    block_fn *moments;
    int discrete;     /* its variables are discrete */
    int vectors;      /* 1: it also integrates over variables that are vectors; 2: matrices */
    int normal_terms; /* terms are struct normal_term, not rows of log densities */
    int plates;       /* costly: unless the user asks for it, only for plates */
    int probed;       /* Markov chains that draw its variables cost less: "closed" excludes it */
    /* Is the integrand of this kind, for L lanes of inputs (draws of the prior)?  1 yes, 0 no.
       NULL: whatever plan accepts. */
    int (*fits)(const struct integral *g, int L, const struct lanes *in, double *work);
    const char *misfit; /* if it is not: a clause that follows the name of a variable */
};

#define INTEGRAL(id) extern const struct integral_kind integral_##id;
#include "exact/integral.def"
#undef INTEGRAL
extern const struct integral_kind *const integral_kinds[]; /* NULL at the end */

/* One variable: a scalar. */
struct variable {
    int row;    /* of the model; also the number of its random stream */
    int states; /* discrete: low, low + 1, ..., low + states - 1; -1: too many; 0: continuous */
    double low, high; /* continuous: its support */
};

/* A term of a normal integral: a normal density with mean 0 of `size` residuals that are affine in
   the variables; the scale does not depend on the variables. */
enum scale { SCALE_SD, SCALE_COVARIANCE, SCALE_PRECISION };
struct normal_term {
    int size, residual; /* rows residual .. residual + size - 1 of the body */
    enum scale kind;
    int *scale; /* one sd, or (size, size): rows of the body; or ~k: its constant number k */
};

struct integral {
    const struct integral_kind *kind;
    struct prog body; /* rows: inputs, variables, what it computes */
    int num_inputs, num_vars, num_comps, num_terms;
    int *input; /* (num_inputs) rows of the program that evaluates it */
    struct variable *var;
    int *var_start;             /* (num_comps + 1) component c has the variables var_start[c] .. */
    int *term_start;            /* (num_comps + 1) and the terms term_start[c] .. */
    int *term;                  /* row of each term in the body; NULL for normal integrals */
    struct normal_term *normal; /* the terms of normal integrals; otherwise NULL */
    size_t *scope_start; /* (num_terms + 1) term t reads the variables scope[scope_start[t]] .., */
    int *scope;          /* ascending; none, if it is a constant factor of its component */
    int lanes;           /* of the body's workspace: lanes are processed in slabs of this number */
    /* set by plan */
    void *own;
    size_t extra; /* doubles of workspace in addition to the body's */
    double runs;  /* of the body for each draw (an expectation), to estimate cost */
    int kept;     /* results out[num_comps] .., so many, that `run` leaves for `back` */
};

/* Chooses the lanes of a slab and calls kind->plan. */
int integral_plan(struct integral *g, nami_err *err);
int integral_work(const struct integral *g); /* doubles: instr.nwork */

/* ---- for kernels ------------------------------------------------------------------------- */

/* The body in a kernel's workspace. */
struct visit {
    const struct integral *g;
    int draws, copies; /* lane k * draws + b is copy k of draw b */
    struct exec x;
    double *extra; /* g->extra doubles */
};
/* with_back: derivatives will be computed. */
void visit_begin(struct visit *v, const struct integral *g, int with_back, double *work);
/* Copies lanes from .. from + n - 1 of the inputs, n at most g->lanes; further lanes that complete
   a group of 8 are copies of the last one.  Sets v->x.lanes. */
void visit_inputs(struct visit *v, const struct lanes *in, int from, int n);
/* The same for several copies of these lanes, n * copies <= g->lanes: the body can then be
   evaluated at several values of the variables at once. */
void visit_copies(struct visit *v, const struct lanes *in, int from, int n, int copies);
/* The same in rows without gaps, which are faster: rows of the body move. */
void visit_packed(struct visit *v, const struct lanes *in, int from, int n, int copies);
static inline double *visit_row(const struct visit *v, int row)
{
    return v->x.row + (size_t)row * (size_t)v->x.cap;
}
/* The lanes of variable k: to be set before visit_run, in visit_width lanes. */
static inline double *visit_var(const struct visit *v, int k)
{
    return visit_row(v, v->g->num_inputs + k);
}
static inline const double *visit_term(const struct visit *v, int t)
{
    return visit_row(v, v->g->term[t]);
}
int visit_width(const struct visit *v);           /* lanes rounded up to a multiple of 8 */
void visit_set(struct visit *v, int k, double x); /* variable k of all lanes */
static inline void visit_run(struct visit *v) { exec_run(&v->x); }
/* Derivatives, after visit_run: first all are set to 0; */
void visit_back_begin(struct visit *v);
/* then d result / d row is to be added for the rows of terms; */
static inline double *visit_adj(const struct visit *v, int row)
{
    return v->x.adj + (size_t)row * (size_t)v->x.cap;
}
/* then derivatives with respect to the inputs are added to din[input][from + draw], copy by copy.
   Those of variables are in visit_adj(v, num_inputs + k) afterwards. */
void visit_back(struct visit *v, double *const *din, int from);

#endif
