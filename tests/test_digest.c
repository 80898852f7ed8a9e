/* test_digest.c: streaming summaries of draws equal those of all draws at once, whatever the
   blocks. */
#include "run.h"

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "base/stream.h"
#include "infer/digest.h"
#include "infer/weights.h"
#include "malloc_fail.h"

enum { N = 200000, ROOM = 4096 };

/* ---- draws of many kinds ------------------------------------------------------------ */

enum kind { NORMAL, CAUCHY, SORTED, FEW, FAR, NKIND };

static void draw(enum kind kind, struct rng *r, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++) {
        double u = rng_unit(r), v = rng_normal(r);
        x[i] = kind == NORMAL   ? v
               : kind == CAUCHY ? tan(3.141592653589793 * (u - 0.5))
               : kind == SORTED ? (double)i + u
               : kind == FEW    ? floor(10 * u * u)
                                : 1e5 + v;
    }
}

/* Logarithms of normalised weights: none, nearly equal, or those of importance sampling that fails.
 */
static double *weigh(double spread, struct rng *r, size_t n, double *logw)
{
    for (size_t i = 0; i < n; i++) logw[i] = spread * rng_normal(r);
    weights_normalise(n, logw);
    return spread > 0 ? logw : NULL;
}

/* In blocks whose lengths are not all the same. */
static struct summary digest_of(size_t n, const double *x, const double *logw, size_t block,
                                size_t room)
{
    static const size_t row[] = {0};
    struct summary out = {0};
    struct digest d;
    assert_int_equal(digest_init(&d, 1, row, n, room, NULL), 0);
    for (int again = 0; again < 2; again++) { /* as if for two data sets */
        for (size_t i = 0, k; i<n; i += k, block += block> 1) {
            k = n - i < block ? n - i : block;
            digest_put(&d, k, x + i, n, logw ? logw + i : NULL, NULL);
        }
        assert_int_equal(digest_end(&d, &out, NULL), 0);
    }
    digest_fini(&d);
    return out;
}

static void near(double x, double y, double eps)
{
    if (!(fabs(x - y) <= eps * (1 + fabs(y)))) fail_msg("%.17g, not %.17g", x, y);
}

/* ---- what must be equal ------------------------------------------------------------- */

/* With room for all, bits; without, bits for any blocks. */
static void same_bits(void **state)
{
    (void)state;
    enum { M = 20000 };
    static double x[M], logw[M];
    struct rng r;
    rng_init(&r, 3, 0);
    for (int kind = 0; kind < NKIND; kind++)
        for (int spread = 0; spread < 3; spread++) {
            struct summary all = {0};
            draw((enum kind)kind, &r, M, x);
            double *w = weigh(spread, &r, M, logw);
            assert_int_equal(summarise(M, x, w, &all, NULL), 0);
            struct summary a = digest_of(M, x, w, 777, M), b = digest_of(M, x, w, 100, 64),
                           c = digest_of(M, x, w, 1, 64), d = digest_of(M, x, w, M, 64);
            assert_memory_equal(&a, &all, sizeof a);
            assert_memory_equal(&b, &c, sizeof a);
            assert_memory_equal(&b, &d, sizeof a);
        }
}

/* The share of weight below x, and up to x. */
static void places(size_t n, const double *x, const double *logw, double at, double *below,
                   double *upto)
{
    *below = *upto = 0;
    for (size_t i = 0; i < n; i++) {
        double w = logw ? exp(logw[i]) : 1.0 / (double)n;
        if (x[i] < at) *below += w;
        if (x[i] <= at) *upto += w;
    }
}

/* Moments are exact, to rounding; quantiles within 4 / room in probability: 0.001, in the
   smallest room that digest_room() gives.  What has few values is exact. */
static void large(void **state)
{
    static const double p[] = {0.05, 0.25, 0.5, 0.75, 0.95};
    static double x[N], logw[N];
    double worst = 0;
    struct rng r;
    (void)state;
    assert_int_equal(digest_room(1 << 20), ROOM);
    rng_init(&r, 4, 0);
    for (int kind = 0; kind < NKIND; kind++)
        for (int spread = 0; spread < 3; spread++) {
            struct summary all = {0};
            draw((enum kind)kind, &r, N, x);
            double *w = weigh(spread, &r, N, logw);
            assert_int_equal(summarise(N, x, w, &all, NULL), 0);
            struct summary s = digest_of(N, x, w, 1000, ROOM);
            near(s.mean, all.mean, 1e-12);
            near(s.sd, all.sd, 1e-9);
            near(s.mcse, all.mcse, 1e-9);
            near(s.ess, all.ess, 1e-8);
            for (int k = 0; k < NQUANTILE; k++) {
                double below, upto;
                places(N, x, w, s.q[k], &below, &upto);
                double off = fmax(0, fmax(below - p[k], p[k] - upto));
                if (kind == FEW) assert_true(s.q[k] == all.q[k]);
                if (off * ROOM > 4)
                    fail_msg("kind %d, spread %d: %g is off by %g / room", kind, spread, p[k],
                             off * ROOM);
                worst = fmax(worst, off * ROOM);
            }
        }
    print_message("quantiles are off by %.2f / room at most\n", worst);
}

/* Quantiles are those of all points, sorted. */
static void quantiles_of_all(void **state)
{
    static const size_t size[] = {3, 200, 1000, 20000};
    static double x[20000], logw[20000];
    static struct weighted d[40000];
    struct rng r;
    (void)state;
    rng_init(&r, 6, 0);
    for (int kind = 0; kind < NKIND; kind++)
        for (int spread = 0; spread < 4; spread++)
            for (int k = 0; k < 4; k++) {
                size_t n = size[k];
                struct summary got = {0}, want = {0};
                double sum2 = 0;
                draw((enum kind)kind, &r, n, x);
                if (spread == 3) x[n / 2] = INFINITY, x[n / 3] = -1e300;
                double *w = weigh(spread, &r, n, logw);
                for (size_t i = 0; i < n; i++) {
                    d[i] = (struct weighted){x[i], w ? exp(w[i]) : 1.0 / (double)n};
                    sum2 += d[i].w * d[i].w;
                }
                summary_quantiles(n, weighted_sort(n, d, d + n), 1 / sum2, &want);
                assert_int_equal(summarise(n, x, w, &got, NULL), 0);
                for (int q = 0; q < NQUANTILE; q++)
                    if (got.q[q] != want.q[q]) near(got.q[q], want.q[q], 1e-9);
            }
}

/* ---- what is odd ---------------------------------------------------------------------------- */

static void odd(void **state)
{
    enum { M = 1000 };
    double x[M], logw[M];
    struct summary s = {0};
    (void)state;
    for (int i = 0; i < M; i++) x[i] = i % 7, logw[i] = -log(M);
    s = digest_of(M, x, NULL, 10, 16); /* more often than not, all 7 are there */
    near(s.mean, 2.997, 1e-12);
    assert_true(s.q[0] == 0 && s.q[2] == 3 && s.q[4] == 6);
    for (int i = 0; i < M; i++) x[i] = 3;
    s = digest_of(M, x, logw, 10, 16);
    assert_true(s.mean == 3 && s.sd == 0 && s.mcse == 0 && s.q[2] == 3);
    near(s.ess, M, 1e-9);
    for (int i = 0; i < M; i++) x[i] = i;
    x[5] = INFINITY, logw[5] = -INFINITY; /* does not count */
    s = digest_of(M, x, logw, 10, 64);
    assert_true(isfinite(s.mean) && isfinite(s.sd) && s.q[4] < M);
    x[5] = (double)NAN; /* neither does this, however many draws are stored */
    assert_memory_equal(&s, &(struct summary[]){digest_of(M, x, logw, 10, 64)}, sizeof s);
    assert_true(isfinite(digest_of(M, x, logw, 10, M).mean));
    for (int i = 0; i < 300; i++) x[i] = -INFINITY; /* counts */
    s = digest_of(M, x, NULL, 10, 64);
    assert_true(s.q[0] == -INFINITY && s.q[1] == -INFINITY && s.q[2] > 400 && s.q[2] < 600);
    x[999] = (double)NAN;
    s = digest_of(M, x, NULL, 10, 64);
    assert_true(isnan(s.mean) && isnan(s.sd) && isnan(s.q[2]) && isnan(s.ess));
    for (int i = 0; i < M; i++) x[i] = i, logw[i] = -INFINITY;
    s = digest_of(M, x, logw, 10, 64);
    assert_true(isnan(s.mean) && isnan(s.q[0]) && isnan(s.mcse));
}

static int all(void *ctx)
{
    static const size_t row[] = {1, 0};
    double *x = ctx;
    struct summary s[2] = {{0}};
    int rc = 0;
    for (size_t room = 50; room <= 100 && !rc; room += 50) {
        struct digest d;
        rc = digest_init(&d, 2, row, 100, room, NULL);
        if (!rc) digest_put(&d, 100, x, 100, NULL, NULL);
        if (!rc) rc = digest_end(&d, s, NULL);
        digest_fini(&d);
    }
    return rc;
}

static void nomem_digest(void **state)
{
    double x[200];
    const char *why;
    (void)state;
    for (int i = 0; i < 200; i++) x[i] = i;
    if (nomem_each(all, x, &why) != 12) fail_msg("%s", why ? why : "not 12 allocations");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(same_bits),
    cmocka_unit_test(large),
    cmocka_unit_test(quantiles_of_all),
    cmocka_unit_test(odd),
    cmocka_unit_test(nomem_digest),
};

RUN(tests)
