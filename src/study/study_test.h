/* study_test.h: paired tests of one variant against another, over runs. */
#ifndef STUDY_STUDY_TEST_H
#define STUDY_STUDY_TEST_H

#include "nami.h"

/* Test of n differences: is their mean below 0? */
struct paired {
    int n, wins; /* differences below 0 */
    double mean, sd;
    double lo, hi; /* 95 % confidence interval of the mean, assuming normality */
    double p_t;    /* one-sided p-value of Student's t-test */
    double p_flip; /* one-sided p-value of the sign-flip test: all 2^n flips, or 100,000 */
};
void paired_test(int n, const double *d, struct paired *out);

/* Kendall's test: p-value of a decreasing trend of n numbers; NaN unless 2 <= n <= 40. */
double falls_test(int n, const double *x);

/* The median of n numbers, which it sorts. */
double median_of(int n, double *x);

#endif
