/* test_family.c: all rows of family.def, at several sizes and outputs: derivatives against
   differences, densities against their integrals, draws against densities; heads that match a
   distribution, and how they are fitted. */
#include <stdlib.h>

#include "dist/math.h"
#include "dist_at.h"
#include "net/family.h"

enum { OUTPUTS = 64, LANES_MOST = 1 << 14 };

static double scratch[1 << 16];

/* ---- one head, as one calls it ----------------------------------------------------- */

struct case_ {
    struct head h;
    int dim[2];
};

static struct case_ case_of(const struct head *h)
{
    struct case_ c = {*h, {1, h->family->outputs(h)}};
    assert_true(c.dim[1] >= 1 && c.dim[1] <= OUTPUTS);
    assert_true(!h->family->work || h->family->work(c.dim) <= (int)(sizeof scratch / sizeof(double)));
    return c;
}

/* All families but match, at their usual size and others. */
static const int sizes[] = {0, 1, 2, 3, 9};
#define for_each_case(c)                                                                           \
    for (int f_ = 0; net_families[f_]; f_++)                                                           \
        for (int s_ = 0; s_ < 5 && net_families[f_] != &family_match; s_++)                            \
            for (struct case_ c = case_at(f_, sizes[s_]); c.h.family; c.h.family = NULL)

static struct case_ case_at(int f, int size)
{
    struct head h = {.family = net_families[f], .size = size ? size : net_families[f]->size};
    return case_of(&h);
}

/* logq of L values with the same outputs */
static void logq_at(const struct case_ *c, int L, const double *x, const double *o, double *lq)
{
    struct lanes a[1 + OUTPUTS] = {{x, 1}};
    for (int j = 0; j < c->dim[1]; j++) a[1 + j] = (struct lanes){&o[j], 0};
    c->h.family->logq(&c->h, c->dim, L, &lq, a, scratch);
}

/* g: by the value, then by the outputs */
static double grad_at(const struct case_ *c, double x, const double *o, double *g)
{
    double lq, one = 1, *da[1 + OUTPUTS];
    const double *out = &lq, *dout = &one;
    struct lanes a[1 + OUTPUTS] = {{&x, 0}};
    for (int j = 0; j < c->dim[1]; j++) a[1 + j] = (struct lanes){&o[j], 0};
    for (int j = 0; j <= c->dim[1]; j++) {
        g[j] = 0;
        da[j] = &g[j];
    }
    logq_at(c, 1, &x, o, &lq);
    c->h.family->grad(&c->h, c->dim, 1, &out, &dout, a, da, scratch);
    return lq;
}

static void sample_at(const struct case_ *c, uint32_t node, int L, const double *o, double *x)
{
    struct stream s = {.seed = 41, .node = node};
    struct lanes a[OUTPUTS];
    for (int j = 0; j < c->dim[1]; j++) a[j] = (struct lanes){&o[j], 0};
    c->h.family->sample(&c->h, &s, c->dim, L, &x, a, scratch);
}

#undef check
#define check(c, ok, ...)                                                                          \
    do {                                                                                           \
        if (!(ok)) {                                                                               \
            fprintf(stderr, "%s(%d) %s: ", (c)->h.family->name, (c)->h.size,                       \
                    (c)->h.dist ? (c)->h.dist->name : "");                                         \
            fail_msg(__VA_ARGS__);                                                                 \
        }                                                                                          \
    } while (0)

static void random_outputs(struct rng *r, int n, double sd, double *o)
{
    for (int j = 0; j < n; j++) o[j] = sd * rng_normal(r);
}

static double random_value(struct rng *r, const struct case_ *c)
{
    return c->h.family->discrete ? rng_below(r, (uint32_t)c->h.size) : 2 * rng_normal(r);
}

static double normal_lp(double x) { return -0.5 * x * x - HALF_LOG_2PI; }

/* ---- the table ---------------------------------------------------------------------- */

static void table(void **state)
{
    (void)state;
    for (int i = 0; net_families[i]; i++) {
        const struct family *f = net_families[i];
        assert_ptr_equal(family_find(f->name, strlen(f->name)), f);
        assert_true(f->what && *f->what && f->outputs && f->logq && f->grad && f->sample);
        assert_true(!f->size == !f->size_what);
    }
    assert_null(family_find("mix", 3));
    struct head one = {.family = &family_mixture, .size = 1};
    assert_int_equal(family_mixture.outputs(&one), 3);
}

/* ---- derivatives ----------------------------------------------------------------------- */

static double difference_at(const struct case_ *c, int j, double step, double x, const double *o)
{
    double v[4], w[OUTPUTS];
    for (int i = 0; i < 4; i++) {
        double by = (i < 2 ? 1 : 2) * (i % 2 ? step : -step), y = j ? x : x + by;
        memcpy(w, o, sizeof w);
        if (j) w[j - 1] += by;
        logq_at(c, 1, &y, w, &v[i]);
    }
    return (8 * (v[1] - v[0]) - (v[3] - v[2])) / (12 * step);
}

/* Against differences; where two steps give different ones (a kink, as at the knots of a spline) it
   is not looked at.  Returns the number of these. */
static int check_grad(const struct case_ *c, double x, const double *o, double step)
{
    double g[1 + OUTPUTS], lq = grad_at(c, x, o, g);
    int unclear = 0, discrete = c->h.family->discrete;
    if (c->h.dist) discrete = domains[c->h.dist->domain].discrete;
    check(c, isfinite(lq), "log density %g at %g", lq, x);
    if (discrete) check(c, g[0] == 0, "derivative by a state");
    for (int j = discrete; j <= c->dim[1]; j++) {
        double h = step * (1 + fabs(j ? 0 : x)), d = difference_at(c, j, h, x, o);
        double d2 = difference_at(c, j, h / 2, x, o), noise = 1e-14 * (1 + fabs(lq)) / h;
        double tol = 1e-6 * (0.01 + fabs(g[j])) + 4 * noise;
        if (!(fabs(d - d2) < tol))
            unclear++;
        else
            check(c, fabs(d2 - g[j]) < tol, "derivative %d at %g is %.10g, not %.10g (%g)", j, x, g[j],
                  d2, d);
    }
    return unclear;
}

static void gradients(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 42, 1);
    const double sds[] = {0, 0.3, 1, 3, 10};
    for_each_case(c)
    {
        int unclear = 0, all = 0;
        for (int i = 0; i < 200; i++) {
            double o[OUTPUTS];
            random_outputs(&r, c.dim[1], sds[i % 5], o);
            unclear += check_grad(&c, random_value(&r, &c), o, 1e-4);
            all += c.dim[1] + 1;
        }
        check(&c, unclear <= all / 50, "%d of %d derivatives are unclear", unclear, all);
    }
}

/* Any outputs and any value: finite numbers. */
static void extremes(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 43, 1);
    const double sizes_of[] = {0, 1, 30, 1e3, 1e4}, xs[] = {0, 1e-3, 1, 6, 1e3, 1e6};
    for_each_case(c)
    {
        for (int i = 0; i < 4000; i++) {
            double o[OUTPUTS], g[1 + OUTPUTS], x = xs[rng_below(&r, 6)] * (rng_below(&r, 2) ? 1 : -1);
            double most = sizes_of[rng_below(&r, 5)];
            for (int j = 0; j < c.dim[1]; j++) {
                double size = i % 2 ? most : sizes_of[rng_below(&r, 5)];
                o[j] = i % 3 ? size * (2 * rng_open(&r) - 1) : rng_below(&r, 2) ? size : -size;
            }
            if (c.h.family->discrete) x = rng_below(&r, (uint32_t)c.h.size);
            double lq = grad_at(&c, x, o, g), y[8];
            check(&c, isfinite(lq), "log density is %g at %g", lq, x);
            for (int j = 0; j <= c.dim[1]; j++)
                check(&c, isfinite(g[j]), "derivative %d is %g at %g", j, g[j], x);
            if (i >= 300) continue;
            sample_at(&c, (uint32_t)i, 8, o, y);
            for (int b = 0; b < 8; b++) check(&c, isfinite(y[b]), "draw %g", y[b]);
        }
    }
}

/* ---- densities and draws ------------------------------------------------------------------ */

enum { GRID = 1 << 19, DRAWS = 20000 };
static const double half_width = 80;

/* cdf[i] at x_i = (2 i / GRID - 1) half_width, by the trapezoidal rule */
static void integrate(const struct case_ *c, const double *o, double *cdf)
{
    double x[1024], lq[1024], sum = 0, h = 2 * half_width / GRID;
    for (int i = 0; i < GRID; i += 1024) {
        for (int b = 0; b < 1024; b++) x[b] = (i + b) * h - half_width;
        logq_at(c, 1024, x, o, lq);
        for (int b = 0; b < 1024; b++) {
            double v = h * exp(lq[b]);
            cdf[i + b] = sum + v / 2;
            sum += v;
        }
    }
}

static int ascending(const void *p, const void *q)
{
    double x = *(const double *)p, y = *(const double *)q;
    return (x > y) - (x < y);
}

/* Kolmogorov and Smirnov: P(sqrt(n) D > 2.8) is about 3e-7. */
static double ks(int n, double *u)
{
    double most = 0;
    qsort(u, (size_t)n, sizeof *u, ascending);
    for (int i = 0; i < n; i++)
        most = fmax(most, fmax(fabs(u[i] - (double)i / n), fabs(u[i] - (i + 1.) / n)));
    return sqrt(n) * most;
}

/* Is a draw a monotone function of a normal number? */
static bool one_number(const struct head *h) { return h->family != &family_mixture; }

static void draws(void **state)
{
    (void)state;
    static double cdf[GRID], x[DRAWS], z[DRAWS], u[DRAWS], grid[DRAWS], q[2][DRAWS];
    struct rng r;
    rng_init(&r, 44, 1);
    for_each_case(c)
    {
        if (c.h.family->discrete) continue;
        for (int i = 0; i < 4; i++) {
            double o[OUTPUTS], h = 2 * half_width / GRID;
            random_outputs(&r, c.dim[1], i * 0.4, o);
            integrate(&c, o, cdf);
            check(&c, fabs(cdf[GRID - 1] - 1) < 1e-5, "the integral is %.10g", cdf[GRID - 1]);
            sample_at(&c, (uint32_t)i, DRAWS, o, x);
            stream_normal(&(struct stream){.seed = 41, .node = (uint32_t)i}, DRAWS, z);
            for (int b = 0; b < DRAWS; b++) {
                int k = (int)((x[b] + half_width) / h);
                check(&c, k >= 0 && k < GRID, "draw %g", x[b]);
                grid[b] = k * h - half_width;
                u[b] = cdf[k];
            }
            logq_at(&c, DRAWS, x, o, q[0]);
            logq_at(&c, DRAWS, grid, o, q[1]);
            for (int b = 0; b < DRAWS; b++)
                u[b] += (x[b] - grid[b]) * (exp(q[0][b]) + exp(q[1][b])) / 2;
            for (int b = 0; b < DRAWS && one_number(&c.h); b++)
                check(&c, fabs(u[b] - normal_p(z[b])) < 5e-6, "draw %d of %g is off by %g", b, z[b],
                      u[b] - normal_p(z[b]));
            double d = ks(DRAWS, u);
            check(&c, d < 2.8, "draws do not fit their density: %g", d);
        }
    }
}

static void states(void **state)
{
    (void)state;
    static double x[DRAWS];
    struct rng r;
    rng_init(&r, 45, 1);
    for_each_case(c)
    {
        if (!c.h.family->discrete) continue;
        for (int i = 0; i < 8; i++) {
            double o[OUTPUTS], lq[OUTPUTS], v[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1, 0.5, c.h.size};
            double count[OUTPUTS] = {0}, sum = 0;
            random_outputs(&r, c.dim[1], i * 0.5, o);
            logq_at(&c, c.h.size, v, o, lq);
            sample_at(&c, (uint32_t)i, DRAWS, o, x);
            for (int b = 0; b < DRAWS; b++) {
                check(&c, domain_holds(COUNT, &x[b], 1) && x[b] < c.h.size, "draw %g", x[b]);
                count[(int)x[b]]++;
            }
            for (int k = 0; k < c.h.size; k++) {
                double p = exp(lq[k]), sd = sqrt(DRAWS * p * (1 - p)) + 1e-6;
                sum += p;
                if (!i) check(&c, fabs(p * c.h.size - 1) < 1e-14, "zeros are not uniform");
                check(&c, fabs(count[k] - DRAWS * p) < 6 * sd + 3, "%g times %d", count[k], k);
            }
            check(&c, fabs(sum - 1) < 1e-14, "probabilities sum to %.17g", sum);
            logq_at(&c, 3, v + 10, o, lq);
            for (int k = 0; k < 3; k++) check(&c, lq[k] == -INFINITY, "%g is no state", v[10 + k]);
        }
    }
}

/* What zeros from the network mean: N(0, 1), or near it. */
static void zeros(void **state)
{
    (void)state;
    for_each_case(c)
    {
        double o[OUTPUTS] = {0}, kl = 0;
        bool exact = c.h.size == 1 || c.h.family == &family_spline;
        if (c.h.family->discrete) continue;
        for (int i = 0; i < 2001; i++) {
            double x = (i - 1000) * 0.008, lq, p = exp(normal_lp(x));
            logq_at(&c, 1, &x, o, &lq);
            if (exact) check(&c, fabs(lq - normal_lp(x)) < 1e-13, "not N(0, 1) at %g: %g", x, lq);
            kl += 0.008 * p * (normal_lp(x) - lq);
        }
        check(&c, kl < 0.02, "%g from N(0, 1)", kl);
    }
}

/* ---- lanes ------------------------------------------------------------------------------------ */

/* The same bits for any way to split lanes, constant or not. */
static void split(void **state)
{
    (void)state;
    enum { M = 208 };
    static double in[1 + OUTPUTS][M], out[2][M], g[2][1 + OUTPUTS][M], x[2][M], dout[M];
    const int cuts[] = {8, 24, 64, 104, 200};
    struct rng r;
    rng_init(&r, 46, 1);
    for_each_case(c) for (int cut = 0; cut < 5; cut++)
    {
        struct stream s = {.seed = 47, .node = 5, .first = 40};
        memset(g, 0, sizeof g);
        for (int b = 0; b < M; b++) {
            in[0][b] = random_value(&r, &c);
            for (int j = 1; j <= c.dim[1]; j++) in[j][b] = (1 + b % 3) * rng_normal(&r);
            dout[b] = rng_normal(&r);
        }
        for (int t = 0; t < 2; t++)
            for (int at = 0, n; at < M; at += n) {
                n = t == 0 ? M : cuts[cut] < M - at ? cuts[cut] : M - at;
                struct lanes a[1 + OUTPUTS];
                double *o = out[t] + at, *y = x[t] + at, *da[1 + OUTPUTS];
                const double *co = o, *d = dout + at;
                for (int j = 0; j <= c.dim[1]; j++) {
                    a[j] = j % 3 == 1 ? (struct lanes){in[j], 0} : (struct lanes){in[j] + at, 1};
                    da[j] = j % 5 == 4 ? NULL : g[t][j] + at;
                }
                s.first = 40 + (uint64_t)at;
                c.h.family->logq(&c.h, c.dim, n, &o, a, scratch);
                c.h.family->grad(&c.h, c.dim, n, &co, &d, a, da, scratch);
                c.h.family->sample(&c.h, &s, c.dim, n, &y, a + 1, scratch);
            }
        check(&c, memcmp(out[0], out[1], sizeof out[0]) == 0, "densities depend on the cut");
        check(&c, memcmp(g[0], g[1], sizeof g[0]) == 0, "derivatives depend on the cut");
        check(&c, memcmp(x[0], x[1], sizeof x[0]) == 0, "draws depend on the cut");
        for (int b = 0; b < M; b++) { /* and one lane is as it is alone; grad adds */
            double o[OUTPUTS], g1[1 + OUTPUTS], lq;
            for (int j = 1; j <= c.dim[1]; j++) o[j - 1] = in[j][j % 3 == 1 ? 0 : b];
            lq = grad_at(&c, in[0][b], o, g1);
            check(&c, lq == out[0][b], "lane %d", b);
            for (int j = 0; j <= c.dim[1]; j++)
                check(&c, near(g[0][j][b], j % 5 == 4 ? 0 : dout[b] * g1[j], 1e-13), "lane %d: %d", b,
                      j);
        }
    }
}

/* ---- match -------------------------------------------------------------------------------------- */

/* A head with the parameters of a try at outputs 0. */
static struct case_ match_at(const struct at *it)
{
    struct head h = {.family = &family_match, .dist = it->d};
    for (int k = 0; k < it->d->narg; k++) {
        enum domain in = it->d->arg[k].domain;
        h.scale[k] = 1;
        if (domains[in].discrete)
            h.fixed = it->p[k];
        else
            unconstrain(in, -INFINITY, INFINITY, 1, &it->p[k], &h.shift[k]);
    }
    return case_of(&h);
}

static int accepted(const struct at *it, int n, const double *x, struct head *h)
{
    *h = (struct head){0};
    for (int k = 0; k < it->d->narg; k++)
        if (domains[it->d->arg[k].domain].discrete) h->fixed = it->p[k];
    return match_fit(h, it->d, n, x) == 0;
}

static void match_kernels(void **state)
{
    (void)state;
    enum { N = 24 };
    struct rng r;
    rng_init(&r, 48, 1);
    for_each_try(it)
    {
        double x[N], y[N], o[OUTPUTS] = {0}, lq[N];
        struct stream s = {.seed = 41, .node = 3};
        struct head h;
        if (!it.d->logp) continue;
        at_draw(&it, &s, N, x);
        if (!accepted(&it, N, x, &h)) continue;
        struct case_ c = match_at(&it);
        int unclear = 0, all = 0;
        sample_at(&c, 3, N, o, y);
        logq_at(&c, N, x, o, lq);
        for (int b = 0; b < N; b++) {
            check(&c, near(x[b], y[b], 1e-12), "draw %.17g, not %.17g", y[b], x[b]);
            check(&c, near(lq[b], at_logp(&it, &x[b]), 1e-9), "density %g at %g", lq[b], x[b]);
        }
        for (int i = 0; i < 60; i++) {
            double sd = i % 3 * 0.7;
            random_outputs(&r, c.dim[1], sd, o);
            sample_at(&c, 3, 8, o, y);
            for (int k = 0; k < it.d->narg; k++) c.h.scale[k] = 0.7 + k;
            if (!domain_holds(it.d->domain, &y[i % 8], 1)) continue;
            double lq1;
            logq_at(&c, 1, &y[i % 8], o, &lq1);
            if (!(lq1 > -1e6)) continue;
            unclear += check_grad(&c, y[i % 8], o, 1e-4);
            all += 1 + c.dim[1];
        }
        check(&c, unclear <= all / 5 && all > 50, "%d of %d derivatives are unclear", unclear, all);
    }
}

static double mean_logq(const struct case_ *c, int n, const double *x)
{
    double o[OUTPUTS] = {0}, lq, sum = 0;
    int count = 0;
    for (int b = 0; b < n; b++)
        if (domain_holds(c->h.dist->domain, &x[b], 1)) {
            logq_at(c, 1, &x[b], o, &lq);
            sum += lq;
            count++;
        }
    return sum / count;
}

static void fits(void **state)
{
    (void)state;
    enum { N = 4000 };
    static double x[N * MOST];
    char refused[1024] = "";
    for_each_try(it)
    {
        struct stream s = {.seed = 49, .node = (uint32_t)t_};
        struct head h;
        at_draw(&it, &s, N, x);
        if (!accepted(&it, N, x, &h)) {
            if (t_ == 0) strcat(strcat(refused, it.d->name), " ");
            continue;
        }
        struct case_ c = case_of(&h), truth = match_at(&it);
        double got = mean_logq(&c, N, x), want = mean_logq(&truth, N, x);
        check(&c, got > want - 0.002, "fitted %.5f, true parameters %.5f", got, want);
        for (int k = 0; k < it.d->narg; k++)
            check(&c, domains[it.d->arg[k].domain].discrete || h.scale[k] > 0, "scale %g",
                  h.scale[k]);
    }
    assert_string_equal(refused, "pareto uniform noncentral_hypergeometric categorical "
                                 "categorical_logit multinomial dirichlet multi_normal "
                                 "multi_normal_prec relaxed_onehot wishart inv_wishart ");
}

/* Scales; few, equal, huge, tiny and invalid draws. */
static void odd_fits(void **state)
{
    (void)state;
    enum { N = 2000 };
    static double x[N], y[N];
    struct stream s = {.seed = 50, .node = 1};
    struct head h = {0};
    stream_normal(&s, N, x);
    for (int i = 0; i < N; i++) y[i] = 1e6 + 1e-3 * x[i];
    assert_int_equal(match_fit(&h, &dist_normal, N, y), 0);
    assert_true(fabs(h.shift[0] - 1e6) < 1e-4 && fabs(exp(h.shift[1]) / 1e-3 - 1) < 0.1);
    assert_true(fabs(h.scale[0] / 1e-3 - 1) < 0.1 && h.scale[1] == 1);
    for (int i = 0; i < N; i++) y[i] = exp(-20 + 0.1 * x[i]);
    assert_int_equal(match_fit(&h, &dist_lognormal, N, y), 0);
    assert_true(fabs(h.shift[0] + 20) < 0.02 && fabs(h.scale[0] / 0.1 - 1) < 0.1);
    assert_int_equal(match_fit(&h, &dist_gamma, N, y), 0);
    assert_true(fabs(h.shift[0] - h.shift[1] + 20) < 0.02 && fabs(h.shift[0] - log(100)) < 0.2);
    y[7] = NAN, y[8] = INFINITY, y[9] = 0, y[10] = -1;
    assert_int_equal(match_fit(&h, &dist_gamma, N, y), 0);
    assert_int_equal(match_fit(&h, &dist_gamma, 1, y), 1);
    assert_int_equal(match_fit(&h, &dist_gamma, 0, y), 1);
    h.fixed = 3;
    for (int i = 0; i < N; i++) y[i] = 4;
    assert_int_equal(match_fit(&h, &dist_binomial, N, y), 1); /* more than N */
    for (int v = 0; v < 2; v++)
        for (int i = 0; dists[i]; i++) {
            for (int b = 0; b < N; b++) y[b] = dists[i]->domain == OPEN_UNIT ? 0.3 : v;
            h.fixed = 3;
            if (match_fit(&h, dists[i], N, y)) continue;
            struct case_ c = case_of(&h);
            double o[OUTPUTS], lq;
            for (int t = 0; t < 100; t++) {
                for (int j = 0; j < c.dim[1]; j++) o[j] = 1e4 * (t >> j & 1 ? 1 : -1) * (t % 5) / 4;
                logq_at(&c, 1, y, o, &lq);
                check(&c, !isnan(lq), "no number at %g", o[0]);
            }
        }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(table),         cmocka_unit_test(gradients), cmocka_unit_test(extremes),
    cmocka_unit_test(draws),         cmocka_unit_test(states),    cmocka_unit_test(zeros),
    cmocka_unit_test(split),         cmocka_unit_test(fits),      cmocka_unit_test(odd_fits),
    cmocka_unit_test(match_kernels),
};
RUN(tests)
