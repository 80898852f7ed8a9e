/* core.c: elimination on the dense remainder as a bit matrix with bit-sliced fill counters
   (core.h). */
#include "graph/core.h"

#include <stdlib.h>
#include <string.h>

enum {
    CORE_MIN = 128,   /* vertices; below, lists are as good */
    CORE_MAX = 20000, /* vertices: 50 MB of bits */
    PLANES = 62
};

struct core {
    int m;                  /* vertices when it was built */
    size_t words;           /* 64-bit words in a row */
    int *vertex;            /* by index in the core */
    uint64_t *row;          /* m x words */
    uint64_t *plane;        /* PLANES x words: the counters, zero between steps */
    uint64_t *common, *far; /* one row each: work space; everything outside N */
    uint64_t *given;        /* one row: the given vertices */
    int top;                /* planes in use */
    uint64_t *heavy; /* PLANES x words: bit p of the weights; a weight sum is a few popcounts */
    int heavy_top;
    int64_t (*shared)(const uint64_t *a, const uint64_t *b, const uint64_t *c, size_t n);
};

static uint64_t *row_of(const struct core *k, int i) { return k->row + (size_t)i * k->words; }

static int bit(const uint64_t *row, int i) { return (int)(row[i / 64] >> (i % 64) & 1); }

void core_free(struct core *k)
{
    if (!k) return;
    free(k->vertex);
    free(k->row);
    free(k->plane);
    free(k->common);
    free(k->far);
    free(k->given);
    free(k->heavy);
    free(k);
}

/* How many bits do a, b and c share?  Once with the processor's own instruction
   for it, where it has one. */
static inline __attribute__((always_inline)) int64_t
shared_bits(const uint64_t *a, const uint64_t *b, const uint64_t *c, size_t n)
{
    int64_t sum = 0;
    for (size_t w = 0; w < n; w++) sum += __builtin_popcountll(a[w] & b[w] & c[w]);
    return sum;
}

static int64_t shared_any(const uint64_t *a, const uint64_t *b, const uint64_t *c, size_t n)
{
    return shared_bits(a, b, c, n);
}

#if defined __x86_64__
__attribute__((target("popcnt"))) static int64_t shared_popcnt(const uint64_t *a, const uint64_t *b,
                                                               const uint64_t *c, size_t n)
{
    return shared_bits(a, b, c, n);
}
#define SHARED() (__builtin_cpu_supports("popcnt") ? shared_popcnt : shared_any)
#else
#define SHARED() shared_any
#endif

static struct core *core_new(int m)
{
    struct core *k = new_array(struct core, 1);
    if (!k) return NULL;
    k->m = m;
    k->words = (size_t)m / 64 + 1;
    k->shared = SHARED();
    k->vertex = raw_array(int, m);
    k->row = new_array(uint64_t, (size_t)m * k->words);
    k->plane = new_array(uint64_t, PLANES * k->words);
    k->common = new_array(uint64_t, k->words);
    k->far = new_array(uint64_t, k->words);
    k->given = new_array(uint64_t, k->words);
    k->heavy = new_array(uint64_t, PLANES * k->words);
    if (k->vertex && k->row && k->plane && k->common && k->far && k->given && k->heavy) return k;
    core_free(k);
    return NULL;
}

static void set_weight(struct core *k, int i, uint64_t w)
{
    while (w >> k->heavy_top) k->heavy_top++;
    for (int p = 0; p < k->heavy_top; p++) {
        uint64_t *x = &k->heavy[(size_t)p * k->words + (size_t)i / 64], one = (uint64_t)1 << i % 64;
        *x = w >> p & 1 ? *x | one : *x & ~one;
    }
}

void core_weigh(struct elim *e, int v) { set_weight(e->core, e->slot[v], (uint64_t)e->v[v].w); }

/* From lists, once what a core would have saved pays for building it; or from
   a core that has become twice too large. */
int core_try(struct elim *e)
{
    struct core *old = e->core, *k;
    int m = e->nlive, i = 0;
    if (m < CORE_MIN || m > CORE_MAX) return 0;
    if (old ? m * 2 > old->m : e->regret < (int64_t)m * (m / 64 + 1)) return 0;
    if (!e->slot && !(e->slot = raw_array(int, e->n))) return -1;
    if (!(k = core_new(m))) return -1;
    int bound = old ? old->m : e->n;
    for (int q = 0; q < bound; q++) {
        int v = old ? old->vertex[q] : q;
        if (!e->live[v]) continue;
        k->vertex[i] = v;
        set_weight(k, i, (uint64_t)e->v[v].w);
        if (e->fixed[v] & GIVEN) k->given[i / 64] |= (uint64_t)1 << i % 64;
        e->tag[v].index = old ? e->slot[v] : -1; /* its index in the old core */
        e->slot[v] = i++;
    }
    for (i = 0; i < m; i++) {
        int v = k->vertex[i];
        uint64_t *r = row_of(k, i);
        if (old) {
            const uint64_t *o = row_of(old, e->tag[v].index);
            for (int q = 0; q < m; q++)
                if (bit(o, e->tag[k->vertex[q]].index)) r[q / 64] |= (uint64_t)1 << q % 64;
            continue;
        }
        const int *a = e->pool.a + e->v[v].adj;
        for (int q = 0; q < e->v[v].len; q++)
            if (e->live[a[q]]) r[e->slot[a[q]] / 64] |= (uint64_t)1 << e->slot[a[q]] % 64;
    }
    core_free(old);
    e->core = k;
    return 0;
}

void core_join(struct elim *e, int a, int b)
{
    struct core *k = e->core;
    int i = e->slot[a], j = e->slot[b];
    row_of(k, i)[j / 64] |= (uint64_t)1 << j % 64;
    row_of(k, j)[i / 64] |= (uint64_t)1 << i % 64;
}

/* Takes v out of the rows of its neighbours. */
static void hide(struct elim *e, int v)
{
    struct core *k = e->core;
    int s = e->slot[v];
    const uint64_t *r = row_of(k, s);
    for (size_t w = 0; w < k->words; w++)
        for (uint64_t b = r[w]; b; b &= b - 1)
            row_of(k, (int)w * 64 + __builtin_ctzll(b))[s / 64] &= ~((uint64_t)1 << s % 64);
}

void core_remove(struct elim *e, int v)
{
    hide(e, v);
    memset(row_of(e->core, e->slot[v]), 0, e->core->words * sizeof(uint64_t));
}

int core_neighbours(struct elim *e, int vy)
{
    const struct core *k = e->core;
    const uint64_t *r = row_of(k, e->slot[vy]);
    for (size_t w = 0; w < k->words; w++)
        for (uint64_t b = r[w]; b; b &= b - 1)
            if (vec_push(&e->nb, k->vertex[w * 64 + (size_t)__builtin_ctzll(b)])) return -1;
    return 0;
}

/* Adds 2^p to the counter of every vertex in `set`. */
static void count(struct core *k, int p, const uint64_t *set)
{
    uint64_t carry[CORE_MAX / 64 + 1], any = 1;
    memcpy(carry, set, k->words * sizeof *carry);
    for (; any && p < PLANES; p++) {
        uint64_t *plane = k->plane + (size_t)p * k->words;
        any = 0;
        for (size_t w = 0; w < k->words; w++) {
            uint64_t both = plane[w] & carry[w];
            plane[w] ^= carry[w];
            carry[w] = both;
            any |= both;
        }
        if (p >= k->top) k->top = p + 1;
    }
}

static int64_t weight_outside(const struct core *k, const uint64_t *set)
{
    int64_t sum = 0;
    for (int p = 0; p < k->heavy_top; p++)
        sum += k->shared(set, k->far, k->heavy + (size_t)p * k->words, k->words) << p;
    return sum;
}

static void new_edge(struct elim *e, int c, int u)
{
    struct core *k = e->core;
    const uint64_t *rc = row_of(k, e->slot[c]), *ru = row_of(k, e->slot[u]);
    uint64_t pairs = (uint64_t)(e->v[c].w * e->v[u].w);
    uint64_t any = 0;
    for (size_t w = 0; w < k->words; w++) any |= k->common[w] = rc[w] & ru[w];
    if (!any) return;
    for (int p = 0; pairs >> p; p++)
        if (pairs >> p & 1) count(k, p, k->common);
    int64_t out = weight_outside(k, k->common);
    e->v[u].def -= e->v[c].w * out;
    e->v[c].def -= e->v[u].w * out;
}

/* Takes the counters off the fill of their vertices, and clears them. */
static int settle(struct elim *e)
{
    struct core *k = e->core;
    for (size_t w = 0; w < k->words; w++) {
        uint64_t any = 0;
        for (int p = 0; p < k->top; p++) any |= k->plane[(size_t)p * k->words + w];
        for (; any; any &= any - 1) {
            int i = __builtin_ctzll(any), v = k->vertex[w * 64 + (size_t)i];
            int64_t sum = 0;
            for (int p = 0; p < k->top; p++)
                sum |= (int64_t)(k->plane[(size_t)p * k->words + w] >> i & 1) << p;
            e->v[v].def -= sum;
            if (vec_push(&e->touched, v)) return -1;
        }
    }
    memset(k->plane, 0, (size_t)k->top * k->words * sizeof *k->plane);
    k->top = 0;
    return 0;
}

int core_find_fill(struct elim *e, int vy)
{
    struct core *k = e->core;
    const uint64_t *n = row_of(k, e->slot[vy]);
    int64_t left = e->v[vy].def;
    for (size_t w = 0; w < k->words; w++) k->far[w] = ~n[w];
    hide(e, vy);
    for (size_t i = 0; i < e->nb.n && left > 0; i++) {
        int c = e->nb.a[i], s = e->slot[c];
        const uint64_t *rc = row_of(k, s);
        for (size_t w = (size_t)s / 64; w < k->words; w++) {
            uint64_t b = n[w] & ~rc[w];
            if (e->fixed[c] & GIVEN) b &= ~k->given[w];
            if (w == (size_t)s / 64) b &= ~(uint64_t)0 << s % 64 << 1; /* later ones only */
            for (; b; b &= b - 1) {
                int u = k->vertex[w * 64 + (size_t)__builtin_ctzll(b)];
                if (note_edge(e, (int)i, e->tag[u].index)) return -1;
                left -= e->v[c].w * e->v[u].w;
                new_edge(e, c, u);
            }
        }
    }
    for (size_t i = 0; i < e->nb.n; i++) core_join(e, vy, e->nb.a[i]);
    return settle(e);
}
