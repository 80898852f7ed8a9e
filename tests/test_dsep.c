/* test_dsep.c: d-separation and Markov equivalence agree with their definitions. */
#include "run.h"

#include <stdlib.h>

#include "base/rng.h"
#include "brute.h"
#include "graph/dsep.h"
#include "graph/equiv.h"
#include "graph/generate.h"

/* ---- equivalence -------------------------------------------------------------------- */

static int same_independencies(const struct brute *a, const struct brute *b)
{
    for (int x = 0; x < a->n; x++)
        for (int y = 0; y < x; y++)
            for (unsigned z = 0; z < 1u << a->n; z++)
                if (!(z >> x & 1) && !(z >> y & 1) &&
                    brute_dsep(a, x, y, z) != brute_dsep(b, x, y, z))
                    return 0;
    return 1;
}

static int adjacent(const struct dag *g, int x, int y)
{
    return dag_has_edge(g, x, y) || dag_has_edge(g, y, x);
}

static int immoral(const struct dag *g, int x, int y, int z)
{
    return dag_has_edge(g, x, y) && dag_has_edge(g, z, y) && !adjacent(g, x, z);
}

static int check_equivalent(const struct dag *a, const struct dag *b)
{
    struct brute ba, bb;
    struct equiv_witness w;
    brute_init(&ba, a);
    brute_init(&bb, b);
    int same = equivalent(a, b, &w);
    assert_int_equal(same, same_independencies(&ba, &bb));
    assert_int_equal(w.kind == EQUIV_YES, same);
    const struct dag *in = w.in_a ? a : b, *out = w.in_a ? b : a;
    if (w.kind == EQUIV_SKELETON) assert_true(adjacent(in, w.x, w.y) && !adjacent(out, w.x, w.y));
    if (w.kind == EQUIV_IMMORALITY) {
        assert_true(immoral(in, w.x, w.y, w.z));
        assert_false(immoral(out, w.x, w.y, w.z));
    }
    assert_int_equal(equivalent(a, b, NULL), same);
    return same;
}

/* Turns a random edge round: one that is covered (both ends have the same other
   parents), or any that leaves the graph without a cycle. */
static void turn_edge(struct dag *g, int covered, struct rng *r)
{
    struct edge e[16];
    struct dag h;
    int m = 0, cycle[16], pick;
    for (int v = 0; v < g->n; v++)
        for_parents (g, v, u) e[m++] = (struct edge){u, v};
    if (!m) return;
    pick = (int)rng_below(r, (uint32_t)m);
    int a = e[pick].from, b = e[pick].to, same = 1;
    for (int u = 0; u < g->n; u++) same &= u == a || dag_has_edge(g, u, a) == dag_has_edge(g, u, b);
    if (covered && !same) return;
    e[pick] = (struct edge){b, a};
    assert_int_equal(dag_init(&h, g->n, e, (size_t)m, NULL), 0);
    if (dag_cycle(&h, cycle)) {
        assert_false(same);
        dag_fini(&h);
        return;
    }
    dag_fini(g);
    *g = h;
}

static void equivalence(void **state)
{
    (void)state;
    struct dag three[25];
    int k = 0, same = 0, cycle[3];
    for (unsigned code = 0; code < 64; code++) { /* each pair: none, forth, back */
        static const struct edge pair[] = {{0, 1}, {0, 2}, {1, 2}};
        struct edge e[3];
        struct dag g;
        size_t m = 0;
        int bad = 0;
        for (int q = 0; q < 3; q++) {
            unsigned d = code >> 2 * q & 3;
            bad |= d == 3;
            if (d) e[m++] = d == 1 ? pair[q] : (struct edge){pair[q].to, pair[q].from};
        }
        if (bad) continue;
        assert_int_equal(dag_init(&g, 3, e, m, NULL), 0);
        if (dag_cycle(&g, cycle))
            dag_fini(&g);
        else
            three[k++] = g;
    }
    assert_int_equal(k, 25);
    for (int a = 0; a < 25; a++)
        for (int b = 0; b < 25; b++) same += check_equivalent(&three[a], &three[b]);
    assert_int_equal(same, 25 + 3 * 2 + 3 * 6 + 30); /* 11 classes: sizes 1 4x, 2 3x, 3 3x, 6 */
    for (int a = 0; a < 25; a++) dag_fini(&three[a]);
    struct rng r;
    rng_init(&r, 9, 0);
    int yes = 0, no = 0;
    for (int rep = 0; rep < 3000; rep++) {
        struct dag a, b;
        int n = 4 + rep % 2;
        uint64_t seed = rng_u32(&r);
        double density = 0.2 + 0.7 * rng_unit(&r);
        assert_int_equal(generate_random(&a, n, density, seed, NULL), 0);
        assert_int_equal(generate_random(&b, n, density, rep % 4 ? seed : seed + 1, NULL), 0);
        for (int t = 0; t < 4; t++) turn_edge(&b, t || rep % 4 == 1, &r);
        *(check_equivalent(&a, &b) ? &yes : &no) += 1;
        dag_fini(&a);
        dag_fini(&b);
    }
    assert_true(yes > 500 && no > 500);
}

/* ---- d-separation ------------------------------------------------------------------- */

/* Active by definition: its colliders have evidence at or below them, the other
   inner nodes are not given. */
static void check_trail(const struct dag *g, const struct brute *b, unsigned z, const int *t, int n)
{
    for (int i = 0; i + 1 < n; i++) assert_true(adjacent(g, t[i], t[i + 1]));
    for (int i = 1; i + 1 < n; i++) {
        if (dag_has_edge(g, t[i - 1], t[i]) && dag_has_edge(g, t[i + 1], t[i]))
            assert_true((b->desc[t[i]] | 1u << t[i]) & z);
        else
            assert_false(z >> t[i] & 1);
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++) assert_int_not_equal(t[i], t[k]);
}

static void trails(void **state)
{
    (void)state;
    struct rng r;
    int longest = 0;
    rng_init(&r, 10, 0);
    for (int rep = 0; rep < 3000; rep++) {
        int n = 2 + (int)rng_below(&r, 12), given[16], nz = 0, trail[32];
        const int *reached;
        struct dag g;
        struct brute b;
        assert_int_equal(generate_random(&g, n, 1.5 / n, rng_u32(&r), NULL), 0);
        brute_init(&b, &g);
        struct dsep *d = dsep_new(&g); /* one work space, many questions */
        for (int q = 0; q < 5; q++) {
            unsigned z = rng_below(&r, 1u << n) & rng_below(&r, 1u << n);
            int x = (int)rng_below(&r, (uint32_t)n), k;
            z &= ~(1u << x);
            nz = 0;
            for (int v = 0; v < n; v++)
                if (z >> v & 1) given[nz++] = v;
            dsep_given(d, given, nz);
            dsep_from(d, x);
            k = dsep_reached(d, &reached);
            for (int y = 0; y < n; y++) {
                int len = dsep_trail(d, y, trail, 32), active = y != x;
                if (active) active = !brute_dsep(&b, x, y, z & ~(1u << y));
                assert_int_equal(dsep_reaches(d, y), active);
                assert_int_equal(has(reached, k, y), active);
                assert_int_equal(len > 0, active);
                if (!active) continue;
                assert_int_equal(trail[0], x);
                assert_int_equal(trail[len - 1], y);
                if (!(z >> y & 1)) check_trail(&g, &b, z, trail, len);
                assert_int_equal(dsep_trail(d, y, trail, len), len);
                assert_int_equal(dsep_trail(d, y, trail, len - 1), 0); /* too long for the room */
                if (len > longest) longest = len;
            }
        }
        dsep_free(d);
        dag_fini(&g);
    }
    assert_true(longest >= 7);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(equivalence),
    cmocka_unit_test(trails),
};

RUN(tests)
