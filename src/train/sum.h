/* sum.h: sums over the parts of a batch, in an order that does not depend on the number of
   processes.

   The parts are the leaves of a binary tree: node [a, b) is the sum of [a, m) and [m, b), with
   m = (a + b) / 2.  Each process owns consecutive leaves, and adds up the largest subtrees that are
   its own.  The vectors are cut into segments; for each segment one of the two processes below a
   node, a different one for different segments, receives what the other has, and holds the node.
   The segments of the root are then sent back the same way.  So each number is added in the order
   of the tree, and the traffic is spread over all processes, about 2 (1 - 1 / processes) vectors
   each. */
#ifndef TRAIN_SUM_H
#define TRAIN_SUM_H

#include "nami.h"

enum { SUM_MOST_PARTS = 4096, SUM_MOST_SEGMENTS = 16 };

struct sum {
    int parts;
    const nami_exchange *with; /* NULL: one process */
    int levels, num_vectors;   /* of the tree; that are needed */
    /* of the vectors of the present sum: */
    size_t floats, stride, doubles; /* stride: floats, padded; the doubles follow */
    int segments, bits;
    size_t segment; /* floats of one */
    size_t room;    /* bytes of each vector that there is */
    void *block;
    char *memory; /* vectors: total, incoming, one for each level, the roots of own subtrees */
    int roots;    /* so far */
    int have;     /* segments of the total that have come, a bit for each */
    int failed;
};

/* The points from ... to - 1 of n that are in a part; from is a multiple of 8, so that their draws
   do not depend on the parts.  A part may be empty. */
void sum_part(int parts, int n, int part, int *from, int *to);
/* The parts of this process: first .. end-1. */
void sum_own(const struct sum *s, int *first, int *end);
/* NAMI_EUSAGE if there are more processes than parts. */
int sum_init(struct sum *s, int parts, const nami_exchange *with, nami_err *err);
void sum_free(struct sum *s);

/* Computes a part: sets all of its numbers. */
typedef void sum_leaf(void *arg, int part, float *floats, double *doubles);
/* In floats[num_floats] and doubles[num_doubles], the sums over all parts.  0, NAMI_ENOMEM or
   NAMI_EFILE: the exchange failed. */
int sum_run(struct sum *s, size_t num_floats, size_t num_doubles, sum_leaf *leaf, void *arg,
            float *floats, double *doubles);

#endif
