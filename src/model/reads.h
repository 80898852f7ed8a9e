/* reads.h: which variables the instances of a model read, as a graph without names. */
#ifndef MODEL_READS_H
#define MODEL_READS_H

#include "graph/inverse.h"
#include "model/view.h"

struct read {
    int from, elem; /* an instance, and which of its elements */
};

struct reader {
    int inst, slot; /* read[off[inst] + slot] */
};

/* The graph of a model's instances, deterministic ones too.  Those on which nothing depends that
   is in the inverse are left out: they read nothing, and nobody knows them. */
struct reads {
    int n;
    size_t *off; /* what instance k reads that is random, in order: read[off[k]] .. */
    struct read *read;
    size_t *out; /* who reads it, ascending: reader[out[k]] .. */
    struct reader *reader;
    /* hashes: equal if, but for a chance of 2^-64, all of these are */
    uint64_t *kind; /* what its values are: statement, shape, observed or not */
    uint64_t *own;  /* how they come from what it reads: statement, shape, constants */
};

int reads_make(const struct model *m, const struct inverse *h, struct reads *out, nami_err *err);
void reads_free(struct reads *g);

static inline uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x ^ h >> 29) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 32;
}

#endif
