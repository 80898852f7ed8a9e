/* tarp.h: tests of accuracy with random points (TARP; Lemos et al. 2023), for all scalars jointly.

   For a random reference point, the fraction of draws that are closer to it than the true value is
   uniform on (0, 1) if the posterior is correct, whatever the reference, as long as it does not
   depend on the true value.  Distances are Euclidean, each scalar in units of its sd over all true
   values and draws. */
#ifndef INFER_TARP_H
#define INFER_TARP_H

#include "infer/sims.h"
#include "infer/uniform.h"

struct tarp {
    int n;
    double *reach; /* (n): smallest level whose ball around the reference contains the truth */
    struct uniform_band band; /* of level 1 - alpha, for all levels i / band.k at once */
    int *below;               /* (band.k - 1): sets with reach < i / band.k: expected coverage */
    struct uniform_test test; /* .inside is the verdict, .p its p-value */
    double atc;               /* mean of coverage - level over levels above 1/2; > 0: too wide,
                                 < 0: too narrow */
};

/* ref (d, n): a reference for each set; references that depend on the data x detect more (a
   posterior that ignores x passes with all others). NULL: the true value of another set, i.e. a
   draw from the prior. NAMI_EINPUT if not all numbers are finite. Call tarp_free() also after an
   error. */
int tarp_run(const struct sims *s, const double *ref, double alpha, uint64_t seed, struct tarp *out,
             nami_err *err);
void tarp_free(struct tarp *t);

#endif
