/* summary.h: what weighted draws say, in numbers: found by infer/, written by data/. */
#ifndef DATA_SUMMARY_H
#define DATA_SUMMARY_H

/* The quantiles of a summary, in per cent: QUANTILE(5) ... */
#define QUANTILES(X)  X(5) X(25) X(50) X(75) X(95)
#define QUANTILE_1(p) +1
enum { NQUANTILE = 0 QUANTILES(QUANTILE_1) };

/* Of one number. */
struct summary {
    double mean, sd, q[NQUANTILE];
    double mcse; /* standard error of the mean, from the draws being finitely many */
    double ess;  /* so many draws without weights would give the mean as well */
};

/* Of all draws for one data set.  NaN: not known. */
struct diagnostics {
    double khat;   /* shape of the tail of the weights: infer/weights.h */
    double ess;    /* of the weights */
    double log_z;  /* log evidence, log p(data) */
    double log_se; /* its standard error */
};

#endif
