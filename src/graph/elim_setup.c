#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core.h"
#include "graph/elim_impl.h"

/* ---- setting up ----------------------------------------------------------- */

/* def(v) = sum over pairs of neighbours of w w, less the pairs that are joined:
   one for each triangle.  Triangles are found once each, from the vertex that
   comes first by (degree, number). */
static int later(const struct elim *e, int a, int b)
{
    int la = e->v[a].len, lb = e->v[b].len;
    return la > lb || (la == lb && a > b);
}

static void initial_fill(struct elim *e)
{
    for (int v = 0; v < e->n; v++) {
        struct vertex *x = &e->v[v];
        const int *a = e->pool.a + e->v[v].adj;
        int64_t w = 0, ww = 0;
        for (int i = 0; i < x->len; i++) {
            w += e->v[a[i]].w;
            ww += e->v[a[i]].w * e->v[a[i]].w;
        }
        x->wdeg = w;
        x->def += (w * w - ww) / 2;
    }
    for (int v = 0; v < e->n; v++) {
        const int *a = e->pool.a + e->v[v].adj;
        int out = 0;
        uint32_t s = ++e->stamp;
        for (int i = 0; i < e->v[v].len; i++)
            if (later(e, a[i], v)) {
                e->mark[a[i]] = s;
                out++;
            }
        if (out < 2) continue;
        for (int i = 0; i < e->v[v].len; i++) {
            int u = a[i];
            if (e->mark[u] != s) continue;
            const int *b = e->pool.a + e->v[u].adj;
            for (int k = 0; k < e->v[u].len; k++) {
                int t = b[k];
                if (e->mark[t] != s || !later(e, t, u)) continue;
                int64_t wv = e->v[v].w, wu = e->v[u].w, wt = e->v[t].w;
                e->v[v].def -= wu * wt;
                e->v[u].def -= wv * wt;
                e->v[t].def -= wv * wu;
            }
        }
    }
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
    if (!e->v || !e->live || !e->fixed || !e->enabled || !e->first || !e->last || !e->next ||
        !e->rep || !e->when || !e->mark || !e->tag || !e->seen ||
        mintree_init(&e->queue, e->n) || vec_reserve(&e->pool, (size_t)j->ap[e->n] + 1))
        return -1;
    if (need_weight && !(e->weight = raw_array(int64_t, n))) return -1;
    if (need_weight) set_weights(e, size);
    if (rank) {
        if (!(e->rank = raw_array(int, n)) || !(e->at_rank = raw_array(int, n))) return -1;
        memcpy(e->rank, rank, n * sizeof *rank);
        for (int v = 0; v < e->n; v++) e->at_rank[rank[v]] = v;
    }
    if (fixed)
        for (int v = 0; v < e->n; v++) e->fixed[v] = fixed[v] != 0;
    memcpy(e->pool.a, j->a, (size_t)j->ap[e->n] * sizeof(int));
    e->pool.n = (size_t)j->ap[e->n];
    for (int v = 0; v < e->n; v++) {
        int deg = (int)(j->ap[v + 1] - j->ap[v]);
        e->live[v] = !(gone && gone[v]);
        e->nlive += e->live[v];
        if (!e->live[v]) e->tag[v].stamp = TAG_DEAD;
        e->first[v] = e->last[v] = e->rep[v] = v;
        e->next[v] = -1;
        e->when[v] = INT_MAX;
        uint64_t h = elim_id(v);
        for (int64_t k = j->ap[v]; k < j->ap[v + 1]; k++) {
            h += elim_id(j->a[k]);
            if (j->a[k] > v && !(e->fixed[v] && e->fixed[j->a[k]])) e->edges++;
        }
        e->v[v] = (struct vertex){.w = (e->weight ? e->weight[v] : 1), .hash = h, .id = elim_id(v), .adj = j->ap[v],
                                  .len = deg, .cap = deg, .best = -1, .count = 1};
    }
    initial_fill(e);
    return 0;
}

struct elim *elim_new(const struct ugraph *j, const unsigned char *fixed, const unsigned char *gone,
                      const struct criterion *criterion, const int *size, const int *rank)
{
    struct elim *e = new_array(struct elim, 1);
    if (!e) return NULL;
    e->n = j->n;
    e->criterion = criterion;
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
    vec_free(&e->outer);
    vec_free(&e->fill);
    vec_free(&e->table);
    vec_free(&e->log);
    core_free(e->core);
    free(e->slot);
    free(e);
}

