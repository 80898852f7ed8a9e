/* test_graph.c: the parts of graph/ agree with their definitions. */
#include "run.h"

#include <stdlib.h>

#include "base/rng.h"
#include "brute.h"
#include "graph/certify.h"
#include "graph/cliques.h"
#include "graph/frontier.h"
#include "graph/generate.h"
#include "graph/mintree.h"
#include "graph/trace.h"

enum { MAX = 64 };

typedef unsigned char matrix[MAX][MAX];

static void random_dag(struct dag *g, int n, struct rng *r)
{
    double density = rng_unit(r) * rng_unit(r);
    assert_int_equal(generate_random(g, n, density, rng_u32(r), NULL), 0);
}

/* ---- directed graphs ---------------------------------------------------------------- */

static void check_rows(int n, const int *ptr, const int *row, const matrix m, int transposed)
{
    int k = 0;
    assert_int_equal(ptr[0], 0);
    for (int v = 0; v < n; v++) {
        for (int u = 0; u < n; u++)
            if (transposed ? m[u][v] : m[v][u]) assert_int_equal(row[k++], u);
        assert_int_equal(ptr[v + 1], k);
    }
}

static void rows(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 1, 0);
    for (int rep = 0; rep < 500; rep++) {
        int n = (int)rng_below(&r, 20), m = n > 1 ? (int)rng_below(&r, 150) : 0, distinct = 0;
        struct edge e[150];
        struct dag g;
        matrix has = {{0}};
        for (int i = 0; i < m; i++) {
            e[i].from = (int)rng_below(&r, (uint32_t)n);
            e[i].to = (e[i].from + 1 + (int)rng_below(&r, (uint32_t)n - 1)) % n;
            distinct += !has[e[i].from][e[i].to];
            has[e[i].from][e[i].to] = 1;
        }
        assert_int_equal(dag_init(&g, n, e, (size_t)m, NULL), 0);
        assert_int_equal(g.m, distinct);
        check_rows(n, g.pp, g.p, has, 1);
        check_rows(n, g.cp, g.c, has, 0);
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++) assert_int_equal(dag_has_edge(&g, a, b), has[a][b]);
        dag_fini(&g);
    }
}

/* Any digraph: the smallest number first among those whose parents are all out. */
static void orders_and_cycles(void **state)
{
    (void)state;
    struct rng r;
    int cyclic = 0;
    rng_init(&r, 2, 0);
    for (int rep = 0; rep < 2000; rep++) {
        int n = 1 + (int)rng_below(&r, 30), order[30], cycle[30], out[30] = {0}, k = 0;
        struct edge e[60];
        size_t m = n > 1 ? rng_below(&r, 2 * (uint32_t)n) : 0;
        struct dag g;
        int forward = rep % 2; /* no cycle then */
        for (size_t i = 0; i < m; i++) {
            int a = (int)rng_below(&r, (uint32_t)n);
            int b = (a + 1 + (int)rng_below(&r, (uint32_t)n - 1)) % n;
            e[i] = forward && a > b ? (struct edge){b, a} : (struct edge){a, b};
        }
        assert_int_equal(dag_init(&g, n, e, m, NULL), 0);
        int got = dag_toposort(&g, order);
        for (int v = 0; v < n;) {
            int ready = !out[v];
            for_parents (&g, v, u) ready &= out[u];
            if (!ready) {
                v++;
                continue;
            }
            assert_true(k < got);
            assert_int_equal(order[k++], v);
            out[v] = 1;
            v = 0;
        }
        assert_int_equal(k, got);
        int len = dag_cycle(&g, cycle);
        assert_int_equal(len == 0, got == n);
        for (int i = 0; i < len; i++) {
            assert_true(dag_has_edge(&g, cycle[i], cycle[(i + 1) % len]));
            for (int j = 0; j < i; j++) assert_int_not_equal(cycle[i], cycle[j]);
        }
        cyclic += len > 0;
        dag_fini(&g);
    }
    assert_true(cyclic > 300);
    struct dag g;
    int one;
    assert_int_equal(dag_init(&g, 1, &(struct edge){0, 0}, 1, NULL), 0); /* a self-loop */
    assert_int_equal(dag_cycle(&g, &one), 1);
    dag_fini(&g);
}

/* ---- undirected graphs -------------------------------------------------------------- */

static void check_ugraph(const struct ugraph *j, const matrix want)
{
    int64_t k = 0;
    for (int v = 0; v < j->n; v++) {
        for (int u = 0; u < j->n; u++)
            if (want[v][u]) assert_int_equal(j->a[k++], u);
        assert_int_equal(j->ap[v + 1], k);
    }
    assert_int_equal(j->m * 2, k);
}

static void join(matrix m, int a, int b)
{
    if (a != b) m[a][b] = m[b][a] = 1;
}

static void moral(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 3, 0);
    for (int rep = 0; rep < 1000; rep++) {
        int n = 1 + (int)rng_below(&r, 40);
        unsigned char skip[MAX] = {0};
        struct dag g;
        struct ugraph j;
        matrix want = {{0}};
        random_dag(&g, n, &r);
        for (int v = 0; v < n && rep % 2; v++) skip[v] = rng_below(&r, 4) == 0;
        for (int v = 0; v < n; v++)
            for_parents (&g, v, a)
                for (int b = 0; b < n; b++)
                    if ((b == v || dag_has_edge(&g, b, v)) && !skip[v] && !skip[a] && !skip[b])
                        join(want, a, b);
        assert_int_equal(moral_init(&j, &g, rep % 2 ? skip : NULL, NULL), 0);
        check_ugraph(&j, want);
        ugraph_fini(&j);
        dag_fini(&g);
    }
}

/* ---- the queue ---------------------------------------------------------------------- */

static void mintree(void **state)
{
    (void)state;
    static const int sizes[] = {0, 1, 2, 7, 8, 9, 63, 64, 65, 100, 511, 512, 513, 1000};
    static int64_t key[1000];
    struct rng r;
    rng_init(&r, 4, 0);
    for (int s = 0; s < 14; s++)
        for (uint32_t range = 2; range < 3000; range *= 30) { /* from all ties to few */
            struct mintree t;
            int n = sizes[s];
            assert_int_equal(mintree_init(&t, n), 0);
            assert_int_equal(mintree_min(&t), -1);
            for (int i = 0; i < n; i++) key[i] = MINTREE_NONE;
            for (int step = 0; step < 2000 && n; step++) {
                int i = (int)rng_below(&r, (uint32_t)n), best = -1;
                if (rng_below(&r, 4) == 0 && mintree_min(&t) >= 0) i = mintree_min(&t);
                key[i] =
                    rng_below(&r, 3) ? (int64_t)rng_below(&r, range) - range / 2 : MINTREE_NONE;
                mintree_set(&t, i, key[i]);
                for (int k = n; k-- > 0;)
                    if (key[k] != MINTREE_NONE && (best < 0 || key[k] <= key[best])) best = k;
                assert_int_equal(mintree_min(&t), best);
            }
            mintree_fini(&t);
        }
}

/* ---- the frontier ------------------------------------------------------------------- */

/* v is free if nothing upstream of it is still to be eliminated in this stage;
   to the letter of Algorithm 1, if no neighbour upstream is. */
static unsigned free_nodes(const struct brute *b, unsigned left, int reverse, int direct)
{
    unsigned out = 0;
    for (int v = 0; v < b->n; v++) {
        unsigned up = direct ? (reverse ? b->ch[v] : b->pa[v]) : reverse ? b->desc[v] : b->anc[v];
        if (left >> v & 1 && !(up & left)) out |= 1u << v;
    }
    return out;
}

static unsigned ready_mask(const struct frontier *f)
{
    unsigned m = 0;
    for (size_t i = 0; i < f->ready.n; i++) {
        assert_false(m >> f->ready.a[i] & 1); /* each once */
        m |= 1u << f->ready.a[i];
    }
    return m;
}

static void frontier(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 5, 0);
    for (int rep = 0; rep < 4000; rep++) {
        int n = 1 + (int)rng_below(&r, 14), stages = 1 + (int)rng_below(&r, 3);
        int reverse = rep & 1, direct = rep >> 1 & 1;
        unsigned stage[3] = {0}, nobody = 0;
        struct dag g;
        struct brute b;
        struct frontier f;
        random_dag(&g, n, &r);
        brute_init(&b, &g);
        for (int v = 0; v < n; v++) /* observed nodes are in no stage */
            *(rng_below(&r, 3) ? &stage[rng_below(&r, (uint32_t)stages)] : &nobody) |= 1u << v;
        assert_int_equal(frontier_init(&f, &g, reverse, direct, stages > 1, NULL), 0);
        for (int s = 0; s < stages; s++) {
            int node[16], k = 0;
            unsigned left = stage[s], ready;
            for (int v = 0; v < n; v++)
                if (left >> v & 1) node[k++] = v;
            if (!k) continue;
            assert_int_equal(frontier_open(&f, node, k), 0);
            ready = ready_mask(&f);
            while (assert_int_equal(ready, free_nodes(&b, left, reverse, direct)), left) {
                int v = (int)rng_below(&r, (uint32_t)n);
                if (!(ready >> v & 1)) continue;
                assert_int_equal(frontier_pass(&f, v), 0);
                left &= ~(1u << v);
                ready &= ~(1u << v);
                assert_int_equal(ready & ready_mask(&f), 0);
                ready |= ready_mask(&f);
            }
        }
        frontier_fini(&f);
        dag_fini(&g);
    }
}

/* ---- inverses ----------------------------------------------------------------------- */

/* Sets of positions, given as variables and as runs in any order. */
static void runs(void **state)
{
    (void)state;
    enum { N = 3000 };
    static int var[N], perm[N];
    static unsigned char want[N];
    struct rng r;
    rng_init(&r, 6, 0);
    for (int rep = 0; rep < 60; rep++) {
        int latents = 20, total = rep % 3 == 0 ? 60 : N;
        int64_t edges = 0, width = 0;
        for (int i = 0; i < total; i++) perm[i] = i;
        rng_shuffle(&r, perm, total);
        struct inverse *h = inverse_new(total, perm, latents, perm + latents, total - latents);
        assert_non_null(h);
        for (int i = 0; i < latents; i++) {
            int nvar = 0, later = total - i - 1, kind = (int)rng_below(&r, 5);
            int64_t count = 0;
            memset(want, 0, sizeof want);
            if (kind < 2) { /* a run or two */
                int a = i + 1 + (int)rng_below(&r, (uint32_t)later / 2);
                int len = (int)rng_below(&r, (uint32_t)later / 2);
                assert_int_equal(inverse_add(h, a + len / 2, len - len / 2), 0);
                assert_int_equal(inverse_add(h, a, len / 2), 0);
                assert_int_equal(inverse_add(h, a, 0), 0);
                for (int k = a; k < a + len; k++) want[k] = 1;
            }
            if (kind > 0) { /* and variables: few, many, or nearly all */
                uint32_t density = kind == 1 ? 8 : kind == 2 ? 1 : kind == 3 ? 20 : 90;
                for (int k = total - 1; k > i; k--)
                    if (!want[k] && rng_below(&r, 100) < density) {
                        want[k] = 1;
                        var[nvar++] = perm[k];
                    }
                rng_shuffle(&r, var, nvar);
                assert_int_equal(inverse_add_vars(h, var, nvar), 0);
            }
            inverse_close(h, i);
            for (int k = 0; k < total; k++) count += want[k];
            edges += count;
            if (count > width) width = count;
            assert_int_equal(inverse_count(h, i), count);
        }
        assert_int_equal(h->edges, edges);
        assert_int_equal(h->width, width);
        for (int i = 0; i < latents; i++) { /* sorted, apart from each other, inside */
            const struct run *a = h->run.a + h->ptr[i], *end = h->run.a + h->ptr[i + 1];
            int64_t seen = 0;
            for (; a < end; a++) {
                assert_true(a->count > 0 && a->start > i && a->start + a->count <= total);
                if (a + 1 < end) assert_true(a->start + a->count < a[1].start);
            }
            for (struct inverse_it it = inverse_it(h, i); inverse_next(&it);) seen++;
            assert_int_equal(seen, inverse_count(h, i));
        }
        /* the last factor once more, by its members */
        memset(var, 0, sizeof var);
        for (struct inverse_it it = inverse_it(h, latents - 1); inverse_next(&it);)
            assert_true(want[h->pos[it.node]] && !var[it.node]++);
        for (size_t w = 0; w <= (size_t)total / 64; w++) assert_true(h->bits[w] == 0);
        inverse_free(h);
    }
}

struct setting {
    struct dag g;
    unsigned char observed[MAX], nuisance[MAX];
    struct problem p;
};

static void random_setting(struct setting *s, int n, struct rng *r)
{
    uint32_t obs = 1 + rng_below(r, 4), nui = rng_below(r, 2) ? 4 : 0;
    memset(s, 0, sizeof *s);
    random_dag(&s->g, n, r);
    for (int v = 0; v < n; v++) {
        s->observed[v] = rng_below(r, 5) < obs;
        s->nuisance[v] = !s->observed[v] && nui && rng_below(r, nui) == 0;
    }
    s->p = (struct problem){
        .g = &s->g,
        .observed = s->observed,
        .nuisance = s->nuisance,
        .criterion = &criteria[rng_below(r, 4)],
        .mode = (enum mode[]){MODE_FORWARD, MODE_REVERSE, MODE_FREE}[rng_below(r, 3)]};
}

/* A node and its parents are joined to one another; nothing else is. */
static void induced_matrix(const struct inverse *h, matrix j)
{
    memset(j, 0, sizeof(matrix));
    for (int i = 0; i < h->nlatent; i++)
        for (struct inverse_it a = inverse_it(h, i); inverse_next(&a);) {
            join(j, h->perm[i], a.node);
            for (struct inverse_it b = inverse_it(h, i); inverse_next(&b);) join(j, a.node, b.node);
        }
}

static void induced(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 7, 0);
    for (int rep = 0; rep < 500; rep++) {
        struct setting s;
        struct inverse *h;
        struct ugraph j;
        matrix want;
        random_setting(&s, 1 + (int)rng_below(&r, 40), &r);
        assert_int_equal(invert(&s.p, &method_nami, 0, 0, &h, NULL), 0);
        induced_matrix(h, want);
        assert_int_equal(induced_init(&j, h, 10000, NULL), 0);
        check_ugraph(&j, want);
        int64_t m = j.m;
        ugraph_fini(&j);
        assert_int_equal(induced_init(&j, h, m, NULL), 0);
        ugraph_fini(&j);
        if (m) assert_int_equal(induced_init(&j, h, m - 1, NULL), NAMI_ELIMIT);
        inverse_free(h);
        dag_fini(&s.g);
    }
}

/* ---- clique trees ------------------------------------------------------------------- */

static int inside(const struct clique *a, const struct clique *b)
{
    for (int i = 0; i < a->n; i++)
        if (!has(b->node, b->n, a->node[i])) return 0;
    return 1;
}

/* Gives every node the smallest node that a path of j leads to. */
static void parts(const matrix j, int n, int *part)
{
    for (int v = 0; v < n; v++) part[v] = v;
    for (int again = 1; again;) {
        again = 0;
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++)
                if (j[a][b] && part[b] < part[a]) part[a] = part[b], again = 1;
    }
}

static int used(const struct inverse *h, int v)
{
    for (int i = 0; i < h->nlatent; i++)
        for (struct inverse_it it = inverse_it(h, i); inverse_next(&it);)
            if (it.node == v) return 1;
    return 0;
}

static void check_cliques(const struct setting *s, const struct inverse *h, const struct cliques *c)
{
    int n = s->g.n, part[MAX], roots = 0, nparts = 0;
    matrix j;
    induced_matrix(h, j);
    for (int a = 0; a < n; a++) /* the observed ones that are used are one clique */
        for (int b = 0; b < n; b++)
            if (s->observed[a] && s->observed[b] && used(h, a) && used(h, b)) join(j, a, b);
    parts(j, n, part);
    for (int i = 0; i < c->n; i++) {
        const struct clique *k = &c->clique[i];
        assert_true(k->n > 0);
        for (int a = 0; a < k->n; a++)
            for (int b = 0; b < a; b++) {
                assert_true(k->node[b] < k->node[a]);
                assert_true(j[k->node[a]][k->node[b]]);
            }
        for (int q = 0; q < c->n; q++)
            if (q != i) assert_false(inside(k, &c->clique[q])); /* maximal */
        if (k->parent < 0) {
            roots++;
            assert_int_equal(k->nsep, 0);
            continue;
        }
        const struct clique *up = &c->clique[k->parent];
        int shared = 0;
        for (int a = 0; a < k->n; a++)
            if (has(up->node, up->n, k->node[a])) assert_int_equal(k->sep[shared++], k->node[a]);
        assert_int_equal(k->nsep, shared);
        assert_true(shared > 0);
    }
    for (int i = 0; i < h->nlatent; i++) { /* every family is in one of them */
        int found = 0;
        for (int q = 0; q < c->n && !found; q++) {
            found = has(c->clique[q].node, c->clique[q].n, h->perm[i]);
            for (struct inverse_it it = inverse_it(h, i); inverse_next(&it);)
                found &= has(c->clique[q].node, c->clique[q].n, it.node);
        }
        assert_true(found);
    }
    for (int v = 0; v < n; v++) { /* those with v are one piece of the tree */
        int with = 0, links = 0;
        for (int q = 0; q < c->n; q++) {
            with += has(c->clique[q].node, c->clique[q].n, v);
            links += has(c->clique[q].sep, c->clique[q].nsep, v);
        }
        if (with) assert_int_equal(with - links, 1);
        nparts += with && part[v] == v;
    }
    assert_int_equal(roots, nparts);
    for (int i = 0, q; i < c->n; i++) { /* no way leads in circles */
        int steps = 0;
        for (q = i; q >= 0; q = c->clique[q].parent) assert_true(steps++ <= c->n);
    }
}

static void clique_trees(void **state)
{
    (void)state;
    struct rng r;
    int tried = 0;
    rng_init(&r, 8, 0);
    for (int rep = 0; rep < 3000; rep++) {
        struct setting s;
        struct inverse *h;
        struct cliques c;
        unsigned char role[MAX];
        int inexact;
        random_setting(&s, 1 + (int)rng_below(&r, rep % 2 ? 9 : 40), &r);
        assert_int_equal(roles(&s.p, role, &inexact, NULL), 0);
        if (!inexact) {
            assert_int_equal(invert(&s.p, &method_nami, 0, 0, &h, NULL), 0);
            assert_int_equal(cliques_new(h, 100000, &c, NULL), 0);
            check_cliques(&s, h, &c);
            cliques_free(&c);
            if (h->nlatent) {
                assert_int_equal(cliques_new(h, h->edges + h->nlatent - 1, &c, NULL), NAMI_ELIMIT);
                assert_int_equal(c.n, 0);
            }
            inverse_free(h);
            tried++;
        }
        dag_fini(&s.g);
    }
    assert_true(tried > 1000);
}

/* ---- the trace ---------------------------------------------------------------------- */

/* A free order knows no waiting: replaying one that goes from the sink of a
   complete graph to its source must not follow its 2^58 paths. */
static void trace_of_free_order(void **state)
{
    (void)state;
    enum { N = 60 };
    struct edge e[N * (N - 1) / 2];
    unsigned char observed[N] = {0};
    int rank[N];
    struct dag g;
    struct inverse *h;
    struct trace t;
    size_t m = 0;
    for (int v = 0; v < N; v++) {
        for (int u = 0; u < v; u++) e[m++] = (struct edge){u, v};
        rank[v] = N - 1 - v;
    }
    observed[N - 1] = 1;
    assert_int_equal(dag_init(&g, N, e, m, NULL), 0);
    struct problem p = {
        .g = &g, .observed = observed, .criterion = &criteria[0], .mode = MODE_FREE, .rank = rank};
    assert_int_equal(invert(&p, &method_nami, 0, 0, &h, NULL), 0);
    assert_int_equal(trace_new(&p, h, 0, &t, NULL), 0);
    assert_int_equal(t.nstep, N - 1);
    for (int i = 0; i < t.nstep; i++) {
        assert_int_equal(t.step[i].node, N - 2 - i);
        assert_int_equal(t.step[i].nfrontier, N - 1 - i); /* all that are left */
        assert_int_equal(t.step[i].nparent, inverse_count(h, i));
    }
    trace_free(&t);
    inverse_free(h);
    dag_fini(&g);
}

/* ---- the certificate ---------------------------------------------------------------- */

/* Certifying again changes nothing, and leaks nothing. */
static void certify_twice(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 11, 0);
    for (int rep = 0; rep < 300; rep++) {
        struct setting s;
        struct inverse *h;
        random_setting(&s, 2 + (int)rng_below(&r, 20), &r);
        assert_int_equal(invert(&s.p, methods[rep % 7], 0, 0, &h, NULL), 0);
        assert_int_equal(certify(h, &s.g, VERIFY_NONE, 0, NULL), 0);
        for (int k = 0; k < NPROPERTY; k++) assert_int_equal(h->cert.is[k], -1);
        assert_int_equal(certify(h, &s.g, VERIFY_FULL, 0, NULL), 0);
        struct certificate once = h->cert;
        assert_int_equal(once.checked, once.total);
        assert_int_equal(certify(h, &s.g, VERIFY_FULL, 0, NULL), 0);
        assert_int_equal(h->cert.checked, once.checked);
        for (int k = 0; k < NPROPERTY; k++) {
            assert_int_equal(h->cert.is[k], once.is[k]);
            assert_int_equal(h->cert.why[k].node, once.why[k].node);
            assert_int_equal(h->cert.why[k].other, once.why[k].other);
        }
        inverse_free(h);
        dag_fini(&s.g);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(rows),
    cmocka_unit_test(orders_and_cycles),
    cmocka_unit_test(moral),
    cmocka_unit_test(mintree),
    cmocka_unit_test(frontier),
    cmocka_unit_test(runs),
    cmocka_unit_test(induced),
    cmocka_unit_test(clique_trees),
    cmocka_unit_test(trace_of_free_order),
    cmocka_unit_test(certify_twice),
};

RUN(tests)
