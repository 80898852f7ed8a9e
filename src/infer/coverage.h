/* coverage.h: how often posterior credible regions contain the true values.

   Central intervals, of each scalar: the smallest level that contains the true value is |2 u - 1|,
   u its rank among the draws, scaled to (0, 1).  Highest density regions, of all scalars jointly:
   the fraction of draws with a higher log q than the true value.  Both are uniform on (0, 1) if the
   posterior is correct: the expected coverage of a level is then exactly that level, for any number
   of draws. */
#ifndef INFER_COVERAGE_H
#define INFER_COVERAGE_H

#include "infer/sims.h"
#include "infer/uniform.h"

struct coverage_at {
    double level, share; /* nominal, empirical */
    double lo, hi;       /* 95 % interval for the true coverage (Clopper-Pearson) */
    double p;            /* p-value of the empirical coverage */
};

struct coverage {
    int n, nrow; /* sets; rows: scalars, then joint regions if requested */
    int joint;   /* the last row is that of joint regions */
    int nlevel;
    double *reach; /* (nrow, n): the smallest level whose region contains the true value */
    struct coverage_at *at;   /* (nrow, nlevel) */
    struct uniform_band band; /* of level 1 - alpha / nrow, for all levels i / band.k at once */
    int *below;               /* (nrow, band.k - 1): sets with reach < i / band.k */
    struct uniform_test
        *test;  /* (nrow): for all levels; dev > 0: regions too wide, < 0: too narrow */
    double p;   /* p-value of the worst row, times nrow (Bonferroni) */
    int inside; /* verdict: all rows are within the band */
};

/* 50, 80, 90 and 95 %. */
#define COVERAGE_LEVELS (const double[]){0.5, 0.8, 0.9, 0.95}, 4

/* logq[m * n] of the draws and logq0[n] of the true values, or both NULL. Call coverage_free() also
   after an error. */
int coverage_run(const struct sims *s, const double *logq, const double *logq0, double alpha,
                 const double *level, int nlevel, uint64_t seed, struct coverage *out,
                 nami_err *err);
void coverage_free(struct coverage *c);

#endif
