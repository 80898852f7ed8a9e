/* messages_impl.h: kinds of terms and steps, with their sets and layers; for messages.c and
   arch_messages.c only. */
#ifndef NET_MESSAGES_IMPL_H
#define NET_MESSAGES_IMPL_H

#include "net/messages.h"

/* A set that a step pools: terms of one kind, or children in one role. */
struct slot {
    uint64_t key;
    int total, most; /* members in all, and of the largest set */
    int now, step;   /* while they are counted */
    int kind;        /* of its terms; -1: children */
    int direct;      /* each set has one member, which is read without a pool */
    int spread;      /* the variance of its members is pooled, too */
    /* while layers are made */
    int width, unit; /* units of a pooled vector; the first one, unless direct */
    int *off, *from; /* members: see struct pooling */
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
    /* layers */
    struct dense *hidden, *output;
};

/* The slot with this key, which is added if it is not there. */
struct slot *message_slot(struct message_kind *kind, uint64_t key); /* NULL: out of memory */

/* Do terms of this kind tell anything: have they observed variables, or constants that differ? */
int message_informs(const struct messages *messages, const struct message_kind *kind);

#endif
