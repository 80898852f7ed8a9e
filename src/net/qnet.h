/* qnet.h: an inference network q(z | x) with the structure of an inverse.

   The inverse is a product of factors, one for each latent; a factor of several coordinates is
   autoregressive over them.  Each coordinate has an output distribution (its family), whose
   parameters come from a network that reads what the inverse allows and nothing else.  All this is
   one program, whose total is log q(z | x) of the draws in its first rows. */
#ifndef NET_QNET_H
#define NET_QNET_H

#include "exact/collapse.h"
#include "graph/inverse.h"
#include "net/arch.h"
#include "net/encoding.h"
#include "net/family.h"
#include "net/kinds.h"

enum { NET_LAYERS = 8 };

/* The network that was asked for. */
struct net_options {
    const struct family *family; /* NULL: match */
    int size; /* of the family, or of the one that stands in for it; 0: its default */
    const struct arch *arch;         /* NULL: auto, by group */
    int message;                     /* units of a message */
    int nhidden, hidden[NET_LAYERS]; /* units of each factor (mlp), in total (made); 0: default */
    int shared; /* units of each layer of networks that several factors share; 0: as hidden */
    int act;
    int skip; /* 1: inputs feed outputs too; 0: not; -1: in made, and where inputs are whitened */
    int no_share; /* a network of its own for each factor, also in plates */
    const struct qnet *like; /* for another model with its variables: their encodings; or NULL */
    struct kinds
        *kinds; /* of an open network: to be gathered, or fixed (kinds.h); NULL: not open */
    int whiten; /* 1: whitening layers (white.h); 0: none; -1: if arch is auto or messages */
    uint64_t seed;
};

/* One coordinate of one latent. */
struct factor {
    int pos, node, coordinate; /* its place in the inverse; of bn; which coordinate */
    int group;
    int nin, nback; /* units that it may read; the first nback have derivatives */
    const int *in;
    int unit, out; /* the first of its outputs, as a unit and as a row */
};

/* Factors that share the weights of one network: one factor, or those of a plate. */
struct group {
    int first, num_factors; /* factor numbers member[first] ... */
    int tag;                /* the number of its loss term */
    const struct arch *arch;
    struct output_dist output;
    int nout;
};

/* A term of the loss: that of one latent, or of all latents of a plate. */
struct loss_term {
    const char *name;
    int num_latents;
};

/* The outputs of an embedding, which replace an observed array that a factor sees as a whole. */
struct net_embedding {
    int unit, num_units; /* its outputs */
    int nnode;           /* nodes of the array */
};

/* The weights of one layer. */
struct block {
    const char *name;
    const struct dense *layer;
    const float *start;       /* initial weights; NULL: random */
    int keeps;                /* random ones keep the scale of the inputs: a linear inner layer */
    const struct times *gate; /* its outputs times those of another layer before it; or NULL */
};

/* Pooled sets that depend on latents. */
struct late_pool {
    const struct pooling *pool;
    size_t block; /* it comes before this one */
};

/* The whole network: encodings, factors, groups, layers and the program. */
struct qnet {
    struct arena mem;
    struct model *model;
    const struct inverse *inverse;
    const struct inverse *whole;     /* with the exact factors, which the network does not have */
    const struct collapse *collapse; /* latents that are integrated out; NULL: none */
    struct net_options opt;
    struct encoding *encoding;
    int nfeature;         /* units 0 .. nfeature-1 are features; those of embeddings follow */
    unsigned char *given; /* given[feature]: is it one of an observed variable? */
    int nembed;           /* embeddings: those that the model declares, then whitened arrays */
    struct embed *embed;
    struct net_embedding *embedding;
    int nfactor, ngroup, num_loss_terms, *member;
    struct factor *factor;
    struct group *group;
    struct loss_term *loss_term;
    int nlabel; /* labels of the masked network (label.h) */
    vec(struct block) block;
    struct prog prog;
    size_t ndraw; /* while it is built: draws of the prior, draw[row * ndraw + i]; or 0 */
    const double *draw;
    /* the first instructions: coordinates and features from the rows, messages from features */
    size_t nencode;
    size_t num_early;           /* the first blocks: those of messages */
    vec(struct late_pool) late; /* of crossed effects */
    struct messages *messages;  /* while it is built; NULL: another architecture */
};

/* model and inverse must outlive the network.  Scales come from draws of the prior with opt->seed;
   or from a file, if `saved` (saved.h) is not NULL. */
struct saved;
int qnet_make(struct qnet *network, struct model *model, const struct inverse *inverse,
              const struct net_options *opt, const struct saved *saved, int threads, nami_err *err);
/* The same with scales from given draws, draw[row * num_draws + i], for models that cannot be
   simulated. */
int qnet_make_on(struct qnet *network, struct model *model, const struct inverse *inverse,
                 const struct net_options *opt, size_t num_draws, const double *draw,
                 nami_err *err);
void qnet_free(struct qnet *network);

/* Initial weights: param[network->prog.nparam]. */
void qnet_start(const struct qnet *network, uint64_t seed, float *param);

/* Multiplications of a forward pass for one lane; masked weights, which are not stored, do not
   count. */
double qnet_products(const struct qnet *network);

/* Appends a factor's name: that of its loss term, and which coordinate if there are several. */
void qnet_factor_name(const struct qnet *network, const struct factor *factor, struct str *out);

/* The row of a factor's value. */
int qnet_value(const struct qnet *network, const struct factor *factor);

/* ---- inside net/ ---- */

/* The instruction that adds log q of factors of a group: the rows of their values, and of their
   outputs (num_factors, nout). */
struct instr qnet_log_density(const struct group *group, int num_factors, const int *value,
                              const int *out);

/* Adds a layer of several instances that share weights: units for its outputs, weights and an
   instruction.  `from` (instances, inputs), copied: the units that it reads; the first num_back
   inputs of each instance have derivatives.  `name` is that of its weights in files.  Returns the
   first unit of its outputs (instances, outputs), or -1: out of memory. */
int net_layer(struct qnet *network, int num_instances, int num_inputs, int num_back,
              const int *from, int num_outputs, int act, const char *name);
/* The same without the instruction: n instances whose inputs, d->from, the caller fills in before
   it emits them with net_part, in parts of consecutive instances.  NULL: out of memory. */
struct dense *net_weights(struct qnet *network, int num_instances, int num_inputs, int num_back,
                          int num_outputs, int act, const char *name);
int net_part(struct qnet *network, const struct dense *layer, int first, int end);
/* Adds the outputs of group number g as rows (factor.unit is set before), and log q of its
   factors. */
int net_outputs(struct qnet *network, int g);

#endif
