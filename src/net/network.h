/* network.h: an inference network that stands alone: the model, its inverse, the network and, when
   it is read from a file, its weights.

   The file (docs/formats.md, "Trained networks") is a safetensors file.  Its texts hold the model,
   the data it was read with, the inverse, the settings and the encodings, all by name; a digest
   protects all bytes.  Reading it opens no other file and runs nothing: a simulator that the model
   names stays locked until someone who trusts the file calls model_allow_simulator. */
#ifndef NET_NETWORK_H
#define NET_NETWORK_H

#include "data/safetensors.h"
#include "exact/invert.h"
#include "model/problem.h"
#include "net/elbo.h"
#include "net/plan.h"

#define NETWORK_FORMAT "2"

struct network {
    struct arena mem;
    struct model *model, *own_model; /* model: own_model, or another's; own_model may be NULL */
    struct plan plan;
    int untrained; /* its scales are 1, not those of draws of the prior */
    struct inversion inversion;
    struct inverse *inverse;
    struct collapse collapse; /* what is integrated out: the exact factors of the inverse */
    struct inverse *rest;     /* the others, which the network has; NULL: all of them */
    struct kinds *kinds; /* of an open network: own_kinds, or another's; NULL: it is not open */
    struct kinds own_kinds;
    const struct network *base; /* it is an instance of this open network; or NULL */
    struct qnet q;
    struct elbo elbo; /* if plan.elbo */
    struct str bytes; /* what it was read from, */
    struct st file;   /* its tensors and texts */
};

/* With model and plan set: the inverse, unless it is there. */
int network_invert(struct network *n, nami_err *err);
/* The inverse in another mode, in place of the one that is there. */
int network_invert_again(struct network *n, const char *mode, nami_err *err);
/* Then the network: q is made with scales from draws of the prior; or, x not NULL, from these
   num_draws draws x[row * num_draws + i]. */
int network_make(struct network *n, size_t num_draws, const double *x, int threads, nami_err *err);
void network_free(struct network *n);

/* An instance of an open network for another design: the model is read again with these data and
   what is observed (NULL: as in the text and in the data), and inverted; network_make then makes
   the network.  It uses the file and the kinds of `base`, which must outlive it.  network_free also
   after an error. */
int network_instance(struct network *n, const struct network *base, const struct dataset *data,
                     const char *observe, nami_err *err);

/* The network `base`, which is not open, for another model, whose latents and observations have the
   names and shapes of its own: NAMI_EINPUT if they have not.  Both must outlive it; network_free
   also after an error. */
int network_for_model(struct network *n, const struct network *base, struct model *model,
                      int threads, nami_err *err);

/* Does the file begin like one of these?  No, if it cannot be read. */
int network_is(const char *path);
int network_read(struct network *n, const char *path, int threads, nami_err *err);
/* From n->bytes. */
int network_parse(struct network *n, int threads, nami_err *err);

/* Layer number i of the parameters: of the network, then, of a bound, of the model; NULL: there are
   not so many. */
const struct block *network_layer(const struct network *n, size_t i);
size_t network_nparam(const struct network *n);
/* The weights in the file: param[network_nparam(n)].  Those of the model's networks become its
   own. */
int network_weights(struct network *n, float *param, nami_err *err);
/* What was observed, for files: names alone; "@FILE" is spelt out. */
void network_observed(const struct network *n, struct str *out);

/* Inside net/: tensors and texts of n->bytes, verified. */
int network_open(struct network *n, nami_err *err);

/* ---- files: for train/ ---------------------------------------------------------------------- */

/* Calls each(arg, name, num_dims, dim, place in the parameters) for every weight and bias. */
int network_each_weight(const struct network *n,
                        int (*each)(void *arg, const char *name, int num_dims, const size_t *dim,
                                    size_t at, nami_err *err),
                        void *arg, nami_err *err);
/* The same for one layer, whose weights are at this place. */
int block_each_weight(const struct block *b, size_t at,
                      int (*each)(void *arg, const char *name, int num_dims, const size_t *dim,
                                  size_t at, nami_err *err),
                      void *arg, nami_err *err);
/* The texts of a file: all but its digest. `inverse` is JSON (report/json.h, as runs). */
int network_texts(const struct network *n, struct st *file, const char *inverse, nami_err *err);
/* Tensors and texts to bytes, with the digest. */
int network_print(struct st *file, struct str *out, nami_err *err);
/* Weights of a file to param; NAMI_EINPUT if one is missing, of another shape, or damaged. */
int network_take_weights(const struct network *n, float *param, nami_err *err);
/* One of them, as an `each` of network_each_weight; arg: struct weights_from. */
struct weights_from {
    const struct network *file;
    float *param;
};
int network_take_weight(void *arg, const char *name, int num_dims, const size_t *dim, size_t at,
                        nami_err *err);
/* A float tensor of the file with this shape, no number of it larger than `most`. */
int network_take(const struct network *n, const char *name, int num_dims, const size_t *dim,
                 float most, float *out, nami_err *err);
/* Weights beyond this leave nothing of the other inputs in single precision. */
#define NETWORK_LARGEST 1e12f
int network_broken(const char *what, nami_err *err);

#endif
