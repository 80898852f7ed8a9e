/* sbc.h: simulation-based calibration (Talts et al. 2018): the ranks of true parameters among
   posterior draws are uniform if the posterior is correct. */
#ifndef INFER_SBC_H
#define INFER_SBC_H

#include "infer/sims.h"
#include "infer/uniform.h"

struct sbc_scalar {
    struct uniform_test ecdf; /* inside: at level alpha / d */
    double chi2, chi2_p;      /* of the histogram; the p-value needs about 5 sets a bin */
};

struct sbc {
    int d, m, n;
    double alpha;
    int *rank;                 /* (d, n): 0..m */
    double *u;                 /* (d, n): the same in (0, 1), with what ranks leave open */
    struct uniform_band band;  /* of level 1 - alpha / d, so that all d are inside with 1 - alpha */
    int *below;                /* (d, band.k - 1): sets with u < i / band.k */
    int nbin, bin_lo, bin_hi;  /* n / nbin sets are expected in a bin; 1 - alpha for all d * nbin */
    int *count;                /* (d, nbin) */
    struct sbc_scalar *scalar; /* (d) */
    double p;                  /* of the worst scalar, times d (Bonferroni) */
    int inside;                /* all of them: the verdict; a false alarm with probability alpha */
};

/* nbin 0: a number that suits n and m.  sbc_free() in any case. */
int sbc_run(const struct sims *s, double alpha, int nbin, uint64_t seed, struct sbc *out,
            nami_err *err);
void sbc_free(struct sbc *b);

#endif
