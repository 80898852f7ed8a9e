/* test_family.c: all rows of family.def but match, at several sizes and outputs: derivatives
   against differences, densities against their integrals, draws against densities. */
#include <stdlib.h>

#include "dist/math.h"
#include "family_at.h"

/* All families but match, at their usual size and others. */
static const int sizes[] = {0, 1, 2, 3, 9};
#define for_each_case(c)                                                                           \
    for (int f_ = 0; net_families[f_]; f_++)                                                       \
        for (int s_ = 0; s_ < 5 && net_families[f_] != &family_match; s_++)                        \
            for (struct case_ c = case_at(f_, sizes[s_]); c.h.family; c.h.family = NULL)

static struct case_ case_at(int f, int size)
{
    struct output_dist h = {.family = net_families[f], .size = size ? size : net_families[f]->size};
    return case_of(&h);
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
    struct output_dist one = {.family = &family_mixture, .size = 1};
    assert_int_equal(family_mixture.outputs(&one), 3);
}

/* ---- derivatives ---- */

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
            double o[OUTPUTS], g[1 + OUTPUTS],
                x = xs[rng_below(&r, 6)] * (rng_below(&r, 2) ? 1 : -1);
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
            if (c.h.family->discrete) continue;
            for (int b = 0; b < 9; b++) {
                path_at(&c, 1, b < 8 ? &y[b] : &x, o, g, 1);
                for (int j = 0; j < c.dim[1]; j++)
                    check(&c, isfinite(g[j]), "%g moves with output %d by %g", b < 8 ? y[b] : x, j,
                          g[j]);
            }
        }
    }
}

/* ---- densities and draws ------------------------------------------------------------ */

enum { DRAWS = 20000, TAIL = 500, NODES = 2 * DRAWS + 2 * TAIL };

static int ascending(const void *p, const void *q)
{
    double x = *(const double *)p, y = *(const double *)q;
    return (x > y) - (x < y);
}

/* cdf[i] at node x[i], by Simpson's rule, 4 steps from node to node */
static void integrate(const struct case_ *c, const double *o, const double *x, double *cdf)
{
    static double at[NODES], q[NODES];
    memset(cdf, 0, sizeof(double) * NODES);
    for (int k = 0; k <= 4; k++) {
        double weight = k % 4 ? 2 + k % 2 * 2 : 1;
        for (int i = 1; i < NODES; i++) at[i] = x[i - 1] + k / 4. * (x[i] - x[i - 1]);
        logq_at(c, NODES - 1, at + 1, o, q + 1);
        for (int i = 1; i < NODES; i++) cdf[i] += weight / 12 * (x[i] - x[i - 1]) * exp(q[i]);
    }
    for (int i = 1; i < NODES; i++) cdf[i] += cdf[i - 1];
}

/* The nodes: the draws x[DRAWS], ascending; as many evenly between the outermost of them; and on
   both sides more, ever further apart. */
static void nodes_of(const double *x, double *node)
{
    double first = x[0], last = x[DRAWS - 1], gap = (last - first) / DRAWS;
    for (int i = 0; i < DRAWS; i++) {
        node[i] = x[i];
        node[DRAWS + i] = first + i * gap;
    }
    for (int i = 0; i < TAIL; i++) {
        node[2 * DRAWS + 2 * i] = first - gap * 50 * (pow(1.02, i + 1) - 1);
        node[2 * DRAWS + 2 * i + 1] = last + gap * 50 * (pow(1.02, i) - 1);
    }
    qsort(node, NODES, sizeof *node, ascending);
}

/* Kolmogorov and Smirnov, of ascending numbers: P(sqrt(n) D > 2.8) is about 3e-7. */
static double ks(int n, const double *u)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, fmax(fabs(u[i] - (double)i / n), fabs(u[i] - (i + 1.) / n)));
    return sqrt(n) * most;
}

/* Is a draw a monotone function of a normal number? */
static bool one_number(const struct output_dist *h)
{
    return h->family != &family_mixture && h->family != &family_logistic;
}

static void draws(void **state)
{
    (void)state;
    static double x[DRAWS], z[DRAWS], node[NODES], cdf[NODES], u[DRAWS];
    struct rng r;
    rng_init(&r, 44, 1);
    for_each_case(c)
    {
        if (c.h.family->discrete) continue;
        for (int i = 0; i < 4; i++) {
            double o[OUTPUTS];
            random_outputs(&r, c.dim[1], i * 0.5, o);
            sample_at(&c, (uint32_t)i, DRAWS, o, x);
            stream_normal(&(struct stream){.seed = 41, .node = (uint32_t)i}, DRAWS, z);
            qsort(x, DRAWS, sizeof *x, ascending);
            qsort(z, DRAWS, sizeof *z, ascending);
            nodes_of(x, node);
            integrate(&c, o, node, cdf);
            check(&c, fabs(cdf[NODES - 1] - 1) < 1e-6, "the integral is %.10g", cdf[NODES - 1]);
            for (int b = 0, k = 0; b < DRAWS; u[b++] = cdf[k])
                while (node[k] < x[b]) k++;
            for (int b = 0; b < DRAWS && one_number(&c.h); b++)
                check(&c, fabs(u[b] - normal_p(z[b])) < 1e-6, "draw %d of %g is off by %g", b, z[b],
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
        bool exact = (c.h.size == 1 && c.h.family->size) || c.h.family == &family_spline;
        if (c.h.family->discrete) continue;
        for (int i = 0; i < 2001; i++) {
            double x = (i - 1000) * 0.008, lq, p = exp(normal_lp(x));
            logq_at(&c, 1, &x, o, &lq);
            if (exact) check(&c, fabs(lq - normal_lp(x)) < 1e-13, "not N(0, 1) at %g: %g", x, lq);
            kl += 0.008 * p * (normal_lp(x) - lq);
        }
        check(&c, kl < 0.02, "%g from N(0, 1)", kl);
        if (c.h.family == &family_logistic) { /* as spread as N(0, 1): P(x < 1) = Phi(1) */
            double lq[2], x[] = {1, -1}, scale = 1 / log(normal_p(1) / normal_p(-1));
            logq_at(&c, 2, x, o, lq);
            check(&c,
                  near(lq[0], log(normal_p(1)) + log(normal_p(-1)) - log(scale), 1e-13) &&
                      near(lq[0], lq[1], 1e-15),
                  "%.15g at 1", lq[0]);
        }
    }
}

/* ---- lanes ------------------------------------------------------------------------------------
 */

/* The same bits for any way to split lanes, constant or not. */
static void split(void **state)
{
    (void)state;
    enum { M = 208 };
    static double in[1 + OUTPUTS][M], out[2][M], g[2][1 + OUTPUTS][M], x[2][M], dout[M];
    static double moves[2][1 + OUTPUTS][M];
    const int cuts[] = {8, 24, 64, 104, 200};
    struct rng r;
    rng_init(&r, 46, 1);
    for_each_case(c) for (int cut = 0; cut < 5; cut++)
    {
        struct stream s = {.seed = 47, .node = 5, .first = 40};
        memset(g, 0, sizeof g);
        memset(moves, 0, sizeof moves);
        for (int b = 0; b < M; b++) {
            in[0][b] = random_value(&r, &c);
            for (int j = 1; j <= c.dim[1]; j++) in[j][b] = (1 + b % 3) * rng_normal(&r);
            dout[b] = rng_normal(&r);
        }
        for (int t = 0; t < 2; t++)
            for (int at = 0, n; at < M; at += n) {
                n = t == 0 ? M : cuts[cut] < M - at ? cuts[cut] : M - at;
                struct lanes a[1 + OUTPUTS];
                double *o = out[t] + at, *y = x[t] + at, *da[1 + OUTPUTS], *dx[1 + OUTPUTS];
                const double *co = o, *d = dout + at, *cy = y;
                for (int j = 0; j <= c.dim[1]; j++) {
                    a[j] = j % 3 == 1 ? (struct lanes){in[j], 0} : (struct lanes){in[j] + at, 1};
                    da[j] = j % 5 == 4 ? NULL : g[t][j] + at;
                    dx[j] = j % 5 == 4 ? NULL : moves[t][j] + at;
                }
                s.first = 40 + (uint64_t)at;
                c.h.family->logq(&c.h, c.dim, n, &o, a, scratch);
                c.h.family->grad(&c.h, c.dim, n, &co, &d, a, da, scratch);
                c.h.family->sample(&c.h, &s, c.dim, n, &y, a + 1, scratch);
                if (c.h.family->path)
                    c.h.family->path(&c.h, c.dim, n, &cy, &d, a + 1, dx + 1, scratch);
            }
        check(&c, memcmp(out[0], out[1], sizeof out[0]) == 0, "densities depend on the cut");
        check(&c, memcmp(g[0], g[1], sizeof g[0]) == 0, "derivatives depend on the cut");
        check(&c, memcmp(x[0], x[1], sizeof x[0]) == 0, "draws depend on the cut");
        check(&c, memcmp(moves[0], moves[1], sizeof moves[0]) == 0, "paths depend on the cut");
        for (int b = 0; b < M; b++) { /* and one lane is as it is alone; grad adds */
            double o[OUTPUTS], g1[1 + OUTPUTS], lq;
            for (int j = 1; j <= c.dim[1]; j++) o[j - 1] = in[j][j % 3 == 1 ? 0 : b];
            lq = grad_at(&c, in[0][b], o, g1);
            check(&c, lq == out[0][b], "lane %d", b);
            for (int j = 0; j <= c.dim[1]; j++)
                check(&c, near(g[0][j][b], j % 5 == 4 ? 0 : dout[b] * g1[j], 1e-13), "lane %d: %d",
                      b, j);
            if (!c.h.family->path) continue;
            path_at(&c, 1, &x[0][b], o, g1 + 1, 1);
            for (int j = 1; j <= c.dim[1]; j++)
                check(&c, near(moves[0][j][b], j % 5 == 4 ? 0 : dout[b] * g1[j], 1e-9),
                      "lane %d: path %d", b, j);
        }
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(table), cmocka_unit_test(gradients), cmocka_unit_test(extremes),
    cmocka_unit_test(draws), cmocka_unit_test(states),    cmocka_unit_test(zeros),
    cmocka_unit_test(split),
};
RUN(tests)
