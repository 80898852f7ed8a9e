/* dense.h: one layer of a network, as a block function. */
#ifndef TENSOR_DENSE_H
#define TENSOR_DENSE_H

#include "tensor/product.h" /* activations */
#include "tensor/tensor.h"

/* `self` of an instruction.  The layer's arguments are its inputs' elements. */
struct dense_layer {
    int in, out, act;
    const double *w;    /* (out, in) */
    const double *bias; /* (out) */
    double *dw,
        *dbias; /* gradients are added here, over all lanes; or NULL.  One for each thread */
};

/* out_o = act(sum_i w_oi a_i + bias_o); dim = {in, out}.  Its kernels want a struct dense_layer. */
extern const struct op op_dense;

#endif
