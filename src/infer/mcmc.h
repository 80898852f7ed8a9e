/* mcmc.h: Hamiltonian Monte Carlo on the unconstrained coordinates of the latents that are left
   after exact elimination (net/joint.h), with many chains as lanes of one program.

   All chains share a step size, a mass matrix and a trajectory length, which are adapted to all of
   them: the step size to the acceptance rate (dual averaging: Nesterov 2009; Hoffman, Gelman
   2014), the length to the change in squared distance from the mean, ChEES (Hoffman, Radul,
   Sountsov 2021, AISTATS), the mass matrix to the covariance of the positions.  Trajectories of
   equal length keep the lanes together, which the doubling of NUTS does not.  Trajectories in the
   coordinates of joint.h take turns with trajectories in noncentered ones, if there are some, which
   have a step size, mass matrix and length of their own (mcmc_carry.c).

   Chains start at draws of the network, one of four (or, without a trained one, all) at random
   points; each first climbs towards a mode (L-BFGS, stopped early).  Chains that are stuck where
   next to no probability is go on from where others are.  They run until R-hat and the effective
   sample sizes are good (chains.h), or the budget is spent. */
#ifndef INFER_MCMC_H
#define INFER_MCMC_H

#include "base/stream.h"
#include "base/workers.h"
#include "data/summary.h"
#include "infer/infer.h"
#include "infer/lbfgs.h"
#include "net/joint.h"

enum {
    MCMC_CHAINS = 16,
    MCMC_LANES = 8,
    MCMC_DENSE = 100, /* coordinates of a full mass matrix */
    MCMC_SYMMETRIES = 4,
    MCMC_LABELED = 6
};

/* Can it be used: has the model a density, are all latents of the network continuous? */
int mcmc_can(const struct qnet *q);

/* n draws of the posterior of data set `set` to z[row * n + i], of which the observed rows are
   given: chain k has draws k * (n / MCMC_CHAINS) ...; the remainder repeats the first draws. start:
   coordinates of MCMC_CHAINS points, start[k * MCMC_CHAINS + chain], or NULL. */
int mcmc_set(const struct infer *a, const struct query *q, size_t set, size_t n, int threads,
             const double *start, double *z, double *pred, struct diagnostics *found,
             nami_err *err);

/* The same for set s of an answer that has draws of the network, which are replaced. */
struct answer;
int mcmc_answer(const struct infer *a, const struct query *q, struct answer *x, size_t s,
                int threads, nami_err *err);

/* ---- inside -------------------------------------------------------------------------------- */

/* Chains of one data set in one of its parameterizations; matrices are (dim, MCMC_CHAINS). */
struct mcmc {
    const struct infer *a;
    struct joint joint;
    int dim, threads;
    uint64_t seed, move;   /* moves so far */
    const double *data;    /* observed rows */
    double *u, *grad;      /* positions, derivatives of the log density there */
    double *from, *to, *p; /* of the last move: its ends, and the momenta at the second */
    double value[MCMC_CHAINS], share[MCMC_CHAINS]; /* log density; acceptance probability */
    double energy[MCMC_CHAINS];
    int diverged[MCMC_CHAINS];
    int dense; /* the mass matrix is the inverse of L L'; else L is diagonal */
    double *L; /* (dim, dim) or (dim) */
    double step;
    int leapfrogs; /* of the next move */
    int longest;   /* leapfrog steps of a move */
    struct workers workers;
};

/* The workspace of one thread: chains in lanes.  Matrices are (dim, MCMC_LANES). */
struct lanes_of_chains {
    struct exec x;
    double *p, *u, *g, *v;
    struct lbfgs search[MCMC_LANES];
};
int lanes_init(void *job, void *workspace, nami_err *err);
void lanes_fini(void *workspace);
/* Sets the data; the coordinates u. */
void lanes_data(const struct mcmc *s, struct lanes_of_chains *w);
void lanes_place(const struct mcmc *s, struct lanes_of_chains *w);
/* The data, and the coordinates u[k * MCMC_CHAINS + first ...] as w->u. */
void lanes_load(const struct mcmc *s, struct lanes_of_chains *w, const double *u, size_t first);
/* The log density and its derivatives at w->u, to w->x.total and w->g.  Is all of it finite? */
void lanes_evaluate(const struct mcmc *s, struct lanes_of_chains *w);
int lanes_inside(const struct mcmc *s, const struct lanes_of_chains *w, int lane);

int mcmc_open(struct mcmc *s, nami_err *err); /* workspaces, after joint, data, dim are set */
void mcmc_close(struct mcmc *s);
/* All chains, in lanes, by a job other than s, which chunk gets. */
int mcmc_run_job(struct mcmc *s, void *job, chunk_fn *chunk, nami_err *err);
/* Climbs from the positions u; their values and gradients.  NAMI_EINPUT if none is in the support.
 */
int mcmc_climb(struct mcmc *s, nami_err *err);
/* Random starting points of the chains that are wanted; mcmc_start.c. */
void mcmc_scatter(struct mcmc *s, const int *wanted);
/* Chains that are stuck, by n positions of each: chain c has coordinate k at u[k * stride + c *
   chain + i * step], and its log density as coordinate dim.  They continue from where others are
   now; how many.  work: mcmc_rescue_work() */
int mcmc_rescue(struct mcmc *s, size_t n, size_t stride, size_t step, size_t chain, const double *u,
                double *work);
size_t mcmc_rescue_work(int dim);
/* The positions of centered chains, in noncentered coordinates, and back (mcmc_carry.c).  Chains
   whose density is not finite there have no value, or stay where they are. */
int mcmc_noncenter(struct mcmc *centered, struct mcmc *noncentered, nami_err *err);
int mcmc_center(struct mcmc *noncentered, struct mcmc *centered, nami_err *err);
/* Chains without a value go to where the best one is. */
int mcmc_settle(struct mcmc *s, nami_err *err);
/* The densities and derivatives at the positions u, which have some. */
int mcmc_evaluate(struct mcmc *s, nami_err *err);

/* Arrays whose slices k and l may change places, for all labels k and l < size, without a change of
   the density: of each array, a set of its dimensions is indexed by a label (mcmc_label.c). */
struct symmetry {
    int size, num;
    struct labeled {
        int array;
        unsigned dims;
    } of[MCMC_LABELED];
};
struct symmetries {
    int num;
    struct symmetry item[MCMC_SYMMETRIES];
};
/* By densities at the positions u, which must be points in general; those that hold at other
   positions, too. */
int mcmc_find_symmetries(struct mcmc *s, struct symmetries *out, nami_err *err);
int mcmc_check_symmetries(struct mcmc *s, struct symmetries *all, nami_err *err);
/* Labels at random, of n points u[k * n + i]; in ascending order, of all chains. */
int mcmc_relabel(struct mcmc *s, const struct symmetries *all, size_t n, double *u, nami_err *err);
int mcmc_sort_labels(struct mcmc *s, const struct symmetries *all, nami_err *err);
/* One move of all chains. */
int mcmc_move(struct mcmc *s, nami_err *err);
/* The model's rows z[row * n + i] of n points with coordinates u[k * n + i]. */
int mcmc_decode(struct mcmc *s, size_t n, const double *u, double *z, nami_err *err);

#endif
