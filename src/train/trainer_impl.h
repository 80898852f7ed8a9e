/* trainer_impl.h: the workspaces of a trainer: made by trainer_make.c, used by trainer.c. */
#ifndef TRAIN_TRAINER_IMPL_H
#define TRAIN_TRAINER_IMPL_H

#include <stdatomic.h>

#include "train/trainer.h"

enum {
    LANES = 64,          /* lanes of a chunk: its units stay in the second-level cache */
    ROWS_WORK = 1 << 16, /* number of weights of a task */
    PIECES = 24,         /* approximate number of pieces of a network; at most twice as many */
    BATCH_MOST = 1 << 24
};

/* Rows o0 .. o1-1 of a layer. again: the same weights are used by another layer. */
struct rows {
    const struct dense *d;
    int o0, o1, again;
};

/* The weights of a layer. */
struct weights_of {
    size_t at, n;
};

/* Segments that contribute to the same loss term. */
struct piece {
    size_t s0, s1;
    double work; /* products */
};

/* Workspaces of all chunks, and how the network and its weights are cut into tasks. */
struct lane_work {
    int own_pool;
    int nchunk;
    struct exec *x;      /* the network, for each chunk */
    struct exec *sim;    /* the model's draws, for each chunk */
    struct chunk *units; /* for each chunk (and thread), for sums over the batch */
    int *lane;           /* the first lane of each chunk in the batch */
    double *weight;      /* of each lane of a part: -1 / points of the batch, 0 for padding */
    vec(struct rows) rows;
    double *norm2;        /* of the gradients of each rows */
    const struct prog *p; /* the program of the network; packed if it is cut into pieces */
    struct prog packed;
    vec(struct piece) piece; /* a partition; empty if the program cannot be cut */
    size_t *first_rows;      /* of each segment; then the total number */
    struct exec *view;       /* of chunk c in thread k: view[c * nview + k] */
    int nview;
    atomic_int next;              /* the next piece */
    const struct batch *b;        /* the part that is computed */
    int of;                       /* points of the batch that it is a part of */
    int norms;                    /* norm2 is wanted */
    float rate, scale, b1, b2;    /* of the step */
    vec(struct weights_of) layer; /* whose gradients are clipped one by one; none: all together */
    float usual;                  /* times Adam's second moments: what they were before the step */
    int grad;
    void *block[4];
    /* of a bound, for each lane of the batch */
    double *total, *data, *score, *share, *group_weight[GRADIENT_GROUPS];
    unsigned char *known;      /* by point: discrete latents are observed */
    unsigned char *fed;        /* by choice: the data may contain it */
    const struct feeds *feeds; /* these */
    float *more;               /* gradients of layers with shared weights */
};

#endif
