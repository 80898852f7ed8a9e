/* product_ref.c: reference kernels of network layers as plain loops, which the fast kernels must
   match. */
#include <math.h>

#include "tensor/product_impl.h"

#define REAL  double
#define FN(x) x##_d
#include "tensor/product_ref.inc"

#define REAL  float
#define FN(x) x##_f
#include "tensor/product_ref.inc"

const struct product product_sets_ref[2] = {{"ref", forward_d, back_d, weights_d},
                                            {"ref", forward_f, back_f, weights_f}};
