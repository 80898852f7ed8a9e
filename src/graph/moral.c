#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"
#include "graph/dag.h"

/* Neighbours of v: its parents, its children and its children's parents, each
   once (mark[u] == v tells), sorted later by transposing. */
static int64_t gather(const struct dag *g, const unsigned char *skip, int v, int *mark, int *out)
{
    int64_t k = 0;
    if (skip && skip[v]) return 0;
    mark[v] = v;
#define VISIT(u)                               \
    if (!(skip && skip[u]) && mark[u] != v) {  \
        mark[u] = v;                           \
        if (out) out[k] = u;                   \
        k++;                                   \
    }
    for_parents(g, v, u) VISIT(u)
    for_children(g, v, c) {
        if (skip && skip[c]) continue;
        VISIT(c)
        for_parents(g, c, u) VISIT(u)
    }
#undef VISIT
    return k;
}

int moral_init(struct ugraph *j, const struct dag *g, const unsigned char *skip, nami_err *err)
{
    return moral_upto(j, g, skip, INT64_MAX, err);
}

int moral_upto(struct ugraph *j, const struct dag *g, const unsigned char *skip, int64_t max,
               nami_err *err)
{
    int n = g->n, rc = 0;
    memset(j, 0, sizeof *j);
    j->n = n;
    j->ap = new_array(int64_t, n + 1);
    int *mark = raw_array(int, n), *tmp = NULL;
    int64_t *next = raw_array(int64_t, n + 1);
    if (!j->ap || !mark || !next) goto nomem;
    memset(mark, 0xFF, (size_t)n * sizeof *mark);
    for (int v = 0; v < n; v++) {
        j->ap[v + 1] = j->ap[v] + gather(g, skip, v, mark, NULL);
        if (j->ap[v + 1] / 2 <= max) continue;
        rc = err_set(err, NAMI_ELIMIT, "the graph has more than %lld edges", (long long)max);
        goto out;
    }
    j->m = j->ap[n] / 2;
    tmp = raw_array(int, j->ap[n]);
    j->a = raw_array(int, j->ap[n]);
    if (!tmp || !j->a) goto nomem;
    memset(mark, 0xFF, (size_t)n * sizeof *mark);
    for (int v = 0; v < n; v++) gather(g, skip, v, mark, tmp + j->ap[v]);
    /* The relation is symmetric, so its transpose is itself, with sorted rows. */
    memcpy(next, j->ap, ((size_t)n + 1) * sizeof *next);
    for (int v = 0; v < n; v++)
        for (int64_t k = j->ap[v]; k < j->ap[v + 1]; k++) j->a[next[tmp[k]]++] = v;
    goto out;
nomem:
    rc = err_nomem(err);
out:
    free(mark);
    free(tmp);
    free(next);
    if (rc) ugraph_fini(j);
    return rc;
}

void ugraph_fini(struct ugraph *j)
{
    free(j->ap);
    free(j->a);
    memset(j, 0, sizeof *j);
}
