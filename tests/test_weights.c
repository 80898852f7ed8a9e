/* test_weights.c: importance weights (Pareto smoothing, k-hat, effective sample size, evidence) and
   summaries of weighted draws agree with their definitions and with known values. */

#include "run.h"

#include <math.h>

#include "base/rng.h"
#include "base/stream.h"
#include "infer/summary.h"
#include "infer/weights.h"
#include "malloc_fail.h"

#define near(a, b, tol)                                                                            \
    do {                                                                                           \
        double a_ = (a), b_ = (b);                                                                 \
        if (!(fabs(a_ - b_) <= (tol)))                                                             \
            fail_msg("%s = %.10g, not %.10g +- %.2g", #a, a_, b_, (double)(tol));                  \
    } while (0)

static double *numbers(size_t n)
{
    double *x = calloc(n, sizeof *x);
    assert_non_null(x);
    return x;
}

static int increasing(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double gpd_draw(struct rng *r, double k) { return expm1(-k * log(rng_open(r))) / k; }

/* ---- shapes of tails ---------------------------------------------------------------- */

static const double shapes[] = {-0.3, 0.2, 0.5, 0.7, 1.2};
enum { NSHAPE = sizeof shapes / sizeof *shapes };

/* The standard error of an efficient estimate is (1 + k) / sqrt n for k > -1/2. */
static void gpd(void **state)
{
    (void)state;
    enum { N = 4000 };
    static double x[N];
    struct rng r;
    double k, sigma;
    for (int s = 0; s < NSHAPE; s++) {
        rng_init(&r, 11, (uint64_t)s);
        for (int i = 0; i < N; i++) x[i] = 3 * gpd_draw(&r, shapes[s]);
        qsort(x, N, sizeof *x, increasing);
        gpd_fit(N, x, &k, &sigma);
        near(k, shapes[s], 4 * (1 + shapes[s]) / sqrt(N));
        near(log(sigma / 3), 0, 4 * sqrt(2 * (1 + shapes[s]) / N));
    }
}

/* What is above a threshold has the same shape; the prior pulls by 10 (0.5 - k) / (tail + 10). */
static void khat(void **state)
{
    (void)state;
    enum { N = 200000 };
    double *lw = numbers(N), tail = ceil(3 * sqrt(N));
    struct rng r;
    struct psis p;
    for (int s = 0; s < NSHAPE; s++) {
        rng_init(&r, 12, (uint64_t)s);
        for (int i = 0; i < N; i++) lw[i] = 500 + log(gpd_draw(&r, shapes[s]));
        assert_int_equal(psis(N, lw, &p, NULL), 0);
        near(p.khat, (tail * shapes[s] + 5) / (tail + 10), 4 * (1 + shapes[s]) / sqrt(tail));
        assert_int_equal(p.tail, (size_t)tail);
        double sum = 0;
        for (int i = 0; i < N; i++) sum += exp(lw[i]);
        near(sum, 1, 1e-9);
    }
    free(lw);
    near(khat_limit(100), 0.5, 1e-12);
    near(khat_limit(100000), 0.7, 1e-12);
    assert_true(khat_limit(1) < 0);
}

/* ---- the paper's algorithm again, naively ------------------------------------------- */

/* Zhang and Stephens: theta_j, L(theta_j), weights, theta; all in long double. */
static double naive_fit(int n, const long double *x, long double *sigma)
{
    int m = 30 + (int)floor(sqrt(n));
    long double theta[200], l[200], mean = 0;
    assert_true(m < 200);
    for (int j = 1; j <= m; j++) {
        theta[j] =
            1 / x[n] + (1 - sqrtl((long double)m / ((long double)j - 0.5L))) / 3 / x[(n + 2) / 4];
        long double k = 0;
        for (int i = 1; i <= n; i++) k -= logl(1 - theta[j] * x[i]) / n;
        l[j] = n * (logl(theta[j] / k) + k - 1);
    }
    for (int j = 1; j <= m; j++) {
        long double s = 0;
        for (int i = 1; i <= m; i++) s += expl(l[i] - l[j]);
        mean += theta[j] / s;
    }
    long double k = 0;
    for (int i = 1; i <= n; i++) k += logl(1 - mean * x[i]) / n;
    *sigma = -k / mean;
    return (double)((n * k + 5) / (n + 10));
}

/* Weights in, smoothed and normalised weights out. */
static double naive_psis(int n, double *w)
{
    int tail = (int)ceil(fmin(n / 5.0, 3 * sqrt(n)));
    double *sorted = numbers((size_t)n), k;
    long double *x = calloc((size_t)tail + 1, sizeof *x), sigma, sum = 0;
    memcpy(sorted, w, (size_t)n * sizeof *w);
    qsort(sorted, (size_t)n, sizeof *w, increasing);
    double cut = sorted[n - tail - 1], max = sorted[n - 1];
    for (int z = 1; z <= tail; z++) x[z] = (long double)sorted[n - tail - 1 + z] - cut;
    k = naive_fit(tail, x, &sigma);
    for (int i = 0; i < n; i++) {
        if (w[i] <= cut) continue;
        int rank = 1; /* in the tail */
        for (int j = 0; j < n; j++) rank += sorted[j] > cut && sorted[j] < w[i];
        w[i] = (double)(cut + sigma / k * (powl(1 - (rank - 0.5L) / tail, -k) - 1));
        if (w[i] > max) w[i] = max;
    }
    for (int i = 0; i < n; i++) sum += w[i];
    for (int i = 0; i < n; i++) w[i] /= (double)sum;
    free(sorted);
    free(x);
    return k;
}

static void naively(void **state)
{
    (void)state;
    static const int size[] = {25, 37, 100, 225, 226, 1000, 3000};
    struct rng r;
    for (size_t s = 0; s < sizeof size / sizeof *size; s++)
        for (int scale = 0; scale < 5; scale++) { /* some weight is twice the mean */
            int n = size[s];
            double *lw = numbers((size_t)n), *w = numbers((size_t)n), k, lm = 0;
            struct psis p;
            rng_init(&r, 13, s * 8 + (uint64_t)scale);
            for (int i = 0; i < n; i++) lw[i] = (0.5 + scale) * rng_normal(&r) - 2;
            for (int i = 0; i < n; i++) w[i] = exp(lw[i]);
            assert_int_equal(psis((size_t)n, lw, &p, NULL), 0);
            k = naive_psis(n, w);
            near(p.khat, k, 1e-8);
            for (int i = 0; i < n; i++) near(lw[i], log(w[i]), 1e-7);
            assert_int_equal(p.tail, (int)ceil(fmin(n / 5.0, 3 * sqrt(n))));
            /* the least weight is not smoothed: what it lost is the sum */
            rng_init(&r, 13, s * 8 + (uint64_t)scale);
            lm = (0.5 + scale) * rng_normal(&r) - 2;
            if (lw[0] < log(1.0 / n) - 1) near(p.log_mean, lm - lw[0] - log(n), 1e-9);
            free(lw);
            free(w);
        }
}

/* ---- evidence ----------------------------------------------------------------------- */

static double log_normal(double x, double mean, double sd)
{
    double z = (x - mean) / sd;
    return -0.5 * z * z - log(sd) - 0.91893853320467274;
}

/* z ~ N(0, 1), y ~ N(z, 1/2), from q = N(0.3, 0.8): p(y) is N(0, sqrt(5)/2) at y. */
static double gaussian(uint64_t seed, size_t n, double *z, double *lw)
{
    const double y = 1.1;
    struct rng r;
    rng_init(&r, 14, seed);
    for (size_t i = 0; i < n; i++) {
        z[i] = 0.3 + 0.8 * rng_normal(&r);
        lw[i] = log_normal(z[i], 0, 1) + log_normal(y, z[i], 0.5) - log_normal(z[i], 0.3, 0.8);
    }
    return log_normal(y, 0, sqrt(1.25));
}

static void evidence(void **state)
{
    (void)state;
    enum { N = 2000, RUNS = 200 };
    static double z[N], lw[N];
    double sum = 0, sum2 = 0, errors = 0, se, exact = 0;
    struct psis p;
    for (uint64_t k = 0; k < RUNS; k++) {
        exact = gaussian(k, N, z, lw);
        double lz = weights_log_mean(N, lw, &se);
        near(lz, exact, 4 * se);
        sum += lz - exact;
        sum2 += (lz - exact) * (lz - exact);
        errors += se * se;
        double ess = weights_ess(N, lw);
        near(se, sqrt((N / ess - 1) / (N - 1)), 1e-9); /* the same thing */
        assert_int_equal(psis(N, lw, &p, NULL), 0);
        near(p.log_mean, exact, 4 * se);
        assert_true(p.khat < khat_limit(N));
    }
    near(sum / RUNS, 0, 4 * sqrt(errors) / RUNS + errors / RUNS);
    near(sqrt(sum2 / errors), 1, 4 / sqrt(2 * RUNS)); /* the error bars are right */
}

static void ess(void **state)
{
    (void)state;
    const double equal[] = {-1000, -1000, -1000, -1000}, one[] = {-INFINITY, 800, -INFINITY},
                 none[] = {-INFINITY, -INFINITY}, two[] = {log(3), log(1)};
    double se, w[] = {1000, 1000 + log(3)};
    near(weights_ess(4, equal), 4, 1e-12);
    near(weights_ess(3, one), 1, 0);
    near(weights_ess(2, none), 0, 0);
    near(weights_ess(2, two), 1.6, 1e-12);
    near(weights_log_mean(4, equal, &se), -1000, 0);
    near(se, 0, 0);
    near(weights_log_mean(3, one, &se), 800 - log(3), 1e-12);
    near(se, 1, 1e-12);
    assert_true(weights_log_mean(2, none, &se) == -INFINITY && se == INFINITY);
    near(weights_log_mean(1, equal, &se), -1000, 0);
    assert_true(se == INFINITY);
    near(weights_normalise(2, w), 1000 + log(4), 1e-12);
    near(w[0], log(0.25), 1e-12);
    near(w[1], log(0.75), 1e-12);
}

/* ---- odd inputs --------------------------------------------------------------------- */

static struct psis smoothed(size_t n, double *lw)
{
    struct psis p;
    nami_err err;
    if (psis(n, lw, &p, &err)) fail_msg("%s", err.msg);
    for (size_t i = 0; i < n; i++) assert_false(isnan(lw[i]));
    return p;
}

static void degenerate(void **state)
{
    (void)state;
    enum { N = 1000 };
    static double lw[N];
    struct psis p;
    struct rng r;
    nami_err err;

    for (int i = 0; i < N; i++) lw[i] = 700; /* equal */
    p = smoothed(N, lw);
    assert_true(p.khat == NO_TAIL && p.tail == 0);
    near(lw[5], -log(N), 1e-12);
    near(p.log_mean, 700, 1e-12);

    for (int i = 0; i < N; i++) lw[i] = i % 2; /* bounded by the half of them */
    assert_true(smoothed(N, lw).khat == NO_TAIL);

    rng_init(&r, 15, 0);
    for (int i = 0; i < N; i++) lw[i] = -3e4 + 1e-11 * gpd_draw(&r, 0.9); /* rounding errors */
    assert_true(smoothed(N, lw).khat == NO_TAIL);

    for (int i = 0; i < N; i++) lw[i] = -2e59; /* equal, since there are no digits to differ in */
    assert_true(smoothed(N, lw).khat == INFINITY);

    for (int i = 0; i < N; i++) lw[i] = i < 4 ? i : -1; /* ties at the cutoff, 3 above */
    assert_true(smoothed(N, lw).khat == INFINITY);

    for (int i = 0; i < N; i++) lw[i] = i % 50 < 3 ? -i / 100.0 : -20; /* ties, 60 above */
    p = smoothed(N, lw);
    assert_true(isfinite(p.khat));
    assert_int_equal(p.tail, 60);

    for (int i = 0; i < N; i++) lw[i] = -1e6 * i; /* one draw has it all */
    p = smoothed(N, lw);
    assert_true(p.khat == INFINITY);
    near(lw[0], 0, 0);

    for (int i = 0; i < N; i++) lw[i] = -10.0 * i; /* enormous tails are finite */
    p = smoothed(N, lw);
    assert_true(p.khat > 1);

    for (int i = 0; i < N; i++) lw[i] = i < 50 ? -i / 50.0 : -INFINITY; /* most are 0 */
    p = smoothed(N, lw);
    assert_int_equal(p.tail, 50);
    assert_true(lw[60] == -INFINITY);

    for (int i = 0; i < N; i++) lw[i] = -INFINITY; /* all are 0 */
    p = smoothed(N, lw);
    assert_true(p.khat == INFINITY && p.log_mean == -INFINITY && lw[3] == -INFINITY);

    for (size_t n = 1; n <= 20; n++) { /* too few */
        for (size_t i = 0; i < n; i++) lw[i] = (double)i;
        assert_true(smoothed(n, lw).khat == INFINITY);
    }
    for (size_t i = 0; i < 21; i++) lw[i] = (double)i / 4;
    assert_true(isfinite(smoothed(21, lw).khat));

    lw[7] = (double)NAN;
    lw[1] = 42;
    assert_int_equal(psis(N, lw, &p, &err), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "of draw 8, log p(x, z) - log q(z | x), is NaN"));
    lw[7] = INFINITY;
    assert_int_equal(psis(N, lw, &p, &err), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "is infinite"));
    lw[7] = 1e14; /* nothing is left of the digits that count */
    assert_int_equal(psis(N, lw, &p, &err), NAMI_EINPUT);
    near(lw[1], 42, 0);
}

/* ---- summaries ---------------------------------------------------------------------- */

static struct summary summary_of(size_t n, const double *x, const double *lw)
{
    struct summary s;
    assert_int_equal(summarise(n, x, lw, &s, NULL), 0);
    return s;
}

static const double per_cent[NQUANTILE] = {0.05, 0.25, 0.5, 0.75, 0.95};

static void equal_weights(void **state)
{
    (void)state;
    const double x[] = {4, 1, 7, 2, 10, 3};
    double lw[6], all;
    struct summary s = summary_of(6, x, NULL);
    near(s.mean, 4.5, 1e-14);
    near(s.sd, 3.3911649915626341, 1e-14); /* R: sd(x), quantile(x) */
    near(s.mcse, 3.3911649915626341 / sqrt(6), 1e-14);
    near(s.ess, 6, 1e-13);
    const double q[] = {1.25, 2.25, 3.5, 6.25, 9.25};
    for (int k = 0; k < NQUANTILE; k++) near(s.q[k], q[k], 1e-13);
    for (int i = 0; i < 6; i++) lw[i] = -800;
    struct summary t = summary_of(6, x, lw);
    assert_memory_equal(&s, &t, sizeof s);
    /* draws that do not count change nothing */
    const double x2[] = {4, 1, INFINITY, 7, 2, 10, 3, -INFINITY, (double)NAN};
    const double lw2[] = {2, 2, -INFINITY, 2, 2, 2, 2, -INFINITY, -INFINITY};
    t = summary_of(9, x2, lw2);
    near(t.mean, s.mean, 1e-14);
    near(t.sd, s.sd, 1e-14);
    for (int k = 0; k < NQUANTILE; k++) near(t.q[k], q[k], 1e-13);
    /* constants, one draw, nothing */
    const double c[] = {3, 3, 3};
    s = summary_of(3, c, (const double[]){0, log(2), 0});
    assert_true(s.mean == 3 && s.sd == 0 && s.mcse == 0 && s.q[0] == 3);
    near(s.ess, 16.0 / 6, 1e-12);
    s = summary_of(1, x, NULL);
    assert_true(s.mean == 4 && isnan(s.sd) && s.q[2] == 4 && s.ess == 1);
    s = summary_of(2, (const double[]){1, (double)NAN}, NULL);
    all = s.mean + s.sd + s.q[0] + s.q[4] + s.mcse + s.ess;
    assert_true(isnan(s.mean) && isnan(s.q[4]) && isnan(all));
    s = summary_of(3, x, (const double[]){-INFINITY, -INFINITY, -INFINITY});
    assert_true(isnan(s.mean) && isnan(s.q[2]) && isnan(s.ess));
}

/* Akinshin's formula as it stands: sum of x_i (F(c_i) - F(c_{i-1})). */
static double naive_quantile(int n, const double *x, const double *w, double p)
{
    double sum2 = 0, c = 0, sum = 0;
    for (int i = 0; i < n; i++) sum2 += w[i] * w[i];
    double ess = 1 / sum2, h = (ess - 1) * p + 1;
    for (int i = 0; i < n; i++) { /* x is sorted */
        double a = fmin(fmax(c * ess - h + 1, 0), 1);
        c += w[i];
        sum += x[i] * (fmin(fmax(c * ess - h + 1, 0), 1) - a);
    }
    return sum;
}

static void weighted(void **state)
{
    (void)state;
    enum { N = 300 };
    double x[N], lw[N], w[N];
    struct rng r;
    rng_init(&r, 16, 0);
    for (int round = 0; round < 20; round++) {
        double sum = 0, m = 0, v = 0, e = 0, sum2 = 0;
        for (int i = 0; i < N; i++) x[i] = i / 10.0 + rng_unit(&r) / 20;
        for (int i = 0; i < N; i++) sum += exp(lw[i] = round / 4.0 * rng_normal(&r) + 300);
        for (int i = 0; i < N; i++) m += x[i] * (w[i] = exp(lw[i]) / sum);
        for (int i = 0; i < N; i++) {
            v += w[i] * (x[i] - m) * (x[i] - m);
            double without = (m - w[i] * x[i]) / (1 - w[i]); /* the mean of the other draws */
            e += (without - m) * (without - m) * (N - 1) / N;
            sum2 += w[i] * w[i];
        }
        struct summary s = summary_of(N, x, lw);
        near(s.mean, m, 1e-10);
        near(s.sd, sqrt(v / (1 - sum2)), 1e-10);
        near(s.mcse, sqrt(e), 1e-9);
        near(s.ess, fmax(1, fmin(1 / sum2, v / (1 - sum2) / e)), 1e-8);
        for (int k = 0; k < NQUANTILE; k++)
            near(s.q[k], naive_quantile(N, x, w, per_cent[k]), 1e-9);
        for (int i = 0; i < N; i++) { /* the order of the draws does not matter */
            int j = (int)rng_below(&r, N);
            double t = x[i], u = lw[i];
            x[i] = x[j], lw[i] = lw[j];
            x[j] = t, lw[j] = u;
        }
        struct summary mixed = summary_of(N, x, lw);
        near(mixed.mean, s.mean, 1e-10);
        for (int k = 0; k < NQUANTILE; k++) near(mixed.q[k], s.q[k], 1e-10);
    }
}

/* One draw has nearly all the weight: the mean is known no better than from one draw, and no number
   has more effective draws than the weights have. */
static void one_draw_dominates(void **state)
{
    (void)state;
    enum { N = 200 };
    double x[N], lw[N];
    struct rng r;
    rng_init(&r, 17, 0);
    for (int round = 0; round < 200; round++) {
        double sum = 0;
        for (int i = 0; i < N; i++) x[i] = rng_normal(&r), lw[i] = rng_normal(&r);
        for (int i = 1; i < N; i++) sum += x[i] / (N - 1);
        x[0] = sum + 2 * (1 + rng_unit(&r)); /* two of the others' sd's away, or more */
        lw[0] = 6 + round / 5.0;             /* from 1.5 effective draws to none but this */
        struct summary s = summary_of(N, x, lw);
        assert_true(s.ess >= 1 && s.ess <= weights_ess(N, lw) * (1 + 1e-12));
        assert_true(isnan(s.sd) == isnan(s.mcse) && !signbit(s.sd) && !signbit(s.mcse));
        if (lw[0] < 25) assert_true(s.mcse > 1); /* later, rounding leaves nothing of the others */
    }
    /* Two draws, one of which has all the weight there is. */
    struct summary s = summary_of(2, (const double[]){1, 2}, (const double[]){0, -800});
    assert_true(s.mean == 1 && isnan(s.sd) && isnan(s.mcse) && s.ess == 1);
}

/* The same of islands: one that has all the weight does not agree with the others. */
static void one_island_dominates(void **state)
{
    (void)state;
    enum { N = 64, ISLANDS = 4 };
    double x[N], lw[N], worst = 1;
    struct rng r;
    rng_init(&r, 18, 0);
    for (int far = 0; far < 60; far++) {
        for (int i = 0; i < N; i++) x[i] = rng_normal(&r) + (i < N / ISLANDS ? 5 : 0);
        for (int i = 0; i < N; i++) lw[i] = i < N / ISLANDS ? far : 0;
        struct summary s = summary_of(N, x, lw);
        summarise_islands(N, x, lw, ISLANDS, &s);
        worst = fmax(worst, s.ess);
        assert_true(far < 4 || s.mcse > 2 || (isnan(s.mcse) && far > 15));
    }
    assert_true(worst < 4);
}

/* Importance sampling of a posterior that is known: N(0.88, 1/sqrt 5). */
static void posterior(void **state)
{
    (void)state;
    enum { N = 1000, RUNS = 300 };
    static double z[N], lw[N];
    double sum2 = 0, errors = 0, sd = sqrt(0.2);
    const double normal[] = {-1.6448536269514722, -0.67448975019608171, 0, 0.67448975019608171,
                             1.6448536269514722};
    for (uint64_t k = 0; k < RUNS; k++) {
        gaussian(1000 + k, N, z, lw);
        struct summary s = summary_of(N, z, lw);
        near(s.mean, 0.88, 4.5 * s.mcse);
        near(s.sd, sd, 0.1);
        for (int q = 0; q < NQUANTILE; q++) near(s.q[q], 0.88 + sd * normal[q], 0.2);
        sum2 += (s.mean - 0.88) * (s.mean - 0.88);
        errors += s.mcse * s.mcse;
    }
    near(sqrt(sum2 / errors), 1, 4 / sqrt(2 * RUNS));
}

/* ---- every allocation fails --------------------------------------------------------- */

static int all(void *ctx)
{
    double lw[100], *x = ctx;
    struct psis p;
    struct summary s;
    for (int i = 0; i < 100; i++) lw[i] = x[i];
    int rc = psis(100, lw, &p, NULL);
    if (rc) assert_memory_equal(lw, x, sizeof lw);
    return rc ? rc : summarise(100, x, lw, &s, NULL);
}

static void nomem_weights(void **state)
{
    (void)state;
    double x[100];
    const char *why;
    for (int i = 0; i < 100; i++) x[i] = i;
    if (nomem_each(all, x, &why) != 6) fail_msg("%s", why ? why : "not 6 allocations");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(gpd),
    cmocka_unit_test(khat),
    cmocka_unit_test(naively),
    cmocka_unit_test(evidence),
    cmocka_unit_test(ess),
    cmocka_unit_test(one_draw_dominates),
    cmocka_unit_test(one_island_dominates),
    cmocka_unit_test(degenerate),
    cmocka_unit_test(equal_weights),
    cmocka_unit_test(weighted),
    cmocka_unit_test(posterior),
    cmocka_unit_test(nomem_weights),
};

RUN(tests)
