#include "base/stream.h"

#include <math.h>

void stream_rng(const struct stream *s, int i, struct rng *r)
{
    uint64_t draw = s->first + (uint64_t)i;
    rng_init(r, s->seed, (uint64_t)s->node << 32 | (uint32_t)draw); /* ctr[2], ctr[3] */
    r->ctr[1] = (uint32_t)(draw >> 32) << 16 | 0x8000;
}

double rng_open(struct rng *r)
{
    return ((double)(rng_u32(r) >> 5) * 0x1p26 + (double)(rng_u32(r) >> 6) + 0.5) * 0x1p-53;
}

double rng_normal(struct rng *r)
{
    double u = rng_open(r), v = rng_open(r);
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

static void part(const struct stream *s, int part, int i, struct rng *r)
{
    stream_rng(s, i, r);
    r->ctr[1] = (r->ctr[1] & 0xffff0000u) | (uint32_t)part;
}

void stream_uniform_part(const struct stream *s, int k, int n, double *out)
{
    struct rng r;
    for (int i = 0; i < n; i++) part(s, k, i, &r), out[i] = rng_open(&r);
}

void stream_normal_part(const struct stream *s, int k, int n, double *out)
{
    struct rng r;
    for (int i = 0; i < n; i++) part(s, k, i, &r), out[i] = rng_normal(&r);
}

void stream_uniform(const struct stream *s, int n, double *out)
{
    stream_uniform_part(s, 0, n, out);
}

void stream_normal(const struct stream *s, int n, double *out)
{
    stream_normal_part(s, 0, n, out);
}
