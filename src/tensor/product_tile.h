/* product_tile.h: what product.inc needs. */
#ifndef TENSOR_PRODUCT_TILE_H
#define TENSOR_PRODUCT_TILE_H

#include <string.h>

#include "base/simd.h"
#include "tensor/product_impl.h"

/* Loops over tiles disappear. */
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#endif
