/* training.h: a training run: a network, the state of its training and its data; checkpoints, which
   are network files (net/network.h) that include this state. */
#ifndef TRAIN_TRAINING_H
#define TRAIN_TRAINING_H

#include "model/feed.h"
#include "data/split.h"
#include "net/network.h"
#include "train/train.h"

struct training {
    struct network net;
    struct train train;
    /* training draws from a file, net.plan.samples of them, until a source takes them; or NULL */
    double *points;
    struct feeds feeds; /* observations to learn from, */
    struct split split; /* for training and validation */
    const nami_exchange *with; /* the processes that train; NULL: this one alone */
    struct designs *designs; /* of an open network; NULL: there is one design */
};

/* To be called when *r->net.model is set and its data are in points or feeds: computes the inverse
   (unless present) and creates the network. */
int training_prepare(struct training *r, int threads, nami_err *err);
/* Starts training. Takes ownership of the source; NULL: to be set later. */
int training_start(struct training *r, struct source *s, int threads, nami_err *err);
/* Resumes training after network_read. */
int training_continue(struct training *r, struct source *s, int threads, nami_err *err);
void training_free(struct training *r);

/* Serializes the best weights and, if with_state, the state for training_continue.  `inverse`:
   JSON. */
int training_print(const struct training *r, const char *inverse, int with_state, struct str *out,
                   nami_err *err);
/* The same to disk, replacing the file atomically. */
int training_save(const struct training *r, const char *path, const char *inverse, nami_err *err);

#endif
