/* reads.h: the dependency graph of the instances of a model, without names. */
#ifndef MODEL_READS_H
#define MODEL_READS_H

#include "graph/inverse.h"
#include "model/view.h"

struct read {
    int from, elem; /* an instance, and an element of it */
};

struct reader {
    int inst, slot; /* read[off[inst] + slot] */
};

/* The dependency graph of all instances, including deterministic ones. Instances that have no
   descendant in the inverse are isolated: they read nothing and are not read. */
struct reads {
    int n;
    size_t *off; /* random elements that instance k reads, in order: read[off[k]] .. */
    struct read *read;
    size_t *out; /* readers of instance k, ascending: reader[out[k]] .. */
    struct reader *reader;
    /* hashes; collisions have probability 2^-64 */
    uint64_t *kind; /* of what is defined: statement, shape, observed or not, training distribution
                     */
    uint64_t *own;  /* of how it is computed: statement, shape, constants, those of training */
};

/* h NULL: of all instances, as if all had descendants in it. */
int reads_make(const struct model *m, const struct inverse *h, struct reads *out, nami_err *err);
/* The constants that instance k of a model reads, in order: data, and counters that are not
   subscripts; not the numbers of the text; the parameters of its training distribution.  Appended to out: 0 or -1. */
struct numbers {
    double *a;
    size_t n, cap;
};
int reads_constants(const struct model *m, int k, struct numbers *out);
void reads_free(struct reads *g);

static inline uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x ^ h >> 29) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 32;
}

#endif
