/* study_test.h: is one variant better than another, over runs? */
#ifndef STUDY_STUDY_TEST_H
#define STUDY_STUDY_TEST_H

#include "nami.h"

/* Of n differences: is their mean below 0? */
struct paired {
    int n, wins; /* differences below 0 */
    double mean, sd;
    double lo, hi; /* of the mean: with a probability of 95 %, if they are normal */
    double p_t;    /* of Student's test: of as low a mean, if the truth is 0 */
    double p_flip; /* the same if nothing but the sign is random: of all 2^n, or of 100,000 */
};
void paired_test(int n, const double *d, struct paired *out);

/* Kendall's test: the probability that n numbers in a random order would fall as much; NaN unless
   2 <= n <= 40. */
double falls_test(int n, const double *x);

/* Of n numbers, which are sorted. */
double median_of(int n, double *x);

#endif
