/* blocks.h: the draws of a query, in blocks of bounded memory.

       blocks_init(&f, ...)
       while (blocks_more(&f)) {
           struct answer a;
           rc = blocks_next(&f, &a, err);
           ... a.n draws from number a.first on, if rc is 0 ...
           answer_free(&a);
       }
       blocks_fini(&f)

   A block contains as many small data sets as fit. The draws of a larger data set are computed
   twice: first for their importance weights, which are smoothed when all are known, then block by
   block. Hence memory does not grow with the number of draws, except for 8 bytes per weight. Draws
   and weights do not depend on the blocks. */
#ifndef INFER_BLOCKS_H
#define INFER_BLOCKS_H

#include "infer/answer.h"

enum { BLOCK_NUMBERS = 1 << 22 }; /* approximate size of a block: 32 MB */

struct blocks {
    const struct infer *a;
    const struct query *q;
    const struct infer_method *method;
    int predict, threads;
    size_t block;              /* maximum number of draws of a block */
    size_t next, weighed;      /* draws before these were returned, have weights */
    double *logw;              /* (per): of the data set that is split into blocks */
    struct diagnostics *found; /* (nset): of data sets whose draws were returned */
    size_t done, work;         /* draws computed so far, in total */
    /* of several processes, which compute blocks of data sets in turn; process 0 gets them all */
    const nami_exchange *with; /* NULL: one process */
    size_t turn;               /* number of the next block */
    struct answer sent;        /* on its way to process 0 */
};

/* a and q must outlive it. Call blocks_fini() also after an error. */
int blocks_init(struct blocks *f, const struct infer *a, const struct query *q,
                const struct infer_method *method, int predict, int threads, size_t numbers, nami_err *err);
int blocks_more(const struct blocks *f);
/* The next draws; none (n = 0) if this step computed weights. Call answer_free() also after an
   error. */
int blocks_next(struct blocks *f, struct answer *out, nami_err *err);
/* Shares the blocks among processes; to be called before the first.  Process 0 has all of them, each
   of the others those that it computes, and no draws (out->n = 0) in the steps between. */
void blocks_share(struct blocks *f, const nami_exchange *with);
/* Sends a block that was computed to process 0, which answer then belongs to. */
int blocks_send(struct blocks *f, struct answer *answer, nami_err *err);
int blocks_sent(struct blocks *f, nami_err *err); /* waits for the last of them */
void blocks_fini(struct blocks *f);

#endif
