/* test_label.c: the labels of masked networks are closed under intersection, few, and cheap to
   find. */
#include <time.h>

#include "base/err.h"
#include "base/rng.h"
#include "base/vec.h"
#include "net/label.h"
#include "run.h"

#include "malloc_fail.h"

enum { NVAR = 12, NSET = 8 };

/* Sets of at most 64 variables from bit patterns. */
static struct sets pack(const uint64_t *bits, int n)
{
    struct sets s = {n, new_array(int, n + 1), new_array(int, n * 64)};
    for (int i = 0, k = 0; i < n; i++) {
        for (uint64_t b = bits[i]; b; b &= b - 1) s.member[k++] = __builtin_ctzll(b);
        s.off[i + 1] = k;
    }
    return s;
}

static void drop(struct sets *s)
{
    free(s->off);
    free(s->member);
}

static uint64_t bits_of(const struct sets *s, int i)
{
    uint64_t b = 0;
    for (int k = s->off[i]; k < s->off[i + 1]; k++) {
        assert_true(k == s->off[i] || s->member[k - 1] < s->member[k]);
        b |= (uint64_t)1 << s->member[k];
    }
    return b;
}

static void make(int nvar, const struct sets *p, int most, struct labels *l)
{
    nami_err err = {0};
    if (labels_make(nvar, p, most, l, &err)) fail_msg("%s", err.msg);
}

/* Is list i of s all labels, ascending, whose set is part of `whole`? */
static void lists_subsets(const struct labels *l, const struct sets *s, int i, uint64_t whole)
{
    int k = s->off[i];
    for (int j = 0; j < l->set.n; j++)
        if (!(bits_of(&l->set, j) & ~whole)) {
            assert_true(k < s->off[i + 1]);
            assert_int_equal(s->member[k++], j);
        }
    assert_int_equal(k, s->off[i + 1]);
}

/* What must hold for any labels of these parent sets. */
static void sound(const struct labels *l, const uint64_t *parent, int n)
{
    assert_int_equal(l->sub.n, l->set.n);
    assert_int_equal(l->of.n, n);
    for (int i = 0; i < l->set.n; i++) {
        uint64_t b = bits_of(&l->set, i), meet = ~(uint64_t)0;
        assert_true(b);
        for (int j = 0; j < i; j++) {
            uint64_t a = bits_of(&l->set, j);
            assert_true(a != b && __builtin_popcountll(a) <= __builtin_popcountll(b));
        }
        for (int k = 0; k < n; k++)
            if (!(b & ~parent[k])) meet &= parent[k];
        assert_true(meet == b); /* an intersection of parent sets */
        lists_subsets(l, &l->sub, i, b);
    }
    for (int k = 0; k < n; k++) {
        int found = !parent[k];
        for (int i = 0; i < l->set.n; i++) found |= bits_of(&l->set, i) == parent[k];
        assert_true(found);
        lists_subsets(l, &l->of, k, parent[k]);
    }
}

static int brute_closure(const uint64_t *parent, int n, unsigned char *in)
{
    int count = 0;
    memset(in, 0, 1 << NVAR);
    for (int m = 1; m < 1 << n; m++) {
        uint64_t s = ~(uint64_t)0;
        for (int k = 0; k < n; k++)
            if (m >> k & 1) s &= parent[k];
        if (s && !in[s]++) count++;
    }
    return count;
}

static int64_t worth(uint64_t b, const uint64_t *parent, int n)
{
    int64_t served = 0;
    for (int k = 0; k < n; k++) served += !(b & ~parent[k]);
    return (served - 1) * __builtin_popcountll(b);
}

/* Nothing that was left out is worth more than an intersection that was kept. */
static void best_kept(const struct labels *l, const unsigned char *in, const uint64_t *p, int n)
{
    int64_t least = INT64_MAX;
    unsigned char kept[1 << NVAR] = {0};
    for (int i = 0; i < l->set.n; i++) {
        uint64_t b = bits_of(&l->set, i);
        int is_parent = 0;
        kept[b] = 1;
        for (int k = 0; k < n; k++) is_parent |= p[k] == b;
        if (!is_parent && worth(b, p, n) < least) least = worth(b, p, n);
    }
    for (uint64_t b = 1; b < 1 << NVAR; b++)
        if (in[b] && !kept[b]) assert_true(worth(b, p, n) <= least);
}

static void random_sets(void **state)
{
    (void)state;
    static unsigned char in[1 << NVAR];
    struct rng r;
    rng_init(&r, 3, 0);
    for (int turn = 0; turn < 400; turn++) {
        uint64_t p[NSET];
        int n = (int)rng_below(&r, NSET + 1), distinct = 0;
        uint32_t dense = 1 + rng_below(&r, 10);
        for (int k = 0; k < n; k++) {
            int fresh = 1;
            p[k] = 0;
            for (int v = 0; v < NVAR; v++)
                if (rng_below(&r, 11) < dense) p[k] |= (uint64_t)1 << v;
            if (k && rng_below(&r, 6) == 0) p[k] = p[k - 1];
            for (int j = 0; j < k; j++) fresh &= p[j] != p[k];
            distinct += fresh && p[k];
        }
        struct sets s = pack(p, n);
        struct labels l;
        int all = brute_closure(p, n, in);
        make(NVAR, &s, 1000, &l);
        assert_int_equal(l.set.n, all);
        for (int i = 0; i < all; i++) assert_true(in[bits_of(&l.set, i)]);
        sound(&l, p, n);
        labels_free(&l);
        int most = (int)rng_below(&r, 30), want = most < distinct ? distinct : most;
        make(NVAR, &s, most, &l);
        assert_int_equal(l.set.n, want < all ? want : all);
        sound(&l, p, n);
        best_kept(&l, in, p, n);
        labels_free(&l);
        drop(&s);
    }
}

/* The reverse inverse of the binary tree with 16 observed leaves: eliminated from the leaves up,
   ties by number (as shared/peers/torch_baseline.py has it). */
static void tree_parents(uint64_t *pa)
{
    enum { D = 31, L = 15 };
    uint64_t nb[D] = {0}, done = 0;
    for (int i = 1; i < D; i++) {
        nb[i] |= (uint64_t)1 << (i - 1) / 2;
        nb[(i - 1) / 2] |= (uint64_t)1 << i;
    }
    for (int turn = 0; turn < L; turn++) {
        int best = -1, least = 1 << 30;
        for (int v = 0; v < L; v++) {
            uint64_t child = (uint64_t)3 << (2 * v + 1) & ((1u << L) - 1), live = nb[v] & ~done;
            int fill = 0;
            if (done >> v & 1 || child & ~done) continue;
            for (int a = 0; a < D; a++)
                if (live >> a & 1)
                    fill += __builtin_popcountll(live & ~nb[a] & ~(((uint64_t)2 << a) - 1));
            if (fill < least) {
                least = fill;
                best = v;
            }
        }
        pa[best] = nb[best] & ~done;
        for (int a = 0; a < D; a++)
            if (pa[best] >> a & 1) nb[a] |= pa[best] & ~((uint64_t)1 << a);
        done |= (uint64_t)1 << best;
    }
}

static void tree(void **state)
{
    (void)state;
    uint64_t p[15];
    struct labels l;
    tree_parents(p);
    struct sets s = pack(p, 15);
    make(31, &s, 100, &l);
    sound(&l, p, 15);
    assert_int_equal(l.set.n, 36);
    labels_free(&l);
    make(31, &s, 1, &l); /* the parent sets stay */
    sound(&l, p, 15);
    assert_int_equal(l.set.n, 15);
    labels_free(&l);
    drop(&s);
}

/* Fully connected: the sets are nested, and the labels those of MADE. */
static void nested(void **state)
{
    (void)state;
    uint64_t p[15];
    struct labels l;
    for (int i = 0; i < 15; i++) p[i] = 0xFFFF8000u | ((1u << i) - 1);
    struct sets s = pack(p, 15);
    make(31, &s, 1000, &l);
    sound(&l, p, 15);
    assert_int_equal(l.set.n, 15);
    for (int i = 0; i < 15; i++) assert_int_equal(l.sub.off[i + 1] - l.sub.off[i], i + 1);
    labels_free(&l);
    drop(&s);
}

/* No parents at all; variables beyond one word. */
static void odd(void **state)
{
    (void)state;
    int off[] = {0, 0, 3, 5, 5}, member[] = {1, 64, 200, 64, 199};
    struct labels l;
    make(5, &(struct sets){0, off, member}, 10, &l);
    assert_int_equal(l.set.n, 0);
    labels_spread(&l, 100, NULL);
    labels_free(&l);
    make(0, &(struct sets){1, off, member}, 10, &l);
    assert_int_equal(l.set.n, 0);
    assert_int_equal(l.of.n, 1);
    assert_int_equal(l.of.off[1], 0);
    labels_free(&l);
    make(201, &(struct sets){4, off, member}, 10, &l);
    assert_int_equal(l.set.n, 3);
    assert_int_equal(l.set.member[0], 64);
    assert_int_equal(l.of.off[1], 0);
    assert_int_equal(l.of.off[2], 2);
    assert_int_equal(l.of.off[4], l.of.off[3]);
    labels_free(&l);
}

/* Everything but one variable, for each variable: all 2^n sets are intersections. */
static void quick(void **state)
{
    (void)state;
    static const int size[][3] = {{63, 63, 500}, {2000, 300, 400}, {1000, 1000, 1100}};
    for (size_t c = 0; c < sizeof size / sizeof *size; c++) {
        int nvar = size[c][0], n = size[c][1], most = size[c][2];
        struct sets s = {n, new_array(int, n + 1), new_array(int, n *nvar)};
        struct labels l;
        clock_t t = clock();
        for (int i = 0, k = 0; i < n; i++) {
            for (int v = 0; v < nvar; v++)
                if (v != i) s.member[k++] = v;
            s.off[i + 1] = k;
        }
        make(nvar, &s, most, &l);
        assert_int_equal(l.set.n, most);
        double seconds = (double)(clock() - t) / CLOCKS_PER_SEC;
        print_message("%d sets of %d: %.2f s\n", n, nvar, seconds);
        assert_true(seconds < 20); /* sanitizers, valgrind */
        labels_free(&l);
        drop(&s);
    }
}

static void spread(void **state)
{
    (void)state;
    int w[40];
    for (int n = 1; n <= 40; n++) {
        struct labels l = {.set.n = n};
        for (int units = 0; units < 700; units++) {
            int sum = 0;
            labels_spread(&l, units, w);
            for (int i = 0; i < n; i++) {
                sum += w[i];
                if (i < n - 1) assert_int_equal(w[i] % 8, 0);
                if (i) assert_true(w[i] >= w[i - 1]);
            }
            assert_int_equal(sum, units);
            assert_true(w[n - 1] - w[0] < 16);
            if (units >= 8 * n) assert_true(w[0] >= 8);
        }
    }
}

static int make_tree(void *ctx)
{
    struct labels l;
    nami_err err;
    int rc = labels_make(200, ctx, 30, &l, &err);
    if (rc)
        assert_null(l.set.off);
    else
        labels_free(&l);
    return rc;
}

static void no_memory(void **state)
{
    (void)state;
    uint64_t p[15];
    const char *why;
    tree_parents(p);
    struct sets s = pack(p, 15);
    if (nomem_each(make_tree, &s, &why) <= 0) fail_msg("%s", why);
    drop(&s);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(random_sets), cmocka_unit_test(tree),  cmocka_unit_test(nested),
    cmocka_unit_test(odd),         cmocka_unit_test(quick), cmocka_unit_test(spread),
    cmocka_unit_test(no_memory),
};

RUN(tests)
