/* wishart.h: shared by the Wishart and inverse Wishart distributions. */
#ifndef DIST_WISHART_H
#define DIST_WISHART_H

#include "dist/block.h"

/* Intermediate results of a slab: Cholesky factors of the value X and of the scale S, log
   determinants, and the trace in the density. */
struct wishart_slab {
    double *X, *S, *y; /* (n, n), (n, n), (n) */
    double logX[SLAB], logS[SLAB], trace[SLAB];
    double known[SLAB]; /* 0, or NaN if X is */
    const double *nu;
    double nu_buf[SLAB];
};
int wishart_work(const int *dim);
int wishart_size(const int *n, const char **why);
/* a: X, nu, S.  trace = tr(S^-1 X), or tr(X^-1 S) if `inverse`.  work: wishart_work. */
void wishart_load(struct wishart_slab *w, int n, int inverse, const struct lanes *a, struct slab s,
                  double *work);
/* out <- nu n/2 log 2 + log Gamma_n(nu/2), and its derivative with respect to nu; NaN unless nu > n
 * - 1 */
void wishart_norm(int n, int m, const double *nu, double *out);
void wishart_dnorm(int n, int m, const double *nu, double *out);
/* A <- Bartlett decomposition: A A' is wishart(nu, I) */
void bartlett(const struct stream *stream, int n, struct slab s, const double *nu, double *A);
/* out <- B B' */
void outer_square(int n, struct slab s, const double *B, double *const *out);
/* T <- P Y P for symmetric P, Y; scratch has size (n, n) */
void sandwich(int n, int m, const double *P, const double *Y, double *scratch, double *T);

#endif
