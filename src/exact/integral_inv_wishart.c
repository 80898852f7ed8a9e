/* integral_inv_wishart.c: integrands - a log |X| - tr(S X^-1) / 2 + c of a positive definite
   matrix: an inverse Wishart density.  Covariances of normal vectors. */
#include "exact/conjugate.h"

static const struct family family = {.dist = &dist_inv_wishart, .inverse = 1, MATRIX_FAMILY};

static int plan(struct integral *g, nami_err *err) { return conjugate_plan(g, &family, err); }

const struct integral_kind integral_inv_wishart = {.name = "inv_wishart",
                                                   .what =
                                                       "an inverse Wishart density, in closed form",
                                                   CONJUGATE_KERNELS,
                                                   .vectors = 2,
                                                   .probed = 1};
