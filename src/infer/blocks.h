/* blocks.h: the draws of a query, a block at a time.

       blocks_init(&f, ...)
       while (blocks_more(&f)) {
           struct answer a;
           rc = blocks_next(&f, &a, err);
           ... a.n draws from number a.first on, if rc is 0 ...
           answer_free(&a);
       }
       blocks_fini(&f)

   Small data sets come together, as many as fit into a block.  One that does not fit comes in
   pieces: its draws are made twice, first for their importance weights, which are smoothed when
   all are known, then block by block.  So memory does not grow with the number of draws, except
   for the weights: 8 bytes a draw.  The draws and their weights do not depend on the blocks. */
#ifndef INFER_BLOCKS_H
#define INFER_BLOCKS_H

#include "infer/answer.h"

enum { BLOCK_NUMBERS = 1 << 22 }; /* of a block, about: 32 MB */

struct blocks {
    const struct infer *a;
    const struct query *q;
    const struct infer_method *method;
    int predict, threads;
    size_t block;              /* draws of a block, at most */
    size_t next, weighed;      /* draws before these were handed out, have their weights */
    double *logw;              /* (per): of the data set that comes in pieces */
    struct diagnostics *found; /* (nset): of data sets whose draws were handed out */
    size_t done, work;         /* draws that were made, that will be */
};

/* a and q must outlive it.  blocks_fini() in any case. */
int blocks_init(struct blocks *f, const struct infer *a, const struct query *q,
                const struct infer_method *method, int predict, int threads, size_t numbers, nami_err *err);
int blocks_more(const struct blocks *f);
/* The next draws: none (n = 0) if the next of the work were weights.  answer_free() in any case. */
int blocks_next(struct blocks *f, struct answer *out, nami_err *err);
void blocks_fini(struct blocks *f);

#endif
