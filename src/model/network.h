/* network.h: neural networks that a model declares: functions used in its relations, and embeddings
   (summary networks) of its data for inference networks. */
#ifndef MODEL_NETWORK_H
#define MODEL_NETWORK_H

#include <stddef.h>

struct decl;

enum layer_kind { LAYER_DENSE, LAYER_CONV, LAYER_WHITEN };

enum { WHITEN_MOST = 512 }; /* inputs: the whitening layer has a weight for each pair */

/* A convolution has windows of size x size, or of size x 1 if the width is 1 (time series), with
   the given stride and no padding. */
struct layer {
    enum layer_kind kind;
    int out; /* units or channels */
    int size, stride, act;
    int dim[3]; /* output: height, width, channels; dense: out, 1, 1 */
};

/* A network that is called in relations. */
struct net {
    const char *name;
    const struct decl *decl;
    int in, out, nlayer;
    struct layer *layer;
    size_t w, nw; /* offset and number of its weights; for each layer (out, in), then biases */
    int learn;
};

/* A summary network of an observed array, an input of factors of the inverse. */
struct embed {
    const struct decl *decl;
    int array;
    int dim[3]; /* input, row-major: height, width, channels; the last two may be 1 */
    int nlayer;
    struct layer *layer;
    int out; /* number of outputs */
};

#endif
