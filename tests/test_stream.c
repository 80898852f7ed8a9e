/* test_stream.c: named random numbers are the same bits as Random123's for any cut into calls,
   have the right distribution, and are independent between nodes, parts and draws. */
#include "run.h"

#include <Random123/philox.h>
#include <math.h>
#include <stdlib.h>

#include "base/stream.h"

enum { N = 1 << 18 };

static double x[N], y[N];

/* The layout that stream.c promises, number by number. */
static uint32_t word(const struct stream *s, int part, uint64_t draw)
{
    uint64_t block = draw / 4;
    philox4x32_ctr_t c = {{(uint32_t)block, (uint32_t)(block >> 32 & 0xffff) | (uint32_t)part << 16,
                           s->node, 0x5eed0000u | (uint32_t)(block >> 48)}};
    philox4x32_key_t k = {{(uint32_t)s->seed, (uint32_t)(s->seed >> 32)}};
    return philox4x32(c, k).v[draw % 4];
}

static double unit(uint32_t w) { return (w + 0.5) * 0x1p-32; }

static void random123(void **state)
{
    (void)state;
    static const uint64_t firsts[] = {
        0, 4, 1000, 0x3fffffff0u, 0x7ffffffffff0u, 0xfffffffffffff000u};
    struct rng r;
    rng_init(&r, 1, 0);
    for (size_t t = 0; t < 6 * 20; t++) {
        struct stream s = {(uint64_t)rng_u32(&r) << 32 | rng_u32(&r), rng_u32(&r), firsts[t % 6]};
        int part = t % 2 ? 0 : (int)rng_below(&r, 1 << 15), n = 1 + (int)rng_below(&r, 700);
        double err = 0;
        stream_uniform_part(&s, part, n, x);
        stream_normal_part(&s, part, n, y);
        for (int i = 0; i < n; i++) {
            uint64_t draw = s.first + (uint64_t)i;
            double u = unit(word(&s, part, draw - draw % 2)), v = unit(word(&s, part, draw | 1));
            double z = sqrt(-2 * log(u)) * (draw % 2 ? sin(2 * M_PI * v) : cos(2 * M_PI * v));
            assert_true(x[i] == unit(word(&s, part, draw)));
            err = fmax(err, fabs(y[i] - z));
        }
        assert_true(err < 1e-9);
    }
}

static void any_cut(void **state)
{
    (void)state;
    enum { M = 3000 };
    struct stream s = {9, 8, 1 << 20}, t = s;
    struct rng r;
    rng_init(&r, 2, 0);
    stream_normal(&s, M, x);
    for (int i = 0; i < M;) { /* runs of multiples of 4 */
        int n = 4 * (1 + (int)rng_below(&r, 100));
        t.first = s.first + (uint64_t)i;
        stream_normal(&t, n < M - i ? n : M - i, y + i);
        i += n;
    }
    assert_memory_equal(x, y, M * sizeof *x);
    for (int i = 0; i < M; i++) { /* one by one */
        t.first = s.first + (uint64_t)i;
        stream_normal(&t, 1, y + i);
    }
    assert_memory_equal(x, y, M * sizeof *x);
    for (int n = 0; n < 40; n++) { /* nothing behind the end */
        y[n] = 7;
        stream_normal(&s, n, y);
        assert_memory_equal(x, y, (size_t)n * sizeof *x);
        assert_true(y[n] == 7);
    }
}

/* The same bits on any machine, with and without vector code: a change here changes the
   results of every seed. */
static void same_bits(void **state)
{
    (void)state;
    struct stream s = {20, 24, 0};
    uint64_t hash = 0, bits;
    stream_normal(&s, 100000, x);
    for (int i = 0; i < 100000; i++) {
        memcpy(&bits, &x[i], sizeof bits);
        hash = (hash ^ bits) * 0x100000001b3u;
    }
    if (hash != 0xa958bf8ca89345edu) fail_msg("%#llx", (unsigned long long)hash);
}

/* A sum of n independent terms of mean 0 and variance 1: beyond 6.2 once in 10^9. */
static void assert_centred(double sum, double n, const char *what)
{
    if (!(fabs(sum) < 6.2 * sqrt(n))) fail_msg("%s: %.2f standard deviations", what, sum / sqrt(n));
}

static int by_value(const void *a, const void *b)
{
    double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

/* Kolmogorov's distance of u[N] from uniform; P(sqrt(N) D > 3.3) = 7e-10.  Sorts. */
static void assert_uniform(double *u, const char *what)
{
    double d = 0;
    qsort(u, N, sizeof *u, by_value);
    assert_true(u[0] > 0 && u[N - 1] < 1);
    for (int i = 0; i < N; i++) d = fmax(d, fmax((i + 1.0) / N - u[i], u[i] - (double)i / N));
    if (d * sqrt(N) > 3.3) fail_msg("%s: Kolmogorov-Smirnov %.2f", what, d * sqrt(N));
}

static void check_normal(double *z, const char *what)
{
    double m1 = 0, m2 = 0, m3 = 0, m4 = 0;
    for (int i = 0; i < N; i++) {
        double q = z[i] * z[i];
        assert_true(fabs(z[i]) < 7);
        m1 += z[i];
        m2 += (q - 1) / sqrt(2);
        m3 += z[i] * q / sqrt(15);
        m4 += (q * q - 3) / sqrt(96);
    }
    assert_centred(m1, N, what);
    assert_centred(m2, N, what);
    assert_centred(m3, N, what);
    assert_centred(m4, N, what);
    for (int i = 0; i < N; i++) z[i] = 0.5 * erfc(-z[i] / sqrt(2));
    assert_uniform(z, what);
}

static void distributions(void **state)
{
    (void)state;
    struct stream s = {3, 7, 0};
    struct rng r;
    stream_uniform(&s, N, x);
    assert_uniform(x, "uniform");
    stream_normal(&s, N, x);
    check_normal(x, "normal");
    for (int i = 0; i < N; i++) stream_rng(&s, i, &r), x[i] = rng_normal(&r);
    check_normal(x, "normals of generators");
    for (int i = 0; i < N; i++) stream_rng(&s, i, &r), x[i] = rng_open(&r);
    assert_uniform(x, "uniforms of generators");
    for (int i = 0; i < N; i++) { /* one draw of each of many nodes */
        struct stream t = {3, (uint32_t)i, 5};
        stream_normal(&t, 1, &x[i]);
    }
    check_normal(x, "normals of nodes");
}

static void assert_apart(const double *a, const double *b, int n, const char *what)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < n; i++) {
        sum += a[i] * b[i];
        squares += (a[i] * a[i] - 1) * (b[i] * b[i] - 1) / 2;
    }
    assert_centred(sum, n, what);
    assert_centred(squares, n, what);
}

static void independence(void **state)
{
    (void)state;
    struct stream s = {3, 7, 0}, t = s;
    struct rng r;
    stream_normal(&s, N, x);
    for (int lag = 1; lag < 9; lag++) assert_apart(x, x + lag, N - lag, "draws");
    t.node = 8;
    stream_normal(&t, N, y);
    assert_apart(x, y, N, "nodes");
    t = s, t.seed = 4;
    stream_normal(&t, N, y);
    assert_apart(x, y, N, "seeds");
    stream_normal_part(&s, 1, N, y);
    assert_apart(x, y, N, "parts");
    for (int i = 0; i < N; i++) stream_rng(&s, i, &r), y[i] = rng_normal(&r);
    assert_apart(x, y, N, "generators and parts");
    assert_apart(y, y + 1, N - 1, "generators of draws");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(random123), cmocka_unit_test(any_cut), cmocka_unit_test(same_bits),
    cmocka_unit_test(distributions), cmocka_unit_test(independence)};
RUN(tests)
