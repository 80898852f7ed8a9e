/* moral.c: the moral graph of a directed graph. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"
#include "graph/dag.h"

typedef vec(int) row_vec;

static int visit(row_vec *out, int *mark, const unsigned char *skip, int v, int u)
{
    if (mark[u] == v || (skip && skip[u])) return 0;
    mark[u] = v;
    return vec_push(out, u);
}

/* Appends the neighbours of v: its parents, its children and its children's
   parents, each once (mark[u] == v tells), sorted. */
static int gather(const struct dag *g, const unsigned char *skip, int v, int *mark, row_vec *out)
{
    size_t start = out->n;
    if (skip && skip[v]) return 0;
    mark[v] = v;
    for_parents (g, v, u)
        if (visit(out, mark, skip, v, u)) return -1;
    for_children (g, v, c) {
        if (skip && skip[c]) continue;
        if (visit(out, mark, skip, v, c)) return -1;
        for_parents (g, c, u)
            if (visit(out, mark, skip, v, u)) return -1;
    }
    sort_ints(out->a + start, out->n - start);
    return 0;
}

int moral_init(struct ugraph *j, const struct dag *g, const unsigned char *skip, nami_err *err)
{
    return moral_upto(j, g, skip, INT64_MAX, err);
}

int moral_upto(struct ugraph *j, const struct dag *g, const unsigned char *skip, int64_t max,
               nami_err *err)
{
    int n = g->n, rc = 0, *mark = raw_array(int, n);
    row_vec a = {0};
    memset(j, 0, sizeof *j);
    j->n = n;
    j->ap = new_array(int64_t, n + 1);
    if (!j->ap || !mark || vec_reserve(&a, 2 * (size_t)g->m + 1)) rc = err_nomem(err);
    for (int v = 0; v < n && !rc; v++) mark[v] = -1;
    for (int v = 0; v < n && !rc; v++) {
        if (gather(g, skip, v, mark, &a)) rc = err_nomem(err);
        j->ap[v + 1] = (int64_t)a.n;
        if (!rc && j->ap[v + 1] / 2 > max)
            rc = err_set(err, NAMI_ELIMIT, "the graph has more than %lld edges", (long long)max);
    }
    j->a = a.a;
    if (!rc) j->m = j->ap[n] / 2;
    free(mark);
    if (rc) ugraph_fini(j);
    return rc;
}

void ugraph_fini(struct ugraph *j)
{
    free(j->ap);
    free(j->a);
    memset(j, 0, sizeof *j);
}
