/* study_fit.h: the network of a job and its training: plain Adam with a stepwise learning rate. */
#ifndef STUDY_STUDY_FIT_H
#define STUDY_STUDY_FIT_H

#include "infer/infer.h"
#include "study/study.h"
#include "train/training.h"

struct fit {
    struct training r; /* model, inverse, network */
    struct trainer t;
    struct infer a; /* inference with the current weights */
    int skipped;    /* number of steps whose loss was not finite */
};

/* Distinct seeds of a run: for training draws, test draws, ... */
enum fit_seed { FIT_TRAIN, FIT_TEST, FIT_HELD, FIT_DRAWS, FIT_JUDGE, FIT_MODEL };
uint64_t fit_seed(const struct job *j, enum fit_seed what);

/* Create the model from its text; the inverse; the network. Call fit_free() also after an error. */
int fit_model(struct fit *f, const char *text, nami_err *err);
int fit_invert(struct fit *f, const struct job *j, nami_err *err);
/* With approximately `params` parameters, by the width of its hidden layers; 0: as in the
   variant. */
int fit_network(struct fit *f, const struct job *j, int params, nami_err *err);
void fit_free(struct fit *f);

/* Checkpoints of long jobs: weights, Adam moments and measures, so that an interrupted job resumes
   with identical results. fit_load: *epochs have been completed, possibly none. The file is removed
   when the job is done. */
int fit_save(const struct fit *f, const struct job *j, nami_err *err);
int fit_load(struct fit *f, struct job *j, int *epochs, nami_err *err);

/* The learning rate of an epoch (from 0). */
double fit_rate(const struct settings *s, int epoch);
/* A step; its loss is f->t.total. */
void fit_step(struct fit *f, const struct batch *b, double rate);

#endif
