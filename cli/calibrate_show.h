/* calibrate_show.h: what `nami calibrate` prints. */
#ifndef CLI_CALIBRATE_SHOW_H
#define CLI_CALIBRATE_SHOW_H

#include "base/str.h"
#include "infer/coverage.h"
#include "infer/recovery.h"
#include "infer/sbc.h"
#include "infer/tarp.h"

/* What is wrong with a posterior, by where the truth lies in it. */
enum flaw { FLAW_NONE, TOO_NARROW, TOO_WIDE, TOO_LOW, TOO_HIGH, MISSHAPEN, NFLAW };

/* All that was found.  Three tests share alpha (ranks, coverage, TARP), so that a network without
   fault fails with probability alpha at most. */
enum { CALIBRATION_TESTS = 3 };
struct calibration {
    struct sims s;
    const char *const *name; /* (s.d) */
    const char *method;
    double alpha;
    struct sbc sbc;
    struct coverage coverage;
    struct tarp tarp;
    struct recovery *recovery; /* (s.d) */
    double *mean;              /* (s.d, s.n): of the posteriors */
    int weighted, good;        /* sets whose k-hat is fine */
    double ess;                /* of the weights, on average */
};

int calibrated(const struct calibration *c);
enum flaw flaw_of(const struct calibration *c, int k);

void calibration_text(const struct calibration *c, struct str *out);
void calibration_json(const struct calibration *c, struct str *out);

#endif
