/* test_integral_conjugate.c: integrals in closed form: values and derivatives over wide ranges of
   arguments, which models have them, draws, moments. */
#include "dist/dist.h"
#include "dist/math.h"
#include "integral_at.h"

/* A random number between low and high, uniform in the logarithm. */
static double between(struct rng *r, double low, double high)
{
    return low * pow(high / low, rng_unit(r));
}

/* The absolute error of log Z: terms are as large as 1e7. */
static void check(double got, long double want, double error)
{
    if (!(fabs(got - (double)want) <= error)) fail_msg("%.15g is not %.15Lg", got, want);
}

/* ---- values ---------------------------------------------------------------------------- */

static const char pumps[] = "const t[3]\n"
                            "model { a ~ gamma(1, 1)\n b ~ gamma(1, 1)\n"
                            "for (i in 1:3) { theta[i] ~ gamma(a, b)\n"
                            "x[i] ~ poisson(theta[i] * t[i]) } }\nobserve x";
static const char pumps_data[] = "{\"t\": [1.7, 0.0003, 4100.5]}";
static const double times[] = {1.7, 0.0003, 4100.5};

static long double poisson_gamma(double x, double t, double a, double b)
{
    return lgammal((long double)a + x) - lgammal(a) - lgammal(x + 1.L) + a * logl(b) + x * logl(t) -
           ((long double)a + x) * logl((long double)b + t);
}

/* Shapes to 1e6, rates and counts over many orders of magnitude; any number of lanes in slabs. */
static void wide_ranges(void **state)
{
    static const int lanes[] = {1, 7, 64, 100};
    struct rng r;
    struct at a;
    (void)state;
    rng_init(&r, 3, 1);
    for (int slab = 0; slab <= 8; slab += 8) {
        at_open(&a, &integral_gamma, pumps, pumps_data, "theta", 0, INFINITY, slab);
        for (int round = 0; round < 40; round++) {
            int n = a.x.lanes = lanes[round % 4];
            for (int b = 0; b < n; b++) {
                at_row(&a, "a", 0)[b] = between(&r, 1e-3, 1e6);
                at_row(&a, "b", 0)[b] = between(&r, 1e-8, 1e8);
                for (int i = 0; i < 3; i++) at_row(&a, "x", i)[b] = floor(between(&r, 1, 1e5)) - 1;
            }
            exec_run(&a.x);
            for (int i = 0; i < 3; i++)
                for (int b = 0; b < n; b++) {
                    double x = at_row(&a, "x", i)[b], shape = at_row(&a, "a", 0)[b];
                    check(at_result(&a, i)[b],
                          poisson_gamma(x, times[i], shape, at_row(&a, "b", 0)[b]), 1e-8);
                }
        }
        at_close(&a);
    }
}

/* One value depends neither on its lane nor on the others. */
static void lanes_are_independent(void **state)
{
    struct rng r;
    struct at a;
    double together[AT_LANES];
    (void)state;
    rng_init(&r, 3, 2);
    at_open(&a, &integral_gamma, pumps, pumps_data, "theta", 0, INFINITY, 16);
    for (int b = 0; b < 100; b++) {
        at_row(&a, "a", 0)[b] = between(&r, 1e-3, 1e6);
        at_row(&a, "b", 0)[b] = between(&r, 1e-8, 1e8);
    }
    a.x.lanes = 100;
    exec_run(&a.x);
    memcpy(together, at_result(&a, 1), sizeof together);
    for (int b = 0; b < 100; b++) {
        at_row(&a, "a", 0)[0] = at_row(&a, "a", 0)[b];
        at_row(&a, "b", 0)[0] = at_row(&a, "b", 0)[b];
        a.x.lanes = 1;
        exec_run(&a.x);
        assert_true(at_result(&a, 1)[0] == together[b]);
    }
    at_close(&a);
}

/* s2 ~ inv_gamma(a, b), y[i] ~ normal(0, sqrt(s2)) */
static void inverse_gamma(void **state)
{
    struct rng r;
    struct at a;
    (void)state;
    rng_init(&r, 3, 3);
    at_open(&a, &integral_inv_gamma,
            "model { a ~ gamma(1, 1)\n b ~ gamma(1, 1)\n s2 ~ inv_gamma(a, b)\n"
            "for (i in 1:4) { y[i] ~ normal(0, sqrt(s2)) } }\nobserve y",
            NULL, "s2", 0, INFINITY, 8);
    for (int round = 0; round < 20; round++) {
        for (int b = 0; b < AT_LANES; b++) {
            at_row(&a, "a", 0)[b] = between(&r, 1e-3, 1e6);
            at_row(&a, "b", 0)[b] = between(&r, 1e-8, 1e8);
            for (int i = 0; i < 4; i++) at_row(&a, "y", i)[b] = between(&r, 1e-4, 1e4);
        }
        exec_run(&a.x);
        for (int b = 0; b < AT_LANES; b++) {
            double al = at_row(&a, "a", 0)[b], be = at_row(&a, "b", 0)[b];
            long double q = 0;
            for (int i = 0; i < 4; i++) q += at_row(&a, "y", i)[b] * at_row(&a, "y", i)[b] / 2;
            check(at_result(&a, 0)[b],
                  lgammal(al + 2.L) - lgammal(al) + al * logl(be) - (al + 2.L) * logl(be + q) -
                      2 * (long double)LOG_2PI,
                  1e-8);
        }
    }
    at_close(&a);
}

static long double log_beta(long double a, long double b)
{
    return lgammal(a) + lgammal(b) - lgammal(a + b);
}

static void beta_binomial(void **state)
{
    struct rng r;
    struct at a;
    (void)state;
    rng_init(&r, 3, 4);
    at_open(&a, &integral_beta,
            "model { a ~ gamma(1, 1)\n b ~ gamma(1, 1)\n n ~ poisson(9)\n p ~ beta(a, b)\n"
            "x ~ binomial(n, p) }\nobserve x",
            NULL, "p", 0, 1, 16);
    for (int round = 0; round < 20; round++) {
        for (int b = 0; b < AT_LANES; b++) {
            double n = at_row(&a, "n", 0)[b] = floor(between(&r, 1, 1e6));
            at_row(&a, "a", 0)[b] = between(&r, 1e-3, 1e5);
            at_row(&a, "b", 0)[b] = between(&r, 1e-3, 1e5);
            at_row(&a, "x", 0)[b] = floor(rng_unit(&r) * (n + 1));
        }
        exec_run(&a.x);
        for (int b = 0; b < AT_LANES; b++) {
            double al = at_row(&a, "a", 0)[b], be = at_row(&a, "b", 0)[b];
            double n = at_row(&a, "n", 0)[b], x = at_row(&a, "x", 0)[b];
            check(at_result(&a, 0)[b],
                  lgammal(n + 1) - lgammal(x + 1) - lgammal(n - x + 1) +
                      log_beta((long double)al + x, (long double)be + n - x) - log_beta(al, be),
                  1e-8);
        }
    }
    at_close(&a);
}

static void dirichlet_multinomial(void **state)
{
    static const double counts[] = {0, 3, 1, 250, 0};
    struct rng r;
    struct at a;
    (void)state;
    rng_init(&r, 3, 5);
    at_open(&a, &integral_dirichlet,
            "model { for (k in 1:5) { a[k] ~ gamma(1, 1) }\n p[1:5] ~ dirichlet(a[1:5])\n"
            "x[1:5] ~ multinomial(p[1:5], 254) \n y ~ categorical(p[1:5]) }\nobserve x, y",
            NULL, "p", 0, 1, 8);
    for (int k = 0; k < 5; k++) at_set(&a, "x", k, counts[k]);
    at_set(&a, "y", 0, 2);
    for (int round = 0; round < 20; round++) {
        for (int b = 0; b < AT_LANES; b++)
            for (int k = 0; k < 5; k++) at_row(&a, "a", k)[b] = between(&r, 1e-3, 1e5);
        exec_run(&a.x);
        for (int b = 0; b < AT_LANES; b++) {
            long double sum = 0, want = lgammal(255);
            for (int k = 0; k < 5; k++) {
                long double al = at_row(&a, "a", k)[b];
                sum += al;
                want += lgammal(al + counts[k] + (k == 1)) - lgammal(al) - lgammal(counts[k] + 1);
            }
            /* the density itself loses digits: shapes of 1e5 beside 1e-3 */
            check(at_result(&a, 0)[b], want + lgammal(sum) - lgammal(sum + 255), 1e-6);
        }
    }
    at_close(&a);
}

static void vague_prior(void **state)
{
    struct at a;
    (void)state;
    at_open(&a, &integral_gamma, pumps, pumps_data, "theta", 0, INFINITY, 0);
    at_set(&a, "a", 0, 0.001);
    at_set(&a, "b", 0, 0.001);
    exec_run(&a.x);
    for (int i = 0; i < 3; i++)
        check(at_result(&a, i)[0], poisson_gamma(0, times[i], 0.001, 0.001), 1e-9);
    at_close(&a);
}

/* A negative argument: NaN.  An integrand of 0: -infinity. */
static void no_integral(void **state)
{
    struct at a;
    (void)state;
    at_open(&a, &integral_gamma, pumps, pumps_data, "theta", 0, INFINITY, 0);
    at_set(&a, "a", 0, 1.5);
    at_set(&a, "b", 0, 2);
    at_row(&a, "b", 0)[3] = -2;
    at_row(&a, "x", 0)[5] = 0.5;
    exec_run(&a.x);
    assert_true(isnan(at_result(&a, 0)[3]));
    assert_true(at_result(&a, 0)[5] == -INFINITY);
    check(at_result(&a, 0)[4], poisson_gamma(0, times[0], 1.5, 2), 1e-12);
    exec_back(&a.x);
    assert_true(isfinite(at_adj(&a, "a", 0)[4]));
    at_close(&a);
    /* the density of a rate, without a prior of it that would make it proper */
    at_open(&a, &integral_gamma, "model { v ~ pareto(1, 2)\n y ~ pareto(1, v) }\nobserve y", NULL,
            "v", 0, INFINITY, 0);
    at_set(&a, "y", 0, 3);
    exec_run(&a.x);
    assert_false(isfinite(at_result(&a, 0)[0]));
    at_close(&a);
}

/* ---- derivatives -------------------------------------------------------------------------- */

static void derivatives(void **state)
{
    struct rng r;
    struct at a;
    (void)state;
    rng_init(&r, 3, 6);
    at_open(&a, &integral_gamma, pumps, pumps_data, "theta", 0, INFINITY, 8);
    a.x.lanes = 100;
    for (int b = 0; b < 100; b++) {
        at_row(&a, "a", 0)[b] = between(&r, 0.1, 1e3);
        at_row(&a, "b", 0)[b] = between(&r, 1e-3, 1e3);
        at_row(&a, "x", 1)[b] = floor(between(&r, 1, 1e3));
    }
    at_check_derivative(&a, "a", 0, 100, 1e-7);
    at_check_derivative(&a, "b", 0, 100, 1e-7);
    at_close(&a);
    at_open(&a, &integral_dirichlet,
            "model { for (k in 1:3) { a[k] ~ gamma(1, 1) }\n p[1:3] ~ dirichlet(a[1:3])\n"
            "y ~ categorical(p[1:3]) }\nobserve y",
            NULL, "p", 0, 1, 8);
    for (int b = 0; b < AT_LANES; b++) {
        for (int k = 0; k < 3; k++) at_row(&a, "a", k)[b] = between(&r, 0.01, 100);
        at_row(&a, "y", 0)[b] = 1 + b % 3;
    }
    for (int k = 0; k < 3; k++) at_check_derivative(&a, "a", k, AT_LANES, 1e-7);
    at_close(&a);
    at_open(&a, &integral_inv_gamma,
            "model { a ~ gamma(1, 1)\n mu ~ normal(0, 1)\n s2 ~ inv_gamma(a, 1.3)\n"
            "for (i in 1:4) { y[i] ~ normal(mu * i, sqrt(s2)) } }\nobserve y",
            NULL, "s2", 0, INFINITY, 0);
    for (int b = 0; b < AT_LANES; b++) {
        at_row(&a, "a", 0)[b] = between(&r, 0.1, 100);
        at_row(&a, "mu", 0)[b] = between(&r, 0.1, 100);
        for (int i = 0; i < 4; i++) at_row(&a, "y", i)[b] = rng_normal(&r);
    }
    at_check_derivative(&a, "a", 0, AT_LANES, 1e-7);
    at_check_derivative(&a, "mu", 0, AT_LANES, 1e-7);
    at_close(&a);
}

/* ---- which kind fits ------------------------------------------------------------------------ */

struct tried {
    const char *kind; /* "": none */
    double high;
    const char *model; /* of the latent v, and others */
};

static const struct tried models[] = {
    {"gamma", INFINITY, "v ~ gamma(2, 3)\n y ~ poisson(v)"},
    {"gamma", INFINITY, "v ~ gamma(2, 3)\n for (i in 1:9) { y[i] ~ poisson(v * i) }"},
    {"gamma", INFINITY, "v ~ exponential(3)\n y ~ exponential(v)"},
    {"gamma", INFINITY, "a ~ gamma(3, 3)\n v ~ chi_square(3)\n y ~ gamma(a, v)"},
    {"gamma", INFINITY, "m ~ normal(0, 9)\n v ~ gamma(2, 3)\n y ~ normal(m, 1 / sqrt(v))"},
    {"gamma", INFINITY, "m ~ normal(0, 9)\n v ~ gamma(0.1, 0.1)\n y ~ dnorm(m, v)"},
    {"gamma", INFINITY, "k ~ gamma(3, 3)\n v ~ gamma(2, 3)\n y ~ dweib(k, v)"},
    {"gamma", INFINITY, "v ~ gamma(2, 3)\n y ~ pareto(1.5, v)"},
    {"gamma", INFINITY, "v ~ gamma(2, 3)\n y ~ inv_gamma(2, v)"},
    {"inv_gamma", INFINITY, "v ~ inv_gamma(2, 3)\n y ~ normal(0, sqrt(v))"},
    {"inv_gamma", INFINITY, "v ~ inv_gamma(2, 3)\n y ~ exponential(1 / v)"},
    {"inv_gamma", INFINITY, "v ~ inv_gamma(2, 3)\n y ~ gamma(2.5, 4 / v)"},
    {"beta", 1, "v ~ beta(2, 3)\n y ~ bernoulli(v)"},
    {"beta", 1, "v ~ uniform(0, 1)\n y ~ binomial(20, v)"},
    {"beta", 1, "v ~ beta(2, 3)\n for (i in 1:4) { y[i] ~ dnegbin(v, 1) }"},
    {"beta", 1, "v ~ beta(0.5, 0.5)\n y ~ dnegbin(v, 4)"},
    {"beta", 1, "v ~ beta(2, 3)\n for (i in 1:4) { y[i] ~ geometric(v) }"},
    {"beta", 1, "v ~ beta(2, 3)\n y ~ bernoulli(1 - v)"},
    {"", INFINITY, "v ~ lognormal(0, 1)\n y ~ poisson(v)"},
    {"", INFINITY, "v ~ gamma(2, 3)\n y ~ poisson(v * v)"},
    {"", INFINITY, "v ~ gamma(2, 3)\n y ~ poisson(1 + v)"},
    {"", INFINITY, "v ~ gamma(2, 3)\n y ~ gamma(v, 1)"},
    {"", INFINITY, "v ~ gamma(2, 3)\n y ~ normal(0, v)"},
    {"", INFINITY, "v ~ gamma(2, 3)\n y ~ uniform(0, v)"},
    {"", INFINITY, "v ~ gamma(2, 3)\n y ~ normal(v, 1)"},
    {"", INFINITY, "v ~ half_cauchy(1)\n y ~ poisson(v)"},
    {"", INFINITY, "v ~ half_normal(1)\n y ~ exponential(v)"},
    {"", 1, "v ~ beta(2, 3)\n y ~ bernoulli(v * v)"},
    {"", 1, "v ~ beta(2, 3)\n y ~ bernoulli(0.1 + 0.8 * v)"},
    {"", 1, "v ~ kumaraswamy(2, 3)\n y ~ bernoulli(v)"},
    {"", 1, "v ~ gamma(2, 3) T(0, 1)\n y ~ poisson(v)"},
};

static void which_kind_fits(void **state)
{
    static const struct integral_kind *const kinds[] = {&integral_gamma, &integral_inv_gamma,
                                                        &integral_beta};
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        for (int k = 0; k < 3; k++) {
            struct at a;
            char text[400];
            nami_err err = {0};
            snprintf(text, sizeof text, "model { %s }\nobserve y", models[i].model);
            at_begin(&a, text, NULL);
            at_latent(&a, "v", 0, models[i].high);
            int rc = at_try(&a, kinds[k], 8, &err), want = !strcmp(kinds[k]->name, models[i].kind);
            if (rc) {
                assert_int_equal(rc, NAMI_EINPUT);
                assert_non_null(strstr(err.msg, "is not between"));
            } else {
                at_prior(&a);
            }
            if ((!rc && at_fits(&a)) != want)
                fail_msg("%s: %s %s", models[i].model, kinds[k]->name, want ? "no" : "yes");
            at_close(&a);
        }
}

static void which_vectors_fit(void **state)
{
    static const struct tried vectors[] = {
        {"yes", 1, "p[1:4] ~ dirichlet(c(2, 0.5, 3, 1))\n y ~ categorical(p[1:4])"},
        {"yes", 1, "p[1:2] ~ dirichlet(c(2, 0.5))\n y ~ bernoulli(p[1])"},
        {"yes", 1, "p[1:3] ~ dirichlet(c(2, 5, 3))\n y[1:3] ~ multinomial(p[1:3], 10)"},
        {"no", 1, "p[1:4] ~ dirichlet(c(2, 0.5, 3, 1))\n y ~ bernoulli(p[1] + p[2])"},
        {"no", 1, "p[1:4] ~ dirichlet(c(2, 0.5, 3, 1))\n y ~ bernoulli(p[1])"},
        {"no", 1, "p[1:4] ~ dirichlet(c(2, 0.5, 3, 1))\n y ~ normal(p[2], 1)"},
        {"no", 1, "for (i in 1:2) { p[i] ~ beta(2, 3) }\n y ~ bernoulli(p[1] * p[2])"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        struct at a;
        char text[400];
        snprintf(text, sizeof text, "model { %s }\nobserve y", vectors[i].model);
        at_open(&a, &integral_dirichlet, text, NULL, "p", 0, 1, 0);
        at_prior(&a);
        if (at_fits(&a) != !strcmp(vectors[i].kind, "yes"))
            fail_msg("%s: not '%s'", vectors[i].model, vectors[i].kind);
        at_close(&a);
    }
}

/* Of lanes that are not finite, most may be ignored, but not all. */
static void some_lanes_must_be_finite(void **state)
{
    struct at a;
    (void)state;
    at_open(&a, &integral_gamma, pumps, pumps_data, "theta", 0, INFINITY, 8);
    at_prior(&a);
    for (int b = 0; b < AT_LANES; b++)
        if (b % 3) at_row(&a, "a", 0)[b] = -1;
    assert_true(at_fits(&a));
    for (int b = 0; b < AT_LANES; b++)
        if (b % 5) at_row(&a, "a", 0)[b] = -1;
    assert_false(at_fits(&a));
    at_close(&a);
}

/* ---- draws and moments ------------------------------------------------------------------------
 */

enum { DRAWS = 20 * 1024 };

static void draws_are_exact(void **state)
{
    struct at a;
    double *x = malloc(sizeof *x * DRAWS), mean, var;
    (void)state;
    assert_non_null(x);
    at_open(&a, &integral_gamma, pumps, pumps_data, "theta", 0, INFINITY, 8);
    at_set(&a, "a", 0, 0.7);
    at_set(&a, "b", 0, 2.1);
    at_set(&a, "x", 2, 11);
    const double of_rate[3][2] = {{0.7, 2.1 + 1.7}, {0.7, 2.1003}, {11.7, 2.1 + 4100.5}};
    for (int i = 0; i < 3; i++) {
        at_draws(&a, i, DRAWS, x);
        at_kolmogorov(DRAWS, x, dist_gamma.cdf, of_rate[i]);
        at_moments(&a, i, &mean, &var);
        check(mean, of_rate[i][0] / of_rate[i][1], 1e-9);
        check(var, mean / of_rate[i][1], 1e-9);
    }
    at_close(&a);
    at_open(&a, &integral_inv_gamma,
            "model { v ~ inv_gamma(1.5, 3)\n y ~ normal(0, sqrt(v)) }\n"
            "observe y",
            NULL, "v", 0, INFINITY, 0);
    at_set(&a, "y", 0, 2);
    at_draws(&a, 0, DRAWS, x);
    at_kolmogorov(DRAWS, x, dist_inv_gamma.cdf, (const double[]){2, 5});
    at_moments(&a, 0, &mean, &var);
    assert_true(isnan(var));
    at_close(&a);
    at_open(&a, &integral_beta, "model { v ~ beta(0.4, 3)\n y ~ binomial(9, v) }\nobserve y", NULL,
            "v", 0, 1, 0);
    at_set(&a, "y", 0, 0);
    at_draws(&a, 0, DRAWS, x);
    at_kolmogorov(DRAWS, x, dist_beta.cdf, (const double[]){0.4, 12});
    at_moments(&a, 0, &mean, &var);
    check(mean, 0.4 / 12.4, 1e-9);
    at_close(&a);
    at_open(&a, &integral_dirichlet,
            "model { p[1:3] ~ dirichlet(c(2, 0.5, 1))\n y ~ categorical(p[1:3]) }\nobserve y", NULL,
            "p", 0, 1, 0);
    at_set(&a, "y", 0, 2);
    for (int k = 0; k < 3; k++) {
        const double alpha[] = {2, 1.5, 1};
        at_draws(&a, k, DRAWS, x);
        at_kolmogorov(DRAWS, x, dist_beta.cdf, (const double[]){alpha[k], 4.5 - alpha[k]});
        at_moments(&a, k, &mean, &var);
        check(mean, alpha[k] / 4.5, 1e-9);
        check(var, mean * (1 - mean) / 5.5, 1e-9);
    }
    at_close(&a);
    free(x);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(wide_ranges),
    cmocka_unit_test(lanes_are_independent),
    cmocka_unit_test(inverse_gamma),
    cmocka_unit_test(beta_binomial),
    cmocka_unit_test(dirichlet_multinomial),
    cmocka_unit_test(vague_prior),
    cmocka_unit_test(no_integral),
    cmocka_unit_test(derivatives),
    cmocka_unit_test(which_kind_fits),
    cmocka_unit_test(which_vectors_fit),
    cmocka_unit_test(some_lanes_must_be_finite),
    cmocka_unit_test(draws_are_exact),
};

RUN(tests)
