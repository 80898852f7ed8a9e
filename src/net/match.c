/* match.c: are two regions isomorphic?

   Colors limit which instance can map to which.  The match grows from the two variables: what they
   read must match slot by slot, and what reads one must match what reads the other.  Nothing is
   assumed but that equal hashes mean equal instances: when no requirement is left open, the
   regions are isomorphic. */
#include <stdlib.h>

#include "net/region.h"

/* One who reads a matched instance; or one that is given. */
struct key {
    uint64_t kind;  /* its colour and where it reads it */
    uint64_t reads; /* all that it reads, as far as its image is known */
    int inst;
};

int match_init(struct match *m, const struct reads *g, int64_t width)
{
    size_t most = (size_t)width;
    for (int k = 0; k < g->n; k++)
        if (g->out[k + 1] - g->out[k] > most) most = g->out[k + 1] - g->out[k];
    int rc = region_init(&m->a, g), rd = region_init(&m->b, g);
    m->image = raw_array(int, g->n);
    m->back = raw_array(int, g->n);
    m->todo = raw_array(int, g->n);
    m->ntodo = 0;
    m->x = raw_array(struct key, most + 1);
    m->y = raw_array(struct key, most + 1);
    if (rc || rd || !m->image || !m->back || !m->todo || !m->x || !m->y) return -1;
    for (int k = 0; k < g->n; k++) m->image[k] = m->back[k] = -1;
    return 0;
}

void match_fini(struct match *m)
{
    region_fini(&m->a);
    region_fini(&m->b);
    free(m->image);
    free(m->back);
    free(m->todo);
    free(m->x);
    free(m->y);
}

/* v must be the image of u.  0: it cannot. */
static int pair(struct match *m, int u, int v)
{
    if (m->image[u] == v) return 1;
    if (m->image[u] >= 0 || m->back[v] >= 0) return 0;
    if (m->a.tag[u] != m->b.tag[v] || m->a.colour[u] != m->b.colour[v]) return 0;
    m->image[u] = v;
    m->back[v] = u;
    m->todo[m->ntodo++] = u;
    return 1;
}

static int pair_reads(struct match *m, int u, int v, int64_t *work)
{
    const struct reads *g = m->a.g;
    const struct read *a = g->read + g->off[u], *b = g->read + g->off[v];
    size_t n = g->off[u + 1] - g->off[u];
    if (g->own[u] != g->own[v] || n != g->off[v + 1] - g->off[v]) return 0;
    *work -= (int64_t)n;
    for (size_t i = 0; i < n; i++)
        if (a[i].elem != b[i].elem || !pair(m, a[i].from, b[i].from)) return 0;
    return 1;
}

/* The readers of u that are not matched yet. */
static int readers(const struct region *r, int u, const int *matched, const int *image,
                   struct key *key, int64_t *work)
{
    const struct reads *g = r->g;
    const struct reader *x = g->reader + g->out[u], *end = g->reader + g->out[u + 1];
    int n = 0;
    while (x < end) {
        int k = x->inst;
        struct key *to = &key[n];
        if (matched[k] < 0) n++;
        *to = (struct key){r->colour[k], 0, k};
        for (; x < end && x->inst == k; x++)
            to->kind = mix(mix(to->kind, (uint64_t)x->slot),
                           (uint64_t)g->read[g->off[k] + (size_t)x->slot].elem);
        for (size_t i = g->off[k]; matched[k] < 0 && i < g->off[k + 1]; i++, --*work) {
            int from = g->read[i].from;
            to->reads = mix(to->reads, (uint64_t)(image && image[from] >= 0 ? image[from] : from));
        }
    }
    return n;
}

static int by_kind(const void *x, const void *y)
{
    const struct key *a = x, *b = y;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    if (a->reads != b->reads) return a->reads < b->reads ? -1 : 1;
    return (a->inst > b->inst) - (a->inst < b->inst);
}

/* -1, 0, 1: as by_kind, for any of one kind that read the same */
static int compare(const struct key *a, const struct key *b)
{
    struct key c = *b;
    c.inst = a->inst;
    return by_kind(a, &c);
}

/* First those that read the same, then the rest, as far as they are of one kind, in order. */
static int pair_readers(struct match *m, int u, int v, int64_t *work)
{
    struct key *x = m->x, *y = m->y;
    int n = readers(&m->a, u, m->image, m->image, x, work), i = 0, nx = 0;
    int k = readers(&m->b, v, m->back, NULL, y, work), j = 0, ny = 0;
    if (n != k) return 0;
    qsort(x, (size_t)n, sizeof *x, by_kind);
    qsort(y, (size_t)n, sizeof *y, by_kind);
    while (i < n || j < n) {
        int d = i == n ? 1 : j == n ? -1 : compare(&x[i], &y[j]);
        if (d == 0 && !pair(m, x[i++].inst, y[j++].inst)) return 0;
        if (d < 0) x[nx] = x[i++], x[nx++].reads = 0;
        if (d > 0) y[ny] = y[j++], y[ny++].reads = 0;
    }
    qsort(x, (size_t)nx, sizeof *x, by_kind);
    qsort(y, (size_t)ny, sizeof *y, by_kind);
    for (i = 0; i < nx; i++)
        if (x[i].kind != y[i].kind || !pair(m, x[i].inst, y[i].inst)) return 0;
    return 1;
}

/* Given ones that do not matter: the same in both, and the rest by what they are. */
static int pair_given(struct match *m)
{
    const struct reads *g = m->a.g;
    int n = 0, k = 0;
    for (int64_t i = 0; i < m->a.ngiven; i++) {
        int u = m->a.given[i], v = m->b.given[i];
        int in_b = m->b.tag[u] & GIVEN && m->back[u] < 0,
            in_a = m->a.tag[v] & GIVEN && m->image[v] < 0;
        if (m->image[u] < 0) m->x[n++] = (struct key){g->kind[u], in_b ? (uint64_t)u + 1 : 0, u};
        if (m->back[v] < 0) m->y[k++] = (struct key){g->kind[v], in_a ? (uint64_t)v + 1 : 0, v};
    }
    qsort(m->x, (size_t)n, sizeof *m->x, by_kind);
    qsort(m->y, (size_t)k, sizeof *m->y, by_kind);
    for (int i = 0; i < n; i++) {
        if (m->x[i].kind != m->y[i].kind) return 0;
        m->image[m->x[i].inst] = m->y[i].inst;
        m->back[m->y[i].inst] = m->x[i].inst;
        m->todo[m->ntodo++] = m->x[i].inst;
    }
    return 1;
}

int match_find(struct match *m, int *role, int64_t *work)
{
    int ok = m->a.ngiven == m->b.ngiven && pair(m, m->a.inst[0], m->b.inst[0]);
    for (int i = 0; i < m->ntodo && ok; i++) {
        int u = m->todo[i], v = m->image[u];
        if (m->a.tag[u] & FACTOR) ok = pair_reads(m, u, v, work);
        if (m->a.tag[u] & INSIDE && ok) ok = pair_readers(m, u, v, work);
        if (--*work < 0) ok = 0;
    }
    if (ok) ok = pair_given(m);
    for (int64_t i = 0; i < m->a.ngiven && ok; i++) role[i] = m->image[m->a.given[i]];
    while (m->ntodo) {
        int u = m->todo[--m->ntodo];
        m->back[m->image[u]] = -1;
        m->image[u] = -1;
    }
    return ok;
}
