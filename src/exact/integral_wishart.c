/* integral_wishart.c: integrands a log |X| - tr(P X) / 2 + c of a positive definite matrix: a
   Wishart density.  Precisions of normal vectors. */
#include "exact/conjugate.h"

static const struct family family = {.dist = &dist_wishart, MATRIX_FAMILY};

static int plan(struct integral *g, nami_err *err) { return conjugate_plan(g, &family, err); }

const struct integral_kind integral_wishart = {.name = "wishart",
                                               .what = "a Wishart density, in closed form",
                                               CONJUGATE_KERNELS,
                                               .vectors = 2,
                                               .probed = 1};
