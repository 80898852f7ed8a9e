/* calibration.h: the pictures of infer/: what the diagnostics saw, as SVG.

   One panel for each scalar; of more than CALIBRATION_PANELS the worst are shown.  name[d]: what
   the scalars are called, or NULL.  All append to *out, and return 0 or NAMI_ENOMEM. */
#ifndef REPORT_CALIBRATION_H
#define REPORT_CALIBRATION_H

#include "base/str.h"
#include "infer/coverage.h"
#include "infer/recovery.h"
#include "infer/sbc.h"
#include "infer/tarp.h"

enum { CALIBRATION_PANELS = 36 };

/* Rank histograms with the counts that bins may have. */
int plot_ranks(const struct sbc *b, const char *const *name, struct str *out);
/* Empirical minus uniform distribution function of the ranks, with the simultaneous band. */
int plot_ecdf(const struct sbc *b, const char *const *name, struct str *out);
/* Nominal against empirical coverage, with band and intervals at the levels asked for. */
int plot_coverage(const struct coverage *c, const char *const *name, struct str *out);
int plot_tarp(const struct tarp *t, struct str *out);
/* Truths against posterior means, with 90 % intervals, of up to 200 data sets; r[d] and
   mean[d * n] from recovery_run(). */
int plot_recovery(const struct sims *s, const struct recovery *r, const double *mean,
                  const char *const *name, struct str *out);

#endif
