/* messages.h: learnt messages along the elimination tree (tree.h), as layers of a network.

   A term is encoded by a network of its kind: its observed variables and constants, standardized,
   to a vector.  A step pools the vectors of its terms and the messages of its children, kind by
   kind, and a network of its kind turns these into its message.  Factors read the message of their
   step in place of their observed parents.

   Crossed effects (tree.h): the message of one step cannot tell which data belong to which latent
   of its separator.  A factor whose separator has latents of a crossed array therefore *reads*
   again the steps whose terms contain its latent: the terms of each such step are encoded with the
   values of those of their latents that are in the factor's separator, and pooled, apart if they
   contain the factor's latent; then these readings are.  It also reads the pooled latents of its
   separator, and the messages of the crossed steps before it.  All of this is of its parents.  A
   crossed step reads the same without latents for its message. */
#ifndef NET_MESSAGES_H
#define NET_MESSAGES_H

#include "net/qnet.h"
#include "net/share.h"
#include "net/tree.h"

enum { MESSAGE_WIDTH = 32 };

struct messages {
    struct tree tree;
    int gathers; /* for a table of kinds that is not fixed yet (kinds.h): no layers are made */
    int num_kinds, num_term_kinds; /* kinds of terms, then kinds of steps */
    struct message_kind *kind;
    int *term_kind, *step_kind;  /* of each term and step */
    int *term_at, *step_at;      /* its number within its kind */
    int *order;                  /* the steps by level: children before their parents */
    int *unit;                   /* by step: the first unit of its message; -1: there is none */
    vec(struct reading) reading; /* see messages_impl.h */
    struct context *context;     /* by array, of crossed ones; NULL: there are none */
    int *arrays, num_crossed;    /* these arrays */
    int zero;                    /* a unit that is 0; the next one is 1 */
};

/* The tree of network->whole; factors of one kind share networks (share, whose parents are
   latents alone).  NAMI_EINPUT: messages do not suit the model.  Free it also after an error. */
int messages_make(struct messages *messages, struct qnet *network, struct share *share,
                  nami_err *err);
/* Adds what these messages are like to the table of an open network; then the output distributions
   of its factors.  0 or NAMI_ENOMEM. */
int messages_gather(const struct messages *messages, const struct qnet *network,
                    struct kinds *kinds);
int messages_gather_output(const struct messages *messages, const struct qnet *network,
                           struct kinds *kinds, const struct factor *factor,
                           const struct output_dist *output);
/* The kind of a factor's step, by its position in network->inverse; NULL: the network is not open.
 */
const struct kind *messages_kind(const struct messages *messages, const struct qnet *network,
                                 int pos);
/* Terms and steps of one kind, on average. */
double messages_alike(const struct messages *messages);
/* Gives the encodings of one role the same scales: 0 or NAMI_ENOMEM. */
int messages_scales(const struct messages *messages, struct qnet *network);
void messages_free(struct messages *messages);
/* Which features are needed: see encodings_compile. */
void messages_want(const struct messages *messages, const struct qnet *network,
                   unsigned char *want);
/* The first unit of the message that a factor reads, by its position in network->inverse; -1: none.
 */
int messages_unit(const struct messages *messages, const struct qnet *network, int pos);
/* The further units that a factor reads because of crossed effects, which depend on its parents:
   how many; to[]: which, or NULL. */
int messages_context(const struct messages *messages, const struct qnet *network, int pos, int *to);
/* An input of a step that is no feature is made of one: by * unit from + add; from = -1: add alone.
 */
void messages_input(const struct messages *messages, const struct qnet *network, int unit,
                    int *from, double *by, double *add);
/* Adds the layers, after the features; then those that depend on latents, too. */
int messages_compile(struct messages *messages, struct qnet *network);
int messages_compile_context(struct messages *messages, struct qnet *network);

#endif
