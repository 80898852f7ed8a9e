/* Vectors of 16 bytes, which most machines have. */
#include "tensor/product_tile.h"

#define REAL     double
#define IS_FLOAT 0
#define W        2
#define MR       4
#define NR       2
#define MA       3
#define MB       2
#define FN(x)    x##_d
#include "tensor/product.inc"

#define REAL     float
#define IS_FLOAT 1
#define W        4
#define MR       4
#define NR       2
#define MA       3
#define MB       4
#define FN(x)    x##_f
#include "tensor/product.inc"

const struct product product_sets_any[2] = {{"any", forward_d, back_d, weights_d},
                                            {"any", forward_f, back_f, weights_f}};
