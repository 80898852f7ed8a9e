/* plan.h: the settings of a training run: the options of nami.h, and what they mean for the network
   and the training loop. */
#ifndef TRAIN_PLAN_H
#define TRAIN_PLAN_H

#include "base/arena.h"
#include "net/qnet.h"
#include "train/train.h"

struct plan {
    /* of the model; the strings are the caller's */
    const char *const *set;
    int nset;
    const char *observe;
    nami_options invert;        /* completed (base/options.h) */
    nami_train_options options; /* the same */
    struct net_options net;     /* what they mean */
    struct train_options train;
    int elbo;              /* the model is learnt, too: the bound is maximized */
    int brightness;        /* preprocessing of observations: enum brightness */
    const char *split;     /* which observations are to train on: split.h; NULL: all but some */
    uint64_t samples;      /* draws of a file; 0: fresh ones of the model */
    uint64_t observations; /* of all files */
};

/* Preprocessing of observations of images: none; to [0, 1]; to 0 or 1, drawn or by 0.5. */
enum brightness { AS_IS, SCALED, BINARISED, THRESHOLD };
extern const char *const brightness_words[]; /* NULL at the end */
extern const char *const objective_names[];  /* the same */

/* From the caller's options (NULL: the defaults).  learns: the model has networks to learn.  Texts
   are copied to mem. */
int plan_make(struct plan *p, const nami_options *invert, const nami_train_options *opt, int learns,
              struct arena *mem, nami_err *err);
/* What p->options mean, which are completed. */
int plan_derive(struct plan *p, int learns, nami_err *err);

#endif
