/* trainer.h: minibatch gradients of E[-log q(z | x)], or of minus a lower bound on log p(x), and
   Adam updates, on all threads.

   A minibatch is cut into chunks of lanes, each run forward and backward; then the weights are cut
   into rows of layers, each of which sums over the whole batch.  Chunks depend on the batch size
   only, so that results do not depend on the number of threads. */
#ifndef TRAIN_TRAINER_H
#define TRAIN_TRAINER_H

#include "base/pool.h"
#include "model/feed.h"
#include "net/elbo.h"

/* Where a batch comes from: points of the model, x[row * n + i] with i = first ...; or the points
   number index[0], ... of many that lie one after another, point[k * rows + row]; or observations
   number index[0], ..., which leave the rows of latents as they are; or, if all three are NULL,
   draws number first ... of the model itself (first % 8 == 0). */
struct batch {
    const double *x;
    size_t n;
    const double *point;
    const struct feeds *feeds;
    const int *index;
    uint64_t seed, first;
    int count; /* so many points only; 0: as many as a batch has, which is the most */
};

/* How a bound is trained (bound.h). */
struct bound_options {
    int particles;       /* draws of a point */
    double warm, labels; /* as of struct bound */
};

/* A network or a bound in training: weights, gradients, Adam's moments, the last losses. */
struct trainer {
    struct qnet *q;
    struct elbo *e;           /* NULL: the loss is E[-log q] */
    struct bound_options opt; /* of e */
    const struct prog *prog;
    int num_loss_terms;
    const struct loss_term *loss_term;
    int per; /* lanes of a point */
    struct pool *pool;
    int batch; /* points of a batch */
    size_t nparam;
    float *param, *grad, *m, *v; /* weights, gradients, Adam's moments */
    double *loss;                /* of the last batch: of each part */
    double total;                /* their sum; of several draws, minus the bound */
    double norm;                 /* of the gradient */
    uint64_t step;               /* steps applied so far */
    struct lane_work *work;      /* private */
};

/* e: NULL, or what is trained is the bound.  Weights are those to start from. */
int trainer_make(struct trainer *t, struct qnet *q, struct elbo *e, const struct bound_options *opt,
                 int batch, int threads, nami_err *err);
void trainer_free(struct trainer *t);

/* The points a batch takes of a stream of draws: the batch rounded up to a multiple of 8. */
size_t trainer_stride(const struct trainer *t);

/* Sets loss, total; and grad, norm. */
void trainer_gradient(struct trainer *t, const struct batch *b);
/* The same without gradients. */
void trainer_loss(struct trainer *t, const struct batch *b);
/* Sets norm again, after grad was changed from outside. */
void trainer_norm(struct trainer *t);
/* A step of Adam along grad, scaled down from norm to a norm of clip (0: as it is). */
void trainer_apply(struct trainer *t, double rate, double clip);

#endif
