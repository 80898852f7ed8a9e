/* calibration.h: plots of the calibration diagnostics of infer/, as SVG or on a page.

   One panel for each scalar; if there are more than `most` (0: CALIBRATION_PANELS), the worst.
   name[d]: names of the scalars, or NULL.  All functions append to *out and return 0 or
   NAMI_ENOMEM. */
#ifndef REPORT_CALIBRATION_H
#define REPORT_CALIBRATION_H

#include "base/str.h"
#include "infer/coverage.h"
#include "infer/recovery.h"
#include "infer/sbc.h"
#include "infer/tarp.h"
#include "report/plot.h"

enum { CALIBRATION_PANELS = 36 };

/* Rank histograms with the range of plausible bin counts. */
int plot_ranks(const struct sbc *b, const char *const *name, int most, plot_put *put,
               struct str *out);
/* Empirical minus uniform distribution function of the ranks, with the simultaneous band. */
int plot_ecdf(const struct sbc *b, const char *const *name, int most, plot_put *put,
              struct str *out);
/* Nominal against empirical coverage, with a band, and intervals at the requested levels. */
int plot_coverage(const struct coverage *c, const char *const *name, int most, plot_put *put,
                  struct str *out);
int plot_tarp(const struct tarp *t, plot_put *put, struct str *out);
/* True values against posterior means, with 90 % intervals, of up to 200 data sets; r[d] and
   mean[d * n] from recovery_run(). */
int plot_recovery(const struct sims *s, const struct recovery *r, const double *mean,
                  const char *const *name, int most, plot_put *put, struct str *out);

#endif
