/* rng.h: counter-based random numbers (Random123's Philox 4x32-10).

   A stream is identified by (seed, stream) and produces the same numbers on any machine and for any
   number of threads. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

struct rng {
    uint32_t key[2], ctr[4], out[4];
    int left; /* unused words of out */
};

void rng_init(struct rng *r, uint64_t seed, uint64_t stream);
uint32_t rng_u32(struct rng *r);
uint32_t rng_below(struct rng *r, uint32_t n); /* uniform on 0..n-1, without bias; n > 0 */
double rng_unit(struct rng *r);                /* uniform on [0, 1) */
void rng_shuffle(struct rng *r, int *a, int n);

#endif
