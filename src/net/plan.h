/* plan.h: the settings of a training run: the options of nami.h, and what they mean for the network
   and the training loop. */
#ifndef NET_PLAN_H
#define NET_PLAN_H

#include "base/arena.h"
#include "base/str.h"
#include "net/qnet.h"

/* Hyperparameters of training. */
struct train_options {
    int steps, batch; /* steps: of the run, or at most */
    int converge;     /* end when the loss has converged, else when all steps are made */
    double seconds;   /* at most; 0: any time */
    double more_seconds; /* of a run that goes on: after those of before; 0: as it was */
    int parts; /* of a batch: sum.h */
    double rate;
    double clip;     /* largest norm of a gradient; 0: any */
    int check;       /* steps between validations */
    int valid;       /* points for validation */
    int patience;    /* validations without a better loss until the rate is cut */
    double cooldown; /* over this last part of the steps the rate falls to 0 */
    uint64_t seed;
    /* of a bound (bound.h) */
    int particles; /* draws of a point */
    int warmup;    /* steps until the latents' terms have their full weight */
    double labels; /* weight of log q of what is known of discrete latents */
};

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
/* Ranges of sizes that the text of a model declares count unless others are asked for; "none": the
   network is for one design.  0 or NAMI_ENOMEM. */
int plan_open(struct plan *p, const struct model *model, struct arena *mem);

/* All of it as JSON, by name: 0 or NAMI_ENOMEM.  observe: what is stored for p->observe; or NULL. */
int plan_print(const struct plan *p, const char *observe, struct str *out);
/* And back; what is missing has its default.  plan_derive is left to the caller, who knows if the
   model learns. */
int plan_parse(struct plan *p, const char *text, struct arena *mem, nami_err *err);

#endif
