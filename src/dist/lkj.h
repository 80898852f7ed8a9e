/* lkj.h: shared by lkj_corr and lkj_corr_cholesky (Lewandowski, Kurowicka and Joe 2009). */
#ifndef DIST_LKJ_H
#define DIST_LKJ_H

#include "dist/block.h"

/* log normalizing constant of |R|^(eta-1) as a density of the elements below the diagonal; its
   derivative with respect to eta */
double lkj_norm(int n, double eta);
double lkj_dnorm(int n, double eta);
/* A <- the Cholesky factor of a draw, for the arguments a = K, eta; NaN where they are invalid */
void lkj_factor(const struct stream *stream, int n, struct slab s, const struct lanes *a,
                double *A);
/* Are K and eta valid? */
bool lkj_ok(int n, double k, double eta);
int lkj_size(const int *n, const char **why);

#endif
