/* product_any.c: layer kernels for any CPU: vectors of 16 bytes, which most have. */
#include "tensor/product_tile.h"

#define REAL     double
#define IS_FLOAT 0
#define W        2
#define REGS     15 /* one is for products: not fused */
#define MA       3
#define MB       2
#define OUTER    0
#define FN(x)    x##_d
#include "tensor/product.inc"

#define REAL     float
#define IS_FLOAT 1
#define W        4
#define REGS     15
#define MA       3
#define MB       4
#define OUTER    0
#define FN(x)    x##_f
#include "tensor/product.inc"

const struct product product_sets_any[2] = {{"any", forward_d, back_d, weights_d},
                                            {"any", forward_f, back_f, weights_f}};
