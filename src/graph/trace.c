/* trace.c: replays an inversion step by step with a naive elimination, for display and as a
   check. */
#include "graph/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "graph/frontier.h"

enum { TOO_MANY = 2000 };

struct replay {
    const struct problem *p;
    const struct inverse *h;
    struct trace *t;
    int n;
    unsigned char *role, *adj, *done, *ready; /* adj is n x n; ready: in the frontier */
};

static int joined(const struct replay *r, int a, int b)
{
    return r->adj[(size_t)a * (size_t)r->n + (size_t)b];
}

/* Missing pairs of neighbours of v; writes them if out is not NULL. */
static int missing(const struct replay *r, int v, struct edge *out)
{
    int k = 0;
    for (int a = 0; a < r->n; a++) {
        if (r->done[a] || !joined(r, v, a)) continue;
        for (int b = a + 1; b < r->n; b++)
            if (!r->done[b] && joined(r, v, b) && !joined(r, a, b)) {
                if (out) out[k] = (struct edge){a, b};
                k++;
            }
    }
    return k;
}

static int step(struct replay *r, int v)
{
    struct trace_step *s = &r->t->step[r->t->nstep];
    struct arena *mem = &r->t->mem;
    int n = r->n, k = 0;
    for (int u = 0; u < n; u++) k += r->ready[u];
    s->node = v;
    s->nuisance = r->role[v] == ROLE_NUISANCE;
    s->nadded = missing(r, v, NULL);
    s->frontier = arena_array(mem, int, k);
    s->fill = arena_array(mem, int64_t, k);
    s->added = arena_array(mem, struct edge, s->nadded);
    s->parent = arena_array(mem, int, n);
    if (!s->frontier || !s->fill || !s->added || !s->parent) return -1;
    for (int u = 0; u < n; u++)
        if (r->ready[u]) {
            s->frontier[s->nfrontier] = u;
            s->fill[s->nfrontier++] = missing(r, u, NULL);
        }
    missing(r, v, s->added);
    for (int i = 0; i < s->nadded; i++) {
        size_t a = (size_t)s->added[i].from, b = (size_t)s->added[i].to;
        r->adj[a * (size_t)n + b] = r->adj[b * (size_t)n + a] = 1;
    }
    for (int u = 0; u < n; u++)
        if (!r->done[u] && joined(r, v, u)) s->parent[s->nparent++] = u;
    r->done[v] = 1;
    r->ready[v] = 0;
    r->t->nstep++;
    return 0;
}

/* Nuisances have no place in the inverse: the least fill goes first. */
static int nuisances(struct replay *r)
{
    for (int v = 0; v < r->n; v++) r->ready[v] = r->role[v] == ROLE_NUISANCE;
    for (;;) {
        int best = -1, least = 0;
        for (int v = 0; v < r->n; v++) {
            if (!r->ready[v]) continue;
            int k = missing(r, v, NULL);
            if (best < 0 || k < least) {
                best = v;
                least = k;
            }
        }
        if (best < 0) return 0;
        if (step(r, best)) return -1;
    }
}

/* As in eliminate.c, but by the inverse's own list of exact latents. */
static int same_stage(const struct replay *r, int i, int k)
{
    const struct inverse *h = r->h;
    const int *stage = r->p->stage;
    if (i < h->nexact || k < h->nexact) return i < h->nexact && k < h->nexact;
    return !stage || stage[h->perm[i]] == stage[h->perm[k]];
}

static int wanted(struct replay *r, struct frontier *f)
{
    const struct problem *p = r->p;
    const int *order = r->h->perm;
    int L = r->h->nlatent, free_order = p->mode == MODE_FREE; /* then nothing waits */
    for (int i = 0, end; i < L; i = end) {                    /* a stage at a time */
        for (end = i + 1; end < L && same_stage(r, i, end);) end++;
        if (!free_order && frontier_open(f, order + i, end - i)) return -1;
        for (int k = i; k < end; k++) r->ready[order[k]] = (unsigned char)free_order;
        for (size_t k = 0; k < f->ready.n; k++) r->ready[f->ready.a[k]] = 1;
        for (int k = i; k < end; k++) {
            if (step(r, order[k]) || (!free_order && frontier_pass(f, order[k]))) return -1;
            for (size_t q = 0; q < f->ready.n; q++) r->ready[f->ready.a[q]] = 1;
        }
    }
    return 0;
}

int trace_new(const struct problem *p, const struct inverse *h, int direct, struct trace *out,
              nami_err *err)
{
    int n = p->g->n, rc, inexact;
    struct replay r = {.p = p, .h = h, .t = out, .n = n};
    struct ugraph j = {0};
    struct frontier f = {0};
    memset(out, 0, sizeof *out);
    if (n > TOO_MANY)
        return err_set(err, NAMI_ELIMIT, "a trace is for graphs of at most %d nodes", TOO_MANY);
    r.role = new_array(unsigned char, n);
    r.adj = new_array(unsigned char, (size_t)n *(size_t)n);
    r.done = new_array(unsigned char, n);
    r.ready = new_array(unsigned char, n);
    out->step = arena_array(&out->mem, struct trace_step, n);
    if (!r.role || !r.adj || !r.done || !r.ready || !out->step) {
        rc = err_nomem(err);
        goto out;
    }
    if ((rc = roles(p, r.role, &inexact, err))) goto out;
    for (int i = 0; i < h->nlatent; i++)
        r.role[h->perm[i]] = ROLE_WANTED; /* method paper keeps all */
    for (int v = 0; v < n; v++) r.done[v] = r.role[v] == ROLE_MODEL || r.role[v] == ROLE_DROPPED;
    if ((rc = moral_init(&j, p->g, r.done, err)) ||
        (rc = frontier_init(&f, p->g, p->mode == MODE_REVERSE, direct, p->stage || h->nexact, err)))
        goto out;
    for (int v = 0; v < n; v++)
        for (int64_t k = j.ap[v]; k < j.ap[v + 1]; k++)
            r.adj[(size_t)v * (size_t)n + (size_t)j.a[k]] = 1;
    if (nuisances(&r) || wanted(&r, &f)) rc = err_nomem(err);
out:
    frontier_fini(&f);
    ugraph_fini(&j);
    free(r.role);
    free(r.adj);
    free(r.done);
    free(r.ready);
    if (rc) trace_free(out);
    return rc;
}

void trace_free(struct trace *t)
{
    arena_free(&t->mem);
    memset(t, 0, sizeof *t);
}
