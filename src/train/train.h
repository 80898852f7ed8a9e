/* train.h: the training loop around the trainer: minibatches, validation, learning-rate schedule,
   early stopping. */
#ifndef TRAIN_TRAIN_H
#define TRAIN_TRAIN_H

#include "net/plan.h"
#include "train/source.h"
#include "train/trainer.h"

/* One validation. */
enum { HIST_STEP, HIST_RATE, HIST_TRAIN, HIST_VALID, HIST_NORM, HIST_PARTS };

/* The state of a run: restored from a checkpoint, training continues with identical results. */
struct train {
    struct train_options opt;
    struct trainer t;
    struct source *source;
    struct designs
        *designs;  /* of an open network, which are another's; NULL: there is one design */
    uint64_t step; /* batches seen */
    double rate;   /* current rate, before the cool-down */
    double best;   /* the best validation loss, and the weights that gave it */
    int best_bad;  /* batches excluded from it because their loss is not finite */
    float *best_param;
    int since;        /* validations since the best one */
    double sum, norm; /* of losses and norms since the last validation */
    int nsum;
    int bad;          /* consecutive batches whose loss is not finite */
    int falls;        /* number of returns to the best weights */
    uint64_t skipped; /* number of skipped batches */
    const char *bad_part;
    int width;           /* HIST_PARTS + parts of the network */
    vec(double) history; /* (validations, width) */
    int done;            /* reason for the end of training; 0: not finished */
    uint64_t cool_from, cool_to; /* steps between which the rate decays; 0: not known yet */
    double elapsed, clock;       /* of a time budget: seconds; when they were counted last, or 0 */
};
enum { TRAIN_STEPS = 1, TRAIN_STALLED, TRAIN_NOTHING, TRAIN_CONVERGED, TRAIN_TIME };
extern const char *const train_done[]; /* as a sentence */

/* e: NULL, or the bound to maximize. Takes ownership of the source. */
int train_make(struct train *x, struct qnet *q, struct elbo *e, struct source *s,
               const struct train_options *opt, int threads, nami_err *err);
/* The same by several processes, or, in one process, of an open network with these designs. */
struct designs;
int train_make_with(struct train *x, struct qnet *q, struct elbo *e, struct source *s,
                    const struct train_options *opt, const nami_exchange *with,
                    struct designs *designs, int threads, nami_err *err);
void train_free(struct train *x);

/* One step, and a validation if it is due (then *checked is set). */
int train_step(struct train *x, int *checked, nami_err *err);
/* The last validation, or NULL; the validation of the best weights. */
const double *train_last(const struct train *x);
const double *train_best(const struct train *x);
/* The learning rate of the last step, with the cool-down. */
double train_rate(const struct train *x);

#endif
