/* trainer.h: minibatch gradients of E[-log q(z | x)], or of minus a lower bound on log p(x), and
   Adam updates, on all threads.

   A minibatch is cut into chunks of lanes, each run forward and backward; then the weights are cut
   into rows of layers, each of which sums over the whole batch.  Chunks depend on the batch size
   only, so that results do not depend on the number of threads.  A batch may consist of several
   parts, each of which is computed like this; their sum does not depend on the number of processes
   (sum.h). */
#ifndef TRAIN_TRAINER_H
#define TRAIN_TRAINER_H

#include "base/pool.h"
#include "model/feed.h"
#include "net/elbo.h"
#include "train/sum.h"

/* Where a batch comes from: points of the model, x[row * n + i] with i = first ...; or points
   index[0], ... of an array point[k * rows + row]; or observations index[0], ..., which do not
   change the rows of latents; or, if all three are NULL, draws first ... of the model (first % 8 ==
   0). */
struct batch {
    const double *x;
    size_t n;
    const double *point;
    const struct feeds *feeds;
    const int *index;
    uint64_t seed, first;
    int count; /* number of points; 0: the batch size, which is the maximum */
    /* If blocks is not 0, x holds so many batches part by part: for points from ... to - 1 of each,
       an array (row, blocks * (to - from)) at x + rows * blocks * from.  This is batch `block`. */
    size_t blocks, block;
};

/* How a bound is trained (bound.h). */
struct bound_options {
    int particles;       /* draws of a point */
    double warm, labels; /* see struct bound */
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
    int batch;      /* points of a batch */
    int part;       /* points of its largest part */
    struct sum sum; /* over the parts */
    size_t nparam;  /* of the program, and those that it does not have (trainer_make_first) */
    float *param, *grad, *m, *v; /* weights, gradients, Adam's moments */
    double *loss;                /* loss terms of the last batch */
    double total;                /* their sum; for several particles, minus the bound */
    double norm;                 /* of the gradient */
    uint64_t step;               /* steps applied so far */
    struct lane_work *work;      /* private */
};

/* e: NULL, or the bound to maximize. Weights are set to their initial values. */
int trainer_make(struct trainer *t, struct qnet *q, struct elbo *e, const struct bound_options *opt,
                 int batch, int threads, nami_err *err);
/* The same for batches in parts (at most SUM_MOST_PARTS; 0: 1; at least 8 points each), which the
   processes of `with` share; NULL: this one alone. */
int trainer_make_parts(struct trainer *t, struct qnet *q, struct elbo *e,
                       const struct bound_options *opt, int batch, int parts,
                       const nami_exchange *with, int threads, nami_err *err);
/* The trainers of an open network (designs.h): the first has `more` weights that its own program
   does not have; the others run in its threads. */
int trainer_make_first(struct trainer *t, struct qnet *q, size_t more, int batch, int threads,
                       nami_err *err);
/* A layer of the further weights; 0 or NAMI_ENOMEM. */
int trainer_add_layer(struct trainer *t, size_t at, size_t n);
int trainer_make_other(struct trainer *t, struct qnet *q, const struct trainer *first,
                       nami_err *err);
void trainer_free(struct trainer *t);

/* The number of draws that a batch consumes: the batch size rounded up to a multiple of 8. */
size_t trainer_stride(const struct trainer *t);

/* Sets loss, total; and grad, norm.  Fails only with several parts: NAMI_ENOMEM, or NAMI_EFILE if
   the exchange between processes does. */
int trainer_gradient(struct trainer *t, const struct batch *b);
/* The same without gradients. */
int trainer_loss(struct trainer *t, const struct batch *b);
/* Sets loss, total to a part's share of these. */
void trainer_part_loss(struct trainer *t, const struct batch *b, int part);
/* The error that this code stands for. */
int trainer_failed(int rc, nami_err *err);
/* Recomputes norm after the caller has changed grad. */
void trainer_norm(struct trainer *t);
/* An Adam update with grad, clipped to norm `clip` (0: no clipping); of networks with messages,
   layer by layer instead, each to twice its usual norm. */
void trainer_apply(struct trainer *t, double rate, double clip);

#endif
