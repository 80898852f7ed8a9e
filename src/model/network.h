/* network.h: networks that a model declares: functions of its relations, and embeddings through
   which inference networks see its data. */
#ifndef MODEL_NETWORK_H
#define MODEL_NETWORK_H

#include <stddef.h>

struct decl;

enum layer_kind { LAYER_DENSE, LAYER_CONV, LAYER_WHITEN };

enum { WHITEN_MOST = 512 }; /* numbers: the layer has a weight for each pair of them */

/* A conv has windows of size x size, or of size x 1 where the width is 1: a series.  They begin
   each `stride` rows and columns, and lie inside as a whole. */
struct layer {
    enum layer_kind kind;
    int out; /* units or channels */
    int size, stride, act;
    int dim[3]; /* what it gives: height, width, channels; dense: out, 1, 1 */
};

/* A network that relations call. */
struct net {
    const char *name;
    const struct decl *decl;
    int in, out, nlayer;
    struct layer *layer;
    size_t w, nw; /* its weights among the model's; layer by layer (out, in), then biases */
    int learn;
};

/* A network through which factors of the inverse see an observed array. */
struct embed {
    const struct decl *decl;
    int array;
    int dim[3]; /* what it sees, row by row: height, width, channels; the last two may be 1 */
    int nlayer;
    struct layer *layer;
    int out; /* numbers it gives */
};

#endif
