/* exact.h: exact posteriors, for the two kinds of models that have them: linear Gaussian networks
   (gnet) and discrete networks (dnet, by a clique tree). */
#ifndef INFER_EXACT_H
#define INFER_EXACT_H

#include "base/arena.h"
#include "graph/inverse.h"
#include "infer/sparse.h"
#include "model/view.h"

/* ---- linear Gaussian networks ------------------------------------------------------- */

/* x[var] = a + b x[par] + noise, the noise normal with covariance cov. */
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
    int *row;          /* the scalars' rows of the model */
    int nfactor;
    struct gfactor *f; /* parents come first */
};

/* A model as a linear Gaussian network: every variable normal (multi_normal, multi_normal_prec),
   its mean an affine function of others, its sd or covariance constant.  NAMI_EINPUT for any
   other, with the place and the reason. */
int gnet_read(const struct model *m, struct gnet *out, nami_err *err);
void gnet_free(struct gnet *g);
/* x[i] = the value of scalar i in the data, NaN if it is latent or missing. */
int gnet_evidence(const struct gnet *g, const struct model *m, const struct dataset *d, double *x,
                  nami_err *err);

/* What is computed from covariances of all scalars is for at most so many. */
enum { GNET_DENSE_MOST = 8192 };

/* Mean (n) and covariance (n, n) of all scalars before anything is observed.  Of a network of
   factors with nothing for some scalars, those have mean and covariance 0. */
void gnet_moments(const struct gnet *g, double *mean, double *cov);

/* p(z | x), by elimination along the tree of the latent scalars: a chain costs time and memory in
   proportion to its length. */
struct gpost {
    int n, nz, *z;                /* scalars; the latent ones */
    double *x;                    /* (n) the data, and the posterior mean of what is latent */
    struct chol precision;        /* of z given x */
    double log_evidence, entropy; /* log p(x); E[-log p(z | x)], the same for any x */
};

#define GPOST_MOST ((int64_t)1 << 28) /* numbers of the precision's Cholesky factor */

/* NAMI_ELIMIT beyond GPOST_MOST. */
int gpost_new(const struct gnet *g, const double *x, struct gpost *out, nami_err *err);
void gpost_free(struct gpost *p);
/* Variances of the latent scalars: (nz). */
int gpost_variances(const struct gpost *p, double *variance, nami_err *err);
/* Covariance of the latent scalars: (nz, nz), a solve for each. */
int gpost_cov(const struct gpost *p, double *cov, nami_err *err);
/* Draws first .. first + n - 1 of all scalars: x[scalar * n + i].  first % 4 == 0.  The same
   (seed, draw) gives the same numbers for any number of threads. */
int gpost_draw(const struct gpost *p, uint64_t seed, uint64_t first, size_t n, int threads,
               double *x, nami_err *err);

/* The best factor for these parents under these moments: the regression of var on par. */
int gfactor_fit(int n, const double *mean, const double *cov, const int *var, int nvar,
                const int *par, int npar, struct arena *mem, struct gfactor *out, nami_err *err);
double gfactor_entropy(const struct gfactor *f); /* of x[var] given x[par]; NaN if not positive */
/* H(x[var] | x[par]) under this covariance. */
int gauss_entropy(int n, const double *cov, const int *var, int nvar, const int *par, int npar,
                  double *out, nami_err *err);
/* The factors of an inverse, in the order they are drawn, each the best for its parents.  This and
   gnet_kl: NAMI_ELIMIT beyond GNET_DENSE_MOST scalars. */
int gnet_invert(const struct gnet *g, const struct inverse *h, struct gnet *out, nami_err *err);
/* E[-log q(z | x)] for q's factors, with x and z of these moments. */
int gnet_cross_entropy(const struct gnet *q, const double *mean, const double *cov, double *out,
                       nami_err *err);
/* KL(p(z | x) || q(z | x)), expected over p(x): z are the variables that q has factors for, x those
   with given[scalar]. */
int gnet_kl(const struct gnet *p, const struct gnet *q, const unsigned char *given, double *out,
            nami_err *err);

/* ---- discrete networks -------------------------------------------------------------- */

/* log p(v | parents): var are the parents, then v, whose state runs fastest. */
struct dtable {
    int n, *var;
    size_t size;
    double *logp;
};

struct dnet {
    struct arena mem;
    int n, *card;        /* variables: nodes of the graph; how many states they have */
    const struct dag *g; /* borrowed */
    struct dtable *t;    /* by variable */
    double *low;         /* from a model: the value of state 0; the next ones follow by 1 */
    int *row;            /* from a model: the variables' rows */
};

/* The tables of a structure, which must live longer; NAMI_EINPUT if a node has none. */
int dnet_tables(const struct bn *bn, struct dnet *out, nami_err *err);
/* The same of a model all of whose random variables are single numbers with finitely many values;
   NAMI_EINPUT for any other, with the place and the reason. */
int dnet_read(const struct model *m, struct dnet *out, nami_err *err);
void dnet_free(struct dnet *d);
/* state[v] = what the data say of v, -1 if it is latent or missing. */
int dnet_evidence(const struct dnet *d, const struct model *m, const struct dataset *data,
                  int *state, nami_err *err);

/* A clique of latent variables, and what is believed of it: log p(var | evidence), once calibrated;
   the last variable's state runs fastest. */
struct dclique {
    int n, *var; /* increasing */
    int parent;  /* the next towards the root, or -1 */
    int nsep, *sep;
    size_t size, sep_size;
    double *b, *up; /* (size); the message to the parent (2 * sep_size: half is work space) */
};

struct ctree {
    const struct dnet *net;
    int *state; /* the evidence, by variable; -1: latent */
    int n;
    struct dclique *c;
    int *order;            /* children before parents */
    int *home;             /* by variable: the clique of its table, or -1 if all of that is given */
    int *at_p, *at;        /* the cliques of variable v: at[at_p[v]] .. at[at_p[v + 1] - 1] */
    size_t largest, total; /* entries */
    size_t most;           /* that there may be */
    double log_evidence;   /* once calibrated */
};

#define CTREE_MOST ((size_t)1 << 26) /* entries of all cliques, by default */

/* A tree of cliques for this evidence, of at most so many entries in all: NAMI_ELIMIT beyond, with
   the size.  Nothing is computed yet.  The network must live longer. */
int ctree_new(const struct dnet *d, const int *state, size_t most, struct ctree *out,
              nami_err *err);
void ctree_free(struct ctree *t);
/* Beliefs of all cliques.  NAMI_EINPUT if the evidence has probability 0. */
int ctree_calibrate(struct ctree *t, nami_err *err);
/* The most probable states of all variables given the evidence, and log p(them, evidence).  Beliefs
   are lost: calibrate after, not before. */
int ctree_mpe(struct ctree *t, int *state, double *logp, nami_err *err);

/* All below: after ctree_calibrate. */

/* p(v | evidence), card[v] numbers. */
void ctree_marginal(const struct ctree *t, int v, double *p);
/* p(var | evidence), the last variable's state running fastest.  Variables that share no clique
   cost a calibration for each state of some of them. */
int ctree_joint(const struct ctree *t, const int *var, int nvar, double *p, nami_err *err);
double ctree_entropy(const struct ctree *t); /* of the latent variables given the evidence */
/* Draws first .. first + n - 1 of all states: x[v * n + i].  first % 4 == 0. */
int ctree_draw(const struct ctree *t, uint64_t seed, uint64_t first, size_t n, int *x,
               nami_err *err);

/* ---- both --------------------------------------------------------------------------- */

/* The rows of deterministic variables in n points of a model, x[row * n + i], from the others. */
int exact_complete(const struct model *m, size_t n, double *x, nami_err *err);

#endif
