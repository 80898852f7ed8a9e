/* invert.c: inversion: tables of methods, modes and criteria; the better of two modes; restarts
   with other tie-breaking. */
#include "graph/invert.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/rng.h"

const struct method *const methods[] = {
#define METHOD(id) &method_##id,
#include "graph/method.def"
#undef METHOD
    NULL};

static int64_t own_size(int size) { return size; }

/* log2 of the size, in units of 1/64: sums of these are logs of products. */
static int64_t log_size(int size) { return size > 1 ? llround(64 * log2(size)) : 1; }

const struct criterion criteria[] = {
    {"min-fill", "fewest new edges", NULL, 1},
    {"min-degree", "fewest neighbours", NULL, 0},
    {"min-weight", "smallest table: product of the sizes of the clique", log_size, 0},
    {"weighted-min-fill", "fewest new edges, each weighing the product of its ends' sizes",
     own_size, 1},
    {0}};

const char *const mode_names[] = {"forward", "reverse", "best", "free", NULL};
const char *const mode_whats[] = {
    "topological order: the inverse turns the order of the model round",
    "reverse topological order: the inverse keeps the order of the model",
    "both of these; the one with fewer edges, then the smaller width",
    "no constraint on the order: often more compact, not natural", NULL};

const struct method *method_by_name(const char *name)
{
    for (int i = 0; methods[i]; i++)
        if (strcmp(methods[i]->name, name) == 0) return methods[i];
    return NULL;
}

const struct criterion *criterion_by_name(const char *name)
{
    for (int i = 0; criteria[i].name; i++)
        if (strcmp(criteria[i].name, name) == 0) return &criteria[i];
    return NULL;
}

int mode_by_name(const char *name)
{
    for (int i = 0; mode_names[i]; i++)
        if (strcmp(mode_names[i], name) == 0) return i;
    return -1;
}

/* Keeps the better of two; frees the other. */
static struct inverse *better(struct inverse *a, struct inverse *b)
{
    if (!a || !b) return a ? a : b;
    int b_wins = b->edges < a->edges || (b->edges == a->edges && b->width < a->width);
    inverse_free(b_wins ? a : b);
    return b_wins ? b : a;
}

/* Ties to the node with the shortest way behind it (the longest path from where
   the order starts), so that the frontier moves as a wave: on a grid this is much
   better than the order of declaration. */
static int rank_by_depth(const struct dag *g, int reverse, int *rank)
{
    int n = g->n, *depth = raw_array(int, n), *start = new_array(int, n + 1), rc = -1;
    if (depth && start && dag_depth(g, reverse, depth) == 0) {
        for (int v = 0; v < n; v++) start[depth[v] + 1]++;
        for (int d = 0; d < n; d++) start[d + 1] += start[d];
        for (int v = 0; v < n; v++) rank[v] = start[depth[v]]++;
        rc = 0;
    }
    free(depth);
    free(start);
    return rc;
}

/* Another way to break ties: the first time by depth, then at random. */
static int next_rank(const struct problem *p, int r, uint64_t seed, int *rank)
{
    struct rng rng;
    if (r == 0 && p->mode != MODE_FREE) return rank_by_depth(p->g, p->mode == MODE_REVERSE, rank);
    rng_init(&rng, seed, (uint64_t)r);
    for (int v = 0; v < p->g->n; v++) rank[v] = v;
    rng_shuffle(&rng, rank, p->g->n);
    return 0;
}

/* One mode, with ties broken in `restarts` more ways. */
static int one_mode(const struct problem *p, const struct method *m, int restarts, uint64_t seed,
                    struct inverse **out, nami_err *err)
{
    struct problem q = *p;
    struct inverse *best = NULL, *h;
    int *rank = raw_array(int, p->g->n);
    int rc = rank ? m->invert(&q, &best, err) : err_nomem(err);
    if (rc == NAMI_ELIMIT && p->max_edges) rc = 0; /* other ties may stay within the bound */
    if (!m->uses_mode) restarts = 0;
    q.rank = rank;
    for (int r = 0; r < restarts && !rc; r++) {
        if (next_rank(p, r, seed, rank)) {
            rc = err_nomem(err);
            break;
        }
        if (best) q.max_edges = best->edges;
        h = NULL;
        rc = m->invert(&q, &h, err);
        if (rc == NAMI_ELIMIT) rc = 0; /* not better */
        best = better(best, h);
    }
    free(rank);
    if (rc || !best) {
        inverse_free(best);
        return rc ? rc : NAMI_ELIMIT; /* err says so since the last run */
    }
    err_clear(err);
    best->method = m->name;
    best->mode = mode_names[p->mode];
    *out = best;
    return 0;
}

int invert(const struct problem *p, const struct method *m, int restarts, uint64_t seed,
           struct inverse **out, nami_err *err)
{
    struct problem q = *p;
    struct inverse *forward = NULL, *reverse = NULL;
    int rc;
    *out = NULL;
    if (p->mode != MODE_BEST || !m->uses_mode) {
        if (!m->uses_mode) q.mode = MODE_FORWARD;
        return one_mode(&q, m, restarts, seed, out, err);
    }
    /* Reverse first: where the two differ much it is nearly always the smaller,
       and then it bounds the other. */
    q.mode = MODE_REVERSE;
    rc = one_mode(&q, m, restarts, seed, &reverse, err);
    if (rc && rc != NAMI_ELIMIT) return rc;
    q.mode = MODE_FORWARD;
    if (reverse) q.max_edges = reverse->edges;
    int rc2 = one_mode(&q, m, restarts, seed, &forward, err);
    if (rc2 == NAMI_ELIMIT && reverse) rc2 = 0;
    if (rc2) {
        inverse_free(reverse);
        return rc2;
    }
    if (reverse) err_clear(err);
    *out = better(forward, reverse);
    return 0;
}
