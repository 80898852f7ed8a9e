/* messages_impl.h: kinds of terms and steps, with their sets and layers; for messages.c and
   arch_messages.c only. */
#ifndef NET_MESSAGES_IMPL_H
#define NET_MESSAGES_IMPL_H

#include "net/messages.h"

/* Two layers: the output layer reads the hidden units, then all inputs. */
struct message_layers {
    struct dense *hidden, *output;
};

/* A set that a step pools: terms of one kind, children in one role, or readings of one kind. */
struct slot {
    uint64_t key;
    int total, most; /* members in all, and of the largest set */
    int now, step;   /* while they are counted */
    int kind;        /* of its terms; -1: none are here, or it has no terms */
    int terms;       /* it is one of terms */
    int direct;      /* each set has one member, which is read without a pool */
    int spread;      /* the variance of its members is pooled, too */
    /* while layers are made */
    int width, unit; /* units of a pooled vector; the first one, unless direct */
    int *off, *from; /* members: see struct pooling */
};

/* Sets of vectors of units, and the first unit of what is pooled of each. */
struct sets {
    int n, *off, *from, unit;
};

/* What the steps of a kind read again of those of another: see messages.h. */
struct pair {
    int step, base; /* `step` reads the terms of `base` */
};
struct reading_part { /* terms of one kind */
    int kind;         /* -1: there are none */
    struct message_layers layers;
    struct sets own, other; /* by pair: those with the latent of the step, and the others */
};
struct reading {
    int kind, of;          /* of: -1 if there are none */
    uint64_t key;          /* of the latter */
    int late;              /* with latents, for factors; 0: without, for messages */
    vec(struct pair) pair; /* by step */
    vec(struct reading_part) part;
    struct message_layers layers; /* of each pair */
    struct sets set;              /* late: by step of the kind */
};

/* The latents of a crossed array, encoded. */
struct context {
    int *at; /* by step: the first unit; -1: it has no factor, or is of another array */
    struct message_layers layers;
};

struct message_kind {
    int n, first;            /* terms or steps; the first of them */
    const struct kind *open; /* of an open network: its entry in the table; else NULL */
    /* of terms */
    int num_nodes, num_constants;
    double *mean, *sd; /* of the constants; 0: all are equal, and none is read */
    int raw;           /* steps read its inputs themselves: there is one term, and it has few */
    int num_inputs, *input;
    int constant_unit, num_constant_units, first_value; /* standardized constants of all terms */
    const struct scaled *product;                       /* products of constants and features */
    /* of steps */
    vec(struct slot) slot;
    int speaks;         /* it has a message */
    int next;           /* while layers are made: the next step */
    int num_raw, white; /* raw inputs, and the first unit of them whitened; -1: as they are */
    int context;        /* its factors have one: messages_context */
    struct sets *separator, before; /* by crossed array: its latents; messages of its chain */
    struct message_layers layers;
};

/* The slot with this key, which is added if it is not there. */
struct slot *message_slot(struct message_kind *kind, uint64_t key); /* NULL: out of memory */

/* Do terms of this kind tell anything: have they observed variables, or constants that differ? */
int message_informs(const struct messages *messages, const struct message_kind *kind);

/* Counts another member of a slot of step i: a term of a kind, or another (-1).  Steps come in
   order. */
int message_count(struct messages *messages, int i, uint64_t key, int kind);

/* Appends the name of a kind's weights, without its role: that of its statement. */
void message_kind_name(const struct messages *messages, const struct qnet *network, int kind,
                       struct str *name);
/* Layers of n instances; their inputs, one by one; instructions of instances first .. end-1. */
int message_layers(struct qnet *network, struct message_layers *layers, int n, int num_inputs,
                   int num_back, struct str *name);
void message_inputs(const struct message_layers *layers, int i, const int *from);
int message_emit(struct qnet *network, const struct message_layers *layers, int first, int end);

/* ---- crossed effects (readings.c) --------------------------------------------------------- */

/* The slot of early readings of steps of a kind. */
static inline uint64_t reading_slot(uint64_t key) { return mix(5, key); }

/* Who reads what.  NAMI_EINPUT: steps of kind *unknown read what no design of training had. */
int readings_find(struct messages *messages, const struct qnet *network, int *unknown);
int readings_gather(const struct messages *messages, struct kind *to, int kind);
/* Calls unite() for latents that must have the same scales. */
void readings_unite(const struct messages *messages, const struct qnet *network,
                    void (*unite)(int *up, const struct encoding *encoding, int a, int b), int *up);
int readings_compile(struct messages *messages, struct qnet *network);
/* Calls use() for each early reading: the slot and number of its step, its first unit. */
void readings_each(struct messages *messages, void (*use)(struct slot *slot, int set, int unit));
void readings_free(struct messages *messages);

#endif
