/* test_exact_sparse.c: sparse elimination in linear Gaussian networks of several shapes (chains,
   trees, grids, plates, dense ones) agrees with dense algebra in long double; draws have the
   moments of the posterior, with the same bits for any number of threads; fill stays as small as
   the shape allows; what is too large or singular is refused; out of memory. */
#include "exact_gauss_at.h"
#include "malloc_fail.h"

enum { MOST = 40, DIM = 3 };
enum shape { CHAIN, TREE, GRID, PLATE, DENSE, LOOSE, SHAPES };
static const char *const shape_names[] = {"chain", "tree", "grid", "plate", "dense", "loose"};

static double uniform(struct rng *r, double low, double high)
{
    return low + (high - low) * rng_unit(r);
}

/* Is node u a parent of v > u? */
static int has_edge(enum shape s, int v, int u, struct rng *r)
{
    switch (s) {
    case CHAIN: return u == v - 1;
    case TREE: return u == (v - 1) / 2;
    case GRID: return u == v - 6 || (u == v - 1 && v % 6);
    case PLATE: return u < 2 || (v % 2 == 0 && u == v - 1); /* two hubs, pairs below */
    case DENSE: return 1;
    default: return rng_below(r, 5) == 0;
    }
}

/* A network of n nodes with 1 .. DIM scalars each; a, B and D as of joint(). */
static void make(struct gnet *g, enum shape s, int n, int dim, struct rng *r)
{
    *g = (struct gnet){.nnode = n, .nfactor = n};
    g->first = arena_array(&g->mem, int, n + 1);
    g->f = arena_array(&g->mem, struct gfactor, n);
    for (int v = 0; v < n; v++)
        g->first[v + 1] = g->first[v] + (dim == 1 ? 1 : 1 + (int)rng_below(r, (uint32_t)dim));
    g->n = g->first[n];
    int *par = calloc((size_t)g->n + 1, sizeof *par);
    for (int v = 0; v < n; v++) {
        struct gfactor *f = &g->f[v];
        f->node = v;
        f->nvar = g->first[v + 1] - g->first[v];
        f->var = arena_array(&g->mem, int, f->nvar);
        f->a = arena_array(&g->mem, double, f->nvar);
        f->cov = arena_array(&g->mem, double, f->nvar * f->nvar);
        for (int u = s == CHAIN ? (v ? v - 1 : 0) : 0; u < v; u++)
            for (int j = g->first[u]; has_edge(s, v, u, r) && j < g->first[u + 1]; j++)
                par[f->npar++] = j;
        f->par = arena_array(&g->mem, int, f->npar + 1);
        memcpy(f->par, par, sizeof *par * (size_t)f->npar);
        f->b = arena_array(&g->mem, double, f->nvar *(f->npar + 1));
        for (int i = 0; i < f->nvar; i++) {
            f->var[i] = g->first[v] + i;
            f->a[i] = uniform(r, -1, 1);
            for (int k = 0; k < f->npar; k++)
                f->b[i * f->npar + k] = uniform(r, -1, 1) / sqrt(1 + f->npar);
            for (int k = 0; k < i; k++)
                f->cov[i * f->nvar + k] = f->cov[k * f->nvar + i] = uniform(r, -0.3, 0.3);
            f->cov[i * f->nvar + i] = uniform(r, 1, 3);
        }
    }
    free(par);
}

static double *observe_some(const struct gnet *g, double share, struct rng *r)
{
    double *x = calloc((size_t)g->n + 1, sizeof *x);
    for (int i = 0; i < g->n; i++) x[i] = rng_unit(r) < share ? uniform(r, -3, 3) : (double)NAN;
    return x;
}

static void moments_of(const struct gnet *g, real **mean, real **cov)
{
    size_t N = (size_t)g->n;
    real *a = reals(N), *B = reals(N * N), *D = reals(N * N);
    for (int v = 0; v < g->nfactor; v++) {
        const struct gfactor *f = &g->f[v];
        for (int i = 0; i < f->nvar; i++) {
            a[f->var[i]] = f->a[i];
            for (int k = 0; k < f->npar; k++)
                B[f->var[i] * g->n + f->par[k]] = f->b[i * f->npar + k];
            for (int k = 0; k < f->nvar; k++)
                D[f->var[i] * g->n + f->var[k]] = f->cov[i * f->nvar + k];
        }
    }
    *mean = reals(N), *cov = reals(N * N);
    joint(g->n, a, B, D, *mean, *cov);
    free(a), free(B), free(D);
}

static void test_shapes_agree_with_dense_algebra(void **state)
{
    (void)state;
    static const double shares[] = {0.4, 0, 0.8, 0.2, 1};
    struct rng r;
    rng_init(&r, 11, 0);
    for (int t = 0; t < 50 * SHAPES; t++) {
        struct gnet g;
        real *mean, *cov;
        make(&g, (enum shape)(t % SHAPES), 2 + (int)rng_below(&r, MOST / 2), t % 4 ? 1 : DIM, &r);
        double *x = observe_some(&g, shares[t / SHAPES % 5], &r);
        moments_of(&g, &mean, &cov);
        posterior_is(&g, x, mean, cov);
        free(x), free(mean), free(cov);
        gnet_free(&g);
    }
    say("300 networks of several shapes");
}

/* Numbers of L for n scalars of which nothing is observed: chains and trees have no fill. */
static void test_fill_is_small(void **state)
{
    (void)state;
    static const struct {
        enum shape shape;
        int n;
        double most; /* numbers a scalar */
    } t[] = {{CHAIN, 20000, 2}, {TREE, 2000, 2}, {GRID, 1500, 7}, {PLATE, 1000, 4}};
    struct rng r;
    rng_init(&r, 12, 0);
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct gnet g;
        struct gpost p;
        nami_err err = {0};
        make(&g, t[i].shape, t[i].n, 1, &r);
        double *x = observe_some(&g, 0, &r);
        if (gpost_new(&g, x, &p, &err)) fail_msg("%s", err.msg);
        print_message("%s of %d: %lld numbers\n", shape_names[t[i].shape], t[i].n,
                      (long long)p.precision.num_entries);
        assert_true((double)p.precision.num_entries <= t[i].most * t[i].n + 4);
        close_to(p.log_evidence, 0); /* nothing is observed */
        free(x);
        gpost_free(&p);
        gnet_free(&g);
    }
    say("log p() of nothing");
}

/* Means and variances of draws within five standard errors; the same bits for any threads, any
   piece, and both sizes of chunks. */
static void test_draws(void **state)
{
    (void)state;
    enum { N = 4000 };
    struct rng r;
    rng_init(&r, 13, 0);
    for (int s = 0; s < SHAPES; s++) {
        struct gnet g;
        struct gpost p;
        nami_err err = {0};
        make(&g, (enum shape)s, MOST, 1, &r);
        double *x = observe_some(&g, 0.3, &r), *variance = calloc((size_t)g.n, sizeof *variance);
        double *u = calloc((size_t)g.n * N, sizeof *u), *v = calloc((size_t)g.n * N, sizeof *v);
        if (gpost_new(&g, x, &p, &err) || gpost_variances(&p, variance, &err) ||
            gpost_draw(&p, 3, 0, N, 1, u, &err) || gpost_draw(&p, 3, 0, N, 3, v, &err))
            fail_msg("%s", err.msg);
        assert_memory_equal(u, v, sizeof *u * (size_t)g.n * N);
        for (int k = 0; k < p.nz; k++) {
            double m = p.x[p.z[k]], mean = 0, square = 0;
            for (int i = 0; i < N; i++) {
                double d = u[p.z[k] * N + i] - m;
                mean += d / N, square += d * d / N;
            }
            assert_true(fabs(mean) < 5 * sqrt(variance[k] / N));
            assert_true(fabs(square / variance[k] - 1) < 5 * sqrt(2.0 / N));
        }
        free(x), free(variance), free(u), free(v);
        gpost_free(&p);
        gnet_free(&g);
    }
}

/* 20000 latents: chunks of eight draws. */
static void test_draws_of_a_long_chain(void **state)
{
    (void)state;
    enum { N = 24, LONG = 20000 };
    struct gnet g;
    struct gpost p;
    struct rng r;
    nami_err err = {0};
    rng_init(&r, 14, 0);
    make(&g, CHAIN, LONG, 1, &r);
    double *x = observe_some(&g, 0, &r), *variance = calloc(LONG, sizeof *variance), square = 0;
    double *u = calloc((size_t)LONG * N, sizeof *u), *v = calloc((size_t)LONG * N, sizeof *v);
    if (gpost_new(&g, x, &p, &err) || gpost_variances(&p, variance, &err) ||
        gpost_draw(&p, 3, 0, N, 1, u, &err) || gpost_draw(&p, 3, 8, N - 8, 2, v, &err))
        fail_msg("%s", err.msg);
    for (int i = 0; i < LONG; i++) {
        for (int k = 8; k < N; k++) assert_true(v[i * (N - 8) + k - 8] == u[i * N + k]);
        for (int k = 0; k < N; k++) {
            double d = u[p.z[i] * N + k] - p.x[p.z[i]];
            square += d * d / variance[i] / LONG / N;
        }
    }
    assert_true(fabs(square - 1) < 0.02);
    free(x), free(variance), free(u), free(v);
    gpost_free(&p);
    gnet_free(&g);
}

/* ---- refused ------------------------------------------------------------------------ */

static void test_too_large(void **state)
{
    (void)state;
    struct rng r;
    nami_err err = {0};
    struct chol c;
    rng_init(&r, 15, 0);
    struct sparse a = {.n = 100, .start = new_array(int64_t, 101)};
    for (int j = 0; j < a.n; j++) { /* an arrow: sparse, 199 numbers, no fill */
        assert_int_equal(vec_push(&a.row, j) | vec_push(&a.value, 200), 0);
        if (j < a.n - 1) assert_int_equal(vec_push(&a.row, a.n - 1) | vec_push(&a.value, 1), 0);
        a.start[j + 1] = (int64_t)a.row.n;
    }
    assert_int_equal(chol_new(&a, 150, &c, &err), NAMI_ELIMIT);
    assert_non_null(strstr(err.msg, "more than 150 numbers"));
    assert_int_equal(chol_new(&a, 250, &c, &err), 0);
    double sum = 99 * log(200) + log(200 - 99 / 200.0);
    close_to(chol_logdet(&c), sum);
    chol_free(&c);
    a.value.a[0] = -1;
    assert_int_equal(chol_new(&a, 250, &c, &err), NAMI_EINPUT);
    sparse_free(&a);
}

static void test_not_positive_definite(void **state)
{
    (void)state;
    struct gnet g;
    struct gpost p;
    struct rng r;
    nami_err err = {0};
    rng_init(&r, 16, 0);
    make(&g, CHAIN, 5, 1, &r);
    double *x = observe_some(&g, 0, &r);
    g.f[2].cov[0] = 0;
    assert_int_equal(gpost_new(&g, x, &p, &err), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "not positive definite"));
    free(x);
    gnet_free(&g);
}

/* ---- out of memory ------------------------------------------------------------------ */

struct job {
    struct gnet g;
    double *x, log_evidence;
};

static int solve_and_draw(void *ctx)
{
    struct job *j = ctx;
    struct gpost p;
    double out[MOST * 8], variance[MOST];
    nami_err err;
    int rc = gpost_new(&j->g, j->x, &p, &err);
    if (rc) return rc;
    rc = gpost_variances(&p, variance, &err);
    if (!rc) rc = gpost_draw(&p, 1, 0, 8, 1, out, &err);
    j->log_evidence = rc ? (double)NAN : p.log_evidence;
    gpost_free(&p);
    return rc;
}

/* A few of the elimination's may fail without harm: then the result is the same. */
static void test_each_allocation_fails(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 17, 0);
    for (int s = 0; s < SHAPES; s++) {
        struct job j = {0};
        const char *why;
        int more = 1, n = 0;
        make(&j.g, (enum shape)s, MOST, 1, &r);
        j.x = observe_some(&j.g, 0.2, &r);
        assert_int_equal(solve_and_draw(&j), 0);
        for (double want = j.log_evidence; more > 0; n += more) {
            more = nomem_at(solve_and_draw, &j, n + 1, &why);
            if (more < 0 && strcmp(why, "a failed allocation without an error") == 0 &&
                j.log_evidence == want)
                more = 1;
            if (more < 0) fail_msg("%s: %s", shape_names[s], why);
        }
        print_message("%s: %d allocations failed\n", shape_names[s], n);
        assert_true(n > 10);
        free(j.x);
        gnet_free(&j.g);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_shapes_agree_with_dense_algebra),
    cmocka_unit_test(test_fill_is_small),
    cmocka_unit_test(test_draws),
    cmocka_unit_test(test_draws_of_a_long_chain),
    cmocka_unit_test(test_too_large),
    cmocka_unit_test(test_not_positive_definite),
    cmocka_unit_test(test_each_allocation_fails),
};

RUN(tests)
