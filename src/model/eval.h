/* eval.h: draws from a model and its log density, for many points at once, on several threads. */
#ifndef MODEL_EVAL_H
#define MODEL_EVAL_H

#include "data/draws.h"
#include "model/given.h"

/* Computes draws first .. first+n-1 of the model: x[(size_t)row * n + i] for each of its rows. A
   draw depends only on (seed, its number). first % 4 == 0. The rows of free constants are set to
   their values. NAMI_EUSAGE if this would run a simulator that is locked (model_lock_simulator). */
int model_simulate(const struct model *m, uint64_t seed, uint64_t first, size_t n, int threads,
                   double *x, nami_err *err);
/* The same from the training distribution: latents of train statements are drawn from these in place
   of their priors. */
int model_simulate_training(const struct model *m, uint64_t seed, uint64_t first, size_t n,
                            int threads, double *x, nami_err *err);
/* Description of the program that this would run (data/simulator.h); empty if there is none. */
void model_simulator(const struct model *m, struct str *out);

/* Redraws the observed variables of n points x given all others (posterior prediction), with the
   random numbers of draws first ... (first % 8 == 0). Variables drawn by a simulator are not
   changed. */
int model_predict(const struct model *m, uint64_t seed, uint64_t first, size_t n, int threads,
                  double *x, nami_err *err);

/* log p of n points; x as above (deterministic rows are not read). grad, if not NULL: its
   derivatives with respect to every row, in the same layout (0 for deterministic rows); dweights,
   if not NULL: with respect to the weights of all networks in turn, summed over the points;
   by_stmt, if not NULL: the contribution of each statement, by_stmt[s * n + i]. */
struct density {
    double *logp, *grad, *dweights, *by_stmt;
};
int model_logp(const struct model *m, size_t n, const double *x, int threads,
               const struct density *out, nami_err *err);
/* The same for another program whose first rows are the model's (no by_stmt, no dweights). */
int program_logp(const struct model *m, const struct prog *p, size_t n, const double *x,
                 int threads, const struct density *out, nami_err *err);

/* Copies the values of all stochastic elements from a data set to point i of n. A missing value is
   an error, or becomes NaN if `some`; a constant with a different value is an error. */
int model_point(const struct model *m, const struct dataset *d, size_t n, size_t i, int some,
                double *x, nami_err *err);
/* The same for an opened data set; constants are not compared. */
int point_given(const struct given *g, size_t n, size_t i, int some, double *x, nami_err *err);
/* NAMI_EINPUT unless all constants have values. */
int model_needs_values(const struct model *m, nami_err *err);

/* Arrays as variables of tables and files, with elements in consecutive rows: rows of the model or,
   if only some elements of an array are random, additional rows after these. */
struct layout {
    int nvar;
    struct draws_var *var; /* element e of variable v: row var[v].base + e */
    size_t nrow;           /* rows of the model and additional rows */
    int *elem;             /* the element of the model in additional row k */
};
/* `names`: comma-separated list, or NULL for stochastic arrays, or all. Names are borrowed from the
   model; the rest is allocated in `mem`. */
int model_layout(const struct model *m, const char *names, int all, struct arena *mem,
                 struct layout *out, nami_err *err);
/* Fills the additional rows, x[row * n + i], with draws, constants, or missing values for elements
   that are not defined. */
void layout_fill(const struct model *m, const struct layout *l, size_t n, double *x);

/* The named arrays of draws in x, for output files: stochastic ones, or all. `names`:
   comma-separated list or NULL. Except for x and names, the result is allocated in `mem`. */
int model_draws(const struct model *m, size_t n, const double *x, const char *names, int all,
                struct arena *mem, struct draws *out, nami_err *err);

#endif
