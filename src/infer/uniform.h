/* uniform.h: test whether n numbers in (0, 1) are uniform, by the empirical distribution function
   at 1/k, ..., (k-1)/k and a simultaneous confidence band of level 1 - alpha (Säilynoja, Bürkner,
   Vehtari 2022).

   The count of numbers below i/k is binomial(n, i/k).  The band consists of central intervals of
   the same pointwise level 1 - gamma, with gamma chosen for the simultaneous level.  The joint
   probability is exact (to 1e-10), not simulated: the n numbers in k cells are k independent
   Poisson counts given their sum. */
#ifndef INFER_UNIFORM_H
#define INFER_UNIFORM_H

#include "base/err.h"

struct uniform_band {
    int n, k;
    double alpha;
    double gamma; /* pointwise; counts are discrete, so the true error is alpha or a bit less */
    int *lo, *hi; /* (k - 1): counts within the band */
    int *try;     /* scratch of uniform_test() */
    double *work;
};

struct uniform_test {
    double dev; /* largest deviation of the empirical from the uniform distribution ... */
    double at;  /* ... and its location */
    double p;   /* exact p-value: probability of a count as improbable anywhere */
    int inside; /* the band */
};

/* The number k of cells for numbers with resolution 1/cells. */
int uniform_cells(int cells);
int uniform_band(int n, int k, double alpha, struct uniform_band *out, nami_err *err);
void uniform_band_free(struct uniform_band *b);
/* below[k - 1]: number of u[n] below i/k, i = 1..k-1. */
void uniform_count(const double *u, int n, int k, int *below);
/* Uses the scratch memory of b: not thread-safe. */
struct uniform_test uniform_test(const struct uniform_band *b, const int *below);

/* P(X <= x), P(X >= x) for X ~ binomial(n, p), q = 1 - p. */
double binomial_lower(int n, double p, double q, int x);
double binomial_upper(int n, double p, double q, int x);
/* The two-sided p-value of x: twice the smaller tail, at most 1. */
double binomial_test(int n, double p, int x);
/* The exact (Clopper-Pearson) interval for p given x successes of n; level at least 1 - alpha. */
void binomial_interval(int n, int x, double alpha, double *lo, double *hi);

#endif
