/* test_map.c: MAP estimates and their curvature are right where they are known, on both
   scales; so is L-BFGS by itself. */
#include "infer/exact.h"
#include "infer/lbfgs.h"
#include "infer/map.h"
#include "net_at.h"

#include "malloc_fail.h"

/* ---- L-BFGS ----------------------------------------------------------------------------- */

/* Rosenbrock's valley in many dimensions, minimum 0 at 1 */
static double valley(int n, const double *x, double *g)
{
    double f = 0;
    for (int i = 0; i < n; i++) g[i] = 0;
    for (int i = 0; i + 1 < n; i++) {
        double a = 1 - x[i], b = x[i + 1] - x[i] * x[i];
        f += a * a + 100 * b * b;
        g[i] += -2 * a - 400 * b * x[i];
        g[i + 1] += 200 * b;
    }
    return f;
}

/* Curvatures from 1 to 10^6 */
static double bowl(int n, const double *x, double *g)
{
    double f = 0;
    for (int i = 0; i < n; i++) {
        double c = pow(10, 6.0 * i / (n - 1));
        g[i] = c * (x[i] - i);
        f += c * (x[i] - i) * (x[i] - i) / 2;
    }
    return f;
}

static double falls(int n, const double *x, double *g)
{
    double f = 0;
    for (int i = 0; i < n; i++) f += g[i] = i == 0 ? 1 : x[i];
    f = x[0];
    for (int i = 1; i < n; i++) f += x[i] * x[i] / 2;
    return f;
}

static double flat(int n, const double *x, double *g)
{
    double f = 0;
    for (int i = 0; i < n; i++) f += g[i] = exp(x[i]);
    return f;
}

static double nowhere(int n, const double *x, double *g)
{
    (void)x;
    for (int i = 0; i < n; i++) g[i] = 0;
    return NAN;
}

static void searches(void **state)
{
    static const struct {
        double (*f)(int n, const double *x, double *g);
        enum lbfgs_state state;
    } at[] = {{valley, LBFGS_FOUND},
              {bowl, LBFGS_FOUND},
              {falls, LBFGS_FALLS},
              {flat, LBFGS_FLAT},
              {nowhere, LBFGS_STOPS}};
    enum { N = 20 };
    struct lbfgs b;
    double x[N], g[N];
    (void)state;
    assert_int_equal(lbfgs_init(&b, N), 0);
    for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
        int asked = 0;
        for (int i = 0; i < N; i++) x[i] = i % 2 ? 1.5 : -1.2;
        lbfgs_start(&b, x);
        while (b.state == LBFGS_ASKS && ++asked < 20000) {
            double f = at[k].f(N, b.to, g);
            lbfgs_tell(&b, f, g);
        }
        print_message("%zu: state %d, %d steps, %d evaluations, f %g, gradient %g\n", k, b.state,
                      b.steps, asked, b.f, b.size);
        assert_int_equal(b.state, at[k].state);
        if (k < 2)
            for (int i = 0; i < N; i++) assert_true(fabs(b.x[i] - (k ? i : 1)) < 1e-7);
    }
    lbfgs_fini(&b);
}

/* ---- models ----------------------------------------------------------------------------- */

enum { STARTS = 8 };

struct map_at {
    struct net_at net;
    float *param;
    struct infer a;
    double *x, *z, *sd;
    struct map_mode *mode;
};

static void map_at(struct map_at *s, const char *text, const char *data, size_t nset)
{
    static const struct net_options opt = {
        .nhidden = 1, .hidden = {8}, .act = ACT_TANH, .skip = -1};
    nami_err err = {0};
    net_at(&s->net, text, data, NULL, &opt);
    size_t size = (size_t)s->net.m.ir.num_rows * nset + 1;
    s->param = calloc(s->net.q.prog.nparam + 1, sizeof *s->param);
    s->x = calloc(size, sizeof *s->x);
    s->z = calloc(size, sizeof *s->z);
    s->sd = calloc(size, sizeof *s->sd);
    s->mode = calloc(nset, sizeof *s->mode);
    qnet_start(&s->net.q, 1, s->param);
    if (infer_init(&s->a, &s->net.q, s->param, &err)) fail_msg("%s", err.msg);
    const struct data *d = &s->net.m.source.data;
    for (size_t i = 0; i < nset; i++)
        if (infer_data(&s->net.m, &d->set.a[i % d->set.n], nset, i, s->x, &err))
            fail_msg("%s", err.msg);
}

static void map_drop(struct map_at *s)
{
    infer_fini(&s->a);
    net_drop(&s->net);
    free(s->param), free(s->x), free(s->z), free(s->sd), free(s->mode);
}

static void find(struct map_at *s, size_t nset, int unconstrained, int threads)
{
    struct query q = {.x = s->x, .nset = nset, .per = STARTS, .seed = 1};
    nami_err err = {0};
    if (map_sets(&s->a, &q, &(struct map_options){unconstrained, threads, NULL, NULL}, s->mode,
                 s->z, s->sd, &err))
        fail_msg("%s", err.msg);
    if (nset == 1)
        print_message("state %d, log p %.6f, gradient %.1e, %d steps, %d of %d agree\n",
                      s->mode->state, s->mode->logp, s->mode->grad, s->mode->steps, s->mode->agree,
                      STARTS);
}

static double at(const struct map_at *s, const char *name, int k)
{
    return s->z[row_of(&s->net.m, name, k)];
}

static void close_to(double got, double want, double by)
{
    if (!(fabs(got - want) <= by * fmax(1, fabs(want)))) fail_msg("%.12g is not %.12g", got, want);
}

/* Mean and sd of a linear Gaussian model's posterior */
static void gaussian(void **state)
{
    struct map_at s;
    struct gnet g;
    struct gpost p;
    nami_err err = {0};
    (void)state;
    map_at(&s,
           "model { z[1] ~ normal(0, 100)\n for (t in 2:20) { z[t] ~ normal(0.9 * z[t-1], 0.1) }\n"
           " for (t in 1:20) { y[t] ~ normal(2 * z[t], 0.5 * t) }\n later ~ normal(z[20], 1)\n"
           " twice <- 2 * z[3] }\nobserve y\n",
           "{\"y\": [50, 45, 42, 30, 31, 25, 20, 22, 18, 15, 11, 20, 5, 4, 9, 1, 0, -3, 2, 8]}", 1);
    if (gnet_read(&s.net.m, &g, &err)) fail_msg("%s", err.msg);
    double *x = calloc((size_t)g.n, sizeof *x), *cov;
    if (gnet_evidence(&g, &s.net.m, s.net.m.source.data.set.a, x, &err) ||
        gpost_new(&g, x, &p, &err))
        fail_msg("%s", err.msg);
    cov = calloc((size_t)(p.nz * p.nz), sizeof *cov);
    assert_int_equal(gpost_cov(&p, cov, &err), 0);
    for (int u = 0; u < 2; u++) {
        find(&s, 1, u, 1);
        assert_int_equal(s.mode->state, LBFGS_FOUND);
        assert_int_equal(s.mode->agree, STARTS);
        for (int i = 0; i < p.nz; i++) {
            int row = g.row[p.z[i]];
            if (row == row_of(&s.net.m, "later", 0)) {
                assert_true(isnan(s.z[row]));
                continue;
            }
            close_to(s.z[row], p.x[p.z[i]], 1e-6);
            close_to(s.sd[row], sqrt(cov[i * p.nz + i]), 1e-6);
        }
        close_to(at(&s, "twice", 0), 2 * at(&s, "z", 2), 1e-12);
    }
    gpost_free(&p);
    gnet_free(&g);
    free(x), free(cov);
    map_drop(&s);
}

/* gamma(14, 4), beta(9, 6), dirichlet(1, 3, 6), and a bounded interval.  On the unconstrained
   scale, shapes are larger by 1 (gamma), and by 1 each (beta, Dirichlet). */
static void conjugate(void **state)
{
    struct map_at s;
    (void)state;
    map_at(&s,
           "model { r ~ gamma(3, 2)\n c[1] ~ poisson(r)\n c[2] ~ poisson(r)\n p ~ beta(2, 3)\n"
           " n ~ binomial(10, p)\n q[1:3] ~ dirichlet(c(2, 2, 3))\n"
           " for (i in 1:4) { k[i] ~ categorical(q[1:3]) } }\nobserve c, n, k\n",
           "{\"c\": [4, 7], \"n\": 7, \"k\": [3, 3, 2, 3]}", 1);
    for (int u = 0; u < 2; u++) {
        find(&s, 1, u, 2);
        assert_int_equal(s.mode->state, LBFGS_FOUND);
        close_to(at(&s, "r", 0), (u ? 14 : 13) / 4., 1e-8);
        close_to(at(&s, "p", 0), u ? 9 / 15. : 8 / 13., 1e-8);
        for (int k = 0; k < 3; k++)
            close_to(at(&s, "q", k),
                     u ? (k == 0   ? 2
                          : k == 1 ? 3
                                   : 6) /
                             11.
                       : (k == 0   ? 1
                          : k == 1 ? 2
                                   : 5) /
                             8.,
                     1e-8);
        /* log of a gamma: minus its second derivative is r times the rate, which is the shape */
        double r = at(&s, "r", 0);
        close_to(s.sd[row_of(&s.net.m, "r", 0)], u ? r / sqrt(14) : r / sqrt(13), 1e-6);
    }
    /* log p(x, z) is the model's */
    double lp;
    find(&s, 1, 0, 1);
    logp(&s.net.m, 1, s.z, 1, (struct density){.logp = &lp});
    close_to(s.mode->logp, lp, 1e-12);
    map_drop(&s);
}

/* No maximum inside: an exponential prior has its own at 0; a funnel has none. */
static void no_mode(void **state)
{
    struct map_at s;
    (void)state;
    map_at(&s,
           "model { s ~ exponential(1)\n a ~ normal(0, 1)\n y ~ normal(a, 1) }\nobserve y\n infer "
           "s, a\n",
           "{\"y\": 1}", 1);
    find(&s, 1, 1, 1);
    assert_int_equal(s.mode->state, LBFGS_FOUND);
    map_drop(&s);
    map_at(&s, "model { s ~ exponential(1)\n y ~ poisson(s + 1) }\nobserve y\n", "{\"y\": 0}", 1);
    find(&s, 1, 0, 1);
    assert_int_equal(s.mode->state, LBFGS_FLAT);
    assert_true(at(&s, "s", 0) < 1e-6);
    assert_true(isnan(s.sd[row_of(&s.net.m, "s", 0)]));
    find(&s, 1, 1, 1); /* s e^(-2 s) */
    assert_int_equal(s.mode->state, LBFGS_FOUND);
    close_to(at(&s, "s", 0), 0.5, 1e-8);
    map_drop(&s);
    map_at(&s,
           "model { t ~ exponential(1)\n m ~ normal(0, 1)\n for (i in 1:4) { a[i] ~ normal(m, t)\n"
           " y[i] ~ normal(a[i], 1) } }\nobserve y\n",
           "{\"y\": [1, 2, 0, 1]}", 1);
    find(&s, 1, 0, 1);
    assert_true(s.mode->state != LBFGS_FOUND);
    map_drop(&s);
}

/* Two modes: the higher one counts, and some searches end in the other. */
static void two_modes(void **state)
{
    struct map_at s;
    (void)state;
    map_at(&s, "model { a ~ normal(0.02, 1)\n y ~ normal(a * a, 0.1) }\nobserve y\n", "{\"y\": 1}",
           1);
    find(&s, 1, 0, 1);
    assert_int_equal(s.mode->state, LBFGS_FOUND);
    assert_true(at(&s, "a", 0) > 0.9);
    assert_true(s.mode->agree < STARTS);
    map_drop(&s);
}

static void threads(void **state)
{
    enum { SETS = 40 };
    struct map_at s;
    (void)state;
    map_at(&s,
           "model { s ~ gamma(2, 1)\n m ~ normal(0, 2)\n for (i in 1:3) { y[i] ~ normal(m, s) } "
           "}\nobserve y\n",
           "[{\"y\": [1, 2, 4]}, {\"y\": [0, -2, 3]}, {\"y\": [7, 7.5, 8]}]", SETS);
    size_t size = (size_t)s.net.m.ir.num_rows * SETS;
    double *z = calloc(size, sizeof *z), *sd = calloc(size, sizeof *sd);
    for (int t = 1; t <= 3; t++) {
        find(&s, SETS, 0, t);
        for (int i = 0; i < SETS; i++) {
            assert_int_equal(s.mode[i].state, LBFGS_FOUND);
            assert_int_equal(s.mode[i].agree, STARTS);
        }
        if (t > 1) {
            assert_memory_equal(z, s.z, sizeof *z * size);
            assert_memory_equal(sd, s.sd, sizeof *z * size);
        }
        memcpy(z, s.z, sizeof *z * size);
        memcpy(sd, s.sd, sizeof *z * size);
    }
    free(z), free(sd);
    map_drop(&s);
}

static int all_of_it(void *ctx)
{
    struct map_at *s = ctx;
    struct query q = {.x = s->x, .nset = 1, .per = 2, .seed = 1};
    nami_err err = {0};
    return map_sets(&s->a, &q, &(struct map_options){.threads = 1}, s->mode, s->z, s->sd, &err);
}

static void memory(void **state)
{
    struct map_at s;
    const char *why;
    nami_err err = {0};
    (void)state;
    map_at(&s, "model { s ~ gamma(2, 1)\n y ~ normal(0, s) }\nobserve y\n", "{\"y\": 2}", 1);
    long n = nomem_each(all_of_it, &s, &why);
    if (n < 0) fail_msg("%s", why);
    assert_true(n > 20);
    map_drop(&s);
    map_at(&s, "model { k ~ bernoulli(0.3)\n y ~ normal(k, 1) }\nobserve y\n", "{\"y\": 1}", 1);
    struct query q = {.x = s.x, .nset = 1, .per = 2, .seed = 1};
    assert_int_equal(
        map_sets(&s.a, &q, &(struct map_options){.threads = 1}, s.mode, s.z, NULL, &err),
        NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "k is discrete"));
    map_drop(&s);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(searches), cmocka_unit_test(gaussian),  cmocka_unit_test(conjugate),
    cmocka_unit_test(no_mode),  cmocka_unit_test(two_modes), cmocka_unit_test(threads),
    cmocka_unit_test(memory),
};
RUN(tests)
