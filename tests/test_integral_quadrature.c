/* test_integral_quadrature.c: one-dimensional integrals by quadrature against fine grids in long
   double; derivatives, draws, moments; which integrands converge. */
#include "dist/dist.h"
#include "dist/math.h"
#include "exact/quadrature.h"
#include "malloc_fail.h"

#include "integral_at.h"

static double between(struct rng *r, double low, double high)
{
    return low * pow(high / low, rng_unit(r));
}

/* ---- the reference: log f(v; p) on a grid ------------------------------------------------- */

struct reference {
    long double (*f)(long double v, const double *p);
    double low, high;
};

static long double softplusl(long double x)
{
    return x > 0 ? x + log1pl(expl(-x)) : log1pl(expl(x));
}

static long double at_u(const struct reference *r, long double u, const double *p, long double *v)
{
    if (isinf(r->low) && isinf(r->high)) return r->f(*v = u, p);
    if (isinf(r->high)) return r->f(*v = r->low + expl(u), p) + u;
    if (isinf(r->low)) return r->f(*v = r->high - expl(u), p) + u;
    *v = r->low + (r->high - r->low) / (1 + expl(-u));
    return r->f(*v, p) + logl(r->high - r->low) - softplusl(u) - softplusl(-u);
}

/* The highest point of h on a grid that becomes finer, around it. */
static long double top(const struct reference *r, const double *p)
{
    long double at = 0, v, width = 1e5L, best = -INFINITY;
    for (int k = -500; k <= 500; k++) { /* first on a scale that has small and large numbers */
        long double u = sinhl(k * 0.024L) * 0.5L, h = at_u(r, u, p, &v);
        if (h > best) best = h, at = u, width = 0.03L * (1 + fabsl(u));
    }
    for (; width > 1e-12L; width *= 0.3L)
        for (int k = -20; k <= 20; k++) {
            long double u = at + width * k / 10, h = at_u(r, u, p, &v);
            if (h > best) best = h, at = u;
        }
    return at;
}

static long double width_of(const struct reference *r, const double *p, long double at, int side)
{
    long double d = 1e-9L, v, peak = at_u(r, at, p, &v);
    while (at_u(r, at + side * d, p, &v) > peak - 0.5L && d < 1e6L) d *= 1.1L;
    return d;
}

/* log of the integral; mean and variance */
static long double grid(const struct reference *r, const double *p, long double *mean,
                        long double *var)
{
    enum { N = 800 };
    long double at = top(r, p), v, at_v, sum = 0, one = 0, two = 0, peak = at_u(r, at, p, &at_v);
    long double left = width_of(r, p, at, -1), right = width_of(r, p, at, 1);
    long double scale = fminl(left, right), step = 16.L / N, bend = 1.5L;
    for (int k = -N; k <= N; k++) {
        long double t = k * step, u = at + scale * sinhl(bend * t) / bend;
        long double h = at_u(r, u, p, &v) - peak, w = expl(h) * coshl(bend * t);
        if (!(h > -200)) continue;
        sum += w;
        one += w * (v - at_v);
        two += w * (v - at_v) * (v - at_v);
    }
    one /= sum;
    *mean = at_v + one;
    *var = two / sum - one * one;
    return peak + logl(sum * scale * step);
}

/* ---- models and their integrands --------------------------------------------------------------
 */

static long double normal(long double x, long double m, long double s)
{
    long double z = (x - m) / s;
    return -z * z / 2 - logl(s) - LOG_2PI / 2;
}

/* p: two arguments, then data */
static long double poisson_lognormal(long double v, const double *p)
{
    return normal(v, p[0], p[1]) + p[2] * v - expl(v) - lgammal(p[2] + 1.L);
}

static long double binomial_logit(long double v, const double *p)
{
    return normal(v, p[0], p[1]) - p[2] * softplusl(-v) - (9 - p[2]) * softplusl(v) + lgammal(10) -
           lgammal(p[2] + 1.L) - lgammal(10.L - p[2]);
}

static long double gamma_shape(long double v, const double *p)
{
    long double s = 2 * logl(p[0]) + logl(v) - p[0] * v;
    for (int i = 0; i < 3; i++)
        s += v * logl(p[1]) - lgammal(v) + (v - 1) * logl(p[2 + i]) - p[1] * p[2 + i];
    return s;
}

static long double cauchy_scale(long double v, const double *p)
{
    long double z = v / p[0], s = logl(2 / M_PI) - logl(p[0]) - log1pl(z * z);
    for (int i = 0; i < 3; i++) s += normal(p[2 + i], 0, v / p[1]);
    return s;
}

static long double t_normal(long double v, const double *p)
{
    long double z = (v - p[0]) / p[1];
    return lgammal(2.5L) - lgammal(2) - logl(4 * M_PI) / 2 - logl(p[1]) - 2.5L * log1pl(z * z / 4) +
           normal(v, p[2], 1);
}

static long double bounded(long double v, const double *p)
{
    return -logl(7) + normal(v, p[2], p[1]);
}

static long double cut_normal(long double v, const double *p)
{
    return normal(v, p[0], p[1]) - logl(erfcl((p[0] - 2) / p[1] / sqrtl(2)) / 2) - softplusl(-v);
}

static const struct tried {
    const char *model;
    int num_data;
    struct reference reference;
    double low, high; /* of p[2]; p[1] is normal, or like this if positive */
    int positive;
    double least, most; /* data: rounded down if most is an integer */
} models[] = {
    {"v ~ normal(p[1], p[2])\n y[1] ~ poisson(exp(v))",
     1,
     {poisson_lognormal, -INFINITY, INFINITY},
     0.05,
     20,
     0,
     0.5,
     2000},
    {"v ~ normal(p[1], p[2])\n y[1] ~ binomial(9, ilogit(v))",
     1,
     {binomial_logit, -INFINITY, INFINITY},
     0.05,
     20,
     0,
     0.5,
     10},
    {"v ~ gamma(2, p[1])\n for (i in 1:3) { y[i] ~ gamma(v, p[2]) }",
     3,
     {gamma_shape, 0, INFINITY},
     0.1,
     10,
     1,
     0.1,
     10.5},
    {"v ~ half_cauchy(p[1])\n for (i in 1:3) { y[i] ~ normal(0, v / p[2]) }",
     3,
     {cauchy_scale, 0, INFINITY},
     0.1,
     10,
     1,
     0.1,
     10.5},
    {"v ~ student_t(4, p[1], p[2])\n y[1] ~ normal(v, 1)",
     1,
     {t_normal, -INFINITY, INFINITY},
     0.7,
     20,
     0,
     0.1,
     10.5},
    {"v ~ uniform(-2, 5)\n y[1] ~ normal(v, p[2])", 1, {bounded, -2, 5}, 0.05, 20, 0, 0.1, 7.5},
    {"v ~ normal(p[1], p[2]) T(,2)\n y[1] ~ bernoulli(ilogit(v))",
     1,
     {cut_normal, -INFINITY, 2},
     0.05,
     20,
     0,
     1,
     1},
};
enum { MODELS = sizeof models / sizeof *models };

static void open_model(struct at *a, const struct tried *m, int slab)
{
    char text[400];
    snprintf(text, sizeof text, "model { for (j in 1:2) { p[j] ~ gamma(1, 1) }\n %s }\nobserve y",
             m->model);
    at_open(a, &integral_quadrature, text, NULL, "v", m->reference.low, m->reference.high, slab);
}

static void random_inputs(struct at *a, const struct tried *m, struct rng *r)
{
    for (int b = 0; b < AT_LANES; b++) {
        at_row(a, "p", 0)[b] = m->positive ? between(r, m->low, m->high) : 3 * rng_normal(r);
        at_row(a, "p", 1)[b] = between(r, m->low, m->high);
        for (int i = 0; i < m->num_data; i++) {
            double y = between(r, m->least, m->most);
            at_row(a, "y", i)[b] = m->most == floor(m->most) ? floor(y) : y;
        }
    }
}

static long double wanted(const struct at *a, const struct tried *m, int b, long double *mean,
                          long double *var)
{
    double p[5] = {at_row(a, "p", 0)[b], at_row(a, "p", 1)[b]};
    for (int i = 0; i < m->num_data; i++) p[2 + i] = at_row(a, "y", i)[b];
    return grid(&m->reference, p, mean, var);
}

/* All within 1e-6; nearly all within 1e-8. */
static void values_equal_fine_grids(void **state)
{
    static const int lanes[] = {1, 7, 64, 100};
    struct rng r;
    (void)state;
    rng_init(&r, 3, 1);
    for (int k = 0; k < MODELS; k++) {
        struct at a;
        int far = 0, all = 0;
        open_model(&a, &models[k], k % 2 ? 8 : 0);
        for (int round = 0; round < 4; round++) {
            random_inputs(&a, &models[k], &r);
            a.x.lanes = lanes[round];
            exec_run(&a.x);
            for (int b = 0; b < a.x.lanes; b++, all++) {
                long double mean, var, want = wanted(&a, &models[k], b, &mean, &var);
                double error = fabs(at_result(&a, 0)[b] - (double)want);
                far += error > 1e-8;
                if (!(error <= 1e-6))
                    fail_msg("%s: %.12g is not %.12Lg with p = %g, %g, y = %g", models[k].model,
                             at_result(&a, 0)[b], want, at_row(&a, "p", 0)[b],
                             at_row(&a, "p", 1)[b], at_row(&a, "y", 0)[b]);
            }
        }
        if (far > all / 8) fail_msg("%s: %d of %d", models[k].model, far, all);
        at_close(&a);
    }
}

static void moments_equal_fine_grids(void **state)
{
    struct rng r;
    (void)state;
    rng_init(&r, 3, 2);
    for (int k = 0; k < MODELS; k++) {
        if (k == 3) continue; /* few finite moments */
        struct at a;
        open_model(&a, &models[k], 0);
        for (int round = 0; round < 5; round++) {
            double mean, var;
            long double mean_wanted, var_wanted;
            random_inputs(&a, &models[k], &r);
            wanted(&a, &models[k], 0, &mean_wanted, &var_wanted);
            at_moments(&a, 0, &mean, &var);
            double sd = sqrt((double)var_wanted);
            if (!(fabs(mean - (double)mean_wanted) <= 1e-5 * sd &&
                  fabs(var - (double)var_wanted) <= 1e-4 * (double)var_wanted))
                fail_msg("%s: %g, %g are not %Lg, %Lg", models[k].model, mean, var, mean_wanted,
                         var_wanted);
        }
        at_close(&a);
    }
}

static void derivatives(void **state)
{
    struct rng r;
    (void)state;
    rng_init(&r, 3, 3);
    for (int k = 0; k < MODELS; k++) {
        struct at a;
        open_model(&a, &models[k], 16);
        random_inputs(&a, &models[k], &r);
        a.x.lanes = 20;
        for (int j = 0; j < 2; j++)
            for (int b = 0; b < AT_LANES; b++) at_row(&a, "p", j)[b] = fabs(at_row(&a, "p", j)[b]);
        for (int j = 0; j < 2; j++) at_check_derivative(&a, "p", j, 20, 1e-5);
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
    rng_init(&r, 3, 4);
    open_model(&a, &models[0], 16);
    random_inputs(&a, &models[0], &r);
    exec_run(&a.x);
    memcpy(together, at_result(&a, 0), sizeof together);
    for (int b = 0; b < AT_LANES; b++) {
        at_row(&a, "p", 0)[0] = at_row(&a, "p", 0)[b];
        at_row(&a, "p", 1)[0] = at_row(&a, "p", 1)[b];
        at_row(&a, "y", 0)[0] = at_row(&a, "y", 0)[b];
        a.x.lanes = 1;
        exec_run(&a.x);
        assert_true(at_result(&a, 0)[0] == together[b]);
    }
    at_close(&a);
}

/* A plate: components are integrated side by side. Modes are far away, and narrow. */
static void plates_and_far_modes(void **state)
{
    static const double y[] = {1e4, -3e3, 0.02, 7e4};
    struct at a;
    (void)state;
    at_open(&a, &integral_quadrature,
            "model { for (i in 1:4) { v[i] ~ normal(0, 1e5)\n y[i] ~ normal(v[i], 0.01) } }\n"
            "observe y",
            NULL, "v", -INFINITY, INFINITY, 0);
    for (int i = 0; i < 4; i++) at_set(&a, "y", i, y[i]);
    exec_run(&a.x);
    for (int i = 0; i < 4; i++) {
        double sd = hypot(1e5, 0.01), z = y[i] / sd, want = -z * z / 2 - log(sd) - LOG_2PI / 2;
        if (!(fabs(at_result(&a, i)[9] - want) < 1e-8))
            fail_msg("%.12g is not %.12g", at_result(&a, i)[9], want);
    }
    at_close(&a);
    at_open(&a, &integral_quadrature, /* counts from none to millions */
            "model { for (i in 1:4) { v[i] ~ gamma(0.5, 0.01)\n y[i] ~ poisson(v[i]) } }\n"
            "observe y",
            NULL, "v", 0, INFINITY, 0);
    static const double count[] = {0, 3, 1000, 3e6};
    for (int i = 0; i < 4; i++) at_set(&a, "y", i, count[i]);
    exec_run(&a.x);
    for (int i = 0; i < 4; i++) {
        double want = lgamma(count[i] + 0.5) - lgamma(0.5) - lgamma(count[i] + 1) +
                      0.5 * log(0.01) - (count[i] + 0.5) * log(1.01);
        if (!(fabs(at_result(&a, i)[9] - want) < 1e-6))
            fail_msg("%.12g is not %.12g", at_result(&a, i)[9], want);
    }
    at_close(&a);
}

/* ---- more than one mode
 * --------------------------------------------------------------------------
 */

static long double lorentz(long double z, double nu) /* Student t, not normalized */
{
    return -(nu + 1) / 2 * log1pl(z * z / nu);
}

static long double two_sides(long double v, const double *p)
{
    return normal(v, 0, p[0]) + normal(p[2], v, sqrtl(p[1] + v * v));
}

static long double far_spike(long double v, const double *p)
{
    return normal(v, 0, 1) + lorentz((p[2] - v) / p[1], 4) + lgammal(2.5L) - lgammal(2) -
           logl(4 * M_PI) / 2 - logl(p[1]);
}

static long double two_tails(long double v, const double *p)
{
    return lorentz(v / p[0], 2) + lorentz((p[2] - v) / p[1], 2) - 2 * logl(2 * sqrtl(2)) -
           logl(p[0] * p[1]);
}

/* On a grid that is dense around 0 and around y. */
static long double dense(long double (*f)(long double, const double *), const double *p)
{
    enum { N = 10000 };
    static long double u[2 * N + 3];
    long double sum = 0;
    for (int k = -N; k <= N; k++) u[k + N] = sinhl(k * 14.L / N) * 1e-3L;
    for (int k = -N; k < N; k++) {
        long double a = u[k + N], b = u[k + N + 1],
                    mid = p[2] / 2; /* both halves: from either end */
        if (a < mid) sum += expl(f((a + b) / 2, p)) * (fminl(b, mid) - a);
        a = p[2] - a, b = p[2] - b;
        if (a > mid) sum += expl(f((a + b) / 2, p)) * (a - fmaxl(b, mid));
    }
    return logl(sum);
}

/* Modes beyond a valley, and narrow ones between nodes: the value is right, or there is none. */
static void no_mode_goes_unnoticed(void **state)
{
    static const struct tried many[] = {
        {"v ~ normal(0, p[1])\n y[1] ~ normal(v, sqrt(p[2] + v * v))",
         1,
         {two_sides, -INFINITY, INFINITY},
         1e-3,
         10,
         1,
         0.5,
         10.5},
        {"v ~ normal(0 * p[1], 1)\n y[1] ~ student_t(4, v, p[2])",
         1,
         {far_spike, -INFINITY, INFINITY},
         0.02,
         0.2,
         1,
         4,
         10.5},
        {"v ~ student_t(2, 0, p[1])\n y[1] ~ student_t(2, v, p[2])",
         1,
         {two_tails, -INFINITY, INFINITY},
         0.1,
         10,
         1,
         1,
         30.5},
    };
    struct rng r;
    (void)state;
    rng_init(&r, 3, 7);
    for (size_t k = 0; k < sizeof many / sizeof *many; k++) {
        struct at a;
        int wrong = 0, none = 0;
        open_model(&a, &many[k], 0);
        random_inputs(&a, &many[k], &r);
        exec_run(&a.x);
        for (int b = 0; b < AT_LANES; b++) {
            double p[] = {at_row(&a, "p", 0)[b], at_row(&a, "p", 1)[b], at_row(&a, "y", 0)[b]};
            double error = fabs(at_result(&a, 0)[b] - (double)dense(many[k].reference.f, p));
            none += isnan(error);
            wrong += error > 1e-4;
        }
        if (wrong || none > AT_LANES / 4)
            fail_msg("%s: %d have no value, %d a wrong one", many[k].model, none, wrong);
        at_close(&a);
    }
}

/* ---- draws -------------------------------------------------------------------------------------
 */

enum { DRAWS = 50 * 1024 };

static double normal_cdf(double x, const double *p) { return normal_p((x - p[0]) / p[1]); }

static void draws_are_exact(void **state)
{
    static const struct drawn {
        const char *model;
        double low, high, y;
        double (*cdf)(double, const double *);
        double p[2];
    } drawn[] = {
        {"v ~ gamma(0.7, 2)\n y ~ poisson(3 * v)", 0, INFINITY, 0, NULL, {0.7, 5}},
        {"v ~ gamma(0.7, 2)\n y ~ poisson(3 * v)", 0, INFINITY, 20, NULL, {20.7, 5}},
        {"v ~ normal(3, 4)\n y ~ normal(v, 3)", -INFINITY, INFINITY, 8, normal_cdf, {6.2, 2.4}},
        {"v ~ beta(2, 0.5)\n y ~ binomial(3, v)", 0, 1, 2, NULL, {4, 1.5}},
        {"v ~ inv_gamma(2, 3)\n y ~ normal(0, sqrt(v))", 0, INFINITY, 4, NULL, {2.5, 11}},
    };
    double *x = malloc(sizeof *x * DRAWS);
    (void)state;
    assert_non_null(x);
    for (size_t k = 0; k < sizeof drawn / sizeof *drawn; k++) {
        struct at a;
        char text[200];
        double (*cdf)(double, const double *) = drawn[k].cdf         ? drawn[k].cdf
                                                : drawn[k].high == 1 ? dist_beta.cdf
                                                : k == 4             ? dist_inv_gamma.cdf
                                                                     : dist_gamma.cdf;
        snprintf(text, sizeof text, "model { %s }\nobserve y", drawn[k].model);
        at_open(&a, &integral_quadrature, text, NULL, "v", drawn[k].low, drawn[k].high, 0);
        at_set(&a, "y", 0, drawn[k].y);
        at_draws(&a, 0, DRAWS, x);
        at_kolmogorov(DRAWS, x, cdf, drawn[k].p);
        at_close(&a);
    }
    free(x);
}

/* ---- which integrands converge -----------------------------------------------------------------
 */

static void which_integrands_fit(void **state)
{
    static const struct {
        int fits;
        double low, high;
        const char *model;
    } tried[] = {
        {1, -INFINITY, INFINITY, "v ~ normal(0, 2)\n y ~ poisson(exp(v))"},
        {1, -INFINITY, INFINITY,
         "s ~ half_normal(3)\n v ~ normal(0, s)\n y ~ bernoulli(ilogit(v))"},
        {1, -INFINITY, INFINITY, "v ~ student_t(3, 0, 1)\n y ~ normal(v, 1)"},
        {1, 0, INFINITY, "v ~ lognormal(0, 2)\n y ~ poisson(v)"},
        {1, 0, INFINITY, "v ~ half_normal(3)\n for (i in 1:9) { y[i] ~ normal(0, v) }"},
        {1, 0, INFINITY, "v ~ weibull(2, 3)\n y ~ weibull(v, 1)"},
        {1, 0, 1, "v ~ beta(2, 3)\n y ~ bernoulli(0.1 + 0.8 * v)"},
        {1, -1, 1, "v ~ uniform(-1, 1)\n y ~ normal(0.5 * v, 1)"},
        {0, 0, INFINITY, "v ~ gamma(2, 3)\n y ~ uniform(0, v)"},
        {0, 0, INFINITY, "v ~ gamma(0.001, 0.001)\n y ~ bernoulli(0.5 + 0.01 * exp(-v))"},
        {0, -INFINITY, INFINITY, "v ~ normal(0, 1)\n y ~ normal(step(v - 0.3) * 3, 1)"},
        /* two modes, of which the second is found; far apart; one inside the other */
        {1, -INFINITY, INFINITY, "v ~ normal(0, 1)\n y ~ normal((v + 0.5)^2, 1)"},
        {1, -INFINITY, INFINITY, "v ~ normal(0, 1)\n y ~ normal(v^2, 1)"},
        {0, -INFINITY, INFINITY, "v ~ normal(0, 1)\n y ~ normal(v * v, 0.1)"},
        {0, -INFINITY, INFINITY, "v ~ normal(0, 1)\n y ~ normal(exp(-(100 * (v - 1.1))^2), 0.1)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        struct at a;
        char text[400];
        snprintf(text, sizeof text, "model { %s }\nobserve y", tried[i].model);
        at_open(&a, &integral_quadrature, text, NULL, "v", tried[i].low, tried[i].high, 8);
        at_prior(&a);
        if (at_fits(&a) != tried[i].fits)
            fail_msg("%s: %s", tried[i].model, tried[i].fits ? "no" : "yes");
        at_close(&a);
    }
}

/* NaN where arguments are invalid or log Z does not converge, in these lanes only; -infinity where
   the integrand is 0. */
static void no_integral(void **state)
{
    struct at a;
    (void)state;
    open_model(&a, &models[0], 8);
    at_set(&a, "p", 0, 0.5);
    at_set(&a, "p", 1, 1.5);
    at_row(&a, "p", 1)[3] = -2;
    at_row(&a, "y", 0)[5] = 0.5;
    exec_run(&a.x);
    exec_back(&a.x);
    assert_true(isnan(at_result(&a, 0)[3]));
    assert_true(at_result(&a, 0)[5] == -INFINITY);
    assert_true(isfinite(at_result(&a, 0)[4]) && isfinite(at_adj(&a, "p", 0)[4]));
    at_close(&a);
    at_begin(&a, "model { v[1:2] ~ dirichlet(c(1, 1))\n y ~ bernoulli(v[1]) }\nobserve y", NULL);
    at_latent(&a, "v", 0, 1);
    nami_err err = {0};
    assert_int_equal(at_try(&a, &integral_quadrature, 0, &err), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "shares a factor"));
    at_close(&a);
}

/* Which integrands are known to have one mode; the others are searched for more. */
static void which_are_concave(void **state)
{
    static const struct {
        int concave;
        const char *model;
    } tried[] = {
        {1, "v ~ normal(m, s)\n y ~ poisson(exp(m + s * v))"},
        {1, "v ~ normal(m, s)\n y ~ bernoulli_logit(m - 2 * v)"},
        {1, "v ~ logistic(0, s)\n y ~ binomial(5, ilogit(v / s))"},
        {1, "v ~ normal(0, 1)\n logit(q) <- m + v\n y ~ bernoulli(q)"},
        {1, "v ~ normal(0, 1)\n y ~ bernoulli(phi(v))"},
        {0, "v ~ normal(0, 1)\n y ~ normal(1, 2 + v)"},
        {0, "v ~ student_t(4, m, s)\n y ~ normal(v, 1)"},
        {0, "v ~ normal(m, s)\n y ~ normal(v^2, 1)"},
        {0, "v ~ normal(m, s)\n y ~ normal(m, exp(v))"},
        {0, "v ~ normal(m, s) T(,2)\n y ~ bernoulli(ilogit(v))"},
        {0, "v ~ normal(m, s)\n y ~ bernoulli(ilogit(v^2))"},
        {0, "v ~ normal(m, s)\n y ~ poisson(exp(v) + 1)"},
        {0, "v ~ gamma(2, s)\n y ~ poisson(v)"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
        struct at a;
        char text[300];
        nami_err err = {0};
        int positive = strstr(tried[k].model, "v ~ gamma") != NULL;
        double high = strstr(tried[k].model, "T(,2)") ? 2 : INFINITY;
        snprintf(text, sizeof text, "model { m ~ normal(0, 1)\n s ~ gamma(2, 2)\n %s }\nobserve y",
                 tried[k].model);
        at_begin(&a, text, NULL);
        at_latent(&a, "v", positive ? 0 : -INFINITY, high);
        assert_int_equal(at_try(&a, &integral_quadrature, 0, &err), 0);
        unsigned char concave;
        assert_int_equal(find_concave(&a.g, &concave, &err), 0);
        if (concave != tried[k].concave) fail_msg("%s: %d", tried[k].model, concave);
        at_close(&a);
    }
}

static void out_of_memory(void **state)
{
    (void)state;
    struct at a;
    open_model(&a, &models[1], 0);
    at_out_of_memory(&a, &integral_quadrature);
    at_close(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(which_are_concave),
    cmocka_unit_test(out_of_memory),
    cmocka_unit_test(values_equal_fine_grids),
    cmocka_unit_test(moments_equal_fine_grids),
    cmocka_unit_test(derivatives),
    cmocka_unit_test(lanes_are_independent),
    cmocka_unit_test(plates_and_far_modes),
    cmocka_unit_test(no_mode_goes_unnoticed),
    cmocka_unit_test(draws_are_exact),
    cmocka_unit_test(which_integrands_fit),
    cmocka_unit_test(no_integral),
};

RUN(tests)
