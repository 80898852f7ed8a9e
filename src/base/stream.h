/* stream.h: random numbers of one node of a model.

   A random number is a function of (seed, node, draw), for any number of threads and any division
   of the draws into chunks. */
#ifndef BASE_STREAM_H
#define BASE_STREAM_H

#include "base/rng.h"

struct stream {
    uint64_t seed;
    uint32_t node;  /* unique number of the variable */
    uint64_t first; /* index of the first draw of this call; a multiple of 4 if n > 1 */
};

/* out[i] belongs to draw first + i, i = 0..n-1. */
void stream_uniform(const struct stream *s, int n, double *out); /* in (0, 1), never 0 or 1 */
void stream_normal(const struct stream *s, int n, double *out);  /* standard normal */
/* The same for several independent numbers per draw: part 0, 1, ... (below 2^15). */
void stream_uniform_part(const struct stream *s, int part, int n, double *out);
void stream_normal_part(const struct stream *s, int part, int n, double *out);
/* A separate generator for draw first + i, for rejection samplers.  Independent of the numbers
   above. */
void stream_rng(const struct stream *s, int i, struct rng *r);
double rng_open(struct rng *r);   /* uniform on (0, 1) */
double rng_normal(struct rng *r); /* standard normal */

#endif
