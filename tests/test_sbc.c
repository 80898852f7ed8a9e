/* test_sbc.c: uniformity, ranks, simulation-based calibration, coverage.  Seeds are fixed; false
   alarm rates are checked with bounds that one right program in 1e8 would miss (sims_at.h).
   SHOW_RATES=1 prints them, REPEAT=9 repeats nine times as often. */
#include "infer/coverage.h"
#include "infer/sbc.h"
#include "sims_at.h"

static nami_err err;

/* ---- uniformity --------------------------------------------------------------------- */

/* The level of a band, by enumeration of all ways to put n numbers into k cells. */
static double enumerate(const struct uniform_band *b, int i, int used, double logp)
{
    if (i == b->k - 1) return exp(logp - lgamma(b->n - used + 1.0));
    double sum = 0;
    for (int c = 0; c + used <= b->n; c++)
        if (c + used >= b->lo[i] && c + used <= b->hi[i])
            sum += enumerate(b, i + 1, used + c, logp - lgamma(c + 1.0));
    return sum;
}

static void band_level(void **state)
{
    (void)state;
    static const struct {
        int n, k;
        double alpha;
    } at[] = {{12, 4, 0.1}, {9, 6, 0.3}, {20, 5, 0.05}, {5, 2, 0.2}, {1, 3, 0.5}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        struct uniform_band b;
        assert_int_equal(uniform_band(at[i].n, at[i].k, at[i].alpha, &b, &err), 0);
        int n = b.n;
        double level = enumerate(&b, 0, 0, lgamma(n + 1.0) - n * log(b.k));
        assert_true(level >= 1 - at[i].alpha - 1e-9);
        for (int first = 0; first <= n; first++) {
            int below[8];
            for (int j = 0; j < b.k - 1; j++) below[j] = first + (n - first) * j / b.k;
            struct uniform_test t = uniform_test(&b, below);
            assert_int_equal(t.inside, t.p > at[i].alpha);
        }
        uniform_band_free(&b);
    }
    struct uniform_band b;
    assert_int_equal(uniform_band(10, 1, 0.1, &b, &err), NAMI_EUSAGE);
    assert_int_equal(uniform_band(10, 5, 0, &b, &err), NAMI_EUSAGE);
}

/* All ways to put n numbers into k cells: counts below, probability, and how improbable the least
   probable count is. */
enum { WAYS = 2000 };
static struct way {
    int below[4];
    double prob, rare;
} way[WAYS];

static int list_ways(int n, int k, int i, struct way w, int at)
{
    if (i == k - 1) {
        w.prob /= tgamma(n - w.below[i - 1] + 1.0);
        way[at] = w;
        return at + 1;
    }
    int from = i ? w.below[i - 1] : 0;
    for (int x = from; x <= n; x++) {
        struct way v = w;
        double p = (i + 1.0) / k, q = (double)(k - 1 - i) / k;
        v.below[i] = x;
        v.prob /= tgamma(x - from + 1.0);
        v.rare = fmin(v.rare, fmin(binomial_lower(n, p, q, x), binomial_upper(n, p, q, x)));
        at = list_ways(n, k, i + 1, v, at);
    }
    return at;
}

static void exact_p(void **state)
{
    (void)state;
    for (int k = 3; k <= 5; k++) {
        int n = 9;
        struct uniform_band b;
        assert_int_equal(uniform_band(n, k, 0.1, &b, &err), 0);
        int ways =
            list_ways(n, k, 0, (struct way){.prob = tgamma(n + 1.0) * pow(k, -n), .rare = 1}, 0);
        for (int i = 0; i < ways; i++) {
            double p = 0;
            for (int j = 0; j < ways; j++) p += way[j].rare <= way[i].rare ? way[j].prob : 0;
            assert_true(fabs(uniform_test(&b, way[i].below).p - p) < 1e-10);
        }
        uniform_band_free(&b);
    }
}

/* The p-value is one: P(p <= t) is t, or a bit less since counts are discrete. */
static void band_p(void **state)
{
    (void)state;
    enum { N = 100, REPS = 5000 };
    static const double level[] = {0.01, 0.05, 0.2, 0.5};
    struct uniform_band b;
    struct rng r;
    int alarms[4] = {0}, outside = 0;
    rng_init(&r, 1, 0);
    assert_int_equal(uniform_band(N, 50, 0.05, &b, &err), 0);
    for (int rep = 0; rep < REPS; rep++) {
        double u[N];
        int below[49];
        for (int i = 0; i < N; i++) u[i] = rng_unit(&r);
        uniform_count(u, N, 50, below);
        struct uniform_test t = uniform_test(&b, below);
        outside += !t.inside;
        for (int l = 0; l < 4; l++) alarms[l] += t.p <= level[l];
    }
    for (int l = 0; l < 4; l++) check_rate("uniform", alarms[l], REPS, level[l], 0.9);
    assert_int_equal(outside, alarms[1]);
    uniform_band_free(&b);
}

static void binomials(void **state)
{
    (void)state;
    double lo, hi;
    assert_true(fabs(binomial_lower(5, 0.3, 0.7, 1) - (pow(0.7, 5) + 5 * 0.3 * pow(0.7, 4))) <
                1e-14);
    assert_true(fabs(binomial_upper(5, 0.3, 0.7, 5) - pow(0.3, 5)) < 1e-16);
    binomial_interval(20, 7, 0.05, &lo, &hi);
    assert_true(fabs(binomial_upper(20, lo, 1 - lo, 7) - 0.025) < 1e-9);
    assert_true(fabs(binomial_lower(20, hi, 1 - hi, 7) - 0.025) < 1e-9);
    binomial_interval(20, 0, 0.05, &lo, &hi);
    assert_true(lo == 0 && fabs(hi - (1 - pow(0.025, 0.05))) < 1e-9);
    binomial_interval(20, 20, 0.05, &lo, &hi);
    assert_true(hi == 1 && lo < 1);
    assert_true(binomial_test(10, 0.5, 5) == 1);
}

/* ---- ranks -------------------------------------------------------------------------- */

static void ranks(void **state)
{
    (void)state;
    double theta[] = {0.5, -9, 9, 2}, z[] = {0, 0, 0, 2, 1, 1, 1, 2, 2, 2, 2, 2};
    struct sims s = {.d = 1, .m = 3, .n = 4, .theta = theta, .z = z};
    struct sbc b;
    int seen[4] = {0};
    for (uint64_t seed = 0; seed < 200; seed++) {
        assert_int_equal(sbc_run(&s, 0.05, 0, seed, &b, &err), 0);
        assert_int_equal(b.rank[0], 1);
        assert_int_equal(b.rank[1], 0);
        assert_int_equal(b.rank[2], 3);
        seen[b.rank[3]]++; /* all tied */
        sbc_free(&b);
    }
    for (int i = 0; i < 4; i++) assert_true(seen[i] > 20 && seen[i] < 85);
    z[5] = NAN;
    assert_int_equal(sbc_run(&s, 0.05, 0, 1, &b, &err), NAMI_EINPUT);
    assert_string_equal(err.msg, "data set 2: scalar 1 is not a number");
    sbc_free(&b);
}

/* Weights: 0 removes a draw, and an integer repeats it. */
static void weights(void **state)
{
    (void)state;
    double theta[] = {1.5}, z[] = {0, 1, 2, 3}, logw[] = {-INFINITY, log(3), 0, 0},
           logw0[] = {log(2)};
    struct sims s = {.d = 1, .m = 4, .n = 1, .theta = theta, .z = z, .logw = logw};
    double u, v;
    stream_uniform(&(struct stream){5, 0, 0}, 1, &v);
    assert_int_equal(sims_pit(&s, 5, &u, &err), 0);
    double w0 = 11. / 5; /* (9 + 1 + 1) / (3 + 1 + 1) */
    assert_true(fabs(u - (3 + v * w0) / (5 + w0)) < 1e-12);
    s.logw0 = logw0;
    assert_int_equal(sims_pit(&s, 5, &u, &err), 0);
    assert_true(fabs(u - (3 + 2 * v) / 7) < 1e-12);
    for (int i = 0; i < 4; i++) logw[i] = -INFINITY;
    s.logw0 = NULL;
    assert_int_equal(sims_pit(&s, 5, &u, &err), NAMI_EINPUT);
    logw[2] = NAN;
    assert_int_equal(sims_pit(&s, 5, &u, &err), NAMI_EINPUT);
    s.m = 0;
    assert_int_equal(sims_pit(&s, 5, &u, &err), NAMI_EUSAGE);
}

/* ---- false alarms ------------------------------------------------------------------- */

/* Alarms of sbc, coverage, joint coverage, chi-square of the first scalar. */
static void count_alarms(const struct made *a, double alpha, uint64_t seed, int alarms[4])
{
    struct sbc b;
    struct coverage c;
    assert_int_equal(sbc_run(&a->s, alpha, 0, seed, &b, &err), 0);
    assert_int_equal(b.inside, b.p > alpha);
    alarms[0] += !b.inside;
    alarms[3] += b.scalar[0].chi2_p <= alpha;
    sbc_free(&b);
    assert_int_equal(coverage_run(&a->s, a->logq, a->logq0, alpha, COVERAGE_LEVELS, seed, &c, &err),
                     0);
    assert_int_equal(c.inside, c.p > alpha);
    alarms[1] += !c.inside;
    alarms[2] += c.test[c.nrow - 1].p <= alpha;
    coverage_free(&c);
}

static const char *const TEST[] = {"sbc", "coverage", "joint coverage", "chi-square"};

static void false_alarms(void **state)
{
    (void)state;
    int alarms[4] = {0}, reps = repeat(1500);
    for (int rep = 0; rep < reps; rep++) {
        struct made a = make_sims(3, 20, 60, RIGHT, (uint64_t)rep);
        count_alarms(&a, 0.1, (uint64_t)rep, alarms);
        made_free(&a);
    }
    for (int t = 0; t < 4; t++) check_rate(TEST[t], alarms[t], reps, 0.1, 0.85);
}

/* Rounded down: posteriors with many ties. */
static void discrete(void **state)
{
    (void)state;
    enum { N = 50, M = 15 };
    int alarms[4] = {0}, wrong[4] = {0}, reps = repeat(1000);
    for (int rep = 0; rep < reps; rep++) {
        struct made a = make_sims(2, M, N, RIGHT, (uint64_t)rep);
        for (int i = 0; i < 2 * N; i++) a.theta[i] = fmax(-1, floor(a.theta[i]));
        for (int i = 0; i < 2 * N * M; i++) a.z[i] = fmax(-1, floor(a.z[i]));
        count_alarms(&a, 0.1, (uint64_t)rep, alarms);
        if (rep < 20) {
            for (int i = 0; i < 2 * N * M; i++) a.z[i]++;
            count_alarms(&a, 0.1, (uint64_t)rep, wrong);
        }
        made_free(&a);
    }
    check_rate("sbc, discrete", alarms[0], reps, 0.1, 0.85);
    check_rate("coverage, discrete", alarms[1], reps, 0.1, 0.85);
    assert_int_equal(wrong[0], 20);
}

/* log p/q of theta for a posterior (mean, POST_SD) and its wrong approximation. */
static double log_ratio(double theta, double mean, struct wrong w)
{
    double e = (theta - mean) / POST_SD, f = (e - w.shift) / w.scale;
    return (f * f - e * e) / 2;
}

/* Draws from a wrong q with the right weights p/q: exact with logw0 for any number of draws,
   otherwise near for a good effective number.  Without the weights, q is found out. */
static void weighted(void **state)
{
    (void)state;
    enum { N = 50, M = 100 };
    struct wrong w = {1.5, 0.5, 0};
    double logw[N * M], logw0[N];
    int own[4] = {0}, ess[4] = {0}, without[4] = {0}, reps = repeat(1000);
    for (int rep = 0; rep < reps; rep++) {
        for (int few = 0; few < 2; few++) {
            struct made a = make_sims(1, few ? 5 : M, N, w, (uint64_t)rep);
            for (int i = 0; i < N; i++) {
                logw0[i] = log_ratio(a.theta[i], a.mean[i], w);
                for (int j = 0; j < a.s.m; j++)
                    logw[j * N + i] = log_ratio(a.z[j * N + i], a.mean[i], w);
            }
            if (!few && rep < 20) count_alarms(&a, 0.1, (uint64_t)rep, without);
            a.s.logw = logw;
            a.s.logw0 = few ? logw0 : NULL;
            count_alarms(&a, 0.1, (uint64_t)rep, few ? own : ess);
            made_free(&a);
        }
    }
    check_rate("sbc, 5 draws, truth weighted", own[0], reps, 0.1, 0.8);
    check_rate("coverage, the same", own[1], reps, 0.1, 0.7);
    check_rate("sbc, weighted", ess[0], reps, 0.1, 0.7);
    check_rate("coverage, weighted", ess[1], reps, 0.1, 0.7);
    assert_true(without[0] > 15);
}

/* ---- power -------------------------------------------------------------------------- */

static void power(void **state)
{
    (void)state;
    int reps = repeat(20);
    for (int i = 0; i < NWRONG; i++) {
        int alarms[4] = {0}, shifted = WRONG[i].w.shift != 0;
        for (int rep = 0; rep < reps; rep++) {
            struct made a = make_sims(2, 100, 500, WRONG[i].w, (uint64_t)rep);
            count_alarms(&a, 0.05, (uint64_t)rep, alarms);
            made_free(&a);
        }
        for (int t = 0; t < 3; t++) {
            if (getenv("SHOW_RATES"))
                printf("    %-16s %-16s power %.3f\n", WRONG[i].name, TEST[t],
                       alarms[t] / (double)reps);
            if (t == 0 || !shifted) assert_true(alarms[t] >= 0.99 * reps);
        }
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(band_level),   cmocka_unit_test(exact_p),  cmocka_unit_test(band_p),
    cmocka_unit_test(binomials),    cmocka_unit_test(ranks),    cmocka_unit_test(weights),
    cmocka_unit_test(false_alarms), cmocka_unit_test(discrete), cmocka_unit_test(weighted),
    cmocka_unit_test(power),
};
RUN(tests)
