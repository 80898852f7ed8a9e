/* generate.c: families of test graphs: hidden Markov models, trees, grids, plates, random
   DAGs. */
#include "graph/generate.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/rng.h"
#include "base/vec.h"

struct edges {
    vec(struct edge) e;
    int failed;
};

static void add(struct edges *x, int from, int to)
{
    if (vec_push(&x->e, ((struct edge){from, to}))) x->failed = 1;
}

static int finish(struct edges *x, struct dag *g, int n, nami_err *err)
{
    int rc = x->failed ? err_nomem(err) : dag_init(g, n, x->e.a, x->e.n, err);
    vec_free(&x->e);
    return rc;
}

/* z_t -> z_{t+1}, z_t -> x_t; z_t is 2t, x_t is 2t+1. */
static int hmm(struct dag *g, int n, uint64_t seed, nami_err *err)
{
    struct edges x = {0};
    (void)seed;
    n = n / 2 * 2;
    for (int t = 0; 2 * t < n; t++) {
        add(&x, 2 * t, 2 * t + 1);
        if (2 * t + 2 < n) add(&x, 2 * t, 2 * t + 2);
    }
    return finish(&x, g, n, err);
}

static int tree(struct dag *g, int n, uint64_t seed, nami_err *err)
{
    struct edges x = {0};
    (void)seed;
    for (int i = 1; i < n; i++) add(&x, (i - 1) / 2, i);
    return finish(&x, g, n, err);
}

static int revtree(struct dag *g, int n, uint64_t seed, nami_err *err)
{
    struct edges x = {0};
    (void)seed;
    for (int i = 1; i < n; i++) add(&x, i, (i - 1) / 2);
    return finish(&x, g, n, err);
}

/* 0 to 3 parents among the last `reach` nodes. */
static int local(struct dag *g, int n, int reach, uint64_t seed, nami_err *err)
{
    struct edges x = {0};
    struct rng r;
    rng_init(&r, seed, 0);
    for (int i = 1; i < n; i++)
        for (uint32_t k = rng_below(&r, 4); k > 0; k--)
            add(&x, i - 1 - (int)rng_below(&r, (uint32_t)(i < reach ? i : reach)), i);
    return finish(&x, g, n, err);
}

static int rlocal(struct dag *g, int n, uint64_t seed, nami_err *err)
{
    return local(g, n, 20, seed, err);
}

static int rdag(struct dag *g, int n, uint64_t seed, nami_err *err)
{
    return local(g, n, n, seed, err);
}

static int grid(struct dag *g, int n, uint64_t seed, nami_err *err)
{
    struct edges x = {0};
    int side = 1;
    (void)seed;
    while (side * side < n) side++;
    for (int i = 0; i < side; i++)
        for (int j = 0; j < side; j++) {
            if (i) add(&x, (i - 1) * side + j, i * side + j);
            if (j) add(&x, i * side + j - 1, i * side + j);
        }
    return finish(&x, g, side * side, err);
}

/* A mixture: ten globals -> z_i -> x_i <- one more global. */
static int plate(struct dag *g, int n, uint64_t seed, nami_err *err)
{
    struct edges x = {0};
    (void)seed;
    n = n < 13 ? 13 : n - (n - 11) % 2;
    for (int z = 11; z < n; z += 2) {
        for (int k = 0; k < 10; k++) add(&x, k, z);
        add(&x, z, z + 1);
        add(&x, 10, z + 1);
    }
    return finish(&x, g, n, err);
}

const struct graph_family graph_families[] = {
    {"hmm", "hidden Markov chain: z_t -> z_{t+1}, z_t -> x_t", hmm},
    {"tree", "binary tree, edges away from the root", tree},
    {"revtree", "binary tree, edges towards the root", revtree},
    {"rlocal", "0 to 3 parents among the last 20 nodes", rlocal},
    {"rdag", "0 to 3 parents among all earlier nodes", rdag},
    {"plate", "a plate: ten globals -> z_i -> x_i <- one more global", plate},
    {"grid", "square grid, edges from the left and from above", grid},
    {0}};

const struct graph_family *graph_family_find(const char *name)
{
    for (int i = 0; graph_families[i].name; i++)
        if (strcmp(graph_families[i].name, name) == 0) return &graph_families[i];
    return NULL;
}

int generate_random(struct dag *g, int n, double p, uint64_t seed, nami_err *err)
{
    struct edges x = {0};
    struct rng r;
    int *label = raw_array(int, n);
    if (!label) return err_nomem(err);
    rng_init(&r, seed, 0);
    for (int i = 0; i < n; i++) label[i] = i;
    rng_shuffle(&r, label, n);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            if (rng_unit(&r) < p) add(&x, label[i], label[j]);
    free(label);
    return finish(&x, g, n, err);
}
