/* exchange.h: messages between the processes that work on one call (nami_exchange). */
#ifndef BASE_EXCHANGE_H
#define BASE_EXCHANGE_H

#include "base/err.h"

/* Tags of messages, by purpose. Sums use those below EXCHANGE_ANSWER (train/sum.h). */
enum { EXCHANGE_ANSWER = 1 << 14, EXCHANGE_DRAWS, EXCHANGE_JOBS };

/* x may be NULL: one process. */
static inline int exchange_rank(const nami_exchange *x) { return x ? x->rank : 0; }
static inline int exchange_size(const nami_exchange *x) { return x ? x->num_ranks : 1; }

static inline int exchange_send(const nami_exchange *x, int to, int tag, const void *bytes,
                                size_t size)
{
    return size && x->send(to, tag, bytes, size, x->user) ? NAMI_EFILE : 0;
}

static inline int exchange_receive(const nami_exchange *x, int from, int tag, void *bytes,
                                   size_t size)
{
    return size && x->receive(from, tag, bytes, size, x->user) ? NAMI_EFILE : 0;
}

static inline int exchange_wait(const nami_exchange *x)
{
    return x && x->wait(x->user) ? NAMI_EFILE : 0;
}

static inline int exchange_failed(nami_err *err)
{
    return err_set(err, NAMI_EFILE, "the exchange with another process failed; has it ended?");
}

/* Are the members usable? */
static inline int exchange_check(const nami_exchange *x, nami_err *err)
{
    if (!x || (x->num_ranks >= 1 && x->rank >= 0 && x->rank < x->num_ranks && x->send &&
               x->receive && x->wait))
        return 0;
    return err_set(err, NAMI_EUSAGE,
                   "the exchange is incomplete: it needs send, receive, wait, and a rank below the "
                   "number of processes");
}

#endif
