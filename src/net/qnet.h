/* qnet.h: an inference network q(z | x) with the structure of an inverse.

   The inverse is a product of factors, one for each latent; a factor of several coordinates is
   autoregressive over them.  Each coordinate has an output distribution (its family), whose
   parameters come from a network that reads what the inverse allows and nothing else.  All this is
   one program, whose total is log q(z | x) of the draws in its first rows. */
#ifndef NET_QNET_H
#define NET_QNET_H

#include "graph/inverse.h"
#include "net/arch.h"
#include "net/code.h"
#include "net/family.h"

enum { NET_LAYERS = 8 };

/* The network that was asked for. */
struct net_options {
    const struct family *family; /* NULL: match */
    int size; /* of the family, or of the mixture that stands in for it; 0: its own default */
    const struct arch *arch;         /* NULL: auto, by group */
    int nhidden, hidden[NET_LAYERS]; /* units a factor (mlp) or in all (made); none: by size */
    int shared; /* units of each layer of networks that several factors share; 0: as hidden */
    int act;
    int skip; /* 1: inputs feed outputs too; 0: not; -1: in made, and where inputs are whitened */
    int no_share; /* a network of its own for each factor, also in plates */
    int whiten; /* 1: layers that take correlations away (white.h); 0: none; -1: if arch is auto */
    uint64_t seed;
};

/* One coordinate of one latent. */
struct factor {
    int pos, node, k; /* its place in the inverse; of bn; which coordinate */
    int group;
    int nin, nback; /* units it may see; the first nback have derivatives */
    const int *in;
    int unit, out; /* the first of its outputs, as a unit and as a row */
};

/* Factors that share the weights of one network: one factor, or those of a plate. */
struct group {
    int first, n; /* factor numbers member[first] ... */
    int tag;      /* whose loss it adds to: see struct part */
    const struct arch *arch;
    struct head head;
    int nout;
};

/* A loss term: that of a latent, or of a plate of them. */
struct part {
    const char *name;
    int n; /* latents */
};

/* The outputs of an embedding, which replace an observed array that a factor sees as a whole. */
struct net_embedding {
    int unit, n; /* its numbers */
    int nnode;   /* of the array */
};

/* The weights of one layer. */
struct block {
    const char *name;
    const struct dense *d;
    const float *start; /* weights to start from; NULL: random ones */
};

/* The whole network: encodings, factors, groups, layers and the program. */
struct qnet {
    struct arena mem;
    struct model *m;
    const struct inverse *h;
    struct net_options opt;
    struct code *code;
    int nfeature;         /* the first units; those of embeddings follow */
    unsigned char *given; /* of features: of an observed variable? */
    int nembed;           /* embeddings: those that the model declares, then whitened arrays */
    struct embed *embed;
    struct net_embedding *embedding;
    int nfactor, ngroup, npart, *member;
    struct factor *factor;
    struct group *group;
    struct part *part;
    int nlabel; /* of the masked network */
    vec(struct block) block;
    struct prog prog;
    size_t ndraw; /* while it is built: draws of the prior, draw[row * ndraw + i]; or 0 */
    const double *draw;
    size_t nencode; /* the first instructions: coordinates and features of what is in the rows */
};

/* m and h must outlive it.  Scales come from draws of the prior with opt->seed; or from a file, if
   `saved` (saved.h) is not NULL. */
struct saved;
int qnet_make(struct qnet *q, struct model *m, const struct inverse *h,
              const struct net_options *opt, const struct saved *saved, int threads, nami_err *err);
/* The same with scales from n given draws x[row * n + i], for models that cannot be drawn from. */
int qnet_make_on(struct qnet *q, struct model *m, const struct inverse *h,
                 const struct net_options *opt, size_t n, const double *x, nami_err *err);
void qnet_free(struct qnet *q);

/* Weights to start from: param[q->prog.nparam]. */
void qnet_start(const struct qnet *q, uint64_t seed, float *param);

/* Multiplications of one lane, forwards; and those by weights that are not masked away are all. */
double qnet_products(const struct qnet *q);

/* Appends a factor's name: that of its loss term, and which coordinate if there are several. */
void qnet_factor_name(const struct qnet *q, const struct factor *f, struct str *out);

/* The row of a factor's value. */
int qnet_value(const struct qnet *q, const struct factor *f);

/* ---- inside net/ ---- */

/* The instruction that adds log q of n members of a group: the rows of their values, and of
   their outputs (n, nout). */
struct instr qnet_head(const struct group *g, int n, const int *value, const int *out);

/* A layer of n instances: units for its outputs, weights, an instruction.  `from` (n, in) is
   copied.  name is printed.  Returns the first unit, or -1. */
int net_layer(struct qnet *q, int n, int in, int back, const int *from, int out, int act,
              const char *name);
int net_heads(struct qnet *q, int g); /* a group's outputs as rows, and its head on them */

#endif
