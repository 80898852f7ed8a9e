/* ppc.h: posterior predictive checks: statistics of an observed array compared with those of its
   posterior predictive draws. */
#ifndef INFER_PPC_H
#define INFER_PPC_H

#include <stddef.h>

/* PPC(id, name, least number of elements) */
#define PPC_STATISTICS(X)                                                                          \
    X(MEAN, "mean", 1)                                                                             \
    X(SD, "sd", 2)                                                                                 \
    X(MIN, "min", 2)                                                                               \
    X(MAX, "max", 2)                                                                               \
    X(LAG, "autocorrelation",                                                                      \
      4) /* at lag 1, in the order of the array; of one-dimensional arrays */
#define PPC_ID(id, name, least) PPC_##id,
enum { PPC_STATISTICS(PPC_ID) NPPC };
#undef PPC_ID
extern const char *const ppc_name[NPPC];

/* Statistic k of n values y[i * stride]; NaN if it is not defined: too few of them, or all are
   equal, or some are not known. */
double ppc_statistic(int k, size_t n, const double *y, size_t stride);

/* One statistic; {.observed} before the first draw. */
struct ppc {
    double observed;             /* of the data; NaN: not checked */
    double predicted;            /* its mean over predictive draws */
    double above, equal, weight; /* of those that are larger than observed, equal; of all */
};
/* Adds the statistic of a predictive draw. */
void ppc_put(struct ppc *p, double value, double weight);
/* P(T(y_rep) > T(y)) + P(T(y_rep) = T(y)) / 2: near 0 or 1 if the model does not reproduce it. */
double ppc_p(const struct ppc *p);

#endif
