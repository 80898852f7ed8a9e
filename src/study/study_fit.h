/* study_fit.h: a job's network, and steps of training: Adam as it is, at a rate that is cut. */
#ifndef STUDY_STUDY_FIT_H
#define STUDY_STUDY_FIT_H

#include "infer/infer.h"
#include "study/study.h"
#include "train/training.h"

struct fit {
    struct training r; /* model, inverse, network */
    struct trainer t;
    struct infer a; /* with the weights as they are now */
    int skipped;    /* steps whose loss was not finite */
};

/* Seeds of a run, all different: of draws to train on, to test on, ... */
enum fit_seed { FIT_TRAIN, FIT_TEST, FIT_HELD, FIT_DRAWS, FIT_JUDGE, FIT_MODEL };
uint64_t fit_seed(const struct job *j, enum fit_seed what);

/* The model from its text; the inverse; the network.  fit_free() in any case. */
int fit_model(struct fit *f, const char *text, nami_err *err);
int fit_invert(struct fit *f, const struct job *j, nami_err *err);
/* About `params` of them, by the units of its hidden layers; 0: as the variant says. */
int fit_network(struct fit *f, const struct job *j, int params, nami_err *err);
void fit_free(struct fit *f);

/* For jobs that take long: weights, Adam's moments and what was measured, so that a job that is cut
   off goes on as if nothing had happened.  fit_load: *epochs have been done, perhaps none.  The
   file goes when the job is done. */
int fit_save(const struct fit *f, const struct job *j, nami_err *err);
int fit_load(struct fit *f, struct job *j, int *epochs, nami_err *err);

/* The rate of an epoch (from 0). */
double fit_rate(const struct settings *s, int epoch);
/* A step; its loss is f->t.total. */
void fit_step(struct fit *f, const struct batch *b, double rate);

#endif
