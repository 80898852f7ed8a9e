/* product_avx2.c: layer kernels for AVX2: vectors of 32 bytes, 16 registers; with flags from
   CMakeLists.txt. */
#ifdef __AVX2__
#include "tensor/product_tile.h"

#define REAL     double
#define IS_FLOAT 0
#define W        4
#define REGS     16
#define MA       3
#define MB       4
#define OUTER    1
#define FN(x)    x##_d
#include "tensor/product.inc"

#define REAL     float
#define IS_FLOAT 1
#define W        8
#define REGS     16
#define MA       3
#define MB       4
#define OUTER    1
#define FN(x)    x##_f
#include "tensor/product.inc"

const struct product product_sets_avx2[2] = {{"avx2", forward_d, back_d, weights_d},
                                             {"avx2", forward_f, back_f, weights_f}};
#endif
