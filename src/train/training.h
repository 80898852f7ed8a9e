/* training.h: checkpoints: a network in a safetensors file, with the model, inverse and training
   state that it came from (docs/training.md). */
#ifndef TRAIN_TRAINING_H
#define TRAIN_TRAINING_H

#include "data/safetensors.h"
#include "model/problem.h"
#include "train/train.h"

/* The settings of a run.  Strings are the caller's. */
struct plan {
    const char *const *set;
    int nset;
    const char *observe;
    nami_options invert;
    struct net_options net;
    struct train_options train;
    uint64_t samples; /* draws of a file; 0: fresh ones of the model */
    /* of a bound */
    int elbo;              /* the model is learnt, too: the bound is maximised */
    uint64_t observations; /* of all files */
    int brightness;        /* what they went through: see enum brightness */
    const char *split;     /* which are to train on: split.h; NULL: all but some */
};

/* Preprocessing of observations of images: none; to [0, 1]; to 0 or 1, drawn or by 0.5. */
enum brightness { AS_IS, SCALED, BINARISED, THRESHOLD };
extern const char *const brightness_words[]; /* NULL at the end */

/* A training run: model, inverse, network, training state and data. */
struct training {
    struct arena mem;
    struct model *m, *own; /* m: own, or another's; own may be NULL */
    struct inversion inversion;
    struct inverse *h;
    struct qnet q;
    struct elbo e; /* if plan.elbo */
    struct train train;
    struct plan plan;
    double
        *points; /* of a file to train on, plan.samples of them, until a source has them; or NULL */
    struct feeds feeds; /* observations to learn from, */
    struct split split; /* for training and validation */
    struct str text;
    struct st saved; /* what it was read from */
};

/* After the model is in *r->m: inverse (unless r->h has one), network, and, with a source (which is
   taken over), training.  saved: numbers of qnet_saved, instead of draws from the prior (or
   r->points, if there are any); or NULL. */
int training_prepare(struct training *r, const double *saved, size_t nsaved, int threads,
                     nami_err *err);
/* Layer number i of the parameters: of the network, then, of a bound, of the model; NULL: there are
   not so many. */
const struct block *training_layer(const struct training *r, size_t i);
int training_start(struct training *r, struct source *s, int threads, nami_err *err);
void training_free(struct training *r);

/* Writes all, replacing the file at once. `inverse`: JSON, for readers. */
int training_save(const struct training *r, const char *path, const char *inverse, nami_err *err);
/* Does the file begin as one of these?  No, if it cannot be read. */
int training_is(const char *path);
/* Reads a file: model, inverse and network with the best weights; training_continue then goes on
   training where it stopped.  Opens no other file, and runs nothing: a simulator that the model
   names stays locked until someone who trusts the file calls model_allow_simulator. */
int training_read(struct training *r, const char *path, int threads, nami_err *err);
/* The best weights of a file that was read: param[training_nparam(r)].  Those of the model's
   networks become its own. */
size_t training_nparam(const struct training *r);
int training_weights(struct training *r, float *param, nami_err *err);
int training_continue(struct training *r, struct source *s, int threads, nami_err *err);

#endif
