/* test_records.c: observations to learn from: every format is read to the last bit, however damaged
   it is there is one sentence and no crash. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>
#include <zip.h>
#include <zlib.h>

#include "base/file.h"
#include "data/draws.h"
#include "data/gunzip.h"
#include "data/npy.h"
#include "data/records.h"
#include "data/split.h"
#include "malloc_fail.h"
#include "records_at.h"

static const struct records_format *format(const char *name)
{
    char path[32];
    snprintf(path, sizeof path, "f.%s", name);
    return records_format_of(path);
}

/* Refused with this code and a message that says so, and nothing is left to free. */
static void refuse(const char *text, size_t n, const char *as, int code, const char *say)
{
    struct records r;
    char *copy = malloc(n + !n); /* not a byte more */
    assert_non_null(copy);
    memcpy(copy, text, n);
    err = (nami_err){0};
    int rc = records_parse(&r, as ? format(as) : NULL, copy, n, "x", &err);
    if (rc != code || !strstr(err.msg, say)) fail_msg("%d, no '%s' in: %s", rc, say, err.msg);
    assert_int_equal(records_parse(&r, as ? format(as) : NULL, copy, n, "x", NULL), code);
    records_free(&r);
    free(copy);
}

static void is_row(const struct records *r, size_t i, const double *want)
{
    double x[64];
    float f[64];
    assert_true(r->k <= 32);
    records_row(r, i, NULL, x, 2);
    records_row_float(r, i, NULL, f, 1);
    for (size_t j = 0; j < r->k; j++) {
        if (isnan(want[j])) {
            assert_true(isnan(x[2 * j]) && isnan(f[j]) && isnan(records_at(r, i, j)));
            continue;
        }
        if (x[2 * j] != want[j]) fail_msg("%zu, %zu: %g, not %g", i, j, x[2 * j], want[j]);
        assert_true(f[j] == (float)want[j] && records_at(r, i, j) == want[j]);
    }
}

static void put_gzip(const struct str *s, struct str *out)
{
    static char buf[1 << 16];
    z_stream z = {.next_in = (Bytef *)s->s, .avail_in = (uInt)s->n};
    z.next_out = (Bytef *)buf;
    z.avail_out = sizeof buf;
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    str_putn(out, buf, sizeof buf - z.avail_out);
    deflateEnd(&z);
}

/* ---- IDX ------------------------------------------------------------------------------- */

static const struct {
    int code;
    char kind;
    int size;
    double x[6];
    enum records_type type;
} kinds[] = {
    {0x08, 'u', 1, {0, 1, 2, 128, 254, 255}, RECORDS_BYTE},
    {0x09, 'i', 1, {0, 1, -1, 127, -128, 3}, RECORDS_FLOAT},
    {0x0B, 'i', 2, {0, 1, -1, 300, 32767, -32768}, RECORDS_FLOAT},
    {0x0C, 'i', 4, {0, 1, -1, 2147483647, -5, 9}, RECORDS_DOUBLE},
    {0x0C, 'i', 4, {0, 1, 9, 8, 7, 255}, RECORDS_BYTE},
    {0x0D, 'f', 4, {0, 1, 0.5, NAN, -INFINITY, 1e30f}, RECORDS_FLOAT},
    {0x0E, 'f', 8, {0, 1, 0.1, NAN, INFINITY, 1e300}, RECORDS_DOUBLE},
    {0x0E, 'f', 8, {0, 1, -0.0, 2, 3, 4}, RECORDS_FLOAT},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void idx(void **state)
{
    (void)state;
    for (int i = 0; i < KINDS; i++) {
        struct records r;
        struct str s = {0};
        put_idx(&s, kinds[i].code, 3, (unsigned[]){3, 1, 2});
        for (int j = 0; j < 6; j++) put_number(&s, kinds[i].kind, kinds[i].size, 1, kinds[i].x[j]);
        parse(&r, &s, "x");
        assert_true(r.n == 3 && r.k == 2 && r.ndim == 2 && r.dim[0] == 1 && r.dim[1] == 2);
        assert_int_equal(r.type, kinds[i].type);
        for (size_t j = 0; j < 3; j++) is_row(&r, j, kinds[i].x + 2 * j);
        records_free(&r);
        for (size_t n = 0; n < s.n; n++)
            refuse(s.s, n, "idx", NAMI_EINPUT, n < 4 ? "IDX" : "cut off");
        str_putn(&s, "", 1);
        refuse(s.s, s.n, NULL, NAMI_EINPUT, "the file is cut off or damaged");
        str_free(&s);
    }
}

static void idx_refused(void **state)
{
    (void)state;
    struct str s = {0};
    refuse("\0\0\x0a\1\0\0\0\1\5", 9, NULL, NAMI_EINPUT, "no numbers of type 10");
    refuse("\0\0\7\1\0\0\0\1\5", 9, "idx", NAMI_EINPUT, "expected an IDX file");
    refuse("\0\1\x08\1\0\0\0\1\5", 9, "idx", NAMI_EINPUT, "expected an IDX file");
    refuse("\0\0\x08\0\5", 5, "idx", NAMI_EINPUT, "expected an IDX file");
    refuse("\0\0\x08\1\0\0\0\0", 8, NULL, NAMI_EINPUT, "'x' has no observations");
    refuse("\0\0\x08\2\0\0\0\1\0\0\0\0", 12, NULL, NAMI_EINPUT, "'x' has no observations");
    refuse("\0\0\x08\x0a", 4, NULL, NAMI_EINPUT, "10 dimensions");
    put_idx(&s, 0x08, 3, (unsigned[]){60000, 28, 28}); /* claims that nothing is there for */
    refuse(s.s, s.n, NULL, NAMI_EINPUT, "0 bytes behind the header, which says 47040000");
    s.n = 0;
    put_idx(&s, 0x0E, 3, (unsigned[]){2147483647, 2147483647, 2147483647});
    refuse(s.s, s.n, NULL, NAMI_ELIMIT, "too large");
    s.n = 0;
    put_idx(&s, 0x0E, 1, (unsigned[]){4294967295});
    refuse(s.s, s.n, NULL, NAMI_ELIMIT, "too large");
    s.n = 0;
    put_idx(&s, 0x0E, 3, (unsigned[]){2147483647, 2147483647, 0});
    refuse(s.s, s.n, NULL, NAMI_ELIMIT, "too large");
    str_free(&s);
}

/* ---- compressed -------------------------------------------------------------------------- */

static void gzip(void **state)
{
    (void)state;
    struct records r;
    struct str s = {0}, half = {0}, z = {0}, two = {0};
    const double want[3] = {7, 8, 9};
    put_idx(&s, 0x08, 2, (unsigned[]){2, 3});
    str_putn(&s, "\1\2\3\7\10\11", 6);
    put_gzip(&s, &z);
    parse(&r, &z, "x");
    is_row(&r, 1, want);
    records_free(&r);
    for (size_t n = 2; n < z.n; n++)
        refuse(z.s, n, NULL, NAMI_EINPUT, "gzip has compressed is cut off");
    for (size_t i = 0; i < z.n; i++) { /* the checksum finds it, or it does not matter */
        z.s[i] ^= 0x41;
        if (records_parse(&r, format("idx"), z.s, z.n, "x", &err) == 0)
            is_row(&r, 1, want);
        else
            assert_true(err.code == NAMI_EINPUT && err.msg[0]);
        records_free(&r);
        z.s[i] ^= 0x41;
    }
    str_putn(&half, s.s, 5); /* two files in a row are one */
    put_gzip(&half, &two);
    half.n = 0;
    str_putn(&half, s.s + 5, s.n - 5);
    put_gzip(&half, &two);
    parse(&r, &two, "x");
    is_row(&r, 1, want);
    records_free(&r);
    str_put(&two, "more");
    refuse(two.s, two.n, NULL, NAMI_EINPUT, "damaged");
    half.n = two.n = 0;
    put_gzip(&half, &two);
    refuse(two.s, two.n, NULL, NAMI_EINPUT, "no file of observations");
    str_free(&s), str_free(&half), str_free(&z), str_free(&two);
}

/* Members of zeros, which deflate shortens a thousandfold. */
static void gzip_too_large(void **state)
{
    (void)state;
    struct str zeros = {0}, z = {0};
    enum { SIZE = 1 << 24 };
    char *all = calloc(SIZE, 1);
    str_putn(&zeros, all, SIZE);
    while (z.n < 5 * (SIZE >> 10)) put_gzip(&zeros, &z); /* more than 64 MiB, 1000 times z.n */
    refuse(z.s, z.n, NULL, NAMI_ELIMIT, "if you trust it, decompress it first");
    assert_true(inflate_limit(z.n) > z.n);
    assert_true(inflate_limit(SIZE_MAX) == SIZE_MAX);
    free(all);
    str_free(&zeros), str_free(&z);
}

/* ---- NumPy ---------------------------------------------------------------------------------- */

static void put_npy(struct str *s, const char *descr, int fortran, const char *shape)
{
    struct str head = {0};
    str_printf(&head, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", descr,
               fortran ? "True" : "False", shape);
    str_putn(s, NPY_MAGIC "\1\0", 8);
    str_putn(s, (char[]){(char)head.n, (char)(head.n >> 8)}, 2);
    str_putn(s, head.s, head.n);
    str_free(&head);
}

static void npy(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * KINDS; i++) {
        struct records r;
        struct str s = {0};
        char descr[8];
        int k = i / 2, big = i % 2;
        snprintf(descr, sizeof descr, "%c%c%d", big ? '>' : '<', kinds[k].kind, kinds[k].size);
        put_npy(&s, descr, 0, "(3, 2)");
        for (int j = 0; j < 6; j++)
            put_number(&s, kinds[k].kind, kinds[k].size, big, kinds[k].x[j]);
        parse(&r, &s, "x");
        assert_true(r.n == 3 && r.k == 2 && r.ndim == 1 && r.dim[0] == 2);
        assert_int_equal(r.type, kinds[k].type);
        for (size_t j = 0; j < 3; j++) is_row(&r, j, kinds[k].x + 2 * j);
        records_free(&r);
        for (size_t n = 0; n < s.n; n++) refuse(s.s, n, "npy", NAMI_EINPUT, "cut off");
        str_free(&s);
    }
}

static void npy_orders(void **state)
{
    (void)state;
    struct records r;
    struct str s = {0};
    char in[24];
    for (int i = 0; i < 4; i++) /* x[i, j, k] = 100 i + ... at i + 4 * (j + 2 * k) */
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 3; k++) in[i + 4 * (j + 2 * k)] = (char)(30 * i + 10 * j + k);
    put_npy(&s, "|u1", 1, "(4, 2, 3)");
    str_putn(&s, in, 24);
    parse(&r, &s, "x");
    assert_true(r.n == 4 && r.k == 6 && r.ndim == 2 && r.type == RECORDS_BYTE);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 6; j++)
            assert_true(records_at(&r, (size_t)i, (size_t)j) == 30 * i + 10 * (j / 3) + j % 3);
    records_free(&r);
    s.n = 0;
    put_npy(&s, "|b1", 0, "(3,)"); /* single numbers */
    str_putn(&s, "\1\0\1", 3);
    parse(&r, &s, "x");
    assert_true(r.n == 3 && r.k == 1 && r.ndim == 0 && records_at(&r, 2, 0) == 1);
    records_free(&r);
    s.n = 0;
    put_npy(&s, "<f8", 0, "()");
    put_number(&s, 'f', 8, 0, 1);
    refuse(s.s, s.n, NULL, NAMI_EINPUT, "'x' is a single number");
    s.n = 0;
    put_npy(&s, "<f8", 0, "(99999999, 99999999)");
    refuse(s.s, s.n, NULL, NAMI_EINPUT, "0 bytes behind the header");
    s.n = 0;
    put_npy(&s, "<U8", 0, "(3,)");
    refuse(s.s, s.n, NULL, NAMI_EINPUT, "the type '<U8'");
    str_free(&s);
}

static void to_npz(const char *path, int deflate)
{
    struct str a[2] = {{0}};
    unlink(path);
    zip_t *z = zip_open(path, ZIP_CREATE, NULL);
    assert_non_null(z);
    put_npy(&a[0], "|u1", 1, "(2, 3)");
    str_putn(&a[0], "\1\4\2\5\3\6", 6);
    put_npy(&a[1], "<f4", 0, "(2,)");
    put_number(&a[1], 'f', 4, 0, 0.5);
    put_number(&a[1], 'f', 4, 0, NAN);
    for (int i = 0; i < 2; i++) {
        zip_int64_t at = zip_file_add(z, i ? "y.npy" : "train.npy",
                                      zip_source_buffer(z, a[i].s, a[i].n, 0), ZIP_FL_ENC_UTF_8);
        zip_set_file_compression(z, (zip_uint64_t)at, deflate ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
    }
    assert_int_equal(zip_close(z), 0);
    str_free(&a[0]), str_free(&a[1]);
}

static void npz(void **state)
{
    (void)state;
    char path[] = "/tmp/nami_records_XXXXXX.npz", other[64];
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    close(fd);
    for (int deflate = 0; deflate < 2; deflate++) {
        struct records r;
        struct str s = {0};
        to_npz(path, deflate);
        if (records_read(&r, path, "y", &err)) fail_msg("%s", err.msg);
        assert_true(r.n == 2 && r.ndim == 0 && records_at(&r, 0, 0) == 0.5);
        assert_true(isnan(records_at(&r, 1, 0)));
        records_free(&r);
        snprintf(other, sizeof other, "%s:train", path); /* by its name in the file */
        if (records_read(&r, other, "x", &err)) fail_msg("%s", err.msg);
        is_row(&r, 0, (double[]){1, 2, 3});
        is_row(&r, 1, (double[]){4, 5, 6});
        records_free(&r);
        assert_int_equal(records_read(&r, path, "x", &err), NAMI_EINPUT);
        assert_string_equal(err.msg, "there is no array 'x'; there are: train, y");
        records_free(&r);
        assert_int_equal(file_read(path, &s, &err), 0);
        for (size_t n = 0; n < s.n; n++) refuse(s.s, n, "npz", NAMI_EINPUT, ".npz archive");
        str_free(&s);
    }
    unlink(path);
    struct records r;
    assert_int_equal(records_read(&r, path, "x", &err), NAMI_EFILE);
    records_free(&r);
}

/* ---- CSV ------------------------------------------------------------------------------------ */

static const char table[] =
    "\xEF\xBB\xBFid, \"x[1,2]\",y,\"x[2,1]\" ,x [1],\"x[1,1]\",\"x[2,2]\",xx\r\n"
    "a,2, 7 ,3,z,1,4,q\r\n"
    "\r\n"
    "  \n"
    "b,-2.5e3,NA,,z,\"Inf\",0.1,\"q,q\"";

static void csv(void **state)
{
    (void)state;
    struct records r;
    struct str s = {0};
    str_put(&s, table);
    parse(&r, &s, "x");
    assert_true(r.n == 2 && r.k == 4 && r.ndim == 2 && r.dim[0] == 2 && r.dim[1] == 2);
    is_row(&r, 0, (double[]){1, 2, 3, 4});
    is_row(&r, 1, (double[]){INFINITY, -2500, NAN, 0.1});
    records_free(&r);
    parse(&r, &s, "y");
    assert_true(r.ndim == 0 && records_at(&r, 0, 0) == 7 && isnan(records_at(&r, 1, 0)));
    assert_int_equal(r.type, RECORDS_FLOAT);
    records_free(&r);
    s.n = 0;
    str_put(&s, "x\n255\n0\n17\n");
    parse(&r, &s, "x");
    assert_true(r.n == 3 && r.type == RECORDS_BYTE && records_at(&r, 2, 0) == 17);
    records_free(&r);
    str_free(&s);
}

static void csv_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *say;
        int line, col;
    } bad[] = {
        {"", "the file is empty", 0, 0},
        {"\n \n", "the file is empty", 0, 0},
        {"a,b\n1,2\n", "no column 'x' or 'x[1]'", 1, 1},
        {"x[1,1,1,1,1,1,1,1,1]\n1\n", "no column", 1, 1},
        {"x[0]\n1\n", "no column", 1, 1},
        {"x[1\n1\n", "no column", 1, 1},
        {"x[1]y\n1\n", "no column", 1, 1},
        {"x\n", "'x' has no observations", 0, 0},
        {"x,x\n1,2\n", "the column 'x' comes twice", 1, 1},
        {"x[1],x[3]\n1,2\n", "there is no column 'x[2]'", 1, 1},
        {"\"x[1,1]\",\"x[2,2]\"\n1,2\n", "there is no column 'x[1,2]'", 1, 1},
        {"x[99999999],\"x[2]\"\n1,2\n", "there is no column 'x[1]'", 1, 1},
        {"\"x[99999999,99999999,99999999]\"\n1\n", "there is no column 'x[1,1,1]'", 1, 1},
        {"x[2],x[2]\n1,2\n", "the column 'x[2]' comes twice", 1, 1},
        {"x[1],\"x[1,2]\"\n1,2\n", "2 subscripts here, but 1 before", 1, 6},
        {"y,x\n1,2\n\n3\n", "this line has 1 fields, but the header 2", 4, 1},
        {"y,x\n1,2,3\n", "this line has 3 fields, but the header 2", 2, 1},
        {"x,y\n1,2\n3o,4\n", "'3o' is no number", 3, 1},
        {"y,x\n1, 0x10\n", "'0x10' is no number", 2, 4},
        {"x\n1e999\n", "'1e999' is no number", 2, 1},
        {"x\n1.\n--1\n", "'--1' is no number", 3, 1},
        {"x\n\"1\n2\"\n", "no closing quote", 2, 1},
        {"x\n\"1\"2\n", "a comma behind the quotes", 2, 1},
        {"x\n0000000000000000000000000000000000000000000000000000000000000000000000001\n",
         "is no number", 2, 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        refuse(bad[i].text, strlen(bad[i].text), "csv", NAMI_EINPUT, bad[i].say);
        struct records r;
        records_parse(&r, format("csv"), bad[i].text, strlen(bad[i].text), "x", &err);
        if (err.line != bad[i].line || err.col != bad[i].col)
            fail_msg("%d:%d: %s", err.line, err.col, err.msg);
        records_free(&r);
    }
    refuse("\1\2\3", 3, NULL, NAMI_EINPUT, "no file of observations");
    struct str s = {0}; /* many columns, many lines: room for the product would be 10^10 bytes */
    str_put(&s, "x");
    for (int i = 0; i < 100000; i++) str_put(&s, ",y");
    for (int i = 0; i < 100000; i++) str_put(&s, "\n1");
    refuse(s.s, s.n, NULL, NAMI_EINPUT, "this line has 1 fields, but the header 100001");
    str_free(&s);
}

/* ---- JSON, and what we write ourselves
 * ----------------------------------------------------------- */

static void json(void **state)
{
    (void)state;
    struct records r;
    struct str s = {0};
    str_put(&s, " {\"x\": [[1, 2], [3, null]], \"y\": 4}\n{\"x\": [[5, 6], [7, 8]]}\n");
    parse(&r, &s, "x");
    assert_true(r.n == 2 && r.k == 4 && r.ndim == 2);
    is_row(&r, 0, (double[]){1, 2, 3, NAN});
    is_row(&r, 1, (double[]){5, 6, 7, 8});
    records_free(&r);
    parse(&r, &s, "y"); /* the second has none */
    assert_true(r.n == 2 && records_at(&r, 0, 0) == 4 && isnan(records_at(&r, 1, 0)));
    records_free(&r);
    str_free(&s);
    refuse("[{\"y\": 1}, {\"y\": 2}]", 20, NULL, NAMI_EINPUT, "no data set has 'x'");
    refuse("[{\"x\": 1}, {\"x\": [2]}]", 22, NULL, NAMI_EINPUT, "the shape 1 in data set 2, but a");
    refuse("[{\"x\": 1}, {\"x\": ", 17, NULL, NAMI_EINPUT, "");
    refuse("[{\"x\": []}]", 11, NULL, NAMI_EINPUT, "no observations");
}

/* All formats that draws are written in give the same observations. */
static void round_trip(void **state)
{
    (void)state;
    enum { N = 50 };
    struct draws_var v[] = {{.name = "m", .ndim = 2, .dim = {2, 3}}, {.name = "b", .base = 6}};
    double x[7 * N];
    for (int i = 0; i < 7 * N; i++) x[i] = i < 6 * N ? sin(i) / 3 : i % 11;
    x[5] = x[6 * N + 2] = value_missing();
    struct draws d = {.n = N, .nvar = 2, .var = v, .x = x};
    for (int f = 0; draws_formats[f]; f++) {
        struct str s = {0};
        assert_int_equal(draws_formats[f]->write(&d, &s, &err), 0);
        for (int k = 0; k < 2; k++) {
            struct records r;
            parse(&r, &s, v[k].name);
            assert_true(r.n == N && r.k == (k ? 1 : 6) && r.ndim == v[k].ndim);
            for (size_t i = 0; i < N; i++) {
                double want[6];
                for (size_t j = 0; j < r.k; j++) want[j] = x[(v[k].base + j) * N + i];
                is_row(&r, i, want);
            }
            assert_int_equal(r.type, k ? RECORDS_FLOAT : RECORDS_DOUBLE);
            records_free(&r);
        }
        str_free(&s);
    }
}

static void endings(void **state)
{
    (void)state;
    static const char *const is[][2] = {{"train-images-idx3-ubyte", "idx"},
                                        {"t10k-labels.idx1-ubyte.gz", "idx"},
                                        {"a/x.npy", "npy"},
                                        {"x.npy.gz", "npy"},
                                        {"x.npz", "npz"},
                                        {"x.csv.gz", "csv"},
                                        {"x.jsonl", "json"}};
    for (size_t i = 0; i < sizeof is / sizeof *is; i++)
        assert_string_equal(records_format_of(is[i][0])->name, is[i][1]);
    assert_null(records_format_of("x"));
    assert_null(records_format_of("x.gz"));
    assert_null(records_format_of("x.npz:train"));
    for (int i = 0; records_formats[i]; i++)
        assert_int_equal(records_formats[i]->named, i > 1); /* idx and npy have no names */
}

/* Some numbers only, to any places. */
static void places(void **state)
{
    (void)state;
    struct records r;
    double to[9] = {0};
    float f[9] = {0};
    const int where[4] = {2, -1, 0, 1};
    if (records_parse(&r, NULL, "x[1],x[2],x[3],x[4]\n1,2,3,4\n", 28, "x", &err))
        fail_msg("%s", err.msg);
    records_row(&r, 0, where, to + 1, 3);
    records_row_float(&r, 0, where, f + 1, 3);
    const double want[9] = {0, 3, 0, 0, 4, 0, 0, 1, 0};
    for (int i = 0; i < 9; i++) assert_true(to[i] == want[i] && f[i] == (float)want[i]);
    records_free(&r);
}

/* ---- no memory ----------------------------------------------------------------------------------
 */

static int all_of(void *s_)
{
    const struct str *s = s_;
    struct records r;
    int rc = records_parse(&r, NULL, s->s, s->n, "x", NULL);
    if (!rc) rc = records_scale(&r, NULL);
    if (!rc) rc = records_binarise(&r, 1, NULL);
    records_free(&r);
    return rc;
}

static int by_name(void *path)
{
    struct records r;
    struct split s = {0};
    int rc = records_read(&r, path, "x", NULL);
    if (!rc) rc = split_make(&s, 10, "rest,2", 1, 1, NULL);
    records_free(&r);
    split_free(&s);
    return rc;
}

static void nomem_records(void **state)
{
    (void)state;
    struct str s[4] = {{0}};
    const char *why;
    char path[] = "/tmp/nami_records_XXXXXX.csv";
    put_idx(&s[3], 0x08, 2, (unsigned[]){2, 2});
    str_put(&s[3], "abcd");
    put_gzip(&s[3], &s[0]);
    put_npy(&s[1], "<f8", 1, "(2, 2)");
    for (int i = 0; i < 4; i++) put_number(&s[1], 'f', 8, 0, i == 2 ? NAN : i / 10.0);
    str_put(&s[2], "x[2],\"x[1]\"\n1,255\n0.1,NA\n");
    for (int i = 0; i < 4; i++) {
        long n = nomem_each(all_of, &s[i], &why);
        if (n < 2) fail_msg("%d: %s", i, why ? why : "nothing can fail");
    }
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0 && write(fd, s[2].s, s[2].n) > 0);
    close(fd);
    if (nomem_each(by_name, path, &why) < 5) fail_msg("%s", why ? why : "nothing can fail");
    unlink(path);
    for (int i = 0; i < 4; i++) str_free(&s[i]);
}

/* ---- the real thing
 * ------------------------------------------------------------------------------ */

/* What stands in the folder RECORDS_MNIST (scripts/mnist.sh): 55 MB for 70,000 images. */
static void mnist(void **state)
{
    (void)state;
    const char *dir = getenv("RECORDS_MNIST");
    if (!dir) skip();
    char path[400];
    struct records x, y;
    size_t held = 0, digit[10] = {0};
    double sum = 0, row[784];
    for (int test = 0; test < 2; test++) {
        snprintf(path, sizeof path, "%s/%s-images-idx3-ubyte", dir, test ? "t10k" : "train");
        if (records_read(&x, path, "x", &err)) fail_msg("%s", err.msg);
        snprintf(path, sizeof path, "%s/%s-labels-idx1-ubyte", dir, test ? "t10k" : "train");
        if (records_read(&y, path, "y", &err)) fail_msg("%s", err.msg);
        assert_true(x.n == (test ? 10000 : 60000) && y.n == x.n && x.k == 784 && y.k == 1);
        assert_true(x.type == RECORDS_BYTE && x.dim[0] == 28 && x.dim[1] == 28);
        held += x.n * x.k;
        for (size_t i = 0; i < y.n; i++) digit[(int)records_at(&y, i, 0)] += !test;
        if (!test) {
            for (size_t i = 0; i < x.n; i++) {
                records_row(&x, i, NULL, row, 1);
                for (int j = 0; j < 784; j++) sum += row[j];
            }
            assert_true(fabs(sum / 47040000 / 255 - 0.1307) < 5e-5); /* the mean everyone knows */
            assert_true(digit[0] == 5923 && digit[1] == 6742 && digit[9] == 5949);
            assert_int_equal(records_binarise(&x, 1, &err), 0);
            size_t ones = 0;
            for (size_t at = 0; at < 47040000; at++) ones += records_at(&x, 0, at) == 1;
            assert_true(fabs((double)ones / 47040000 - 0.1307) < 5e-4);
        }
        records_free(&x), records_free(&y);
    }
    assert_int_equal(held, 54880000);
}

/* As NumPy wrote it, column-major and compressed; where it lies beside the repository. */
static void binarised(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t n, ones, first; /* first: of observation 7 */
    } part[] = {{"train", 50000, 5118041, 94},
                {"valid", 10000, 1028036, 132},
                {"test", 10000, 1038896, 123}};
    const char *file = SOURCE_DIR "/../shared/data/mnist/binarized_mnist.npz";
    if (access(file, R_OK)) skip();
    for (int k = 0; k < 3; k++) {
        char path[400];
        struct records r;
        size_t ones = 0, first = 0;
        snprintf(path, sizeof path, "%s:%s", file, part[k].name);
        if (records_read(&r, path, "x", &err)) fail_msg("%s", err.msg);
        assert_true(r.n == part[k].n && r.k == 784 && r.type == RECORDS_BYTE);
        for (size_t at = 0; at < r.n * r.k; at++) ones += records_at(&r, 0, at) == 1;
        while (records_at(&r, 7, first) == 0) first++;
        assert_int_equal(ones, part[k].ones);
        assert_int_equal(first, part[k].first);
        records_free(&r);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(idx),         cmocka_unit_test(idx_refused),
    cmocka_unit_test(gzip),        cmocka_unit_test(gzip_too_large),
    cmocka_unit_test(npy),         cmocka_unit_test(npy_orders),
    cmocka_unit_test(npz),         cmocka_unit_test(csv),
    cmocka_unit_test(csv_refused), cmocka_unit_test(json),
    cmocka_unit_test(round_trip),  cmocka_unit_test(endings),
    cmocka_unit_test(places),      cmocka_unit_test(nomem_records),
    cmocka_unit_test(mnist),       cmocka_unit_test(binarised),
};
RUN(tests)
