/* gauss.h: shared by the multivariate normal distributions.  All load a Cholesky factor L of their
   matrix; `apply` (a triangular solve or product) maps the residual to standard normals, or
   standard normals to a draw. */
#ifndef DIST_GAUSS_H
#define DIST_GAUSS_H

#include "dist/block.h"

typedef void load_fn(int n, const struct lanes *a, struct slab s, double *A);
typedef void apply_fn(int n, int m, const double *L, double *y);

/* sign log|L| - n/2 log(2 pi) - |y|^2/2, y = apply(L, x - mu).  work: L and y */
void gauss_logp(int n, int L, double *out, const struct lanes *a, double *work, load_fn *load,
                apply_fn *apply, int sign);
/* mu + apply(L, z); a: the elements of mu and of the matrix */
void gauss_draw(const struct stream *stream, int n, int L, double *const *out,
                const struct lanes *a, double *work, load_fn *load, apply_fn *apply);

#endif
