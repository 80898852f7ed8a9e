/* trainer_impl.h: the workspaces of a trainer: made by trainer_make.c, used by trainer.c. */
#ifndef TRAIN_TRAINER_IMPL_H
#define TRAIN_TRAINER_IMPL_H

#include <stdatomic.h>

#include "train/trainer.h"

enum {
    LANES = 64,          /* of a chunk: its units stay in the second-level cache */
    ROWS_WORK = 1 << 16, /* weights of a task */
    PIECES = 24,         /* of a network, about, at most twice as many */
    BATCH_MOST = 1 << 24
};

/* Rows o0 .. o1-1 of a layer.  More of them have the same weights, if it is used again. */
struct rows {
    const struct dense *d;
    int o0, o1, again;
};

/* Segments that add to the same loss term. */
struct piece {
    size_t s0, s1;
    double work; /* products */
};

/* Workspaces of all chunks, and how the network and its weights are cut into tasks. */
struct lane_work {
    int nchunk;
    struct exec *x;      /* the network, for each chunk */
    struct exec *sim;    /* the model's draws, for each chunk */
    struct chunk *units; /* of each chunk (of each thread's), for sums over the batch */
    int *lane;           /* the first lane of each chunk in the batch */
    double *weight;      /* of each lane of the batch: -1 / points, 0 for those that fill up */
    vec(struct rows) rows;
    double *norm2;        /* of the gradients of each rows */
    const struct prog *p; /* the network; if it is cut into pieces, packed */
    struct prog packed;
    vec(struct piece) piece; /* all of it; none if it cannot be cut */
    size_t *first_rows;      /* of each of its segments; at the end, their number */
    struct exec *view;       /* of chunk c in thread k: view[c * nview + k] */
    int nview;
    atomic_int next; /* the piece that comes next */
    const struct batch *b;
    float rate, scale, b1, b2; /* of the step */
    int grad;
    void *block[4];
    /* of a bound, for each lane of the batch */
    double *total, *data, *score, *share, *group_weight[GRADIENT_GROUPS];
    unsigned char *known;      /* of points: discrete latents are given */
    unsigned char *fed;        /* of choices: the data may give them */
    const struct feeds *feeds; /* these */
    float *more;               /* gradients of layers that are used again */
};

#endif
