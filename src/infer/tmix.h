/* tmix.h: mixtures of multivariate Student t distributions, fitted to weighted points: proposals
   for importance sampling. */
#ifndef INFER_TMIX_H
#define INFER_TMIX_H

#include "base/arena.h"
#include "base/stream.h"
#include "nami.h"

struct tmix {
    int dim, num_comps;
    double *log_weight; /* by component, normalized */
    double *mean;       /* (num_comps, dim) */
    double *chol;       /* (num_comps, dim, dim): Cholesky factors of the scale matrices */
    struct arena mem;
};

/* Fitted to the points u[k * n + i] with weights weight[i], which sum to 1, by EM for normal
   mixtures of several sizes; the size by the log likelihood of as many points as the
   weights are worth, minus the number of parameters.
   NAMI_EINPUT, without a message, if the points do not span the space. */
int tmix_fit(struct tmix *t, int dim, size_t n, const double *u, const double *weight,
             uint64_t seed, nami_err *err);
void tmix_free(struct tmix *t);

/* n points, u[k * stride + i]; draw i is number first + i (first % 4 == 0) of the stream. */
void tmix_draw(const struct tmix *t, const struct stream *s, size_t n, size_t stride, double *u);
/* Their log densities. work: dim doubles. */
void tmix_logp(const struct tmix *t, size_t n, size_t stride, const double *u, double *work,
               double *logp);

#endif
