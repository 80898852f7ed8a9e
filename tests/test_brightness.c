/* test_brightness.c: what is done to observations before they are learnt from: brightness to [0, 1]
   and to bits; which are to train on. */
#include <math.h>
#include <stdlib.h>

#include "data/split.h"
#include "records_at.h"

/* ---- brightness ------------------------------------------------------------------------ */

static void bytes(struct records *r, size_t n, size_t k, unsigned char value)
{
    struct str s = {0};
    put_idx(&s, 0x08, 2, (unsigned[]){(unsigned)n, (unsigned)k});
    for (size_t i = 0; i < n * k; i++) str_putn(&s, (char[]){(char)(value ? value : i)}, 1);
    parse(r, &s, "x");
    str_free(&s);
}

static void scale(void **state)
{
    (void)state;
    struct records r;
    bytes(&r, 8, 32, 0);
    assert_int_equal(records_scale(&r, &err), 0);
    assert_int_equal(r.type, RECORDS_BYTE);
    for (size_t i = 0; i < 256; i++) assert_true(records_at(&r, 0, i) == (double)i / 255);
    assert_int_equal(records_scale(&r, &err), 0); /* once is enough */
    assert_true(records_at(&r, 7, 31) == 1);
    records_free(&r);
    static const char *const text[] = {"x\n0.5\nNA\n1\n", "x\n255\nNA\n51\n",
                                       "x\n255\n25.5\n0.51\n"};
    static const double want[][3] = {{0.5, NAN, 1}, {1, NAN, 0.2}, {1, 0.1, 0.51 / 255}};
    for (int k = 0; k < 3; k++) {
        if (records_parse(&r, NULL, text[k], strlen(text[k]), "x", &err)) fail_msg("%s", err.msg);
        assert_int_equal(records_scale(&r, &err), 0);
        for (size_t i = 0; i < 3; i++) {
            double x = records_at(&r, i, 0);
            if (isnan(want[k][i]) ? !isnan(x) : fabs(x - want[k][i]) > 1e-7) fail_msg("%g", x);
        }
        records_free(&r);
    }
    for (int k = 0; k < 2; k++) {
        const char *s = k ? "x\n1\n256\n" : "x\n1\n-0.5\n";
        if (records_parse(&r, NULL, s, strlen(s), "x", &err)) fail_msg("%s", err.msg);
        assert_int_equal(records_scale(&r, &err), NAMI_EINPUT);
        assert_non_null(strstr(err.msg, "number 1 of observation 2 is"));
        assert_int_equal(records_binarise(&r, 1, &err), NAMI_EINPUT);
        assert_int_equal(records_threshold(&r, &err), NAMI_EINPUT);
        records_free(&r);
    }
}

static void threshold(void **state)
{
    (void)state;
    struct records r;
    bytes(&r, 4, 64, 0);
    assert_int_equal(records_threshold(&r, &err), 0);
    for (size_t i = 0; i < 256; i++) assert_true(records_at(&r, 0, i) == (i >= 128));
    assert_int_equal(records_threshold(&r, &err), 0);
    assert_true(records_at(&r, 0, 128) == 1 && r.type == RECORDS_BYTE);
    records_free(&r);
}

/* A bit depends on its brightness, the seed and its place; not on how many others there are, on the
   type, nor on whether it was scaled before. */
static void binarise(void **state)
{
    (void)state;
    enum { N = 40, K = 256 };
    struct records a, b;
    size_t ones = 0, same = 0;
    bytes(&a, N, K, 0);
    assert_int_equal(records_binarise(&a, 5, &err), 0);
    assert_true(a.type == RECORDS_BYTE && a.n == N && a.k == K && a.ndim == 1);
    for (size_t i = 0; i < N; i++) {
        assert_true(records_at(&a, i, 0) == 0 && records_at(&a, i, 255) == 1);
        for (size_t j = 0; j < K; j++) ones += records_at(&a, i, j) == 1;
    }
    /* the mean is one half of N K; its standard deviation sqrt(N sum p (1 - p)) = 41; 6 of them */
    assert_true(fabs((double)ones - N * K / 2.0) < 6 * sqrt(N * K / 6.0));
    bytes(&b, N / 2, K, 0);
    assert_int_equal(records_scale(&b, &err), 0);
    assert_int_equal(records_binarise(&b, 5, &err), 0);
    for (size_t at = 0; at < N / 2 * K; at++)
        assert_true(records_at(&a, 0, at) == records_at(&b, 0, at));
    records_free(&b);
    bytes(&b, N, K, 0);
    assert_int_equal(records_binarise(&b, 6, &err), 0);
    for (size_t at = 0; at < N * K; at++) same += records_at(&a, 0, at) == records_at(&b, 0, at);
    assert_true(same < N * K * 0.8);                    /* 1 - 2 E[p (1 - p)] = 2/3 are */
    assert_int_equal(records_binarise(&b, 7, &err), 0); /* bits stay bits */
    size_t now = 0;
    for (size_t at = 0; at < N * K; at++) now += records_at(&a, 0, at) == records_at(&b, 0, at);
    assert_int_equal(now, same);
    records_free(&a), records_free(&b);
    const char *s = "x[1],x[2],x[3]\nNA,1,0.4\n0.3,,0\n"; /* what is missing stays so */
    if (records_parse(&a, NULL, s, strlen(s), "x", &err)) fail_msg("%s", err.msg);
    assert_int_equal(records_binarise(&a, 1, &err), 0);
    assert_true(isnan(records_at(&a, 0, 0)) && isnan(records_at(&a, 1, 1)));
    assert_true(records_at(&a, 0, 1) == 1 && records_at(&a, 1, 2) == 0);
    records_free(&a);
}

/* Known bits: they are the same on every machine, and in the next version. */
static void binarise_bits(void **state)
{
    (void)state;
    struct records r;
    unsigned long bits = 0;
    bytes(&r, 2, 32, 128);
    assert_int_equal(records_binarise(&r, 1, &err), 0);
    for (size_t i = 0; i < 64; i++) bits = bits << 1 | (records_at(&r, 0, i) == 1);
    assert_int_equal(bits, 0xb087c83732b6771e);
    records_free(&r);
}

/* ---- splits ---------------------------------------------------------------------------- */

static void splits(void **state)
{
    (void)state;
    static const struct {
        const char *how;
        size_t n, part[3];
    } good[] = {
        {"50,30,20", 100, {50, 30, 20}},
        {"50", 100, {50, 0, 0}},
        {"rest", 7, {7, 0, 0}},
        {"rest,0.1", 105, {95, 10, 0}},
        {"0.8,0.1,0.1", 1003, {803, 100, 100}},
        {"0.5,0.25", 10, {5, 2, 0}},
        {"1,rest,1", 10, {1, 8, 1}},
        {"rest,0,3", 10, {7, 0, 3}},
        {"0.7,0.3", 3, {3, 0, 0}},
        {"10,0.1,rest", 20, {10, 2, 8}},
    };
    struct split s, t;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        for (int shuffled = 0; shuffled < 2; shuffled++) {
            size_t n = good[i].n;
            int seen[2000] = {0};
            if (split_make(&s, n, good[i].how, shuffled, 3, &err)) fail_msg("%s", err.msg);
            assert_memory_equal(s.n, good[i].part, sizeof s.n);
            for (size_t k = 0; k < n; k++) seen[s.index[k]]++;
            for (size_t k = 0; k < n; k++) assert_int_equal(seen[k], 1);
            for (size_t k = 0; k < n && !shuffled; k++) assert_int_equal(s.index[k], (int)k);
            assert_ptr_equal(split_index(&s, SPLIT_TEST), s.index + s.n[0] + s.n[1]);
            split_free(&s);
        }
    size_t moved = 0, other = 0;
    assert_int_equal(split_make(&s, 1000, "500,500", 1, 3, &err), 0);
    assert_int_equal(split_make(&t, 1000, "500,500", 1, 4, &err), 0);
    for (int k = 0; k < 1000; k++) moved += s.index[k] != k, other += s.index[k] != t.index[k];
    assert_true(moved > 900 && other > 900);
    split_free(&s), split_free(&t);
    assert_int_equal(split_make(&t, 1000, "900,rest", 1, 3, &err),
                     0); /* the order has to do with n and the seed only */
    assert_int_equal(split_make(&s, 1000, "1", 1, 3, &err), 0);
    assert_memory_equal(s.index, t.index, 1000 * sizeof *s.index);
    split_free(&s), split_free(&t);
    static const struct {
        const char *how, *say;
        int code;
    } bad[] = {{"", "is no part", NAMI_EUSAGE},
               {"5,,2", "is no part", NAMI_EUSAGE},
               {"5,x", "'x' is no part", NAMI_EUSAGE},
               {"1.5", "is no part", NAMI_EUSAGE},
               {"-5", "is no part", NAMI_EUSAGE},
               {"1,2,3,4", "no way to split", NAMI_EUSAGE},
               {"rest,rest", "no way", NAMI_EUSAGE},
               {"1.2.3", "is no part", NAMI_EUSAGE},
               {"5,", "is no part", NAMI_EUSAGE},
               {"8,4", "more than the 10", NAMI_EINPUT},
               {"0,5", "none to train on", NAMI_EINPUT},
               {"0.01", "none to train on", NAMI_EINPUT},
               {"99999999999999999999999999999999999999", "is no part", NAMI_EUSAGE},
               {"9999999999999999999999999", "more than", NAMI_EINPUT}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int rc = split_make(&s, 10, bad[i].how, 1, 1, &err);
        if (rc != bad[i].code || !strstr(err.msg, bad[i].say))
            fail_msg("'%s': %d %s", bad[i].how, rc, err.msg);
        split_free(&s);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(scale),         cmocka_unit_test(threshold), cmocka_unit_test(binarise),
    cmocka_unit_test(binarise_bits), cmocka_unit_test(splits),
};
RUN(tests)
