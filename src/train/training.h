/* training.h: a training run: a network, the state of its training and its data; checkpoints, which
   are files of networks (net/network.h) with that state. */
#ifndef TRAIN_TRAINING_H
#define TRAIN_TRAINING_H

#include "model/feed.h"
#include "data/split.h"
#include "net/network.h"
#include "train/train.h"

struct training {
    struct network net;
    struct train train;
    /* draws of a file to train on, net.plan.samples of them, until a source has them; or NULL */
    double *points;
    struct feeds feeds; /* observations to learn from, */
    struct split split; /* for training and validation */
};

/* After the model is in *r->net.model, and its data in points or feeds: inverse (unless there is
   one) and network. */
int training_prepare(struct training *r, int threads, nami_err *err);
/* The training, from the start.  The source is taken over; NULL: it comes later. */
int training_start(struct training *r, struct source *s, int threads, nami_err *err);
/* The same after network_read: goes on where the file stopped. */
int training_continue(struct training *r, struct source *s, int threads, nami_err *err);
void training_free(struct training *r);

/* A file: the best weights and, if with_state, what training_continue needs.  `inverse`: JSON. */
int training_print(const struct training *r, const char *inverse, int with_state, struct str *out,
                   nami_err *err);
/* The same to disk, replacing the file at once. */
int training_save(const struct training *r, const char *path, const char *inverse, nami_err *err);

#endif
