/* summary.h: summary statistics of weighted draws, computed by infer/ and written by data/. */
#ifndef DATA_SUMMARY_H
#define DATA_SUMMARY_H

/* The quantiles of a summary, in per cent: QUANTILE(5) ... */
#define QUANTILES(X)  X(5) X(25) X(50) X(75) X(95)
#define QUANTILE_1(p) +1
enum { NQUANTILE = 0 QUANTILES(QUANTILE_1) };

/* Summary of one scalar. */
struct summary {
    double mean, sd, q[NQUANTILE];
    double mcse; /* Monte Carlo standard error of the mean */
    double
        ess; /* effective sample size: unweighted draws that would estimate the mean equally well */
    int has_exact; /* of a latent that is integrated out: from its conditional moments (refine.h) */
    double exact_mean, exact_sd, exact_mcse;
};

/* Diagnostics of all draws for one data set.  NaN: unknown. */
struct diagnostics {
    double khat;   /* Pareto k-hat, tail shape of the weights: infer/weights.h */
    double ess;    /* effective sample size of the weights */
    double log_z;  /* log evidence, log p(data) */
    double log_se; /* its standard error */
    double rhat;   /* of Markov chains, the largest of all numbers; 0: the draws are not of chains */
    double diverged;    /* share of their moves that diverged */
    int rescued;        /* chains that were stuck where next to no probability is, and moved away */
    const char *method; /* that gave these draws; NULL: that of the query */
};

#define DIAGNOSTICS_UNKNOWN \
    ((struct diagnostics){.khat = NAN, .ess = NAN, .log_z = NAN, .log_se = NAN})

#endif
