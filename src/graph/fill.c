/* fill.c: the new edges of a step, and what they do to the fill of others.

   Two ways.  Up to 64 neighbours with short lists: one pass over these gives, as
   64-bit masks, who among N is adjacent to whom and to which vertices outside;
   the rest is arithmetic on masks.  Otherwise: vertex by vertex, the shortest
   lists first, so that a hub with a million neighbours is hardly ever read. */

#include <string.h>

#include "graph/elim_impl.h"

/* ---- up to 64 neighbours ---------------------------------------------------- */

struct local {
    int k;                        /* |N| */
    uint64_t in[64], missing[64]; /* by index in N */
    int64_t w[64];
    uint64_t movable; /* nobody asks for the fill of the others */
};

#define for_bits(i, mask)                                                                          \
    for (uint64_t m_##i = (mask), i; m_##i && (i = (uint64_t)__builtin_ctzll(m_##i), 1);           \
         m_##i &= m_##i - 1)

static int64_t mask_weight(const struct local *x, uint64_t mask)
{
    int64_t w = 0;
    for_bits(i, mask) w += x->w[i];
    return w;
}

/* Fills x, and for each vertex outside N[y] that is adjacent to N, touched and
   outer (the mask of whom).  Drops dead neighbours from the lists in passing. */
static int look_around(struct elim *e, int vy, size_t room, struct local *x)
{
    struct tag *tag = e->tag;
    uint32_t near = e->near, out = ++e->stamp; /* tags of vertices outside: index in touched */
    int nout = 0;
    x->k = (int)e->nb.n;
    x->movable = 0;
    if (vec_reserve(&e->touched, room) || vec_reserve(&e->outer, room)) return -1;
    int *outside = e->touched.a;
    uint64_t *outer = e->outer.a, all = 0, given = 0;
    tag[vy].stamp = TAG_DEAD; /* for a moment: not to be seen */
    for (int i = 0; i < x->k; i++) {
        struct vertex *c = &e->v[e->nb.a[i]];
        int *a = e->pool.a + c->adj, len = c->len, kept = 0;
        uint64_t in = 0, me = (uint64_t)1 << i;
        for (int q = 0; q < len; q++) {
            int t = a[q];
            struct tag g = tag[t];
            if (g.stamp == TAG_DEAD) {
                if (t == vy) a[kept++] = t;
                continue;
            }
            a[kept++] = t;
            if (g.stamp == near) {
                in |= (uint64_t)1 << g.index;
            } else if (g.stamp == out) {
                outer[g.index] |= me;
            } else {
                tag[t] = (struct tag){out, nout};
                outside[nout] = t;
                __builtin_prefetch(&e->v[t]);
                outer[nout++] = me;
            }
        }
        c->len = kept;
        x->in[i] = in;
        x->w[i] = c->w;
        all |= me;
        if (!e->fixed[e->nb.a[i]]) x->movable |= me;
        if (e->fixed[e->nb.a[i]] & GIVEN) given |= me;
    }
    for (int i = 0; i < x->k; i++) {
        x->missing[i] = all & ~x->in[i] & ~((uint64_t)1 << i);
        if (given >> i & 1) x->missing[i] &= ~given;
    }
    tag[vy].stamp = 0;
    e->touched.n = (size_t)nout;
    return 0;
}

/* Common neighbours within N lose a missing pair for each new edge. */
static void share_inside(struct elim *e, const struct local *x)
{
    for (int i = 0; i < x->k; i++) for_bits(j, x->missing[i] & ~(uint64_t)0 << i)
        {
            int64_t pairs = x->w[i] * x->w[j];
            for_bits(t, x->in[i] & x->in[j] & x->movable) e->v[e->nb.a[t]].def -= pairs;
        }
}

static int find_fill_small(struct elim *e, int vy, size_t room)
{
    struct local x;
    if (look_around(e, vy, room, &x)) return -1;
    for (int i = 0; i < x.k; i++)
        for_bits(j, x.missing[i] & ~(uint64_t)0 << i) if (note_edge(e, i, (int)j)) return -1;
    share_inside(e, &x);
    size_t kept = 0;
    for (size_t q = 0; q < e->touched.n; q++) {
        uint64_t mask = e->outer.a[q];
        int64_t twice = 0, w = e->v[e->touched.a[q]].w;
        if (!(mask & (mask - 1))) continue; /* one neighbour in N: no new edge is near it */
        for_bits(i, mask)
        {
            int64_t s = mask_weight(&x, x.missing[i] & mask);
            twice += x.w[i] * s;
            e->v[e->nb.a[i]].def -= w * s;
        }
        if (!twice) continue;
        e->v[e->touched.a[q]].def -= twice / 2;
        e->touched.a[kept++] = e->touched.a[q];
    }
    e->touched.n = kept;
    return 0;
}

/* ---- any number ------------------------------------------------------------- */

static void heap_down(struct elim *e, size_t i)
{
    int *h = e->heap.a, x = h[i];
    for (size_t c; (c = 2 * i + 1) < e->heap.n; i = c) {
        if (c + 1 < e->heap.n && e->v[h[c + 1]].len < e->v[h[c]].len) c++;
        if (e->v[h[c]].len >= e->v[x].len) break;
        h[i] = h[c];
    }
    h[i] = x;
}

/* y's neighbours with the shortest lists first: they miss most of the others,
   and when all missing pairs are found (their weight is known) the long lists
   need not be looked at. */
static int heap_pop(struct elim *e)
{
    int top = e->heap.a[0];
    e->heap.a[0] = e->heap.a[--e->heap.n];
    if (e->heap.n) heap_down(e, 0);
    return top;
}

static int touch(struct elim *e, int t)
{
    if (e->seen[t]) return 0;
    e->seen[t] = 1;
    return vec_push(&e->touched, t);
}

/* For each new edge {c, u}, u in B: common neighbours t of c and u lose a
   missing pair; and if t lies outside N[y], c and u already have t in common.
   Unless `inside`, those within N are left to share_inside.
   First way: through the neighbours of c's neighbours. */
static int common_by_c(struct elim *e, int c, int vy, int inside)
{
    struct vertex *v = e->v;
    int64_t wc = v[c].w;
    uint32_t f = ++e->stamp; /* replaces the marks of c's neighbours */
    for (size_t i = 0; i < e->b.n; i++) e->mark[e->b.a[i]] = f;
    for (int i = 0; i < v[c].len; i++) {
        int t = adj(e, c)[i], out = e->tag[t].stamp != e->near;
        if (t == vy || (!out && !inside)) continue;
        const int *a = adj(e, t);
        int64_t sum = 0, wct = wc * v[t].w;
        for (int k = 0; k < v[t].len; k++) {
            int u = a[k];
            if (e->mark[u] != f) continue;
            sum += v[u].w;
            if (out) v[u].def -= wct;
        }
        if (!sum) continue;
        v[t].def -= sum * wc;
        if (out) {
            v[c].def -= sum * v[t].w;
            if (touch(e, t)) return -1;
        }
    }
    return 0;
}

/* Second way: through the neighbours of each u in B. */
static int common_by_b(struct elim *e, int c, uint32_t marked, int vy, int inside)
{
    struct vertex *v = e->v;
    int64_t wc = v[c].w;
    for (size_t i = 0; i < e->b.n; i++) {
        int u = e->b.a[i];
        const int *a = adj(e, u);
        int64_t wcu = wc * v[u].w, out_w = 0;
        for (int k = 0; k < v[u].len; k++) {
            int t = a[k], out = e->tag[t].stamp != e->near;
            if (e->mark[t] != marked || t == vy || (!out && !inside)) continue;
            v[t].def -= wcu;
            if (!out) continue;
            out_w += v[t].w;
            if (touch(e, t)) return -1;
        }
        v[u].def -= wc * out_w;
        v[c].def -= v[u].w * out_w;
    }
    return 0;
}

/* Masks that grow as missing pairs are found. */
static void no_missing(const struct elim *e, struct local *x)
{
    x->k = (int)e->nb.n;
    x->movable = 0;
    uint64_t all = x->k < 64 ? ((uint64_t)1 << x->k) - 1 : ~(uint64_t)0;
    for (int i = 0; i < x->k; i++) {
        x->w[i] = e->v[e->nb.a[i]].w;
        if (!e->fixed[e->nb.a[i]]) x->movable |= (uint64_t)1 << i;
        x->missing[i] = 0;
        x->in[i] = all & ~((uint64_t)1 << i);
    }
}

static void miss(struct local *x, int i, int j)
{
    x->missing[i] |= (uint64_t)1 << j;
    x->missing[j] |= (uint64_t)1 << i;
    x->in[i] &= ~((uint64_t)1 << j);
    x->in[j] &= ~((uint64_t)1 << i);
}

/* More new edges than can be stored? */
static int too_dense(struct elim *e, int vy)
{
    int64_t heaviest = 1;
    for (size_t i = 0; i < e->nb.n; i++)
        if (e->v[e->nb.a[i]].w > heaviest) heaviest = e->v[e->nb.a[i]].w;
    if (e->v[vy].def / heaviest / heaviest > POOL_MAX / 4) e->failure = NAMI_ELIMIT;
    return e->failure;
}

static int find_fill_large(struct elim *e, int vy)
{
    int64_t left = e->v[vy].def;
    if (too_dense(e, vy)) return -1;
    struct local x;
    int inside = e->nb.n > 64; /* too many for masks */
    if (!inside) no_missing(e, &x);
    e->heap.n = 0;
    for (size_t i = 0; i < e->nb.n; i++)
        if (vec_push(&e->heap, e->nb.a[i])) return -1;
    for (size_t i = e->heap.n / 2; i-- > 0;) heap_down(e, i);
    while (left > 0) {
        if (e->heap.n == 0) { /* then the counts are wrong */
            e->failure = NAMI_EBUG;
            return -1;
        }
        int c = heap_pop(e), len = clean(e, c);
        const int *a = adj(e, c);
        int64_t wc = e->v[c].w, cost_c = 0, cost_b = 0;
        uint32_t s = ++e->stamp;
        for (int i = 0; i < len; i++) {
            e->mark[a[i]] = s;
            if (inside || e->tag[a[i]].stamp != e->near) cost_c += e->v[a[i]].len;
        }
        e->b.n = 0;
        for (size_t i = 0; i < e->heap.n; i++) { /* those not popped yet */
            int u = e->heap.a[i];
            if (e->mark[u] == s || both_given(e, c, u)) continue;
            int ic = e->tag[c].index, iu = e->tag[u].index;
            if (vec_push(&e->b, u) || note_edge(e, ic, iu)) return -1;
            if (!inside) miss(&x, ic, iu);
            left -= wc * e->v[u].w;
            cost_b += e->v[u].len;
        }
        if (e->b.n &&
            (cost_c <= cost_b ? common_by_c(e, c, vy, inside) : common_by_b(e, c, s, vy, inside)))
            return -1;
        /* what a matrix of bits would have saved: see core_try */
        e->regret +=
            (cost_c < cost_b ? cost_c : cost_b) - 3 * (int64_t)e->b.n * (e->nlive / 64 + 1);
        if (e->regret < 0) e->regret = 0;
    }
    if (!inside) share_inside(e, &x);
    return 0;
}

int find_fill(struct elim *e, int vy)
{
    size_t room = 0; /* entries of all lists; a hub's is better left alone */
    for (size_t i = 0; i < e->nb.n; i++) room += (size_t)e->v[e->nb.a[i]].len;
    return e->nb.n <= 64 && room <= 128 * e->nb.n ? find_fill_small(e, vy, room)
                                                  : find_fill_large(e, vy);
}
