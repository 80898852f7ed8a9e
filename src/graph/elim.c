/* elim.c: greedy elimination with exact fill counts.

   The fill (deficiency) of v is the weight of the missing edges among its
   neighbours.  When y goes, only three kinds of vertices change (Wing and
   Huang).  With N = N(y), for v in N let B = N \ N[v] be its new neighbours and
   X = N(v) \ N[y] the ones that y does not know:

     v in N:       def(v) += (w(B) - w(y)) w(X) - w(common neighbours outside N, per new edge)
     any v:        def(v) -= w(a) w(b) for each new edge {a,b} with a, b in N(v)

   (less the pairs of given vertices, which count as joined).  So all it takes is
   to enumerate, for each new edge, the common neighbours of its ends.  If y's
   neighbours are a clique already there is nothing to enumerate, and a step costs
   O(|N|).

   Vertices that have the same closed neighbourhood behave alike for ever; they
   are merged into one vertex with a weight (its members stay known).  They are
   found by a hash of the closed neighbourhood that is kept up to date, and only
   a step that adds edges can create new ones.  Fixed vertices merge with fixed
   ones only: so the observations that a chain gathers stay one vertex, and the
   work and memory stay near-linear where the inverse has quadratically many
   edges. */

#include <stdlib.h>
#include <string.h>

#include "graph/core.h"
#include "graph/elim_impl.h"

static int64_t weight_of(const struct elim *e, int member)
{
    return e->weight ? e->weight[member] : 1;
}

static int rank_of(const struct elim *e, int member) { return e->rank ? e->rank[member] : member; }

/* Between steps: no mark is in use, so stamps may start again. */
static void rewind_stamps(struct elim *e)
{
    if (e->stamp < UINT32_MAX / 2) return;
    memset(e->mark, 0, (size_t)e->n * sizeof *e->mark);
    for (int v = 0; v < e->n; v++) e->tag[v].stamp = e->live[v] ? 0 : TAG_DEAD;
    e->stamp = 0;
}

static int find(struct elim *e, int v)
{
    int r = v;
    while (e->rep[r] != r) r = e->rep[r];
    while (e->rep[v] != r) {
        int up = e->rep[v];
        e->rep[v] = r;
        v = up;
    }
    return r;
}

static int64_t score(const struct elim *e, const struct vertex *x)
{
    return e->criterion->by_fill ? x->def : x->wdeg + x->w;
}

static void rescore(struct elim *e, int v)
{
    const struct vertex *x = &e->v[v];
    if (x->best >= 0) mintree_set(&e->queue, rank_of(e, x->best), score(e, x));
}

/* ---- adjacency ------------------------------------------------------------ */

static int class_of(int cap)
{
    int k = 0;
    while (cap >> (k + 1)) k++;
    return k; /* 2^k <= cap < 2^(k+1) */
}

static void release(struct elim *e, int v)
{
    struct vertex *x = &e->v[v];
    if (x->cap >= 8) {
        int k = class_of(x->cap);
        if (vec_push(&e->spare[k], x->adj)) return; /* then the piece is lost until the end */
    }
    x->len = x->cap = 0;
}

static int grow(struct elim *e, int v)
{
    struct vertex *x = &e->v[v];
    if (clean(e, v) * 4 < x->cap * 3) return 0; /* enough room came back */
    int k = x->cap < 8 ? 3 : class_of(x->cap) + 1, len = x->len;
    if (k > 30) return -1;
    int64_t to;
    if (e->spare[k].n) {
        to = e->spare[k].a[--e->spare[k].n];
    } else {
        if (e->pool.n + ((size_t)1 << k) > POOL_MAX) e->failure = NAMI_ELIMIT;
        if (e->failure || vec_reserve(&e->pool, e->pool.n + ((size_t)1 << k))) return -1;
        to = (int64_t)e->pool.n;
        e->pool.n += (size_t)1 << k;
    }
    memcpy(e->pool.a + to, e->pool.a + x->adj, (size_t)len * sizeof(int));
    release(e, v);
    x->adj = to;
    x->len = len;
    x->cap = 1 << k;
    return 0;
}

static int append(struct elim *e, int v, int u)
{
    struct vertex *x = &e->v[v];
    if (x->len == x->cap && grow(e, v)) return -1;
    e->pool.a[x->adj + x->len++] = u;
    return 0;
}

/* ---- candidates ----------------------------------------------------------- */

/* Gives v the candidate `member` (or none), in the queue too. */
static void set_best(struct elim *e, int v, int member)
{
    struct vertex *x = &e->v[v];
    if (x->best >= 0 && x->best != member)
        mintree_set(&e->queue, rank_of(e, x->best), MINTREE_NONE);
    x->best = member;
    rescore(e, v);
}

void elim_enable(struct elim *e, int member)
{
    int v = find(e, member);
    e->enabled[member] = 1;
    if (e->v[v].best < 0 || rank_of(e, member) < rank_of(e, e->v[v].best)) set_best(e, v, member);
}

int elim_pick(struct elim *e)
{
    int r = mintree_min(&e->queue);
    return r < 0 || !e->rank ? r : e->at_rank[r];
}

/* A member is eliminated: finds v's next candidate.  The member stays in the
   list, for the sake of earlier records (see elim_expand), unless it leads it. */
static void drop_member(struct elim *e, int v, int member)
{
    int best = -1;
    e->enabled[member] = 0;
    e->when[member] = e->nstep++;
    if (e->v[v].count > 1) {
        while (e->when[e->first[v]] < e->nstep) e->first[v] = e->next[e->first[v]];
        for (int m = e->first[v]; m >= 0; m = e->next[m])
            if (e->enabled[m] && (best < 0 || rank_of(e, m) < rank_of(e, best))) best = m;
    }
    set_best(e, v, best);
}

/* ---- one step ------------------------------------------------------------- */

/* Most chains have one vertex: those take one number, with all bits turned. */
static int *put_chain(int *out, int head, int count)
{
    if (count == 1) {
        *out++ = ~head;
    } else {
        *out++ = head;
        *out++ = count;
    }
    return out;
}

/* Writes down y and its neighbours: the other members of its vertex, and N. */
static int record(struct elim *e, int y, int vy)
{
    size_t start = e->log.n;
    if (vec_reserve(&e->log, start + 4 + 2 * e->nb.n)) return -1;
    int *out = e->log.a + start + 2;
    if (e->v[vy].count > 1) out = put_chain(out, e->first[vy], e->v[vy].count - 1);
    for (size_t i = 0; i < e->nb.n; i++)
        out = put_chain(out, e->first[e->nb.a[i]], e->v[e->nb.a[i]].count);
    e->log.n = (size_t)(out - e->log.a);
    e->log.a[start] = y;
    e->log.a[start + 1] = (int)(e->log.n - start - 2);
    return 0;
}

static int list_neighbours(struct elim *e, int vy)
{
    size_t len = (size_t)clean(e, vy);
    if (vec_reserve(&e->nb, len)) return -1;
    if (len) memcpy(e->nb.a, adj(e, vy), len * sizeof(int));
    e->nb.n = len;
    return 0;
}

/* v is there no longer. */
static void bury(struct elim *e, int v)
{
    e->live[v] = 0;
    e->tag[v].stamp = TAG_DEAD;
    e->nlive--;
    if (e->core)
        core_remove(e, v);
    else
        release(e, v);
}

/* u's closed neighbourhood equals v's: u becomes part of v. */
static void merge(struct elim *e, int u, int v)
{
    struct vertex *x = &e->v[v], *z = &e->v[u];
    int bu = z->best, bv = x->best;
    if (bu >= 0) set_best(e, u, -1);
    x->w += z->w;
    if (!both_given(e, u, v)) x->wdeg -= z->w; /* given ones are not each other's neighbours */
    e->id[v] += e->id[u];
    x->count += z->count;
    e->next[e->last[v]] = e->first[u];
    e->last[v] = e->last[u];
    e->rep[u] = v;
    bury(e, u);
    if (bu >= 0 && (bv < 0 || rank_of(e, bu) < rank_of(e, bv))) bv = bu;
    set_best(e, v, bv);
    if (e->core) core_weigh(e, v);
}

static int alike(const struct elim *e, int u, int v)
{
    const struct vertex *x = &e->v[u], *z = &e->v[v];
    if (z->hash != x->hash || e->fixed[u] != e->fixed[v]) return 0;
    if (both_given(e, u, v)) return z->wdeg == x->wdeg;
    return z->wdeg + z->w == x->wdeg + x->w && (e->fixed[u] || z->def == x->def);
}

/* v is given and its neighbours changed: is there another with the same ones?
   There is one place for each hash: the newest takes it, and what it displaces
   may miss a chance to be merged, no more. */
static void merge_given(struct elim *e, int v)
{
    int *place = &e->alike[e->v[v].hash & e->alike_mask], u = *place;
    if (u >= 0 && u != v && e->live[u] && alike(e, v, u))
        merge(e, v, u);
    else
        *place = v;
}

/* Fixed vertices become given: edges between them go, everything is counted
   anew, and those that hang on the same vertices are merged. */
static int go_together(struct elim *e)
{
    size_t size = 64;
    for (int v = 0; v < e->n; v++) size += e->live[v] && e->fixed[v];
    while (size & (size - 1)) size += size & -size; /* the next power of two */
    if (!(e->alike = raw_array(int, size))) return -1;
    memset(e->alike, 0xFF, size * sizeof(int));
    e->alike_mask = size - 1;
    e->together = 1;
    for (int v = 0; v < e->n; v++)
        if (e->fixed[v]) e->fixed[v] |= GIVEN;
    for (int v = 0; v < e->n; v++) {
        if (!e->live[v]) continue;
        int *a = adj(e, v), len = clean(e, v), k = 0;
        for (int i = 0; i < len; i++)
            if (!both_given(e, v, a[i])) a[k++] = a[i];
        e->v[v].len = k;
    }
    if (elim_count(e)) return -1;
    for (int v = 0; v < e->n; v++) {
        if (!e->live[v]) continue;
        rescore(e, v);
        if (e->fixed[v]) merge_given(e, v);
    }
    return 0;
}

/* Would joining the fixed ones among N cost too much? */
static int too_many_fixed(const struct elim *e)
{
    int64_t k = 0;
    if (e->strict || e->together || e->core) return 0;
    for (size_t i = 0; i < e->nb.n; i++) k += e->fixed[e->nb.a[i]];
    return k > 1 && e->spent + k * (k - 1) / 2 > 10000000 + 64 * (int64_t)e->n;
}

/* Merges what became alike among nb (all pairwise adjacent now): each goes to
   the first one that it is like. */
static int merge_few(struct elim *e)
{
    uint64_t hash[8];
    int v[8], n = 0;
    for (size_t i = 0; i < e->nb.n; i++) {
        int u = e->nb.a[i], k = 0;
        uint64_t h = e->v[u].hash;
        if (e->fixed[u] & GIVEN) continue;
        while (k < n && (hash[k] != h || !alike(e, u, v[k]))) k++;
        if (k < n) {
            merge(e, u, v[k]);
        } else {
            hash[n] = h;
            v[n++] = u;
        }
    }
    return 0;
}

static int merge_alike(struct elim *e)
{
    if (e->nb.n <= 8) return merge_few(e);
    size_t size = 32;
    while (size < 2 * e->nb.n) size *= 2;
    if (vec_reserve(&e->table, size)) return -1;
    int *slot = e->table.a;
    memset(slot, 0xFF, size * sizeof *slot);
    for (size_t i = 0; i < e->nb.n; i++) {
        int u = e->nb.a[i];
        size_t k = e->v[u].hash & (size - 1);
        if (e->fixed[u] & GIVEN) continue;
        while (slot[k] >= 0 && !alike(e, u, slot[k])) k = (k + 1) & (size - 1);
        if (slot[k] >= 0)
            merge(e, u, slot[k]);
        else
            slot[k] = u;
    }
    return 0;
}

static int add_fill(struct elim *e)
{
    for (size_t i = 0; i < e->fill.n; i++) {
        int a = e->fill.a[i].a, b = e->fill.a[i].b;
        if (e->core)
            core_join(e, a, b);
        else if (append(e, a, b) || append(e, b, a))
            return -1;
        e->v[a].hash += e->id[b];
        e->v[b].hash += e->id[a];
        int64_t k = (int64_t)e->v[a].count * e->v[b].count;
        e->nfill += k;
        if (e->fixed[a] && e->fixed[b])
            e->spent++;
        else
            e->edges += k;
    }
    return 0;
}

/* Finds the new edges among N, which is tagged for that. */
static int new_edges(struct elim *e, int vy)
{
    rewind_stamps(e);
    e->near = ++e->stamp;
    e->touched.n = e->fill.n = 0;
    if (vec_reserve(&e->wb, e->nb.n) || vec_reserve(&e->wbg, e->nb.n)) return -1;
    for (size_t i = 0; i < e->nb.n; i++) {
        int u = e->nb.a[i];
        e->tag[u] = (struct tag){e->near, (int)i};
        e->wb.a[i] = e->wbg.a[i] = 0;
        __builtin_prefetch(e->pool.a + e->v[u].adj);
    }
    return e->core ? core_find_fill(e, vy) : find_fill(e, vy);
}

/* After new edges: puts them in, and what follows from them. */
static int settle_edges(struct elim *e)
{
    if (add_fill(e)) return -1;
    for (size_t i = 0; i < e->nb.n; i++) rescore(e, e->nb.a[i]);
    for (size_t i = 0; i < e->touched.n; i++) {
        e->seen[e->touched.a[i]] = 0;
        rescore(e, e->touched.a[i]);
    }
    return merge_alike(e) || core_try(e) ? -1 : 0;
}

static int neighbours(struct elim *e, int vy)
{
    e->nb.n = 0;
    return e->core ? core_neighbours(e, vy) : list_neighbours(e, vy);
}

static int eliminate_vertex(struct elim *e, int y)
{
    int vy = find(e, y);
    struct vertex *Y = &e->v[vy];
    if (neighbours(e, vy)) return -1;
    if (Y->def && too_many_fixed(e) && (go_together(e) || neighbours(e, vy))) return -1;
    int64_t wy = weight_of(e, y), wY = Y->w, W = Y->wdeg, Wg = Y->wgiven;
    int fills = Y->def != 0;
    uint64_t id = elim_id(y);
    size_t len = e->nb.n;
    for (size_t i = 0; i < len; i++) __builtin_prefetch(&e->v[e->nb.a[i]]);
    if (record(e, y, vy)) return -1;
    drop_member(e, vy, y);
    if (fills && new_edges(e, vy)) return -1;
    for (size_t i = 0; i < len; i++) {
        struct vertex *x = &e->v[e->nb.a[i]];
        int64_t wb = fills ? e->wb.a[i] : 0, wbg = fills ? e->wbg.a[i] : 0;
        int64_t wX = x->wdeg - wY - (W - x->w - wb), wXg = x->wgiven - (Wg - wbg);
        x->def += (wb - wy) * wX - wbg * wXg;
        x->wdeg += wb - wy;
        x->wgiven += wbg;
        x->hash -= id;
        if (!fills) rescore(e, e->nb.a[i]);
    }
    Y->w -= wy;
    Y->count--;
    Y->def = 0;
    e->id[vy] -= id;
    Y->hash -= id;
    if (e->core) core_weigh(e, vy);
    if (Y->count == 0) {
        bury(e, vy);
    } else {
        if (vec_push(&e->nb, vy)) return -1;
        rescore(e, vy);
    }
    if (fills && settle_edges(e)) return -1;
    if (Wg)
        for (size_t i = 0; i < len; i++)
            if (e->fixed[e->nb.a[i]] & GIVEN && e->live[e->nb.a[i]]) merge_given(e, e->nb.a[i]);
    return 0;
}

int elim_vertex(struct elim *e, int y)
{
    if (eliminate_vertex(e, y) == 0) return 0;
    return e->failure ? e->failure : NAMI_ENOMEM;
}

/* ---- the record ----------------------------------------------------------- */

int elim_next_step(const struct elim *e, int64_t *at, struct elim_step *out)
{
    if (*at >= (int64_t)e->log.n) return 0;
    const int *x = e->log.a + *at;
    *out = (struct elim_step){x[0], x + 2, x + 2 + x[1]};
    *at += 2 + x[1];
    return 1;
}

int elim_next_chain(struct elim_step *s, struct elim_chain *out)
{
    if (s->at == s->end) return 0;
    int head = *s->at++;
    *out = head < 0 ? (struct elim_chain){~head, 1} : (struct elim_chain){head, *s->at++};
    return 1;
}

/* Lists only ever grow at their ends, so the members that a chain had are still
   the next `count` ones from its head on, but for those that were eliminated
   before. */
void elim_expand(const struct elim *e, int vertex, struct elim_chain c, int *out)
{
    for (int m = c.head, step = e->when[vertex]; c.count > 0; m = e->next[m])
        if (e->when[m] > step) {
            *out++ = m;
            c.count--;
        }
}

int elim_is_fixed(const struct elim *e, int v) { return e->fixed[v]; }

int elim_fixed_order(const struct elim *e, int *out)
{
    int k = 0;
    for (int v = 0; v < e->n; v++)
        if (e->fixed[v] && e->rep[v] == v)
            for (int m = e->first[v]; m >= 0; m = e->next[m]) out[k++] = m;
    return k;
}

int64_t elim_fill(const struct elim *e) { return e->nfill; }

int64_t elim_edges(const struct elim *e) { return e->edges; }

int elim_forget(struct elim *e)
{
    int64_t twice = 0;
    for (int v = 0; v < e->n; v++) {
        if (!e->live[v]) continue;
        int64_t k = e->v[v].count;
        if (neighbours(e, v)) return -1;
        if (!e->fixed[v]) twice += k * (k - 1);
        for (size_t i = 0; i < e->nb.n; i++) {
            int u = e->nb.a[i];
            if (!e->fixed[u] || !e->fixed[v]) twice += k * e->v[u].count;
        }
    }
    e->edges = twice / 2;
    return 0;
}

int64_t elim_growth(struct elim *e, int v)
{
    int y = find(e, v);
    int64_t w = 0;
    if (e->weight) return 0; /* then def does not count edges */
    if (e->together) return e->v[y].def;
    if (neighbours(e, y)) return 0;
    for (size_t i = 0; i < e->nb.n; i++)
        if (e->fixed[e->nb.a[i]]) w += e->v[e->nb.a[i]].w;
    w = e->v[y].def - w * (w - 1) / 2; /* pairs of fixed vertices do not count */
    return w > 0 ? w : 0;
}
