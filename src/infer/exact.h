/* exact.h: posteriors without approximation, for the two kinds of networks that have them: linear
   Gaussian ones (gnet) and discrete ones (dnet, by a clique tree). */
#ifndef INFER_EXACT_H
#define INFER_EXACT_H

#include "base/arena.h"
#include "graph/inverse.h"
#include "model/model.h"

/* ---- linear Gaussian networks -------------------------------------------------------------- */

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

enum { GNET_MOST = 8192 }; /* scalars: matrices are dense */

/* A model as a linear Gaussian network: every variable normal (multi_normal, multi_normal_prec),
   its mean an affine function of others, its sd or covariance constant.  NAMI_EINPUT for any
   other, with the place and the reason; NAMI_ELIMIT beyond GNET_MOST. */
int gnet_read(struct model *m, struct gnet *out, nami_err *err);
void gnet_free(struct gnet *g);
/* x[i] = the value of scalar i in the data, NaN if it is latent or missing. */
int gnet_evidence(const struct gnet *g, const struct model *m, const struct dataset *d, double *x,
                  nami_err *err);

/* Mean (n) and covariance (n, n) of all scalars before anything is observed.  Of a network of
   factors with nothing for some scalars, those have mean and covariance 0. */
void gnet_moments(const struct gnet *g, double *mean, double *cov);

/* p(z | x). */
struct gpost {
    int n, nz, *z;                /* scalars; the latent ones */
    double *x;                    /* (n) the data, and the posterior mean of what is latent */
    double *L;                    /* (nz, nz) lower; L L' is the posterior's precision */
    double log_evidence, entropy; /* log p(x); E[-log p(z | x)], the same for any x */
};
int gpost_new(const struct gnet *g, const double *x, struct gpost *out, nami_err *err);
void gpost_free(struct gpost *p);
/* Covariance of the latent scalars: (nz, nz). */
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
/* The factors of an inverse, in the order they are drawn, each the best for its parents. */
int gnet_invert(const struct gnet *g, const struct inverse *h, struct gnet *out, nami_err *err);
/* E[-log q(z | x)] for q's factors, with x and z of these moments. */
int gnet_cross_entropy(const struct gnet *q, const double *mean, const double *cov, double *out,
                       nami_err *err);
/* KL(p(z | x) || q(z | x)), expected over p(x): z are the variables that q has factors for, x those
   with given[scalar]. */
int gnet_kl(const struct gnet *p, const struct gnet *q, const unsigned char *given, double *out,
            nami_err *err);

#endif
