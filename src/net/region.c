/* region.c: finds the part of a model that determines p(v | parents), and colors it for
   isomorphism tests. */
#include "net/region.h"

#include <stdlib.h>

/* Colours are refined until no more are split; those of long regions stay coarse. */
enum { ROUNDS = 8 };

int region_init(struct region *r, const struct reads *g)
{
    *r = (struct region){.g = g};
    r->tag = new_array(unsigned char, g->n);
    r->inst = raw_array(int, g->n);
    r->colour = raw_array(uint64_t, g->n);
    r->next = raw_array(uint64_t, g->n);
    r->sum = raw_array(uint64_t, g->n);
    r->sorted = raw_array(uint64_t, g->n);
    return r->tag && r->inst && r->colour && r->next && r->sum && r->sorted ? 0 : -1;
}

void region_fini(struct region *r)
{
    free(r->tag);
    free(r->inst);
    free(r->colour);
    free(r->next);
    free(r->sum);
    free(r->sorted);
}

static void add(struct region *r, int k)
{
    if (r->tag[k] & LISTED) return;
    r->tag[k] |= r->tag[k] & GIVEN ? LISTED : LISTED | INSIDE;
    r->inst[r->n++] = k;
}

static void touch(struct region *r, int k, int64_t *work)
{
    const struct reads *g = r->g;
    if (r->tag[k] & FACTOR) return;
    add(r, k);
    r->tag[k] |= FACTOR;
    for (size_t i = g->off[k]; i < g->off[k + 1]; i++) add(r, g->read[i].from);
    *work -= (int64_t)(g->off[k + 1] - g->off[k]);
}

/* ---- colours ------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int count_colours(struct region *r)
{
    int n = 1;
    for (int i = 0; i < r->n; i++) r->sorted[i] = r->colour[r->inst[i]];
    qsort(r->sorted, (size_t)r->n, sizeof *r->sorted, by_value);
    for (int i = 1; i < r->n; i++) n += r->sorted[i] != r->sorted[i - 1];
    return n;
}

/* Mixes in what each reads, in order, and who reads it, and where. */
static void refine(struct region *r, int64_t *work)
{
    const struct reads *g = r->g;
    for (int i = 0; i < r->n; i++) r->sum[r->inst[i]] = 0;
    for (int i = 0; i < r->n; i++) {
        int k = r->inst[i];
        uint64_t mine = r->colour[k], slot = 0;
        for (size_t j = g->off[k]; r->tag[k] & FACTOR && j < g->off[k + 1]; j++, slot++) {
            uint64_t elem = (uint64_t)g->read[j].elem;
            mine = mix(mix(mine, elem), r->colour[g->read[j].from]);
            r->sum[g->read[j].from] += mix(mix(r->colour[k], slot), elem);
        }
        r->next[k] = mine;
        *work -= 8 + (int64_t)slot;
    }
    for (int i = 0; i < r->n; i++) {
        int k = r->inst[i];
        r->colour[k] = mix(r->next[k], r->sum[k]);
    }
}

/* Of those that are given, where they come from matters only to factors. */
static void colour(struct region *r, int64_t *work)
{
    for (int i = 0; i < r->n; i++) {
        int k = r->inst[i];
        uint64_t own = r->tag[k] & FACTOR ? r->g->own[k] : 0;
        r->colour[k] = mix(mix(r->tag[k] & GIVEN ? r->g->kind[k] : 0, own), r->tag[k]);
    }
    int before = 0, now = count_colours(r);
    for (int round = 0; round < ROUNDS && now > before && *work > 0; round++) {
        before = now;
        refine(r, work);
        now = count_colours(r);
    }
}

int region_find(struct region *r, int v, const int *given, int64_t ngiven, int64_t *work)
{
    r->given = given;
    r->ngiven = ngiven;
    r->n = 0;
    for (int64_t i = 0; i < ngiven; i++) r->tag[given[i]] = GIVEN;
    *work -= ngiven;
    add(r, v);
    r->tag[v] |= TARGET;
    for (int i = 0; i<r->n && * work> 0; i++) {
        int k = r->inst[i];
        const struct reader *x = r->g->reader + r->g->out[k],
                            *end = r->g->reader + r->g->out[k + 1];
        if (!(r->tag[k] & INSIDE)) continue;
        touch(r, k, work);
        for (*work -= end - x; x < end; x++) touch(r, x->inst, work);
    }
    if (*work > 0) colour(r, work);
    return *work > 0;
}

void region_clear(struct region *r)
{
    for (int64_t i = 0; i < r->ngiven; i++) r->tag[r->given[i]] = 0;
    for (int i = 0; i < r->n; i++) r->tag[r->inst[i]] = 0;
    r->n = 0;
    r->ngiven = 0;
}

uint64_t region_hash(const struct region *r)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < r->ngiven; i++) {
        int k = r->given[i];
        sum += mix(1, r->tag[k] & LISTED ? r->colour[k] : r->g->kind[k]);
    }
    return mix(r->colour[r->inst[0]], sum);
}
