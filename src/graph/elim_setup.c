/* elim_setup.c: sets up an elimination: adjacency lists, weights, and the initial fill of every
   vertex by counting triangles. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core.h"
#include "graph/elim_impl.h"

/* def(v) = sum over pairs of neighbours of w w, less the pairs that are joined
   or both given: one for each triangle.  Triangles are found once each, from the vertex that
   comes first by (degree, number). */
static int later(const struct elim *e, int a, int b)
{
    int la = e->v[a].len, lb = e->v[b].len;
    return la > lb || (la == lb && a > b);
}

int elim_count(struct elim *e)
{
    int *later_count = raw_array(int, e->n);
    if (!later_count) return -1;
    for (int v = 0; v < e->n; v++) {
        struct vertex *x = &e->v[v];
        if (!e->live[v]) continue;
        int *a = adj(e, v), out = 0;
        int64_t w = 0, ww = 0, g = 0, gg = 0;
        uint64_t hash = e->fixed[v] & GIVEN ? 0 : e->id[v];
        for (int i = 0; i < x->len; i++) {
            int u = a[i];
            int64_t wu = e->v[u].w;
            hash += e->id[u];
            w += wu;
            ww += wu * wu;
            if (e->fixed[u] & GIVEN) {
                g += wu;
                gg += wu * wu;
            }
            if (later(e, u, v)) { /* lists have no order: put these first */
                a[i] = a[out];
                a[out++] = u;
            }
        }
        later_count[v] = out;
        x->hash = hash;
        x->wdeg = w;
        x->wgiven = g;
        x->def = (w * w - ww) / 2 - (g * g - gg) / 2;
    }
    for (int v = 0; v < e->n; v++) {
        const int *a = adj(e, v);
        int out = e->live[v] ? later_count[v] : 0;
        uint32_t s = ++e->stamp;
        if (out < 2) continue;
        for (int i = 0; i < out; i++) e->mark[a[i]] = s;
        for (int i = 0; i < out; i++) {
            int u = a[i];
            const int *b = adj(e, u);
            for (int k = 0; k < later_count[u]; k++) {
                int t = b[k];
                if (e->mark[t] != s) continue;
                int64_t wv = e->v[v].w, wu = e->v[u].w, wt = e->v[t].w;
                e->v[v].def -= wu * wt;
                e->v[u].def -= wv * wt;
                e->v[t].def -= wv * wu;
            }
        }
    }
    free(later_count);
    return 0;
}

/* Sums of products of two weights must fit: all weights together stay below
   2^31, if need be by making the heaviest equal. */
static void set_weights(struct elim *e, const int *size)
{
    const int64_t most = (int64_t)1 << 31;
    int64_t sum = 0;
    for (int v = 0; v < e->n; v++) sum += e->weight[v] = e->criterion->weight(size[v]);
    for (int v = 0; v < e->n && sum > most; v++)
        if (e->weight[v] > most / e->n) e->weight[v] = most / e->n;
}

static int set_up(struct elim *e, const struct ugraph *j, const unsigned char *fixed,
                  const unsigned char *gone, const int *size, const int *rank)
{
    size_t n = (size_t)e->n;
    int need_weight = e->criterion->weight && size;
    e->v = line_array(struct vertex, n, &e->v_mem);
    e->live = raw_array(unsigned char, n);
    e->id = raw_array(uint64_t, n);
    e->fixed = new_array(unsigned char, n);
    e->enabled = new_array(unsigned char, n);
    e->first = raw_array(int, n);
    e->last = raw_array(int, n);
    e->next = raw_array(int, n);
    e->rep = raw_array(int, n);
    e->when = raw_array(int, n);
    e->mark = new_array(uint32_t, n);
    e->tag = new_array(struct tag, n);
    e->seen = new_array(unsigned char, n);
    if (!e->v || !e->live || !e->id || !e->fixed || !e->enabled || !e->first || !e->last ||
        !e->next || !e->rep || !e->when || !e->mark || !e->tag || !e->seen ||
        mintree_init(&e->queue, e->n))
        return -1;
    /* Room to grow: memory that is not touched costs nothing. */
    if (vec_reserve(&e->pool, 4 * (size_t)j->ap[e->n] + 1) || vec_reserve(&e->log, 4 * n))
        return -1;
    if (need_weight && !(e->weight = raw_array(int64_t, n))) return -1;
    if (need_weight) set_weights(e, size);
    if (rank) {
        if (!(e->rank = raw_array(int, n)) || !(e->at_rank = raw_array(int, n))) return -1;
        memcpy(e->rank, rank, n * sizeof *rank);
        for (int v = 0; v < e->n; v++) e->at_rank[rank[v]] = v;
    }
    if (fixed)
        for (int v = 0; v < e->n; v++) e->fixed[v] = fixed[v] ? FIXED : 0;
    for (int v = 0; v < e->n; v++) {
        int deg = (int)(j->ap[v + 1] - j->ap[v]);
        e->live[v] = !(gone && gone[v]);
        e->nlive += e->live[v];
        if (!e->live[v]) e->tag[v].stamp = TAG_DEAD;
        e->first[v] = e->last[v] = e->rep[v] = v;
        e->next[v] = -1;
        e->when[v] = INT_MAX;
        e->id[v] = elim_id(v);
        for (int64_t k = j->ap[v]; k < j->ap[v + 1]; k++)
            if (j->a[k] > v && !(e->fixed[v] && e->fixed[j->a[k]])) e->edges++;
        e->v[v] = (struct vertex){.w = e->weight ? e->weight[v] : 1,
                                  .adj = (int64_t)e->pool.n,
                                  .len = deg,
                                  .cap = 2 * deg,
                                  .best = -1,
                                  .count = 1};
        memcpy(e->pool.a + e->pool.n, j->a + j->ap[v], (size_t)deg * sizeof(int));
        e->pool.n += 2 * (size_t)deg; /* room to grow */
    }
    return elim_count(e);
}

struct elim *elim_new(const struct ugraph *j, const unsigned char *fixed, int strict,
                      const unsigned char *gone, const struct criterion *criterion, const int *size,
                      const int *rank)
{
    struct elim *e = new_array(struct elim, 1);
    if (!e) return NULL;
    e->n = j->n;
    e->criterion = criterion;
    e->strict = strict;
    if (set_up(e, j, fixed, gone, size, rank)) {
        elim_free(e);
        return NULL;
    }
    return e;
}

void elim_free(struct elim *e)
{
    if (!e) return;
    free(e->v_mem);
    free(e->live);
    free(e->id);
    free(e->alike);
    free(e->fixed);
    free(e->enabled);
    free(e->first);
    free(e->last);
    free(e->next);
    free(e->rep);
    free(e->when);
    free(e->mark);
    free(e->tag);
    free(e->seen);
    free(e->weight);
    free(e->rank);
    free(e->at_rank);
    mintree_fini(&e->queue);
    vec_free(&e->pool);
    for (int k = 0; k < CLASSES; k++) vec_free(&e->spare[k]);
    vec_free(&e->nb);
    vec_free(&e->touched);
    vec_free(&e->heap);
    vec_free(&e->b);
    vec_free(&e->wb);
    vec_free(&e->wbg);
    vec_free(&e->outer);
    vec_free(&e->fill);
    vec_free(&e->table);
    vec_free(&e->log);
    core_free(e->core);
    free(e->slot);
    free(e);
}
