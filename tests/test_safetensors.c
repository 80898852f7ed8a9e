/* test_safetensors.c: safetensors files are read back as written and follow the format; damage
   of every kind is refused with one sentence. */
#include "run.h"

#include <jansson.h>

#include "malloc_fail.h"

#include "base/str.h"
#include "data/safetensors.h"

static const float f32[6] = {1.5f, -2, 3, 4, 5, 0.1f};
static const double f64[3] = {3.14159, -0.0, 1e300};
static const int64_t i64[2] = {-5, INT64_MAX};
static const unsigned char u8[5] = {0, 1, 2, 254, 255};

/* All types, in an order that would not be aligned. */
static int fill(struct st *s, nami_err *err)
{
    int rc;
    if ((rc = st_set(s, "format", "old", err)) ||
        (rc = st_set(s, "model", "x ~ \"n\"\n\\ä", err)) ||
        (rc = st_set(s, "format", "nami", err)) ||
        (rc = st_add(s, "bytes", ST_U8, 1, (size_t[]){5}, u8, err)) ||
        (rc = st_add(s, "w/\"1\"", ST_F32, 2, (size_t[]){2, 3}, f32, err)) ||
        (rc = st_add(s, "x", ST_F64, 4, (size_t[]){1, 3, 1, 1}, f64, err)) ||
        (rc = st_add(s, "none", ST_F64, 2, (size_t[]){0, 7}, NULL, err)) ||
        (rc = st_add(s, "scalar", ST_F32, 0, NULL, f32 + 5, err)) ||
        (rc = st_add(s, "n", ST_I64, 1, (size_t[]){2}, i64, err)))
        return rc;
    return 0;
}

static void check_tensor(const struct st *s, const char *name, enum st_type type, int ndim,
                         const size_t *dim, const void *x, size_t n, size_t size)
{
    const struct st_tensor *t = st_find(s, name);
    assert_non_null(t);
    assert_string_equal(t->name, name);
    assert_int_equal(t->type, type);
    assert_int_equal(t->ndim, ndim);
    assert_int_equal(t->n, n);
    for (int k = 0; k < ndim; k++) assert_int_equal(t->dim[k], dim[k]);
    assert_int_equal((uintptr_t)t->x % size, 0);
    if (n) assert_memory_equal(t->x, x, n * size);
}

static void check_all(const struct st *s)
{
    assert_int_equal(s->tensor.n, 6);
    assert_int_equal(s->text.n, 2);
    assert_string_equal(st_get(s, "format"), "nami");
    assert_string_equal(st_get(s, "model"), "x ~ \"n\"\n\\ä");
    assert_null(st_get(s, "x"));
    assert_null(st_find(s, "format"));
    check_tensor(s, "bytes", ST_U8, 1, (size_t[]){5}, u8, 5, 1);
    check_tensor(s, "w/\"1\"", ST_F32, 2, (size_t[]){2, 3}, f32, 6, 4);
    check_tensor(s, "x", ST_F64, 4, (size_t[]){1, 3, 1, 1}, f64, 3, 8);
    check_tensor(s, "none", ST_F64, 2, (size_t[]){0, 7}, NULL, 0, 8);
    check_tensor(s, "scalar", ST_F32, 0, NULL, f32 + 5, 1, 4);
    check_tensor(s, "n", ST_I64, 1, (size_t[]){2}, i64, 2, 8);
}

static void print(const struct st *s, struct str *out)
{
    nami_err err;
    if (st_print(s, out, &err)) fail_msg("%s", err.msg);
}

/* ---- good files --------------------------------------------------------------------- */

static void round_trip(void **state)
{
    (void)state;
    struct st s = {0}, back = {0};
    struct str a = {0}, b = {0};
    nami_err err;
    assert_int_equal(fill(&s, &err), 0);
    check_all(&s);
    print(&s, &a);
    assert_int_equal(st_parse(&back, a.s, a.n, &err), 0);
    check_all(&back);
    print(&back, &b); /* the same bytes from then on */
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.s, b.s, a.n);
    print(&back, &b); /* appends */
    assert_int_equal(b.n, 2 * a.n);
    assert_memory_equal(a.s, b.s + a.n, a.n);
    st_free(&s);
    st_free(&back);
    assert_null(st_find(&back, "x"));
    str_free(&a);
    str_free(&b);
    print(&s, &a); /* nothing: 8 bytes of length, {} and spaces */
    assert_int_equal(a.n, 64);
    assert_memory_equal(a.s, "\x38\0\0\0\0\0\0\0{}   ", 13);
    assert_int_equal(st_parse(&s, a.s, a.n, &err), 0);
    assert_int_equal(s.tensor.n + s.text.n, 0);
    st_free(&s);
    str_free(&a);
}

/* Bytes anywhere in memory: what is not aligned is copied. */
static void unaligned(void **state)
{
    (void)state;
    struct st s = {0};
    struct str a = {0};
    nami_err err;
    assert_int_equal(fill(&s, &err), 0);
    print(&s, &a);
    st_free(&s);
    char *at = malloc(a.n + 16);
    assert_non_null(at);
    for (int i = 0; i < 16; i++) {
        memcpy(at + i, a.s, a.n);
        assert_int_equal(st_parse(&s, at + i, a.n, &err), 0);
        check_all(&s);
        st_free(&s);
    }
    free(at);
    str_free(&a);
}

/* The published layout, byte by byte. */
static void layout(void **state)
{
    (void)state;
    static const char json[] = "{\"__metadata__\":{\"a\":\"b\"},"
                               "\"x\":{\"dtype\":\"F64\",\"shape\":[3],\"data_offsets\":[0,24]},"
                               "\"n\":{\"dtype\":\"I64\",\"shape\":[2],\"data_offsets\":[24,40]},"
                               "\"w\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[40,64]},"
                               "\"u\":{\"dtype\":\"U8\",\"shape\":[5],\"data_offsets\":[64,69]}}";
    struct st s = {0};
    struct str a = {0};
    nami_err err;
    size_t len = 0;
    st_set(&s, "a", "b", &err);
    assert_int_equal(st_add(&s, "u", ST_U8, 1, (size_t[]){5}, u8, &err), 0);
    assert_int_equal(st_add(&s, "x", ST_F64, 1, (size_t[]){3}, f64, &err), 0);
    assert_int_equal(st_add(&s, "w", ST_F32, 2, (size_t[]){2, 3}, f32, &err), 0);
    assert_int_equal(st_add(&s, "n", ST_I64, 1, (size_t[]){2}, i64, &err), 0);
    print(&s, &a);
    for (int k = 8; k-- > 0;) len = len << 8 | (unsigned char)a.s[k];
    assert_int_equal((8 + len) % 64, 0);
    assert_int_equal(a.n, 8 + len + 69);
    assert_memory_equal(a.s + 8, json, sizeof json - 1);
    for (size_t i = sizeof json - 1; i < len; i++) assert_int_equal(a.s[8 + i], ' ');
    const char *data = a.s + 8 + len;
    assert_memory_equal(data, f64, 24);
    assert_memory_equal(data + 24, i64, 16);
    assert_memory_equal(data + 24,
                        "\xFB\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", 16);
    assert_memory_equal(data + 40, "\0\0\xC0\x3F\0\0\0\xC0", 8); /* 1.5f, -2.0f */
    assert_memory_equal(data + 64, u8, 5);
    st_free(&s);
    str_free(&a);
}

static void many(void **state)
{
    (void)state;
    enum { N = 20000 };
    struct st s = {0}, back = {0};
    struct str a = {0};
    nami_err err;
    char name[32];
    double *x = malloc(N * sizeof *x);
    assert_non_null(x);
    for (int i = 0; i < N; i++) {
        x[i] = i;
        snprintf(name, sizeof name, "layer.%d.weight", i);
        assert_int_equal(st_add(&s, name, ST_F64, 1, (size_t[]){1}, x + i, &err), 0);
        assert_int_equal(st_set(&s, name, name, &err), 0);
    }
    print(&s, &a);
    assert_int_equal(st_parse(&back, a.s, a.n, &err), 0);
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "layer.%d.weight", i);
        check_tensor(&back, name, ST_F64, 1, (size_t[]){1}, x + i, 1, 8);
        assert_string_equal(st_get(&back, name), name);
    }
    st_free(&s);
    st_free(&back);
    str_free(&a);
    free(x);
}

/* ---- refused ------------------------------------------------------------------------ */

static void check_refusal(const char *text, size_t len, const char *what)
{
    struct st s = {0};
    nami_err err = {0};
    char *exact = malloc(len + !len); /* a sanitizer sees if more is read */
    assert_non_null(exact);
    if (len) memcpy(exact, text, len);
    int rc = st_parse(&s, exact, len, &err);
    if (!rc) fail_msg("%s was accepted", what);
    if (rc != NAMI_EINPUT && rc != NAMI_ELIMIT) fail_msg("%s: code %d", what, rc);
    assert_int_equal(rc, err.code);
    if (!err.msg[0] || strchr(err.msg, '\n')) fail_msg("%s: no sentence", what);
    if (*what && !strstr(err.msg, what)) fail_msg("expected '%s': %s", what, err.msg);
    assert_int_equal(s.tensor.n + s.text.n, 0);
    assert_null(s.mem.head);
    free(exact);
}

/* A header and so many bytes of numbers. */
static void with_header(struct str *out, const char *json, size_t ndata)
{
    uint64_t n = strlen(json);
    str_free(out);
    str_putn(out, (char *)&n, 8);
    str_put(out, json);
    for (size_t i = 0; i < ndata; i++) str_putn(out, "\1", 1);
}

#define T(name, type, shape, from, to)                                                             \
    "\"" name "\":{\"dtype\":\"" type "\",\"shape\":[" shape "],\"data_offsets\":[" from "," to "]}"
#define HUGE_INT "9223372036854775807"

/* Headers with what is said about them; the numbers are 16 bytes. */
static const struct {
    const char *json, *what;
} bad[] = {
    /* offsets */
    {"{" T("a", "F32", "2", "0", "8") "}", "8 bytes at the end belong to no tensor"},
    {"{}", "16 bytes at the end"},
    {"{" T("a", "F32", "2", "8", "16") "}", "8 bytes before the tensor 'a' belong to none"},
    {"{" T("a", "F32", "1", "0", "4") "," T("b", "F32", "2", "8", "16") "}",
     "4 bytes before the tensor 'b'"},
    {"{" T("a", "F32", "2", "0", "8") "," T("b", "F32", "3", "4", "16") "}", "'a' and 'b' overlap"},
    {"{" T("a", "F32", "4", "0", "16") "," T("b", "F32", "4", "0", "16") "}", "overlap"},
    {"{" T("a", "F32", "4", "0", "16") "," T("b", "F32", "0", "4", "4") "}", "'a' and 'b' overlap"},
    {"{" T("a", "F32", "5", "0", "20") "}", "ends 4 bytes behind the end of the file"},
    {"{" T("a", "F32", "4", "16", "0") "}", "not [begin, end]"},
    {"{" T("a", "F32", "4", "-16", "0") "}", "not [begin, end]"},
    {"{" T("a", "F32", "4", "0.0", "16") "}", "not [begin, end]"},
    {"{" T("a", "F32", "4", "0", "16,16") "}", "not [begin, end]"},
    {"{" T("a", "F32", "4", "0", HUGE_INT) "}", "behind the end"},
    {"{" T("a", "F32", "4", HUGE_INT, HUGE_INT) "}", "behind the end"},
    {"{" T("a", "F32", "4", "0", "18446744073709551632") "}", "not valid JSON"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":16}}", "not [begin, end]"},
    /* shapes */
    {"{" T("a", "F32", "3", "0", "16") "}", "'a' has 16 bytes, and its shape says 12"},
    {"{" T("a", "F64", "4", "0", "16") "}", "its shape says 32"},
    {"{" T("a", "F32", "", "0", "16") "}", "its shape says 4"},
    {"{" T("a", "F32", "0", "0", "16") "}", "its shape says 0"},
    {"{" T("a", "U8", "16,1,1,1,1", "0", "16") "}", "5 dimensions"},
    {"{" T("a", "F32", "-4", "0", "16") "}", "no size"},
    {"{" T("a", "F32", "4.0", "0", "16") "}", "no size"},
    {"{" T("a", "F32", "\"4\"", "0", "16") "}", "no size"},
    {"{" T("a", "F32", "4294967296,4294967296", "0", "16") "}", "larger than any memory"},
    {"{" T("a", "F32", HUGE_INT "," HUGE_INT ",0", "0", "0") "}", "larger than any memory"},
    {"{" T("a", "F32", "0," HUGE_INT "," HUGE_INT, "0", "0") "}", "larger than any memory"},
    {"{" T("a", "F64", "4611686018427387906", "0", "16") "}", "larger than any memory"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":4,\"data_offsets\":[0,16]}}", "no shape"},
    /* types */
    {"{" T("a", "F16", "8", "0", "16") "}", "the tensor 'a' has the type 'F16'"},
    {"{" T("a", "BOOL", "16", "0", "16") "}", "'BOOL'"},
    {"{" T("a", "f32", "4", "0", "16") "}", "'f32'"},
    {"{" T("a", "", "4", "0", "16") "}", "the type ''"},
    {"{\"a\":{\"dtype\":3,\"shape\":[4],\"data_offsets\":[0,16]}}", "no dtype"},
    /* entries and names */
    {"{\"a\":{\"shape\":[4],\"data_offsets\":[0,16]}}", "{dtype, shape, data_offsets}"},
    {"{\"a\":{\"x\":1,\"shape\":[4],\"data_offsets\":[0,16]}}", "no dtype"},
    {"{\"a\":{\"dtype\":\"F32\",\"x\":[4],\"data_offsets\":[0,16]}}", "no shape"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"offsets\":[0,16]}}", "not [begin, end]"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16],\"x\":1}}", "{dtype, shape"},
    {"{\"a\":[\"F32\",[4],[0,16]]}", "{dtype, shape"},
    {"{\"a\":null}", "{dtype, shape"},
    {"{" T("a", "F32", "2", "0", "8") "," T("a", "F32", "2", "8", "16") "}", "duplicate"},
    {"{" T("a", "F32", "2", "0", "8") "," T("\\u0061", "F32", "2", "8", "16") "}", "duplicate"},
    {"{" T("", "F32", "4", "0", "16") "}", "cannot be called ''"},
    {"{" T("a\\u0000b", "F32", "4", "0", "16") "}", "not valid JSON"},
    {"{" T("a\xFF", "F32", "4", "0", "16") "}", "not valid JSON"},
    {"{" T("a\xED\xA0\x80", "F32", "4", "0", "16") "}", "not valid JSON"},
    /* texts */
    {"{\"__metadata__\":[]," T("a", "F32", "4", "0", "16") "}", "no list of texts"},
    {"{\"__metadata__\":"
     "{\"b\":1}," T("a", "F32", "4", "0", "16") "}",
     "'b' in __metadata__ is no text"},
    {"{\"__metadata__\":{\"b\":\"\\u0000\"}," T("a", "F32", "4", "0", "16") "}", "not valid JSON"},
    {"{\"__metadata__\":{\"b\":\"1\",\"b\":\"2\"}," T("a", "F32", "4", "0", "16") "}", "duplicate"},
    {"{\"__metadata__\":{}, \"__metadata__\":{}," T("a", "F32", "4", "0", "16") "}", "duplicate"},
    /* JSON */
    {"{", "not valid JSON"},
    {"{" T("a", "F32", "4", "0", "16"), "not valid JSON"},
    {"{" T("a", "F32", "4", "0", "16") ",}", "not valid JSON"},
    {"{" T("a", "F32", "4", "0", "16") "}}", "not valid JSON"},
    {"{" T("a", "F32", "4", "0", "16") "}\1", "not valid JSON"},
    {"[]", "this is no safetensors file"},
    {" {" T("a", "F32", "4", "0", "16") "}", "this is no safetensors file"},
    {"\"x\"", "this is no safetensors file"},
};

static void refused(void **state)
{
    (void)state;
    struct str a = {0};
    struct st s = {0};
    nami_err err;
    with_header(&a, "{" T("a", "F32", "4", "0", "16") "}", 16); /* the pattern itself is good */
    if (st_parse(&s, a.s, a.n, &err)) fail_msg("%s", err.msg);
    st_free(&s);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        with_header(&a, bad[i].json, 16);
        check_refusal(a.s, a.n, bad[i].what);
    }
    str_free(&a);
    for (int i = 0; i < 5000; i++) str_put(&a, "{\"a\":");
    char *deep = a.s;
    a = (struct str){0};
    with_header(&a, deep, 16);
    check_refusal(a.s, a.n, "not valid JSON");
    free(deep);
    str_free(&a);
}

/* Other orders than ours: tensors in any order, texts at the end, blanks. */
static void accepted(void **state)
{
    (void)state;
    struct str a = {0};
    struct st s = {0};
    nami_err err;
    with_header(
        &a,
        "{ " T("b", "U8", "3", "13", "16") ",\n " T("a", "F32", "2", "5", "13") ",\t" T(
            "e", "F64", "0", "5", "5") "," T("c", "U8", "5", "0",
                                             "5") ",\"__metadata__\" : {\"t\" : \"\\u00e4\"}}  \n",
        16);
    if (st_parse(&s, a.s, a.n, &err)) fail_msg("%s", err.msg);
    assert_int_equal(s.tensor.n, 4);
    assert_string_equal(st_get(&s, "t"), "ä");
    check_tensor(&s, "a", ST_F32, 1, (size_t[]){2}, "\1\1\1\1\1\1\1\1", 2, 4);
    check_tensor(&s, "e", ST_F64, 1, (size_t[]){0}, NULL, 0, 1);
    st_free(&s);
    str_free(&a);
}

/* Cut off anywhere, too long, and every byte changed: never a crash; refused, where it shows. */
static void damaged(void **state)
{
    (void)state;
    struct st s = {0};
    struct str a = {0};
    nami_err err;
    assert_int_equal(fill(&s, &err), 0);
    print(&s, &a);
    st_free(&s);
    for (size_t n = 0; n < a.n; n++) check_refusal(a.s, n, n < 8 ? "at least 8 bytes" : "");
    str_putn(&a, "\0", 1);
    check_refusal(a.s, a.n, "1 bytes at the end");
    a.n--;
    for (size_t i = 0; i < a.n; i++)
        for (int bit = 0; bit < 8; bit++) {
            a.s[i] = (char)(a.s[i] ^ 1 << bit);
            err = (nami_err){0};
            int rc = st_parse(&s, a.s, a.n, &err);
            if (rc != err.code || !rc != !err.msg[0]) fail_msg("byte %zu, bit %d: %d", i, bit, rc);
            if (!rc && i < 8) fail_msg("another length of the header was accepted");
            st_free(&s);
            a.s[i] = (char)(a.s[i] ^ 1 << bit);
        }
    static const uint64_t length[] = {
        0,         1,          1 << 20,        100000000,        100000001,
        INT64_MAX, UINT64_MAX, UINT64_MAX - 7, (uint64_t)1 << 32};
    for (size_t i = 0; i < sizeof length / sizeof *length; i++) {
        memcpy(a.s, &length[i], 8);
        check_refusal(a.s, a.n,
                      length[i] > 100000000 ? "this is no safetensors file"
                      : length[i] > 1       ? "cut off"
                                            : "");
    }
    str_free(&a);
}

static void add_refused(void **state)
{
    (void)state;
    struct st s = {0};
    nami_err err;
    size_t huge[] = {SIZE_MAX / 4, SIZE_MAX / 4}, one[5] = {1, 1, 1, 1, 1};
    assert_int_equal(fill(&s, &err), 0);
    assert_int_equal(st_add(&s, "x", ST_F64, 1, one, f64, &err), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "two tensors are called 'x'"));
    assert_int_equal(st_add(&s, "", ST_F64, 1, one, f64, &err), NAMI_EINPUT);
    assert_int_equal(st_add(&s, "__metadata__", ST_F64, 1, one, f64, &err), NAMI_EINPUT);
    assert_int_equal(st_add(&s, "\xC3(", ST_F64, 1, one, f64, &err), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "not UTF-8"));
    assert_int_equal(st_add(&s, "y", ST_F64, 5, one, f64, &err), NAMI_EINPUT);
    assert_int_equal(st_add(&s, "y", ST_F64, -1, one, f64, NULL), NAMI_EINPUT);
    assert_int_equal(st_add(&s, "y", ST_F64, 2, huge, f64, &err), NAMI_ELIMIT);
    assert_int_equal(st_add(&s, "y", ST_F64, 1, huge, f64, &err), NAMI_ELIMIT);
    assert_int_equal(st_set(&s, "a", "\xFF", &err), NAMI_EINPUT);
    assert_int_equal(st_set(&s, "\xFF", "a", &err), NAMI_EINPUT);
    check_all(&s); /* and nothing has changed */
    st_free(&s);
}

/* ---- no memory ---------------------------------------------------------------------- */

static int write_and_read(void *ctx)
{
    struct st s = {0}, back = {0};
    struct str a = {0};
    nami_err err = {0};
    int *strict = ctx, rc = fill(&s, &err);
    if (!rc) rc = st_print(&s, &a, &err);
    if (!rc) {
        char *odd = malloc(a.n + 1); /* not aligned */
        if (!odd) rc = NAMI_ENOMEM;
        if (odd) memcpy(odd + 1, a.s, a.n);
        if (odd) rc = st_parse(&back, odd + 1, a.n, &err);
        if (rc && back.tensor.n + back.text.n) rc = 0; /* it should be empty */
        st_free(&back);
        free(odd);
    }
    if (rc == NAMI_EINPUT && !*strict) rc = NAMI_ENOMEM; /* Jansson calls it an error of syntax */
    if (rc && rc != NAMI_ENOMEM) rc = 0; /* to be seen as a failure without its error */
    st_free(&s);
    str_free(&a);
    return rc;
}

static void no_memory(void **state)
{
    (void)state;
    for (int strict = 0; strict < 2; strict++) {
        const char *why;
        if (!strict) json_set_alloc_funcs(malloc, free);
        long n = nomem_each(write_and_read, &strict, &why);
        json_set_alloc_funcs(__real_malloc, __real_free);
        if (n < 0) fail_msg("%s", why);
        print_message("%ld allocations failed\n", n);
        assert_true(n > (strict ? 10 : 100));
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(round_trip), cmocka_unit_test(unaligned),   cmocka_unit_test(layout),
    cmocka_unit_test(many),       cmocka_unit_test(refused),     cmocka_unit_test(accepted),
    cmocka_unit_test(damaged),    cmocka_unit_test(add_refused), cmocka_unit_test(no_memory),
};

RUN(tests)
