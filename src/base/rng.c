/* rng.c: sequential random numbers from Philox 4x32-10 (Salmon et al. 2011). */
#include "base/rng.h"

#include <Random123/philox.h>

void rng_init(struct rng *r, uint64_t seed, uint64_t stream)
{
    *r = (struct rng){.key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
                      .ctr = {0, 0, (uint32_t)stream, (uint32_t)(stream >> 32)}};
}

uint32_t rng_u32(struct rng *r)
{
    if (r->left == 0) {
        philox4x32_ctr_t c = {{r->ctr[0], r->ctr[1], r->ctr[2], r->ctr[3]}};
        philox4x32_key_t k = {{r->key[0], r->key[1]}};
        c = philox4x32(c, k);
        for (int i = 0; i < 4; i++) r->out[i] = c.v[i];
        if (++r->ctr[0] == 0) r->ctr[1]++;
        r->left = 4;
    }
    return r->out[--r->left];
}

/* Lemire's multiplication with rejection. */
uint32_t rng_below(struct rng *r, uint32_t n)
{
    uint64_t m = (uint64_t)rng_u32(r) * n;
    if ((uint32_t)m < n)
        for (uint32_t t = -n % n; (uint32_t)m < t;) m = (uint64_t)rng_u32(r) * n;
    return (uint32_t)(m >> 32);
}

double rng_unit(struct rng *r)
{
    uint64_t hi = rng_u32(r) >> 5, lo = rng_u32(r) >> 6;
    return (double)(hi << 26 | lo) * 0x1p-53;
}

void rng_shuffle(struct rng *r, int *a, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int j = (int)rng_below(r, (uint32_t)i + 1), t = a[i];
        a[i] = a[j];
        a[j] = t;
    }
}
