/* sbc.h: simulation-based calibration (Talts et al. 2018): the ranks of true parameters among
   posterior draws are uniform if the posterior is correct. */
#ifndef INFER_SBC_H
#define INFER_SBC_H

#include "infer/sims.h"
#include "infer/uniform.h"

struct sbc_scalar {
    struct uniform_test ecdf; /* inside: at level alpha / d */
    double chi2, chi2_p;      /* of the histogram; the p-value requires about 5 sets per bin */
};

struct sbc {
    int d, m, n;
    double alpha;
    int *rank;                 /* (d, n): 0..m */
    double *u;                 /* (d, n): randomized ranks in (0, 1) */
    struct uniform_band band;  /* of level 1 - alpha / d: simultaneous level 1 - alpha for all d */
    int *below;                /* (d, band.k - 1): sets with u < i / band.k */
    int nbin, bin_lo,
        bin_hi; /* bounds of bin counts, simultaneously for all d * nbin with level 1 - alpha */
    int *count;                /* (d, nbin) */
    struct sbc_scalar *scalar; /* (d) */
    double p;                  /* p-value of the worst scalar, times d (Bonferroni) */
    int inside; /* verdict: all scalars are within the band; false alarm probability alpha */
};

/* nbin 0: chosen from n and m. Call sbc_free() also after an error. */
int sbc_run(const struct sims *s, double alpha, int nbin, uint64_t seed, struct sbc *out,
            nami_err *err);
void sbc_free(struct sbc *b);

#endif
