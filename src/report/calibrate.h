/* calibrate.h: the calibration of a network, as it was found on simulated data sets: verdict, text
   and JSON (figures: figure.h). */
#ifndef REPORT_CALIBRATE_H
#define REPORT_CALIBRATE_H

#include "base/str.h"
#include "infer/coverage.h"
#include "infer/recovery.h"
#include "infer/sbc.h"
#include "infer/tarp.h"

/* What is wrong with a posterior, by where the truth lies in it. */
enum flaw { FLAW_NONE, TOO_NARROW, TOO_WIDE, TOO_LOW, TOO_HIGH, MISSHAPEN, NFLAW };
extern const char *const flaw_names[NFLAW];

/* All that was found.  Three tests share alpha (ranks, coverage, TARP), so that a network without
   fault fails with probability alpha at most. */
enum { CALIBRATION_TESTS = 3, CALIBRATION_LEVELS = 4 };
struct calibration {
    struct sims sims;
    const char *const *name; /* (sims.d) */
    const char *method;
    double alpha;
    struct sbc sbc;
    struct coverage coverage; /* at CALIBRATION_LEVELS levels: COVERAGE_LEVELS */
    struct tarp tarp;
    struct recovery *recovery; /* (sims.d) */
    double *mean;              /* (sims.d, sims.n): of the posteriors */
    int weighted, good;        /* sets whose k-hat is fine */
    int training;              /* data sets are from training distributions, not the priors */
    double ess;                /* of the weights, on average */
};

/* 1: calibrated; 0: not; -1: too few effective draws to tell. */
int calibration_verdict(const struct calibration *c);
/* Of scalar number `scalar`: what is wrong, and whether its tests are passed. */
enum flaw calibration_flaw(const struct calibration *c, int scalar);
int calibration_scalar_fine(const struct calibration *c, int scalar);
/* The p-value of its tests, to be compared with alpha. */
double calibration_scalar_p(const struct calibration *c, int scalar);
/* (CALIBRATION_LEVELS): how often its intervals contain the true value. */
const struct coverage_at *calibration_covered(const struct calibration *c, int scalar);

void calibration_text(const struct calibration *c, struct str *out);
void calibration_json(const struct calibration *c, struct str *out);

#endif
