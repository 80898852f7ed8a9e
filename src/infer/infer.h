/* infer.h: amortized inference with a trained network: draws of q(z | x) and their densities, for
   one data set or many at once, on all threads. */
#ifndef INFER_INFER_H
#define INFER_INFER_H

#include "data/data.h"
#include "net/sampler.h"

struct infer {
    struct qnet *q;
    const float *param;
    struct sampler s;
    int untrained; /* its draws mean nothing */
};

/* q and param must outlive it. */
int infer_init(struct infer *a, struct qnet *q, const float *param, nami_err *err);
void infer_fini(struct infer *a);
/* Has the network no latents, since all are integrated out? */
int infer_is_exact(const struct infer *a);

/* A query: `per` draws for each of `nset` data sets, of which x holds the rows of the observed
   variables, x[row * nset + s].  Draws of all sets are numbered consecutively: draw d belongs to
   set d / per, and does not depend on how draws are divided into calls. */
struct query {
    const double *x;
    size_t nset, per;
    uint64_t seed;
    const uint64_t
        *seeds; /* (nset): each set is answered as the only one of a query with its own seed;
                   NULL: all share `seed`, and random numbers depend on the set's number */
    int weights_only; /* log p and log q may be without exact latents: only weights are read */
    int (*cancel)(void *user); /* NULL, or asked now and then by Markov chains: nonzero ends them */
    void *user;
};

/* The seed of a set, and its number among those that share it. */
static inline uint64_t query_seed(const struct query *q, size_t set)
{
    return q->seeds ? q->seeds[set] : q->seed;
}

static inline size_t query_number(const struct query *q, size_t set) { return q->seeds ? 0 : set; }

/* Copies the observed rows of a data set to set s of a query; NAMI_EINPUT if one is missing, or if
   its constants differ from those that the network was trained with. */
int infer_data(const struct model *m, const struct dataset *d, size_t nset, size_t s, double *x,
               nami_err *err);

/* The error for constant e, whose value in the data differs: NAMI_EINPUT, with advice. */
int infer_refuse(const struct model *m, int e, double value, nami_err *err);

/* Draws first .. first+n-1: z[row * n + i] for all rows of the model, observed ones as given.
   logq[i] = log q(z | x), if not NULL; pred[row * n + i], if not NULL: posterior predictive draws
   of the observed variables given z. */
int infer_draws(const struct infer *a, const struct query *q, uint64_t first, size_t n, int threads,
                double *z, double *logq, double *pred, nami_err *err);
/* Posterior prediction: draws the observed variables given the latents of points z[row * n + i] to
   pred[row * n + i], with the random numbers of draws first ... (first % 8 == 0). */
int infer_predict(const struct infer *a, size_t n, const double *z, uint64_t seed, uint64_t first,
                  int threads, double *pred, nami_err *err);
/* Completes points z[row * n + i] in which observed variables and the network's latents are set:
   draws exact and barren latents, computes the others; and pred, if not NULL, as above. */
int infer_finish(const struct infer *a, size_t n, double *z, uint64_t seed, uint64_t first,
                 int threads, double *pred, nami_err *err);
/* Conditional means and variances of num exact latents, collapse->moment[which[k]], in complete points
   z[row * n + i]: mean[k * n + i], variance[k * n + i]. */
int infer_moments(const struct infer *a, size_t n, const double *z, size_t num, const size_t *which,
                  int threads, double *mean, double *variance, nami_err *err);
/* log p of the latents that the network does not have, in points z[row * n + i], given the others:
   barren ones, and exact ones given the data, too.  To be added to log q, and to log p(x, z_N),
   where the density of all latents is needed.  collapsed: log p(x, z_N) where it is known, or NULL.
   Are there any? */
int infer_others(const struct infer *a, size_t n, const double *z, const double *collapsed,
                 int threads, double *logp, nami_err *err);
int infer_has_others(const struct infer *a);
/* log q of given points z[row * n + i], observed and latent. */
int infer_logq(const struct infer *a, size_t n, const double *z, int threads, double *logq,
               nami_err *err);

#endif
