/* libc.c: what the modules that need no other library compute, as text: random numbers, draws and densities of all
   scalar distributions, edges of inverses.  scripts/portable.sh compares the output of two C libraries. */
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "dist/dist.h"
#include "graph/invert.h"

enum { DRAWS = 64, LEVELS = 6, NODES = (1 << LEVELS) - 1 };

static void put_random(void)
{
    struct rng r;
    uint32_t sum = 0;
    rng_init(&r, 7, 1);
    for (int i = 0; i < 1000000; i++) sum = sum * 31 + rng_u32(&r);
    printf("rng %08x\n", (unsigned)sum);
}

static void put_dist(const struct dist *d)
{
    double value[DRAWS], logp[DRAWS], arg[RECORD_ARGS][DRAWS];
    const double *a[1 + RECORD_ARGS] = {value};
    if (!d->sample || !d->logp || d->narg > RECORD_ARGS) return;
    for (int k = 0; k < d->narg; k++) {
        for (int i = 0; i < DRAWS; i++) arg[k][i] = d->try_at[0].p[k];
        a[1 + k] = arg[k];
    }
    struct stream s = {0};
    d->sample(d, &s, DRAWS, value, a + 1);
    d->logp(d, DRAWS, logp, a);
    double sum = 0;
    for (int i = 0; i < DRAWS; i++) sum += logp[i];
    printf("%s %.9g %.9g %.9g\n", d->name, value[0], value[DRAWS - 1], sum);
}

static int put_tree(enum mode mode)
{
    struct edge e[NODES - 1];
    unsigned char observed[NODES] = {0};
    for (int v = 1; v < NODES; v++) e[v - 1] = (struct edge){(v - 1) / 2, v};
    memset(observed + NODES / 2, 1, NODES - NODES / 2);
    struct dag g;
    struct inverse *h;
    if (dag_init(&g, NODES, e, NODES - 1, NULL)) return 1;
    struct problem p = {.g = &g, .observed = observed, .criterion = &criteria[0], .mode = mode};
    int rc = invert(&p, method_by_name("nami"), 0, 0, &h, NULL);
    if (!rc) printf("%s: %lld edges\n", mode_names[mode], (long long)h->edges);
    if (!rc) inverse_free(h);
    dag_fini(&g);
    return rc;
}

int main(void)
{
    put_random();
    for (const struct dist *const *d = dists; *d; d++) put_dist(*d);
    return put_tree(MODE_FORWARD) || put_tree(MODE_REVERSE);
}
