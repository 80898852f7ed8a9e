/* bench_graph: inversion against SuiteSparse AMD on the same moral graphs.

       bench_graph            all cases
       bench_graph hmm grid   the cases whose name contains one of these words

   Each case runs in a process of its own (so that peak memory is its own), both
   programs in turn, five times; times are medians of processor time (both use
   one thread), and what counts is the ratio.  AMD gets the moral graph; free-order runs of NaMI
   start from it too; natural orders are timed from the directed graph to the finished inverse. Fill
   is exact for both (AMD's order is eliminated again, untimed). */

#include <amd.h>
#include <camd.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "graph/certify.h"
#include "graph/elim.h"
#include "graph/generate.h"
#include "io/format.h"

enum { REPS = 5 };

struct target {
    const char *family;
    int n;
    enum mode mode;
    double bar;   /* largest ratio to AMD, or 0 */
    int restarts; /* more ways to break ties; the first is by depth */
};

static const struct target targets[] = {{"hmm", 10000, MODE_FREE, 0, 0},
                                        {"hmm", 100000, MODE_FREE, 0, 0},
                                        {"hmm", 1000000, MODE_FREE, 1.5, 0},
                                        {"rlocal", 10000, MODE_FREE, 0, 0},
                                        {"rlocal", 100000, MODE_FREE, 0, 0},
                                        {"rlocal", 1000000, MODE_FREE, 1.5, 0},
                                        {"tree", 1000000, MODE_FREE, 0, 0},
                                        {"revtree", 10000, MODE_FREE, 0, 0},
                                        {"revtree", 100000, MODE_FREE, 0, 0},
                                        {"revtree", 1000000, MODE_FREE, 2.5, 0},
                                        {"grid", 90000, MODE_FREE, 7, 0},
                                        {"rdag", 10000, MODE_FREE, 400, 0},
                                        {"hmm", 10000, MODE_FORWARD, 0, 0},
                                        {"hmm", 100000, MODE_FORWARD, 0, 0},
                                        {"hmm", 1000000, MODE_FORWARD, 3, 0},
                                        {"hmm", 10000, MODE_REVERSE, 0, 0},
                                        {"hmm", 100000, MODE_REVERSE, 0, 0},
                                        {"hmm", 1000000, MODE_REVERSE, 3, 0},
                                        {"tree", 10000, MODE_REVERSE, 0, 0},
                                        {"tree", 100000, MODE_REVERSE, 0, 0},
                                        {"tree", 1000000, MODE_REVERSE, 3, 0},
                                        {"rlocal", 10000, MODE_REVERSE, 0, 0},
                                        {"rlocal", 100000, MODE_REVERSE, 0, 0},
                                        {"rlocal", 1000000, MODE_REVERSE, 0, 0},
                                        {"plate", 10000, MODE_REVERSE, 0, 0},
                                        {"plate", 100000, MODE_REVERSE, 0, 0},
                                        {"plate", 1000000, MODE_REVERSE, 0, 0},
                                        {"tree", 10000, MODE_FORWARD, 0, 0},
                                        {"rdag", 10000, MODE_REVERSE, 0, 0},
                                        {"grid", 90000, MODE_FORWARD, 0, 0},
                                        {"grid", 90000, MODE_FORWARD, 0, 1},
                                        {"pigs", 0, MODE_FORWARD, 0, 0},
                                        {"munin1", 0, MODE_FORWARD, 5, 0},
                                        {"munin1", 0, MODE_REVERSE, 5, 0},
                                        {0}};

struct result {
    double ours, amd, verify; /* seconds, medians; verify: one run */
    int64_t fill, amd_fill, width, edges, runs, layered;
    long mb;
    int n, certified;
};

static void die(const char *what)
{
    fprintf(stderr, "bench_graph: %s\n", what);
    exit(3);
}

static int get_graph(struct dag *g, const char *family, int n)
{
    const struct graph_family *f = graph_family_find(family);
    if (f) return f->make(g, n, 1, NULL);
    char path[512];
    nami_bn *bn;
    snprintf(path, sizeof path, "%s/../shared/data/bif/%s.bif", SOURCE_DIR, family);
    if (nami_bn_read(path, NULL, &bn, NULL)) return -1;
    *g = bn->dag; /* kept until the process ends */
    return 0;
}

static double run_amd(const struct ugraph *j, int *order)
{
    int n = j->n, *ap = malloc(((size_t)n + 1) * sizeof(int));
    for (int v = 0; v <= n; v++) ap[v] = (int)j->ap[v];
    double t = now(CLOCK_THREAD_CPUTIME_ID);
    if (amd_order(n, ap, j->a, order, NULL, NULL) < AMD_OK) die("AMD failed");
    t = now(CLOCK_THREAD_CPUTIME_ID) - t;
    free(ap);
    return t;
}

/* Fill and width of eliminating everything in this order. */
static void measure_order(const struct ugraph *j, const int *order, struct result *r)
{
    struct elim *e = elim_new(j, NULL, 0, NULL, &criteria[0], NULL, NULL);
    for (int i = 0; i < j->n; i++)
        if (elim_vertex(e, order[i])) die("out of memory");
    r->amd_fill = elim_fill(e);
    elim_free(e);
}

/* What a tool that knows layers only would do: CAMD, one layer for each depth
   (height, in reverse mode). Edges of the inverse, and the time. */
static double run_camd(const struct dag *g, const struct ugraph *j, const unsigned char *observed,
                       int reverse, int64_t *edges)
{
    int n = j->n, *ap = malloc(((size_t)n + 1) * sizeof(int)),
        *order = malloc((size_t)n * sizeof(int));
    int *layer = malloc((size_t)n * sizeof(int)), deepest = 0;
    for (int v = 0; v <= n; v++) ap[v] = (int)j->ap[v];
    if (dag_depth(g, reverse, layer)) die("out of memory");
    for (int v = 0; v < n; v++)
        if (layer[v] > deepest) deepest = layer[v];
    for (int v = 0; v < n; v++)
        if (observed[v]) layer[v] = deepest + 1 < n ? deepest + 1 : n - 1;
    double t = now(CLOCK_THREAD_CPUTIME_ID);
    if (camd_order(n, ap, j->a, order, NULL, NULL, layer) < CAMD_OK) die("CAMD failed");
    t = now(CLOCK_THREAD_CPUTIME_ID) - t;
    struct elim *e = elim_new(j, observed, 0, NULL, &criteria[0], NULL, NULL);
    for (int i = 0; i < n; i++)
        if (!observed[order[i]] && elim_vertex(e, order[i])) die("out of memory");
    *edges = elim_edges(e);
    elim_free(e);
    free(ap);
    free(order);
    free(layer);
    return t;
}

static double run_free(const struct ugraph *j, struct result *r)
{
    double t = now(CLOCK_THREAD_CPUTIME_ID);
    struct elim *e = elim_new(j, NULL, 0, NULL, &criteria[0], NULL, NULL);
    if (!e) die("out of memory");
    int v;
    for (v = 0; v < j->n; v++) elim_enable(e, v);
    while ((v = elim_pick(e)) >= 0)
        if (elim_vertex(e, v)) die("out of memory");
    t = now(CLOCK_THREAD_CPUTIME_ID) - t;
    r->fill = elim_fill(e);
    r->width = 0;
    struct elim_step st;
    for (int64_t at = 0; elim_next_step(e, &at, &st);) {
        int64_t width = 0;
        for (struct elim_chain c; elim_next_chain(&st, &c);) width += c.count;
        if (width > r->width) r->width = width;
    }
    elim_free(e);
    return t;
}

static double run_natural(const struct dag *g, const unsigned char *observed,
                          const struct target *c, struct inverse **h)
{
    struct problem p = {.g = g, .observed = observed, .criterion = &criteria[0], .mode = c->mode};
    double t = now(CLOCK_THREAD_CPUTIME_ID);
    if (invert(&p, &method_nami, c->restarts, 0, h, NULL)) die("inversion failed");
    return now(CLOCK_THREAD_CPUTIME_ID) - t;
}

static void run_case(const struct target *c, struct result *r)
{
    struct dag g;
    struct ugraph j;
    double ours[REPS], amd[REPS];
    if (get_graph(&g, c->family, c->n)) {
        r->n = -1;
        return;
    }
    r->n = g.n;
    unsigned char *observed = malloc((size_t)g.n);
    for (int v = 0; v < g.n; v++) observed[v] = g.cp[v] == g.cp[v + 1]; /* sinks */
    if (c->mode != MODE_FREE) { /* once for memory, before AMD takes any */
        struct inverse *h;
        run_natural(&g, observed, c, &h);
        r->mb = peak_mb();
        r->edges = h->edges;
        r->width = h->width;
        r->runs = (int64_t)h->run.n;
        double t = now(CLOCK_THREAD_CPUTIME_ID);
        if (certify(h, &g, VERIFY_AUTO, 0, NULL)) die("out of memory");
        r->verify = now(CLOCK_THREAD_CPUTIME_ID) - t;
        r->certified =
            h->cert.is[FAITHFUL] == 1 && h->cert.is[MINIMAL] == 1 && h->cert.is[NATURAL] == 1;
        inverse_free(h);
    }
    if (moral_init(&j, &g, NULL, NULL)) die("out of memory");
    int *order = malloc((size_t)g.n * sizeof(int));
    int inner = 20000 / g.n + 1; /* small graphs take less than the clock can tell */
    for (int k = 0; k < REPS; k++) {
        ours[k] = amd[k] = 0;
        for (int i = 0; i < inner; i++) {
            struct inverse *h = NULL;
            ours[k] +=
                (c->mode == MODE_FREE ? run_free(&j, r) : run_natural(&g, observed, c, &h)) / inner;
            inverse_free(h);
            if (c->mode == MODE_FREE && k == 0) r->mb = peak_mb();
            amd[k] += run_amd(&j, order) / inner;
        }
    }
    r->ours = median(ours, REPS);
    r->amd = median(amd, REPS);
    if (c->mode == MODE_FREE)
        measure_order(&j, order, r);
    else if (r->edges < 100000000) /* beyond, its elimination takes too long here */
        run_camd(&g, &j, observed, c->mode == MODE_REVERSE, &r->layered);
}

static int forked(const struct target *c, struct result *r)
{
    int fd[2], status;
    fflush(stdout);
    if (pipe(fd)) return -1;
    pid_t pid = fork();
    if (pid == 0) {
        memset(r, 0, sizeof *r);
        run_case(c, r);
        _exit(write(fd[1], r, sizeof *r) == sizeof *r ? 0 : 3);
    }
    close(fd[1]);
    ssize_t got = read(fd[0], r, sizeof *r);
    close(fd[0]);
    waitpid(pid, &status, 0);
    return got == sizeof *r && status == 0 ? 0 : -1;
}

static int asked(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strstr(name, argv[i])) return 1;
    return argc < 2;
}

int main(int argc, char **argv)
{
    struct result r, first = {0};
    int missed = 0;
    printf("%-24s %9s %9s %7s %6s %12s %12s %7s %6s %s\n", "graph", "NaMI s", "AMD s", "ratio",
           "bar", "fill/edges", "AMD fill/runs", "width", "MB", "verify s  CAMD edges");
    for (const struct target *c = targets; c->family; c++) {
        char name[64];
        snprintf(name, sizeof name, "%s-%d-%s%s", c->family, c->n, mode_names[c->mode],
                 c->restarts ? "-depth" : "");
        if (!asked(name, argc, argv)) continue;
        if (forked(c, &r)) die(name);
        if (r.n < 0) {
            printf("%-24s not there\n", name);
            continue;
        }
        double ratio = r.ours / r.amd;
        int free_order = c->mode == MODE_FREE, miss = c->bar && ratio > c->bar;
        missed += miss;
        printf("%-24s %9.5f %9.5f %7.2f ", name, r.ours, r.amd, ratio);
        c->bar ? printf("%5g%s ", c->bar, miss ? "!" : " ") : printf("%6s ", "");
        printf("%12lld %12lld %7lld %6ld", (long long)(free_order ? r.fill : r.edges),
               (long long)(free_order ? r.amd_fill : r.runs), (long long)r.width, r.mb);
        if (!free_order) printf(" %8.3f%s", r.verify, r.certified ? "" : " NOT CERTIFIED");
        if (r.layered) printf(" %12lld", (long long)r.layered);
        printf("\n");
        if (c->n == 10000) first = r;
        if (c->n == 1000000 && c[-2].n == 10000 && argc < 2)
            printf("%-24s time grows as n^%.2f from 10^4 to 10^6 (AMD n^%.2f)\n", "",
                   log10(r.ours / first.ours) / 2, log10(r.amd / first.amd) / 2);
    }
    printf("%d of the bars missed\n", missed);
    return 0;
}
