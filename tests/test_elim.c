/* test_elim.c: elimination on graphs large enough for merging, long lists and the dense core
   agrees with a naive one on a bit matrix, with bounds, and with closed formulas. */
#include "run.h"

#include <stdlib.h>

#include "base/rng.h"
#include "graph/certify.h"
#include "graph/elim_impl.h"
#include "graph/generate.h"

enum { MAX = 320, WORDS = MAX / 64 };

typedef uint64_t set[WORDS];

static int in(const set s, int v) { return s[v / 64] >> (v % 64) & 1; }

static void put(set s, int v) { s[v / 64] |= (uint64_t)1 << v % 64; }

static void drop(set s, int v) { s[v / 64] &= ~((uint64_t)1 << v % 64); }

#define for_set(v, s)                                                                              \
    for (int v = 0; v < MAX; v++)                                                                  \
        if (in(s, v))

/* ---- the naive one ------------------------------------------------------------------ */

struct naive {
    int n;
    set adj[MAX], up[MAX]; /* neighbours; what v waits for: its ancestors, or descendants */
    int64_t w[MAX];
    const int *rank;
    int by_fill;
    int64_t fill; /* edges added, each counted from both ends */
    int nstep, step[MAX];
    set parents[MAX]; /* by step */
};

static void naive_init(struct naive *x, const struct problem *p, const int *topo)
{
    const struct dag *g = p->g;
    memset(x, 0, sizeof *x);
    x->n = g->n;
    x->rank = p->rank;
    x->by_fill = p->criterion->by_fill;
    for (int v = 0; v < g->n; v++) {
        x->w[v] = p->criterion->weight && p->size ? p->criterion->weight(p->size[v]) : 1;
        set family = {0};
        put(family, v);
        for_parents (g, v, u) put(family, u);
        for_set(a, family) for (int k = 0; k < WORDS; k++) x->adj[a][k] |= family[k];
    }
    for (int v = 0; v < g->n; v++) drop(x->adj[v], v);
    for (int i = 0; i < g->n && p->mode != MODE_FREE; i++) {
        int v = topo[p->mode == MODE_REVERSE ? g->n - 1 - i : i];
        const int *row = p->mode == MODE_REVERSE ? g->c : g->p;
        const int *ptr = p->mode == MODE_REVERSE ? g->cp : g->pp;
        for (int k = ptr[v]; k < ptr[v + 1]; k++) {
            put(x->up[v], row[k]);
            for (int q = 0; q < WORDS; q++) x->up[v][q] |= x->up[row[k]][q];
        }
    }
}

static int64_t weight(const struct naive *x, const set s)
{
    int64_t w = 0;
    for (int k = 0; k < WORDS; k++)
        for (uint64_t b = s[k]; b; b &= b - 1) w += x->w[k * 64 + __builtin_ctzll(b)];
    return w;
}

/* Its missing pairs of neighbours by weight, or the weight of its clique. */
static int64_t score(const struct naive *x, int v)
{
    int64_t twice = 0;
    if (!x->by_fill) return weight(x, x->adj[v]) + x->w[v];
    for_set(a, x->adj[v])
    {
        set missing;
        for (int k = 0; k < WORDS; k++) missing[k] = x->adj[v][k] & ~x->adj[a][k];
        drop(missing, a);
        twice += x->w[a] * weight(x, missing);
    }
    return twice / 2;
}

static void eliminate_naively(struct naive *x, int v)
{
    x->step[x->nstep] = v;
    memcpy(x->parents[x->nstep++], x->adj[v], sizeof(set));
    for_set(a, x->adj[v])
    {
        for (int k = 0; k < WORDS; k++) {
            uint64_t fresh = x->adj[v][k] & ~x->adj[a][k];
            x->fill += __builtin_popcountll(fresh);
            x->adj[a][k] |= fresh;
        }
        x->fill--; /* itself */
        drop(x->adj[a], a);
        drop(x->adj[a], v);
    }
}

/* All of `left`, each when nothing upstream of it is left. */
static void drain(struct naive *x, set left, int waits)
{
    for (;;) {
        int best = -1;
        int64_t least = 0;
        for_set(v, left)
        {
            uint64_t blocked = 0;
            for (int k = 0; k < WORDS && waits; k++) blocked |= x->up[v][k] & left[k];
            if (blocked) continue;
            int64_t s = score(x, v);
            if (best >= 0 &&
                (s > least || (s == least && (!x->rank || x->rank[v] > x->rank[best]))))
                continue;
            best = v;
            least = s;
        }
        if (best < 0) return;
        eliminate_naively(x, best);
        drop(left, best);
    }
}

static void naive_run(struct naive *x, const struct problem *p, const unsigned char *role)
{
    set left = {0};
    for (int v = 0; v < x->n; v++)
        if (role[v] == ROLE_NUISANCE) put(left, v);
    drain(x, left, 0);
    for (int s = 0; s < 3; s++) {
        memset(left, 0, sizeof left);
        for (int v = 0; v < x->n; v++)
            if (role[v] == ROLE_WANTED && (p->stage ? p->stage[v] : 0) == s) put(left, v);
        drain(x, left, 1);
    }
}

/* ---- the comparison ----------------------------------------------------------------- */

static void check_steps(const struct elim *e, const struct naive *x)
{
    static int order[MAX], place[MAX];
    int nfixed = elim_fixed_order(e, order), i = 0;
    struct elim_step st;
    for (int k = 0; k < nfixed; k++) place[order[k]] = k;
    for (int64_t at = 0; elim_next_step(e, &at, &st); i++) {
        set got = {0};
        assert_true(i < x->nstep);
        assert_int_equal(st.vertex, x->step[i]);
        for (struct elim_chain c; elim_next_chain(&st, &c);) {
            int member[MAX], fixed = elim_is_fixed(e, c.head);
            elim_expand(e, st.vertex, c, member);
            for (int q = 0; q < c.count; q++) {
                assert_false(in(got, member[q])); /* each once */
                put(got, member[q]);
                assert_int_equal(elim_is_fixed(e, member[q]), fixed);
                if (fixed) assert_int_equal(member[q], order[place[c.head] + q]);
            }
        }
        assert_memory_equal(got, x->parents[i], sizeof got);
    }
    assert_int_equal(i, x->nstep);
    assert_int_equal(2 * elim_fill(e), x->fill);
}

/* ... and as an inverse */
static void check_inverse(const struct inverse *h, const struct naive *x, const unsigned char *role)
{
    int64_t edges = 0;
    for (int k = 0, i = 0; k < x->nstep; k++) {
        if (role[x->step[k]] == ROLE_NUISANCE) continue;
        set got = {0};
        assert_int_equal(h->perm[i], x->step[k]);
        for (struct inverse_it it = inverse_it(h, i); inverse_next(&it);) put(got, it.node);
        assert_memory_equal(got, x->parents[k], sizeof got);
        edges += inverse_count(h, i++);
    }
    assert_int_equal(h->edges, edges);
}

struct setting {
    struct dag g;
    unsigned char observed[MAX], nuisance[MAX], role[MAX];
    int stage[MAX], size[MAX], rank[MAX], topo[MAX];
    struct problem p;
};

static void set_up(struct setting *s, int n, double density, struct rng *r)
{
    uint32_t obs = rng_below(r, 4), nui = rng_below(r, 3) ? 0 : 2, big = rng_below(r, 2) ? 6 : 2000;
    memset(s, 0, sizeof *s);
    assert_int_equal(generate_random(&s->g, n, density, rng_u32(r), NULL), 0);
    assert_int_equal(dag_toposort(&s->g, s->topo), n);
    for (int v = 0; v < n; v++) {
        s->observed[v] = rng_below(r, 10) < obs;
        s->nuisance[v] = !s->observed[v] && rng_below(r, 10) < nui;
        s->stage[v] = (int)rng_below(r, 3);
        s->size[v] = 1 + (int)rng_below(r, big);
        s->rank[v] = v;
        s->role[v] = s->observed[v] ? ROLE_OBSERVED : s->nuisance[v] ? ROLE_NUISANCE : ROLE_WANTED;
    }
    rng_shuffle(r, s->rank, n);
    s->p = (struct problem){.g = &s->g,
                            .observed = s->observed,
                            .nuisance = s->nuisance,
                            .stage = rng_below(r, 3) ? NULL : s->stage,
                            .size = s->size,
                            .rank = rng_below(r, 2) ? s->rank : NULL};
}

static void check_all(struct setting *s, int *cores, int *merges)
{
    static const enum mode modes[] = {MODE_FORWARD, MODE_REVERSE, MODE_FREE};
    static struct naive x;
    for (int c = 0; criteria[c].name; c++)
        for (int m = 0; m < 3; m++) {
            struct elim *e;
            struct inverse *h;
            s->p.criterion = &criteria[c];
            s->p.mode = modes[m];
            naive_init(&x, &s->p, s->topo);
            naive_run(&x, &s->p, s->role);
            assert_int_equal(eliminate(&s->p, s->role, 0, &e, NULL), 0);
            check_steps(e, &x);
            assert_int_equal(inverse_from_elim(&s->p, s->role, e, &h, NULL), 0);
            check_inverse(h, &x, s->role);
            assert_int_equal(elim_edges(e), h->edges);
            *cores += e->core != NULL;
            for (int v = 0; v < s->g.n && merges; v++) *merges += e->rep[v] != v;
            inverse_free(h);
            elim_free(e);
        }
}

static void dense_graphs(void **state)
{
    (void)state;
    static struct setting s;
    struct rng r;
    int cores = 0, merges = 0, runs = 0;
    rng_init(&r, 31, 0);
    for (int rep = 0; rep < 10; rep++) {
        int n = 150 + (int)rng_below(&r, 150);
        set_up(&s, n, 0.01 + 0.3 * rng_unit(&r) * rng_unit(&r), &r);
        check_all(&s, &cores, &merges);
        dag_fini(&s.g);
        runs += 12;
    }
    print_message("%d of %d eliminations reached the dense core, %d merges\n", cores, runs, merges);
    assert_true(cores > runs / 4);
    assert_true(merges > 1000);
}

/* Sparse ones: small neighbourhoods, many ties. */
static void sparse_graphs(void **state)
{
    (void)state;
    static struct setting s;
    struct rng r;
    int cores = 0;
    rng_init(&r, 32, 0);
    for (int rep = 0; rep < 60; rep++) {
        int n = 20 + (int)rng_below(&r, 150);
        set_up(&s, n, (0.5 + 3 * rng_unit(&r)) / n, &r);
        check_all(&s, &cores, NULL);
        dag_fini(&s.g);
    }
}

/* The marks of one step are told from those of another by a counter; when it
   starts again in the middle, nothing changes. */
static void stamps_run_out(void **state)
{
    (void)state;
    for (int dense = 0; dense < 2; dense++) {
        struct dag g;
        struct ugraph j;
        struct elim *e[2];
        int n = 200, again = 0;
        assert_int_equal(generate_random(&g, n, dense ? 0.1 : 0.01, 3, NULL), 0);
        assert_int_equal(moral_init(&j, &g, NULL, NULL), 0);
        for (int k = 0; k < 2; k++) {
            e[k] = elim_new(&j, NULL, 0, NULL, &criteria[0], NULL, NULL);
            for (int v = 0; v < n; v++) elim_enable(e[k], v);
        }
        for (int i = 0; i < n; i++) {
            if (i % 20 == 10) e[1]->stamp = UINT32_MAX / 2;
            int v = elim_pick(e[0]);
            assert_int_equal(elim_pick(e[1]), v);
            for (int k = 0; k < 2; k++) assert_int_equal(elim_vertex(e[k], v), 0);
            assert_int_equal(elim_fill(e[0]), elim_fill(e[1]));
            again += i % 20 == 10 && e[1]->stamp < UINT32_MAX / 4;
        }
        assert_int_equal(e[1]->core != NULL, dense);
        assert_true(again > 0);
        assert_int_equal(e[0]->log.n, e[1]->log.n);
        assert_memory_equal(e[0]->log.a, e[1]->log.a, e[0]->log.n * sizeof(int));
        for (int k = 0; k < 2; k++) elim_free(e[k]);
        ugraph_fini(&j);
        dag_fini(&g);
    }
}

/* ---- bounds ------------------------------------------------------------------------- */

static struct inverse *must(const struct problem *p, const struct method *m, int restarts)
{
    struct inverse *h;
    nami_err err = {0};
    if (invert(p, m, restarts, 7, &h, &err)) fail_msg("%s: %s", m->name, err.msg);
    assert_int_equal(err.code, 0);
    return h;
}

static void assert_same(const struct inverse *a, const struct inverse *b)
{
    assert_string_equal(a->mode, b->mode);
    assert_int_equal(a->edges, b->edges);
    assert_int_equal(a->nlatent, b->nlatent);
    assert_memory_equal(a->perm, b->perm, (size_t)a->nlatent * sizeof(int));
    for (int i = 0; i < a->nlatent; i++) {
        set x = {0}, y = {0};
        for (struct inverse_it it = inverse_it(a, i); inverse_next(&it);) put(x, it.node);
        for (struct inverse_it it = inverse_it(b, i); inverse_next(&it);) put(y, it.node);
        assert_memory_equal(x, y, sizeof x);
    }
}

/* The bound that one run sets for the next changes nothing but the time. */
static void bounds(void **state)
{
    (void)state;
    static struct setting s;
    static const struct method *const bounded[] = {&method_nami, &method_paper};
    struct rng r;
    int won[2] = {0};
    rng_init(&r, 33, 0);
    for (int rep = 0; rep < 6000; rep++) {
        int n = 3 + (int)rng_below(&r, rep % 20 ? 25 : 80), restarts = rep % 3;
        const struct method *m = bounded[rep / 3 % 2];
        set_up(&s, n, 3 * rng_unit(&r) / n, &r);
        s.p.criterion = &criteria[rng_below(&r, 4)];
        struct inverse *by[2], *best;
        for (int k = 0; k < 2; k++) {
            s.p.mode = k ? MODE_REVERSE : MODE_FORWARD;
            s.p.max_edges = 0;
            by[k] = must(&s.p, m, restarts);
            struct inverse *once = must(&s.p, m, 0);
            assert_true(by[k]->edges < once->edges ||
                        (by[k]->edges == once->edges && by[k]->width <= once->width));
            s.p.max_edges = once->edges; /* exactly enough */
            if (once->edges) {
                struct inverse *again = must(&s.p, m, 0);
                assert_same(once, again);
                inverse_free(again);
            }
            inverse_free(once);
        }
        s.p.max_edges = 0;
        s.p.mode = MODE_BEST;
        best = must(&s.p, m, restarts);
        int reverse = by[1]->edges < by[0]->edges ||
                      (by[1]->edges == by[0]->edges && by[1]->width < by[0]->width);
        assert_same(best, by[reverse]);
        assert_int_equal(best->width, by[reverse]->width);
        won[reverse]++;
        inverse_free(best);
        inverse_free(by[0]);
        inverse_free(by[1]);
        dag_fini(&s.g);
    }
    assert_true(won[0] > 500 && won[1] > 500);
}

/* One edge less than it takes is too few. */
static void limits(void **state)
{
    (void)state;
    static struct setting s;
    struct rng r;
    rng_init(&r, 34, 0);
    for (int rep = 0; rep < 200; rep++) {
        int n = 3 + (int)rng_below(&r, 40);
        set_up(&s, n, 4 * rng_unit(&r) / n, &r);
        s.p.criterion = &criteria[rng_below(&r, 4)];
        s.p.mode = (enum mode[]){MODE_FORWARD, MODE_REVERSE, MODE_FREE}[rep % 3];
        struct inverse *h = must(&s.p, &method_paper, 0), *none;
        nami_err err;
        s.p.max_edges = h->edges - 1;
        if (s.p.max_edges > 0) {
            assert_int_equal(invert(&s.p, &method_paper, 0, 0, &none, &err), NAMI_ELIMIT);
            assert_null(none);
            assert_int_equal(err.code, NAMI_ELIMIT);
        }
        inverse_free(h);
        dag_fini(&s.g);
    }
}

/* ---- size --------------------------------------------------------------------------- */

static struct inverse *large(const char *family, int n, enum mode mode)
{
    struct dag g;
    assert_int_equal(graph_family_find(family)->make(&g, n, 1, NULL), 0);
    unsigned char *observed = calloc((size_t)g.n, 1);
    for (int v = 0; v < g.n; v++) observed[v] = g.cp[v] == g.cp[v + 1];
    struct problem p = {.g = &g, .observed = observed, .criterion = &criteria[0], .mode = mode};
    struct inverse *h = must(&p, &method_nami, 0);
    assert_int_equal(certify(h, &g, VERIFY_AUTO, 1, NULL), 0);
    for (int k = 0; k < NPROPERTY; k++) assert_int_equal(h->cert.is[k], 1);
    assert_true(h->run.n <= 3 * (size_t)g.n);
    free(observed);
    dag_fini(&g);
    return h;
}

/* z_t | z_{t+1}, x_1 .. x_t, and the same from the other end: T(T+1)/2 + T - 1. */
static void long_chain(void **state)
{
    (void)state;
    const int64_t T = 50000;
    for (int mode = MODE_FORWARD; mode <= MODE_REVERSE; mode++) {
        struct inverse *h = large("hmm", 2 * (int)T, (enum mode)mode);
        assert_int_equal(h->nlatent, T);
        assert_int_equal(h->edges, T * (T + 1) / 2 + T - 1);
        assert_int_equal(h->width, T);
        inverse_free(h);
    }
}

/* d levels.  Reverse: a latent has its parent and all leaves below it, in all
   d 2^(d-1) - 2 edges.  Forward: the k-th latent to go has its two children and
   the k - 1 others at the rim, in all L(L+1)/2 + L. */
static void large_trees(void **state)
{
    (void)state;
    const int64_t d = 17, L = (1 << 10) - 1;
    struct inverse *h = large("tree", (1 << d) - 1, MODE_REVERSE);
    assert_int_equal(h->edges, d * (1 << (d - 1)) - 2);
    assert_int_equal(h->width, 1 << (d - 1));
    inverse_free(h);
    h = large("tree", 2 * (int)L + 1, MODE_FORWARD);
    assert_int_equal(h->edges, L * (L + 1) / 2 + L);
    inverse_free(h);
}

/* Weights whose pairs go beyond 64 bits: the order is sane, nothing overflows. */
static void heavy_nodes(void **state)
{
    (void)state;
    enum { N = 6000 };
    static struct edge e[N];
    static int size[N + 2];
    static unsigned char observed[N + 2];
    struct dag g;
    for (int i = 0; i < N; i++) { /* two stars, the second smaller */
        e[i] = (struct edge){i < N / 2 + 100 ? 0 : 1, i + 2};
        observed[i + 2] = 1;
        size[i + 2] = 1 << 20;
    }
    size[0] = size[1] = 1;
    assert_int_equal(dag_init(&g, N + 2, e, N, NULL), 0);
    struct problem p = {.g = &g, .observed = observed, .size = size, .mode = MODE_FREE};
    for (int c = 0; criteria[c].name; c++) {
        if (!criteria[c].weight) continue;
        p.criterion = &criteria[c];
        struct inverse *h = must(&p, &method_nami, 0);
        assert_int_equal(h->perm[0], 1); /* the cheaper one by any criterion */
        assert_int_equal(h->edges, N);
        inverse_free(h);
    }
    dag_fini(&g);
}

/* A plate of thousands: its observations become given together, and the inverse
   stays what it is: z_i | globals, x_i; then the globals, each given the later
   ones and all observations. */
static void large_plate(void **state)
{
    (void)state;
    for (int n = 2011; n <= 20011; n += 18000) {
        struct dag g;
        assert_int_equal(graph_family_find("plate")->make(&g, n, 0, NULL), 0);
        unsigned char *observed = calloc((size_t)g.n, 1);
        for (int v = 0; v < g.n; v++) observed[v] = g.cp[v] == g.cp[v + 1];
        struct problem p = {
            .g = &g, .observed = observed, .criterion = &criteria[0], .mode = MODE_REVERSE};
        struct inverse *h;
        int64_t N = (n - 11) / 2;
        unsigned char *role = malloc((size_t)g.n);
        struct elim *e;
        int inexact;
        assert_int_equal(roles(&p, role, &inexact, NULL), 0);
        assert_int_equal(eliminate(&p, role, 0, &e, NULL), 0);
        assert_int_equal(e->together, n > 10000); /* the small one counts every pair */
        elim_free(e);
        free(role);
        assert_int_equal(invert(&p, &method_nami, 0, 0, &h, NULL), 0);
        assert_int_equal(h->edges, 12 * N + 55 + 11 * N);
        assert_int_equal(h->width, N + 10);
        assert_true(h->run.n <= 4 * (size_t)g.n);
        assert_int_equal(certify(h, &g, n < 3000 ? VERIFY_FULL : VERIFY_SAMPLE, 1, NULL), 0);
        for (int k = 0; k < NPROPERTY; k++) assert_int_equal(h->cert.is[k], 1);
        inverse_free(h);
        free(observed);
        dag_fini(&g);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(large_plate),   cmocka_unit_test(dense_graphs),
    cmocka_unit_test(sparse_graphs), cmocka_unit_test(stamps_run_out),
    cmocka_unit_test(bounds),        cmocka_unit_test(limits),
    cmocka_unit_test(long_chain),    cmocka_unit_test(large_trees),
    cmocka_unit_test(heavy_nodes),
};

RUN(tests)
