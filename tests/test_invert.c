/* test_invert.c: inverses agree with the definitions on thousands of small graphs. */
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "brute.h"
#include "graph/certify.h"
#include "graph/dsep.h"
#include "graph/generate.h"
#include "graph/trace.h"

struct setting {
    struct dag g;
    struct brute b;
    unsigned char observed[16], nuisance[16], exact[16];
    int stage[16];
    struct problem p;
};

static void set_up(struct setting *s, unsigned observed, unsigned nuisance)
{
    for (int v = 0; v < s->g.n; v++) {
        s->observed[v] = observed >> v & 1;
        s->nuisance[v] = nuisance >> v & 1 && !(observed >> v & 1);
    }
    s->p = (struct problem){.g = &s->g,
                            .observed = s->observed,
                            .nuisance = nuisance ? s->nuisance : NULL,
                            .criterion = &criteria[0]};
}

static struct inverse *run(const struct setting *s, const char *method, enum mode mode)
{
    struct problem p = s->p;
    struct inverse *h = NULL;
    nami_err err = {0};
    p.mode = mode;
    if (invert(&p, method_by_name(method), 0, 0, &h, &err)) fail_msg("%s: %s", method, err.msg);
    assert_int_equal(certify(h, &s->g, VERIFY_FULL, 0, &err), 0);
    return h;
}

/* What the three properties are, by definition. */
static void brute_certificate(const struct setting *s, const struct inverse *h, int is[NPROPERTY])
{
    unsigned later = 0;
    int to_desc = 0, to_anc = 0;
    is[FAITHFUL] = is[MINIMAL] = 1;
    for (int i = 0; i < h->nlatent + h->nobserved; i++) later |= 1u << h->perm[i];
    for (int i = 0; i < h->nlatent; i++) {
        int v = h->perm[i];
        unsigned pa = parent_mask(h, i);
        later &= ~(1u << v);
        assert_int_equal(pa & ~later, 0);
        for (int u = 0; u < s->g.n; u++) {
            if (later >> u & 1 && !(pa >> u & 1)) is[FAITHFUL] &= brute_dsep(&s->b, v, u, pa);
            if (!(pa >> u & 1)) continue;
            is[MINIMAL] &= !brute_dsep(&s->b, v, u, pa & ~(1u << u));
            if (s->observed[u]) continue;
            to_desc |= s->b.desc[u] >> v & 1;
            to_anc |= s->b.anc[u] >> v & 1;
        }
    }
    is[NATURAL] = !(to_desc && to_anc);
}

static int is_edge(const struct dag *g, int a, int b) { return dag_has_edge(g, a, b); }

/* A trail of the model from node to other, active given the parents. */
static void check_trail(const struct setting *s, const struct inverse *h)
{
    const struct witness *w = &h->cert.why[FAITHFUL];
    unsigned z = parent_mask(h, h->pos[w->node]);
    assert_true(w->ntrail >= 2);
    assert_int_equal(w->trail[0], w->node);
    assert_int_equal(w->trail[w->ntrail - 1], w->other);
    for (int i = 0; i + 1 < w->ntrail; i++) {
        int a = w->trail[i], b = w->trail[i + 1];
        assert_true(is_edge(&s->g, a, b) || is_edge(&s->g, b, a));
        if (i == 0) continue;
        int before = w->trail[i - 1];
        if (is_edge(&s->g, before, a) && is_edge(&s->g, b, a))
            assert_true((z >> a & 1) || (s->b.desc[a] & z)); /* a collider needs evidence below */
        else
            assert_false(z >> a & 1);
    }
    for (int i = 0; i < w->ntrail; i++) /* a trail does not cross itself */
        for (int j = 0; j < i; j++) assert_int_not_equal(w->trail[i], w->trail[j]);
}

static void check_certificate(const struct setting *s, const struct inverse *h)
{
    int is[NPROPERTY];
    brute_certificate(s, h, is);
    for (int k = 0; k < NPROPERTY; k++) assert_int_equal(h->cert.is[k], is[k]);
    if (!is[FAITHFUL]) check_trail(s, h);
    if (!is[MINIMAL]) {
        const struct witness *w = &h->cert.why[MINIMAL];
        unsigned pa = parent_mask(h, h->pos[w->node]);
        assert_true(pa >> w->other & 1);
        assert_true(brute_dsep(&s->b, w->node, w->other, pa & ~(1u << w->other)));
    }
    if (!is[NATURAL]) {
        const struct witness *w = &h->cert.why[NATURAL];
        assert_true(parent_mask(h, h->pos[w->node]) >> w->other & 1);
        assert_true((s->b.desc[w->other] | s->b.anc[w->other]) >> w->node & 1);
    }
}

/* The inverse is the minimal I-map for its order, by d-separation alone. */
static void check_imap(const struct setting *s, const struct inverse *h)
{
    int order[16], n = inverse_full_order(h, order);
    unsigned later = 0;
    for (int i = 0; i < h->nlatent + h->nobserved; i++) later |= 1u << h->perm[i];
    for (int i = 0; i < h->nmodel; i++) later |= 1u << h->model[i];
    for (int i = 0; i < n; i++) {
        int v = order[i];
        later &= ~(1u << v);
        unsigned want = brute_boundary(&s->b, v, later);
        unsigned have = i < h->nmodel ? s->b.pa[v] : parent_mask(h, i - h->nmodel);
        assert_int_equal(have, want);
    }
}

/* Every node has one role; nuisances none. */
static void check_roles(const struct setting *s, const struct inverse *h)
{
    unsigned seen = 0;
    int total = 0;
    for (int i = 0; i < h->nlatent; i++) seen |= 1u << h->perm[i], total++;
    for (int i = 0; i < h->nmodel; i++) seen |= 1u << h->model[i], total++;
    for (int v = 0; v < s->g.n; v++) {
        int want = !s->observed[v] && !(s->p.nuisance && s->nuisance[v]);
        assert_int_equal(seen >> v & 1, want);
        total -= want;
        if (want && h->pos[v] < 0) { /* model factors are barren */
            for (int u = 0; u < s->g.n; u++) assert_false(s->b.desc[v] >> u & 1 && s->observed[u]);
        }
    }
    assert_int_equal(total, 0);
}

/* The replayed steps: least fill first, ties to the smaller number, and the
   neighbours are the parents. */
static void check_trace(const struct setting *s, const struct inverse *h, enum mode mode,
                        int direct)
{
    struct problem p = s->p;
    struct trace t;
    p.mode = mode;
    assert_int_equal(trace_new(&p, h, direct, &t, NULL), 0);
    for (int k = 0, i = 0; k < t.nstep; k++) {
        struct trace_step *st = &t.step[k];
        int at = -1;
        for (int q = 0; q < st->nfrontier; q++)
            if (st->frontier[q] == st->node) at = q;
        assert_true(at >= 0);
        for (int q = 0; q < st->nfrontier; q++) {
            assert_true(st->fill[at] <= st->fill[q]);
            if (st->fill[at] == st->fill[q]) assert_true(at <= q);
        }
        assert_int_equal(st->nadded, st->fill[at]);
        if (st->nuisance) continue;
        unsigned pa = 0;
        for (int q = 0; q < st->nparent; q++) pa |= 1u << st->parent[q];
        assert_int_equal(st->node, h->perm[i]);
        assert_int_equal(pa, parent_mask(h, i));
        i++;
    }
    trace_free(&t);
}

static int has_kept_barren(const struct setting *s)
{
    unsigned char role[16];
    int inexact;
    assert_int_equal(roles(&s->p, role, &inexact, NULL), 0);
    return inexact;
}

static void check_all(struct setting *s)
{
    static const enum mode natural[] = {MODE_FORWARD, MODE_REVERSE, MODE_FREE};
    struct inverse *by_mode[3];
    for (int k = 0; k < 3; k++) {
        struct inverse *h = by_mode[k] = run(s, "nami", natural[k]);
        check_roles(s, h);
        check_imap(s, h);
        check_certificate(s, h);
        assert_int_equal(h->cert.is[FAITHFUL], 1);
        assert_int_equal(h->cert.is[MINIMAL], 1);
        if (natural[k] != MODE_FREE && !s->p.stage) assert_int_equal(h->cert.is[NATURAL], 1);
        if (!has_kept_barren(s)) check_trace(s, h, natural[k], 0);
        for (int i = 1; i < h->nlatent && s->p.stage; i++)
            assert_true(s->stage[h->perm[i - 1]] <= s->stage[h->perm[i]]);
        struct inverse *d = run(s, "dsep", natural[k]); /* the naive way gives the same */
        assert_int_equal(d->edges, h->edges);
        for (int i = 0; i < h->nlatent; i++) {
            assert_int_equal(d->perm[i], h->perm[i]);
            assert_int_equal(parent_mask(d, i), parent_mask(h, i));
        }
        inverse_free(d);
    }
    struct inverse *best = run(s, "nami", MODE_BEST);
    int64_t least = by_mode[0]->edges < by_mode[1]->edges ? by_mode[0]->edges : by_mode[1]->edges;
    assert_int_equal(best->edges, least);
    inverse_free(best);
    for (int k = 0; k < 3; k++) inverse_free(by_mode[k]);
}

static void check_other_methods(struct setting *s)
{
    for (int m = 0; methods[m]; m++)
        for (int mode = 0; mode < 2; mode++) {
            struct inverse *h = run(s, methods[m]->name, mode ? MODE_REVERSE : MODE_FORWARD);
            check_certificate(s, h);
            if (methods[m] == &method_paper || methods[m] == &method_full)
                assert_int_equal(h->cert.is[FAITHFUL], 1);
            if (methods[m] == &method_paper)
                check_trace(s, h, mode ? MODE_REVERSE : MODE_FORWARD, 1);
            inverse_free(h);
        }
}

/* At least 12,000 graphs, 2 to 9 nodes; all observed patterns of the smaller ones. */
static void random_graphs(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 20261115, 1);
    for (int rep = 0; rep < 12000; rep++) {
        struct setting s = {0};
        int n = 2 + rep % 8;
        double density = 0.1 + 0.8 * rng_unit(&r);
        assert_int_equal(generate_random(&s.g, n, density, (uint64_t)rep, NULL), 0);
        brute_init(&s.b, &s.g);
        unsigned all = 1u << n;
        int patterns = n <= 3 ? (int)all : 3;
        for (int k = 0; k < patterns; k++) {
            unsigned observed = n <= 3 ? (unsigned)k : rng_below(&r, all);
            set_up(&s, observed, 0);
            check_all(&s);
            if (k == 0) check_other_methods(&s);
            s.p.keep_barren = 1;
            check_all(&s);
            set_up(&s, observed, rng_below(&r, all));
            s.p.keep_barren = (int)rng_below(&r, 2);
            check_all(&s);
            for (int v = 0; v < n; v++) s.stage[v] = (int)rng_below(&r, 3);
            s.p.stage = s.stage;
            check_all(&s);
        }
        dag_fini(&s.g);
    }
}

/* Every graph on up to 4 nodes, every observed pattern, every nuisance set. */
static void all_small_graphs(void **state)
{
    (void)state;
    for (int n = 1; n <= 4; n++) {
        struct edge pair[6], e[6];
        int npair = 0;
        for (int a = 0; a < n; a++)
            for (int b = a + 1; b < n; b++) pair[npair++] = (struct edge){a, b};
        for (unsigned code = 0; code < 1u << (2 * npair); code++) {
            size_t m = 0;
            unsigned skip = 0;
            for (int k = 0; k < npair; k++) {
                unsigned d = code >> (2 * k) & 3; /* none, forth, back */
                if (d == 3) skip = 1;
                if (d == 1) e[m++] = pair[k];
                if (d == 2) e[m++] = (struct edge){pair[k].to, pair[k].from};
            }
            struct setting s = {0};
            int cycle[4];
            if (skip) continue;
            assert_int_equal(dag_init(&s.g, n, e, m, NULL), 0);
            if (dag_cycle(&s.g, cycle) == 0) {
                brute_init(&s.b, &s.g);
                for (unsigned obs = 0; obs < 1u << n; obs++)
                    for (unsigned nui = 0; nui < 1u << n; nui++) {
                        if (obs & nui) continue;
                        set_up(&s, obs, nui);
                        check_all(&s);
                        if (!nui) check_other_methods(&s);
                    }
            }
            dag_fini(&s.g);
        }
    }
}

/* ---- exact factors ---------------------------------------------------------------------- */

/* The inverse without its exact factors: those of the others as they are, and by definition the
   minimal I-map of what remains. */
static void check_rest(const struct setting *s, const struct inverse *h)
{
    struct inverse *r = inverse_rest(h);
    int64_t edges = 0, width = 0;
    unsigned later = 0, role = 0;
    assert_non_null(r);
    assert_int_equal(r->nexact, 0);
    assert_int_equal(r->nlatent, h->nlatent - h->nexact);
    assert_int_equal(r->nobserved, h->nobserved);
    assert_string_equal(r->mode, h->mode);
    for (int i = 0; i < r->nlatent + r->nobserved; i++) {
        assert_int_equal(r->perm[i], h->perm[h->nexact + i]);
        later |= 1u << r->perm[i];
    }
    role = later;
    for (int i = 0; i < r->nlatent; i++) {
        unsigned pa = parent_mask(r, i);
        later &= ~(1u << r->perm[i]);
        assert_int_equal(pa, parent_mask(h, h->nexact + i));
        assert_int_equal(pa, brute_boundary(&s->b, r->perm[i], later));
        edges += inverse_count(r, i);
        if (inverse_count(r, i) > width) width = inverse_count(r, i);
    }
    assert_int_equal(r->edges, edges);
    assert_int_equal(r->width, width);
    for (int i = 0; i < h->nexact; i++) assert_int_equal(r->pos[h->perm[i]], -1);
    for (int i = 0; i < r->nmodel; i++) role |= 1u << r->model[i];
    for (int i = 0; i < r->nnuisance; i++) { /* each node has one role */
        assert_false(role >> r->nuisance[i] & 1);
        role |= 1u << r->nuisance[i];
    }
    assert_int_equal(role, (1u << s->g.n) - 1);
    assert_int_equal(certify(r, &s->g, VERIFY_FULL, 0, NULL), 0);
    assert_int_equal(r->cert.is[FAITHFUL], 1);
    assert_int_equal(r->cert.is[MINIMAL], 1);
    if (h->cert.is[NATURAL]) assert_int_equal(r->cert.is[NATURAL], 1);
    inverse_free(r);
}

/* All of them, and nobody else, come first. */
static void check_first(const struct setting *s, const struct inverse *h)
{
    for (int i = 0; i < h->nlatent; i++) assert_int_equal(i < h->nexact, s->exact[h->perm[i]] != 0);
    for (int i = h->nexact + 1; i < h->nlatent && s->p.stage; i++)
        assert_true(s->stage[h->perm[i - 1]] <= s->stage[h->perm[i]]);
}

static void check_exact(const struct setting *s, enum mode mode)
{
    struct inverse *h = run(s, "nami", mode);
    check_first(s, h);
    check_roles(s, h);
    check_imap(s, h);
    check_certificate(s, h);
    assert_int_equal(h->cert.is[FAITHFUL], 1);
    assert_int_equal(h->cert.is[MINIMAL], 1);
    if (mode != MODE_FREE && !s->p.stage) assert_int_equal(h->cert.is[NATURAL], 1);
    if (!has_kept_barren(s)) check_trace(s, h, mode, 0);
    check_rest(s, h);
    for (int m = 0; methods[m]; m++) {
        struct inverse *x = run(s, methods[m]->name, mode);
        if (methods[m]->uses_mode)
            check_first(s, x);
        else
            assert_int_equal(x->nexact, 0);
        if (methods[m]->uses_mode) assert_int_equal(x->cert.is[FAITHFUL], 1);
        if (methods[m] == &method_paper && !s->p.nuisance) check_trace(s, x, mode, 1);
        for (int i = 0; i < h->nlatent && methods[m] == &method_dsep; i++) {
            assert_int_equal(x->perm[i], h->perm[i]);
            assert_int_equal(parent_mask(x, i), parent_mask(h, i));
        }
        inverse_free(x);
    }
    inverse_free(h);
}

/* Some latents, with all that each must wait for in this mode. */
static void choose_exact(struct setting *s, enum mode mode, unsigned some)
{
    unsigned all = some;
    for (int v = 0; v < s->g.n; v++) {
        if (!(some >> v & 1) || s->observed[v]) continue;
        if (mode == MODE_FORWARD) all |= s->b.anc[v];
        if (mode == MODE_REVERSE) all |= s->b.desc[v];
    }
    for (int v = 0; v < s->g.n; v++)
        s->exact[v] = all >> v & 1 && !s->observed[v] && !(s->p.nuisance && s->nuisance[v]);
    s->p.exact = s->exact;
}

static void exact_latents_come_first(void **state)
{
    (void)state;
    static const enum mode mode[] = {MODE_FORWARD, MODE_REVERSE, MODE_FREE};
    struct rng r;
    rng_init(&r, 20261118, 0);
    for (int rep = 0; rep < 4000; rep++) {
        struct setting s = {0};
        int n = 2 + rep % 8;
        unsigned all = 1u << n;
        double density = 0.1 + 0.6 * rng_unit(&r);
        assert_int_equal(generate_random(&s.g, n, density, (uint64_t)rep + 2000000, NULL), 0);
        brute_init(&s.b, &s.g);
        set_up(&s, rng_below(&r, all), rep % 3 ? 0 : rng_below(&r, all));
        s.p.keep_barren = rep % 4 == 1;
        for (int v = 0; v < n; v++) s.stage[v] = (int)rng_below(&r, 3);
        if (rep % 5 == 2) s.p.stage = s.stage;
        for (int k = 0; k < 3; k++) {
            choose_exact(&s, mode[k], rng_below(&r, all) & rng_below(&r, all));
            check_exact(&s, mode[k]);
        }
        dag_fini(&s.g);
    }
}

/* Chains: all states but the two that are kept are exact, and the rest has few runs. */
static void rest_of_a_chain(void **state)
{
    (void)state;
    enum { LENGTH = 2000 };
    struct edge e[2 * LENGTH];
    unsigned char observed[2 * LENGTH] = {0}, exact[2 * LENGTH] = {0};
    struct dag g;
    struct inverse *h, *r;
    size_t m = 0;
    for (int t = 0; t < LENGTH; t++) {
        if (t) e[m++] = (struct edge){t - 1, t};
        e[m++] = (struct edge){t, LENGTH + t};
        observed[LENGTH + t] = 1;
        exact[t] = t > 1;
    }
    assert_int_equal(dag_init(&g, 2 * LENGTH, e, m, NULL), 0);
    struct problem p = {.g = &g,
                        .observed = observed,
                        .exact = exact,
                        .criterion = &criteria[0],
                        .mode = MODE_REVERSE};
    assert_int_equal(invert(&p, &method_nami, 2, 1, &h, NULL), 0);
    assert_int_equal(certify(h, &g, VERIFY_FULL, 0, NULL), 0);
    for (int k = 0; k < NPROPERTY; k++) assert_int_equal(h->cert.is[k], 1);
    assert_int_equal(h->nexact, LENGTH - 2);
    r = inverse_rest(h);
    assert_int_equal(r->nlatent, 2);
    assert_int_equal(r->edges, 1 + (LENGTH - 1) + LENGTH);
    assert_int_equal(r->width, LENGTH);
    assert_true(r->run.n <= 4);
    inverse_free(r);
    inverse_free(h);
    dag_fini(&g);
}

static void names_of_exact_kinds(void **state)
{
    (void)state;
    char name[8], text[] = "normal";
    int latent[40];
    for (int i = 0; i < 40; i++) latent[i] = i;
    struct inverse *h = inverse_new(40, latent, 40, NULL, 0);
    assert_int_equal(inverse_set_exact(h, 40), 0);
    assert_int_equal(inverse_name_exact(h, 0, text), 0);
    text[0] = 'x'; /* it was copied */
    assert_string_equal(h->exact[0], "normal");
    assert_int_equal(inverse_name_exact(h, 1, "abcdefghij_123456789"), 0);
    assert_int_equal(inverse_name_exact(h, 2, "abcdefghij_1234567890"), -1);
    assert_int_equal(inverse_name_exact(h, 2, ""), -1);
    assert_int_equal(inverse_name_exact(h, 2, "a b"), -1);
    assert_int_equal(inverse_name_exact(h, 2, "a\"b"), -1);
    assert_int_equal(inverse_name_exact(h, 2, NULL), -1);
    assert_int_equal(inverse_name_exact(h, 2, "normal"), 0);
    assert_ptr_equal(h->exact[2], h->exact[0]);
    assert_int_equal(h->nkind, 2);
    for (int i = 2; i < 40; i++) {
        snprintf(name, sizeof name, "k%d", i);
        assert_int_equal(inverse_name_exact(h, i, name), i < EXACT_KINDS ? 0 : -1);
    }
    inverse_free(h);
}

/* Other criteria and random ties change the order, never the properties. */
static void criteria_and_restarts(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 5, 0);
    for (int rep = 0; rep < 500; rep++) {
        struct setting s = {0};
        int size[16], n = 5 + rep % 8;
        assert_int_equal(generate_random(&s.g, n, 0.35, (uint64_t)rep + 1000000, NULL), 0);
        brute_init(&s.b, &s.g);
        for (int v = 0; v < n; v++) size[v] = 1 + (int)rng_below(&r, 6);
        set_up(&s, rng_below(&r, 1u << n), 0);
        s.p.size = size;
        for (int c = 0; criteria[c].name; c++)
            for (int mode = 0; mode < 4; mode++) {
                struct problem p = s.p;
                struct inverse *once, *many;
                p.criterion = &criteria[c];
                p.mode = (enum mode)mode;
                assert_int_equal(invert(&p, &method_nami, 0, 0, &once, NULL), 0);
                assert_int_equal(invert(&p, &method_nami, 4, 9, &many, NULL), 0);
                check_imap(&s, once);
                check_imap(&s, many);
                assert_true(many->edges <= once->edges);
                inverse_free(once);
                inverse_free(many);
            }
        dag_fini(&s.g);
    }
}

/* Larger graphs, where merged vertices matter: the fast elimination against the
   replay on a matrix, and against d-separation. */
static void larger_graphs(void **state)
{
    (void)state;
    for (int f = 0; graph_families[f].name; f++)
        for (int n = 20; n <= 160; n += 70) {
            struct dag g;
            assert_int_equal(graph_families[f].make(&g, n, 3, NULL), 0);
            unsigned char *observed = calloc((size_t)g.n, 1);
            for (int v = 0; v < g.n; v++) observed[v] = g.cp[v] == g.cp[v + 1];
            for (int mode = 0; mode < 4; mode++) {
                if (mode == MODE_BEST) continue;
                struct problem p = {.g = &g,
                                    .observed = observed,
                                    .criterion = &criteria[0],
                                    .mode = (enum mode)mode};
                struct inverse *h;
                struct trace t;
                assert_int_equal(invert(&p, &method_nami, 0, 0, &h, NULL), 0);
                assert_int_equal(certify(h, &g, VERIFY_FULL, 0, NULL), 0);
                assert_int_equal(h->cert.is[FAITHFUL], 1);
                assert_int_equal(h->cert.is[MINIMAL], 1);
                if (mode != MODE_FREE) assert_int_equal(h->cert.is[NATURAL], 1);
                assert_int_equal(trace_new(&p, h, 0, &t, NULL), 0);
                assert_int_equal(t.nstep, h->nlatent);
                for (int i = 0; i < t.nstep; i++) {
                    struct trace_step *st = &t.step[i];
                    assert_int_equal(st->node, h->perm[i]);
                    assert_int_equal(st->nparent, inverse_count(h, i));
                    for (int q = 0; q < st->nfrontier; q++) {
                        assert_true(st->nadded <= st->fill[q]);
                        if (st->nadded == st->fill[q]) assert_true(st->node <= st->frontier[q]);
                    }
                }
                trace_free(&t);
                inverse_free(h);
            }
            free(observed);
            dag_fini(&g);
        }
}

/* The routine of the certificate against the one of brute.h. */
static void dsep_agrees(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 77, 0);
    for (int rep = 0; rep < 3000; rep++) {
        struct dag g;
        struct brute b;
        int n = 2 + rep % 9, z[16], nz = 0;
        assert_int_equal(generate_random(&g, n, 0.4, (uint64_t)rep + 50000, NULL), 0);
        brute_init(&b, &g);
        unsigned mask = rng_below(&r, 1u << n);
        for (int v = 0; v < n; v++)
            if (mask >> v & 1) z[nz++] = v;
        for (int x = 0; x < n; x++)
            for (int y = 0; y < n; y++)
                if (x != y && !(mask >> x & 1) && !(mask >> y & 1))
                    assert_int_equal(dsep(&g, x, y, z, nz), brute_dsep(&b, x, y, mask));
        dag_fini(&g);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(dsep_agrees),     cmocka_unit_test(all_small_graphs),
    cmocka_unit_test(random_graphs),   cmocka_unit_test(criteria_and_restarts),
    cmocka_unit_test(larger_graphs),   cmocka_unit_test(exact_latents_come_first),
    cmocka_unit_test(rest_of_a_chain), cmocka_unit_test(names_of_exact_kinds),
};

RUN(tests)
