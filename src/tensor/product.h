/* product.h: network layers (forward, backward, weight gradients) for a chunk of lanes.

   Networks work on units: rows of float (or of double, for tests and for models), unit u at x + u *
   cap, followed by its lanes b.  A layer gathers its inputs from any units, so that masks, skips
   and convolutions are lists of units, and masked weights cost nothing.

   Each kernel exists in plain loops (the reference) and in register tiles, for AVX-512, AVX2 and
   any machine; for float and for double: product.inc is compiled for each. */
#ifndef TENSOR_PRODUCT_H
#define TENSOR_PRODUCT_H

#include <stddef.h>

enum act { ACT_LINEAR, ACT_TANH, ACT_RELU, ACT_SIGMOID, ACT_SOFTPLUS, NACT };
extern const char *const act_names[];       /* NULL at the end */
int act_find(const char *name, size_t len); /* or -1 */

/* n instances of a layer: instance i writes the units to + i * out ...,
       y_o = act(bias_o + sum over k of w[o,k] * unit[from[i * in + k]]).
   A masked network is many of these; a convolution is one, with n positions. */
struct dense;
struct use { /* a reader of the outputs of a layer, by instance: the inputs k ... of d */
    const struct dense *d;
    int k;
};
struct dense {
    int n, in, out, act;
    int back;        /* the first `back` of the inputs get derivatives; the rest are data */
    const int *from; /* (n, in); an input may appear once in an instance */
    int to;
    size_t w; /* where in the parameters: w (out, in), then bias (out) */
    /* In the backward pass, a layer can gather the derivatives of its outputs from all layers that
       read them, instead of each reader adding to them (decided by prog_finish). */
    int nuse; /* 0: readers add to them */
    const struct use *use;
    int pulled;  /* the first `pulled` inputs are outputs of layers that gather */
    int written; /* adj of the outputs is written before it is accumulated: no clearing is needed */
    int signs;   /* the inputs are exactly those of chunk.signs */
};

/* Binary data: units first .. first+n-1 of a chunk, all -1 or 1, most of them -1; lists of those
   that are 1.  A layer that reads exactly these adds weights instead of multiplying. */
struct signs {
    int first, n;
    int sure;             /* the lists are valid */
    unsigned short *unit; /* of lane b: nunit[b] numbers of units, from 0, at unit + b * n */
    unsigned short *lane; /* of unit k: nlane[k] lanes at lane + k * cap */
    int *nunit, *nlane;
    float *work; /* 32 (n + 3) */
};

/* A chunk of lanes: cap is a multiple of 8; lanes 0 .. L-1 are worked on, L a multiple of 8. */
struct chunk {
    void *unit, *adj; /* adj: derivatives of the loss; of the same shape */
    int cap, L;
    struct signs *signs; /* or NULL; float only */
};

/* A set of layer kernels for one instruction set and precision. */
struct product {
    const char *name; /* "avx512" */
    void (*forward)(const struct dense *d, const void *param, const struct chunk *c);
    /* adj of the outputs = the sum of w^T adj of their uses, if there are any; it is multiplied
       by act'; then adj of the inputs pulled .. back-1 += w^T adj. */
    void (*back)(const struct dense *d, const void *param, const struct chunk *c);
    /* After back() of all chunks: derivatives by the weights of outputs o0 .. o1-1 and their
       biases, summed over chunks, instances and lanes in an order that depends on nothing else.
       grad is laid out as the parameters; written, not added.  Each call may transpose the
       inputs once: better few calls with 50 outputs than many with 5. */
    void (*weights)(const struct dense *d, const struct chunk *c, int nchunk, int o0, int o1,
                    void *grad);
};

/* The fastest set for this machine, and the reference; for float if is_float, otherwise for
   double. */
/* or those that the environment variable NAMI_KERNEL names, if the machine has them */
const struct product *product_best(int is_float);
const struct product *product_ref(int is_float);
/* By name ("ref", "any", "avx2", "avx512"); NULL if this machine does not support it. For tests. */
const struct product *product_find(const char *name, int is_float);

#endif
