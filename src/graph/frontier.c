/* frontier.c: which latents may be eliminated next so that the order stays natural, updated as
   nodes are passed. */
#include "graph/frontier.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

int frontier_init(struct frontier *f, const struct dag *g, int reverse, int direct, int staged,
                  nami_err *err)
{
    *f = (struct frontier){.g = g, .reverse = reverse, .direct = direct, .hi = g->n};
    f->wait = raw_array(int, g->n);
    f->member = new_array(unsigned char, g->n);
    if (!f->wait || !f->member) goto nomem;
    if (staged) {
        f->topo = raw_array(int, g->n);
        f->place = raw_array(int, g->n);
        if (!f->topo || !f->place || dag_toposort(g, f->topo) < 0) goto nomem;
        for (int i = 0; i < g->n; i++) f->place[f->topo[i]] = i;
    }
    return 0;
nomem:
    frontier_fini(f);
    return err_nomem(err);
}

void frontier_fini(struct frontier *f)
{
    free(f->topo);
    free(f->place);
    free(f->wait);
    free(f->member);
    vec_free(&f->ready);
    vec_free(&f->stack);
    memset(f, 0, sizeof *f); /* a second call is harmless */
}

/* Paths between two nodes of a stage stay within its range of places. */
static int inside(const struct frontier *f, int v)
{
    return !f->place || (f->place[v] >= f->lo && f->place[v] < f->hi);
}

static int blocks(const struct frontier *f, int u)
{
    return inside(f, u) && (!f->direct || f->member[u]);
}

/* The nodes on the stack are passed: whoever waited for them alone is next. */
static int release(struct frontier *f)
{
    const struct dag *g = f->g;
    const int *row = f->reverse ? g->p : g->c, *ptr = f->reverse ? g->pp : g->cp;
    while (f->stack.n) {
        int v = f->stack.a[--f->stack.n];
        for (int i = ptr[v]; i < ptr[v + 1]; i++) {
            int u = row[i];
            if (!inside(f, u) || --f->wait[u] > 0) continue;
            if (f->member[u]) {
                if (vec_push(&f->ready, u)) return -1;
            } else if (!f->direct && vec_push(&f->stack, u)) {
                return -1;
            }
        }
    }
    return 0;
}

int frontier_open(struct frontier *f, const int *node, int n)
{
    const struct dag *g = f->g;
    const int *row = f->reverse ? g->c : g->p, *ptr = f->reverse ? g->cp : g->pp;
    f->ready.n = f->stack.n = 0;
    if (f->place) {
        f->lo = g->n;
        f->hi = 0;
        for (int i = 0; i < n; i++) {
            if (f->place[node[i]] < f->lo) f->lo = f->place[node[i]];
            if (f->place[node[i]] >= f->hi) f->hi = f->place[node[i]] + 1;
        }
    }
    for (int i = 0; i < n; i++) f->member[node[i]] = 1;
    for (int i = f->lo; i < f->hi; i++) {
        int v = f->topo ? f->topo[i] : i;
        f->wait[v] = 0;
        for (int k = ptr[v]; k < ptr[v + 1]; k++) f->wait[v] += blocks(f, row[k]);
        if (f->wait[v]) continue;
        if (f->member[v]) {
            if (vec_push(&f->ready, v)) return -1;
        } else if (!f->direct && vec_push(&f->stack, v)) {
            return -1;
        }
    }
    return release(f);
}

int frontier_pass(struct frontier *f, int node)
{
    f->ready.n = f->stack.n = 0;
    f->member[node] = 0; /* its stage will end; later ones look through it */
    return vec_push(&f->stack, node) ? -1 : release(f);
}
