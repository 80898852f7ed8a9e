/* exact.h: exact posteriors, for the two kinds of models that have them: linear Gaussian networks
   (gnet) and discrete networks (dnet, by a clique tree). */
#ifndef INFER_EXACT_H
#define INFER_EXACT_H

#include "base/arena.h"
#include "exact/collapse.h"
#include "graph/inverse.h"
#include "infer/sparse.h"
#include "model/view.h"

/* ---- linear Gaussian networks ------------------------------------------------------- */

/* x[var] = a + b x[par] + normal noise with covariance cov. */
struct gfactor {
    int node; /* of the graph */
    int nvar, npar;
    int *var, *par;      /* scalars */
    double *a, *b, *cov; /* (nvar), (nvar, npar), (nvar, nvar) */
};

struct gnet {
    struct arena mem;
    int n;             /* scalars */
    int nnode, *first; /* node v of the graph has the scalars first[v] .. first[v + 1] - 1 */
    int *row;          /* row of the model of each scalar */
    int nfactor;
    struct gfactor *f; /* in topological order */
};

/* Converts a model to a linear Gaussian network: every variable is normal (also multi_normal,
   multi_normal_prec), its mean an affine function of others, its sd or covariance constant.
   NAMI_EINPUT for other models, with the position and the reason. */
int gnet_read(const struct model *m, struct gnet *out, nami_err *err);
void gnet_free(struct gnet *g);
/* x[i] = the value of scalar i in the data, NaN if it is latent or missing. */
int gnet_evidence(const struct gnet *g, const struct model *m, const struct dataset *d, double *x,
                  nami_err *err);

/* Maximum number of scalars of functions that compute the covariance of all scalars. */
enum { GNET_DENSE_MOST = 8192 };

/* Prior mean (n) and covariance (n, n) of all scalars. Scalars without a factor have mean and
   covariance 0. */
void gnet_moments(const struct gnet *g, double *mean, double *cov);

/* p(z | x), by sparse elimination of the latent scalars: time and memory of a chain are
   proportional to its length. */
struct gpost {
    int n, nz, *z;                /* scalars; the latent ones */
    double *x;                    /* (n) the data, and the posterior means of latents */
    struct chol precision;        /* Cholesky factor of the posterior precision */
    double log_evidence, entropy; /* log p(x); E[-log p(z | x)], the same for any x */
};

#define GPOST_MOST ((int64_t)1 << 28) /* maximum size of the Cholesky factor */

/* NAMI_ELIMIT beyond GPOST_MOST. */
int gpost_new(const struct gnet *g, const double *x, struct gpost *out, nami_err *err);
void gpost_free(struct gpost *p);
/* Variances of the latent scalars: (nz). */
int gpost_variances(const struct gpost *p, double *variance, nami_err *err);
/* Covariance of the latent scalars: (nz, nz), by nz solves: for small problems. */
int gpost_cov(const struct gpost *p, double *cov, nami_err *err);
/* Draws first .. first + n - 1 of all scalars: x[scalar * n + i].  first % 4 == 0.  The same
   (seed, draw) gives the same numbers for any number of threads. */
int gpost_draw(const struct gpost *p, uint64_t seed, uint64_t first, size_t n, int threads,
               double *x, nami_err *err);

/* The optimal factor for these parents under these moments: the linear regression of var on par. */
int gfactor_fit(int n, const double *mean, const double *cov, const int *var, int nvar,
                const int *par, int npar, struct arena *mem, struct gfactor *out, nami_err *err);
double gfactor_entropy(const struct gfactor *f); /* of x[var] given x[par]; NaN if not positive */
/* H(x[var] | x[par]) under this covariance. */
int gauss_entropy(int n, const double *cov, const int *var, int nvar, const int *par, int npar,
                  double *out, nami_err *err);
/* The factors of an inverse in sampling order, each optimal for its parents. This function and
   gnet_kl return NAMI_ELIMIT beyond GNET_DENSE_MOST scalars. */
int gnet_invert(const struct gnet *g, const struct inverse *h, struct gnet *out, nami_err *err);
/* E[-log q(z | x)] for the factors of q and x, z with these moments. */
int gnet_cross_entropy(const struct gnet *q, const double *mean, const double *cov, double *out,
                       nami_err *err);
/* KL(p(z | x) || q(z | x)), averaged over p(x): z are the variables with a factor in q, x those
   with given[scalar]. */
int gnet_kl(const struct gnet *p, const struct gnet *q, const unsigned char *given, double *out,
            nami_err *err);

/* ---- discrete networks -------------------------------------------------------------- */

/* log p(v | parents): var are the parents, then v, whose state varies fastest. */
struct dtable {
    int n, *var;
    size_t size;
    double *logp;
};

struct dnet {
    struct arena mem;
    int n, *card;        /* variables (nodes of the graph); their numbers of states */
    const struct dag *g; /* borrowed */
    struct dtable *t;    /* by variable */
    double *low;         /* from a model: the value of state 0; others follow in steps of 1 */
    int *row;            /* from a model: the rows of the variables */
};

/* The tables of a structure, which must outlive it; NAMI_EINPUT if a node has no table. */
int dnet_tables(const struct bn *bn, struct dnet *out, nami_err *err);
/* The same for a model whose random variables are scalars with finitely many values; NAMI_EINPUT
   for other models, with the position and the reason. */
int dnet_read(const struct model *m, struct dnet *out, nami_err *err);
void dnet_free(struct dnet *d);
/* state[v] = the observed state of v, -1 if it is latent or missing. */
int dnet_evidence(const struct dnet *d, const struct model *m, const struct dataset *data,
                  int *state, nami_err *err);

/* A clique of latent variables and its belief: log p(var | evidence) after calibration; the state
   of the last variable varies fastest. */
struct dclique {
    int n, *var; /* increasing */
    int parent;  /* parent in the tree, or -1 */
    int nsep, *sep;
    size_t size, sep_size;
    double *b, *up; /* belief (size); message to the parent (2 * sep_size: half is workspace) */
};

struct ctree {
    const struct dnet *net;
    int *state; /* the evidence, by variable; -1: latent */
    int n;
    struct dclique *c;
    int *order; /* children before parents */
    int *home;  /* by variable: the clique of its table, or -1 if all its variables are observed */
    int *at_p, *at;        /* the cliques of variable v: at[at_p[v]] .. at[at_p[v + 1] - 1] */
    size_t largest, total; /* entries */
    size_t most;           /* limit of total */
    double log_evidence;   /* after calibration */
};

#define CTREE_MOST ((size_t)1 << 26) /* default limit of the entries of all cliques */

/* The clique tree (junction tree) for this evidence, with at most so many entries in total:
   otherwise NAMI_ELIMIT, with the size. Nothing is computed yet. The network must outlive it. */
int ctree_new(const struct dnet *d, const int *state, size_t most, struct ctree *out,
              nami_err *err);
void ctree_free(struct ctree *t);
/* Computes the beliefs of all cliques. NAMI_EINPUT if the evidence has probability 0. */
int ctree_calibrate(struct ctree *t, nami_err *err);
/* The most probable explanation: states of all variables given the evidence, and their log joint
   probability. Overwrites the beliefs: calibrate afterwards. */
int ctree_mpe(struct ctree *t, int *state, double *logp, nami_err *err);

/* The following functions require ctree_calibrate. */

/* p(v | evidence), card[v] numbers. */
void ctree_marginal(const struct ctree *t, int v, double *p);
/* p(var | evidence); the state of the last variable varies fastest. If no clique contains all
   variables, this takes one calibration for each state of some of them. */
int ctree_joint(const struct ctree *t, const int *var, int nvar, double *p, nami_err *err);
double ctree_entropy(const struct ctree *t); /* of the latent variables given the evidence */
/* Draws first .. first + n - 1 of all states: x[v * n + i].  first % 4 == 0. */
int ctree_draw(const struct ctree *t, uint64_t seed, uint64_t first, size_t n, int *x,
               nami_err *err);

/* ---- both --------------------------------------------------------------------------- */

/* Computes the rows of deterministic variables in n points of a model, x[row * n + i], from the
   others. */
int exact_complete(const struct model *m, size_t n, double *x, nami_err *err);
/* The rows of latents that are integrated out: their means given the others. */
int exact_means(const struct collapse *c, size_t n, double *x, nami_err *err);

#endif
