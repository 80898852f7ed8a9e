/* eval.h: a model's draws and densities, many at a time, on all threads. */
#ifndef MODEL_EVAL_H
#define MODEL_EVAL_H

#include "data/draws.h"
#include "model/given.h"

/* Draws first .. first+n-1 from the model: x[(size_t)row * n + i] for each of its nrow rows.
   The same (seed, draw) gives the same numbers however they are asked for. first % 4 == 0.
   The rows of free constants get their values.  NAMI_EUSAGE if a simulator would have to run that
   nobody has allowed (model_lock_simulator). */
int model_simulate(const struct model *m, uint64_t seed, uint64_t first, size_t n, int threads,
                   double *x, nami_err *err);
/* The program that this would run, for people (data/simulator.h); nothing if there is none. */
void model_simulator(const struct model *m, struct str *out);

/* Draws the observed variables of n points x anew, given all others; random numbers of draws
   first ... (first % 8 == 0).  What a simulator draws stays. */
int model_predict(const struct model *m, uint64_t seed, uint64_t first, size_t n, int threads,
                  double *x, nami_err *err);

/* log p of n points; x as above (deterministic rows are not read). grad, if not NULL: its
   derivatives by every row, in the same layout (0 for deterministic ones); dweights, if
   not NULL: by the weights of all networks in turn, summed over the points;
   by_stmt, if not NULL: the share of each statement, by_stmt[s * n + i]. */
struct density {
    double *logp, *grad, *dweights, *by_stmt;
};
int model_logp(const struct model *m, size_t n, const double *x, int threads,
               const struct density *out, nami_err *err);

/* Puts a data set's values of all stochastic elements into point i of n; what it
   does not give is an error, or NaN if `some`; so is another value of a constant. */
int model_point(const struct model *m, const struct dataset *d, size_t n, size_t i, int some,
                double *x, nami_err *err);
/* The same, of a data set that was opened; constants are not compared. */
int point_given(const struct given *g, size_t n, size_t i, int some, double *x, nami_err *err);
/* Constants must have values for this. */
int model_needs_values(const struct model *m, nami_err *err);

/* Arrays as variables of tables and files, whose elements are consecutive rows: those of the model,
   or, if only some elements of an array are random, rows of its own behind them. */
struct layout {
    int nvar;
    struct draws_var *var; /* element e of variable v: row var[v].base + e */
    size_t nrow;           /* of the model, and behind them */
    int *elem;             /* the model's element of row k behind its own */
};
/* `names`: a comma list, or NULL for stochastic arrays, or all.  Names are the model's; the rest is
   in `mem`. */
int model_layout(const struct model *m, const char *names, int all, struct arena *mem,
                 struct layout *out, nami_err *err);
/* Fills the rows behind those of the model, x[row * n + i]: with draws, constants, or missing
   values for elements that nothing defines. */
void layout_fill(const struct model *m, const struct layout *l, size_t n, double *x);

/* The named arrays of draws in x, for files: stochastic ones, or all. `names`: a comma list or
   NULL.  What is not x or a name of the model is in `mem`. */
int model_draws(const struct model *m, size_t n, const double *x, const char *names, int all,
                struct arena *mem, struct draws *out, nami_err *err);

#endif
