/* product_impl.h: the sets of layer kernels, each for double and for float. */
#ifndef TENSOR_PRODUCT_IMPL_H
#define TENSOR_PRODUCT_IMPL_H

#include "tensor/product.h"

extern const struct product product_sets_ref[2], product_sets_any[2];
extern const struct product product_sets_avx2[2], product_sets_avx512[2];

#endif
