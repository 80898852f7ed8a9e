/* dag.c: directed graphs in compressed-row form: construction, topological order, depth,
   cycles. */
#include "graph/dag.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"

/* Rows by counting sort, twice: edges sorted by `to` come out of a pass over
   rows sorted by `from`, so both lists are in increasing order. */
static void rows(int n, const int *kp, const int *k, int *rp, int *r)
{
    for (int i = 0; i < kp[n]; i++) rp[k[i] + 1]++;
    for (int v = 0; v < n; v++) rp[v + 1] += rp[v];
    for (int v = 0; v < n; v++)
        for (int i = kp[v]; i < kp[v + 1]; i++) r[rp[k[i]]++] = v;
    memmove(rp + 1, rp, (size_t)n * sizeof *rp);
    rp[0] = 0;
}

/* Drops repeats within sorted rows, in place. */
static void unique(int n, int *rp, int *r)
{
    int w = 0;
    for (int v = 0, i = 0; v < n; v++) {
        int start = w;
        for (; i < rp[v + 1]; i++)
            if (w == start || r[w - 1] != r[i]) r[w++] = r[i];
        rp[v + 1] = w;
    }
}

int dag_init(struct dag *g, int n, const struct edge *e, size_t m, nami_err *err)
{
    memset(g, 0, sizeof *g);
    if (m > INT_MAX) return err_set(err, NAMI_ELIMIT, "more than %d edges", INT_MAX);
    g->n = n;
    g->pp = new_array(int, n + 1);
    g->cp = new_array(int, n + 1);
    g->p = raw_array(int, m);
    g->c = raw_array(int, m);
    if (!g->pp || !g->cp || !g->p || !g->c) {
        dag_fini(g);
        return err_nomem(err);
    }
    for (size_t i = 0; i < m; i++) g->pp[e[i].to + 1]++;
    for (int v = 0; v < n; v++) g->pp[v + 1] += g->pp[v];
    for (size_t i = 0; i < m; i++) g->p[g->pp[e[i].to]++] = e[i].from;
    memmove(g->pp + 1, g->pp, (size_t)n * sizeof *g->pp);
    g->pp[0] = 0;
    rows(n, g->pp, g->p, g->cp, g->c); /* children, sorted */
    unique(n, g->cp, g->c);
    memset(g->pp, 0, ((size_t)n + 1) * sizeof *g->pp);
    rows(n, g->cp, g->c, g->pp, g->p); /* parents, sorted */
    g->m = g->pp[n];
    return 0;
}

void dag_fini(struct dag *g)
{
    free(g->pp);
    free(g->p);
    free(g->cp);
    free(g->c);
    memset(g, 0, sizeof *g);
}

int dag_has_edge(const struct dag *g, int from, int to)
{
    int lo = g->pp[to], hi = g->pp[to + 1];
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (g->p[mid] < from)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < g->pp[to + 1] && g->p[lo] == from;
}

/* A binary heap of ints, smallest on top. */
static void heap_push(int *h, int *n, int x)
{
    int i = (*n)++;
    for (; i > 0 && h[(i - 1) / 2] > x; i = (i - 1) / 2) h[i] = h[(i - 1) / 2];
    h[i] = x;
}

static int heap_pop(int *h, int *n)
{
    int top = h[0], x = h[--*n], i = 0;
    for (int c; (c = 2 * i + 1) < *n; i = c) {
        if (c + 1 < *n && h[c + 1] < h[c]) c++;
        if (h[c] >= x) break;
        h[i] = h[c];
    }
    h[i] = x;
    return top;
}

/* Are the numbers a topological order themselves? */
static int numbered(const struct dag *g)
{
    for (int v = 0; v < g->n; v++)
        if (g->pp[v] < g->pp[v + 1] && g->p[g->pp[v + 1] - 1] >= v) return 0;
    return 1;
}

int dag_toposort(const struct dag *g, int *order)
{
    if (numbered(g)) {
        for (int v = 0; v < g->n; v++) order[v] = v;
        return g->n;
    }
    int *wait = new_array(int, g->n), *heap = raw_array(int, g->n), nh = 0, k = -1;
    if (!wait || !heap) goto out;
    k = 0;
    for (int v = 0; v < g->n; v++)
        if ((wait[v] = g->pp[v + 1] - g->pp[v]) == 0) heap_push(heap, &nh, v);
    while (nh) {
        int v = order[k++] = heap_pop(heap, &nh);
        for_children (g, v, u)
            if (--wait[u] == 0) heap_push(heap, &nh, u);
    }
out:
    free(wait);
    free(heap);
    return k;
}

int dag_depth(const struct dag *g, int up, int *depth)
{
    const int *ptr = up ? g->cp : g->pp, *row = up ? g->c : g->p;
    int n = g->n, *order = raw_array(int, n), rc = order && dag_toposort(g, order) == n ? 0 : -1;
    for (int i = 0; i < n && !rc; i++) {
        int v = order[up ? n - 1 - i : i];
        depth[v] = 0;
        for (int k = ptr[v]; k < ptr[v + 1]; k++)
            if (depth[row[k]] >= depth[v]) depth[v] = depth[row[k]] + 1;
    }
    free(order);
    return rc;
}

/* Nodes that a topological sort cannot reach all have a parent among
   themselves: walking from parent to parent must come back. */
int dag_cycle(const struct dag *g, int *cycle)
{
    int *seen = new_array(int, g->n), *order = raw_array(int, g->n), len = -1;
    if (!seen || !order) goto out;
    int k = dag_toposort(g, order);
    if (k < 0) goto out;
    len = 0;
    if (k == g->n) goto out;
    for (int i = 0; i < k; i++) seen[order[i]] = -1;
    int v = 0, step = 0;
    while (seen[v]) v++;
    while (!seen[v]) {
        order[step++] = v;
        seen[v] = step;
        for_parents (g, v, u)
            if (seen[u] >= 0) {
                v = u;
                break;
            }
    }
    for (int i = seen[v] - 1; i < step; i++) cycle[len++] = order[i];
    for (int i = 0; i < len / 2; i++) { /* the walk went against the edges */
        int t = cycle[i];
        cycle[i] = cycle[len - 1 - i];
        cycle[len - 1 - i] = t;
    }
out:
    free(seen);
    free(order);
    return len;
}
