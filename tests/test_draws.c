/* test_draws.c: draws are written correctly as JSON, CSV and NPZ; .npy headers are read, or refused
   with the right message. */

#include "run.h"

#include <math.h>

#include "base/err.h"
#include "base/file.h"
#include "base/rng.h"
#include "data/draws.h"
#include "data/npy.h"
#include "malloc_fail.h"

enum { N = 200 }; /* more than a block of rows */

static const struct draws_var vars[] = {
    {.name = "a", .ndim = 0, .base = 0},
    {.name = "y", .ndim = 1, .dim = {3}, .base = 1},
    {.name = "m", .ndim = 2, .dim = {2, 3}, .base = 4},
    {.name = "k", .ndim = 1, .dim = {2}, .integer = 1, .base = 10},
    {.name = "u", .ndim = 0, .integer = 1, .base = 12},
    {.name = "e", .ndim = 2, .dim = {2, 0}, .base = 13},
    {.name = "t.x", .ndim = 3, .dim = {2, 1, 2}, .base = 13},
};
enum { NVAR = sizeof vars / sizeof *vars, NELEM = 17 };

static double table[NELEM * N];

static struct draws sample(void)
{
    struct rng r;
    rng_init(&r, 1, 2);
    for (int e = 0; e < NELEM; e++)
        for (int i = 0; i < N; i++)
            table[e * N + i] = e >= 10 && e < 13 ? (double)rng_below(&r, 1000) - 500
                                                 : (rng_unit(&r) - 0.5) * pow(10, (i % 50) - 25);
    table[1 * N + 0] = INFINITY;
    table[1 * N + 1] = -INFINITY;
    table[1 * N + 2] = (double)NAN;
    table[4 * N + 3] = value_missing();
    table[10 * N + 0] = 9007199254740993e3;
    table[12 * N + 5] = value_missing(); /* an integer that is not everywhere */
    return (struct draws){.n = N, .nvar = NVAR, .var = vars, .x = table};
}

static struct str written(const char *name, const struct draws *d)
{
    struct str out = {0};
    char path[32];
    nami_err err;
    snprintf(path, sizeof path, "x.%s", name);
    const struct draws_format *f = draws_format_of(path);
    assert_non_null(f);
    assert_string_equal(f->name, name);
    if (f->write(d, &out, &err)) fail_msg("%s: %s", name, err.msg);
    return out;
}

static int same(double a, double b)
{
    return value_is_missing(a) ? value_is_missing(b)
           : isnan(a)          ? isnan(b) && !value_is_missing(b)
                               : a == b;
}

/* ---- text --------------------------------------------------------------------------- */

static void json(void **state)
{
    (void)state;
    struct draws d = sample();
    struct str out = written("json", &d);
    struct data back = {0};
    nami_err err;
    if (data_parse(&back, out.s, out.n, &err)) fail_msg("%d:%d: %s", err.line, err.col, err.msg);
    assert_int_equal(back.set.n, N);
    for (size_t i = 0; i < N; i++)
        for (int v = 0; v < NVAR; v++) {
            const struct value *w =
                dataset_find(&back.set.a[i], vars[v].name, strlen(vars[v].name));
            assert_non_null(w);
            assert_int_equal(w->ndim, vars[v].ndim);
            assert_memory_equal(w->dim, vars[v].dim, sizeof(int) * (size_t)w->ndim);
            for (size_t e = 0; e < w->n; e++)
                if (!same(w->x[e], table[(vars[v].base + e) * N + i]))
                    fail_msg("draw %zu, %s", i, w->name);
        }
    data_free(&back);
    str_free(&out);
    d.n = 1;
    d.nvar = 3;
    d.x =
        (const double[]){0.5, INFINITY, -INFINITY, (double)NAN, 1, 2, 3, 4, 1e300, value_missing()};
    out = written("json", &d);
    assert_string_equal(out.s, "[\n{\"a\":0.5,\"y\":[\"Inf\",\"-Inf\",\"NaN\"],"
                               "\"m\":[[1,2,3],[4,1e+300,null]]}\n]\n");
    str_free(&out);
    d.n = 0;
    out = written("json", &d);
    assert_string_equal(out.s, "[\n]\n");
    str_free(&out);
}

static void csv(void **state)
{
    (void)state;
    static const struct draws_var v[] = {
        {.name = "a", .base = 0},
        {.name = "e", .ndim = 1, .dim = {0}, .base = 1},
        {.name = "m", .ndim = 2, .dim = {2, 2}, .base = 1, .integer = 1},
        {.name = "q\"", .ndim = 1, .dim = {1}, .base = 5},
    };
    const double x[] = {0.1,  1e-7, 1, 2, 3,           value_missing(),
                        1e20, -5,   0, 0, (double)NAN, -INFINITY};
    struct draws d = {.n = 2, .nvar = 4, .var = v, .x = x};
    struct str out = written("csv", &d);
    assert_string_equal(out.s, "a,\"m[1,1]\",\"m[1,2]\",\"m[2,1]\",\"m[2,2]\",\"q\"\"[1]\"\n"
                               "0.1,1,3,100000000000000000000,0,NaN\n1e-07,2,NA,-5,0,-Inf\n");
    str_free(&out);
    d = sample();
    out = written("csv", &d);
    size_t lines = 0;
    for (const char *s = out.s; *s; s++) lines += *s == '\n';
    assert_int_equal(lines, N + 1);
    str_free(&out);
}

/* ---- NPZ, by a small reader of our own ---------------------------------------------- */

static unsigned get(const struct str *z, size_t at, int bytes)
{
    unsigned x = 0;
    assert_true(at + (size_t)bytes <= z->n);
    for (int i = 0; i < bytes; i++) x |= (unsigned)(unsigned char)z->s[at + (size_t)i] << 8 * i;
    return x;
}

/* The stored file `name` of the archive. */
static const char *stored(const struct str *z, const char *name, size_t *n)
{
    size_t end = z->n - 22, at = get(z, end + 16, 4);
    assert_int_equal(get(z, end, 4), 0x06054b50);
    for (unsigned k = get(z, end + 10, 2); k > 0; k--) {
        unsigned len = get(z, at + 28, 2);
        assert_int_equal(get(z, at, 4), 0x02014b50);
        if (strlen(name) == len && memcmp(z->s + at + 46, name, len) == 0) {
            size_t local = get(z, at + 42, 4);
            assert_int_equal(get(z, at + 10, 2), 0); /* stored */
            *n = get(z, at + 24, 4);
            return z->s + local + 30 + get(z, local + 26, 2) + get(z, local + 28, 2);
        }
        at += 46 + len + get(z, at + 30, 2) + get(z, at + 32, 2);
    }
    fail_msg("no %s in the archive", name);
    return NULL;
}

static void npz(void **state)
{
    (void)state;
    struct draws d = sample();
    struct str out = written("npz", &d), again = written("npz", &d);
    assert_int_equal(out.n, again.n);
    assert_memory_equal(out.s, again.s, out.n);
    str_free(&again);
    for (int v = 0; v < NVAR; v++) {
        char name[32];
        size_t n = 0, size = draws_var_size(&vars[v]);
        struct npy a;
        nami_err err;
        snprintf(name, sizeof name, "%s.npy", vars[v].name);
        const char *s = stored(&out, name, &n);
        if (npy_header(&a, s, n, &err)) fail_msg("%s", err.msg);
        assert_int_equal(a.header % 64, 0);
        assert_int_equal(s[a.header - 1], '\n');
        assert_int_equal(a.kind, strcmp(vars[v].name, "k") == 0 ? 'i' : 'f');
        assert_int_equal(a.ndim, vars[v].ndim + 1);
        assert_int_equal(a.dim[0], N);
        assert_memory_equal(a.dim + 1, vars[v].dim, sizeof(int) * (size_t)vars[v].ndim);
        assert_int_equal(a.header + a.n * 8, n);
        assert_int_equal(a.n, N * size);
        double *x = calloc(a.n + 1, sizeof *x);
        npy_numbers(&a, s + a.header, x);
        for (size_t i = 0; i < N; i++)
            for (size_t e = 0; e < size; e++)
                assert_true(same(x[i * size + e], table[(vars[v].base + e) * N + i]));
        free(x);
    }
    str_free(&out);
    d.nvar = 0;
    out = written("npz", &d);
    assert_int_equal(out.n, 22);
    str_free(&out);
    struct draws_var twice[] = {vars[0], vars[0]};
    d.nvar = 2;
    d.var = twice;
    nami_err err;
    assert_int_equal(draws_format_of("x.npz")->write(&d, &out, &err), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "'a'"));
    str_free(&out);
}

static void endings(void **state)
{
    (void)state;
    assert_null(draws_format_of("x.txt"));
    assert_null(draws_format_of(".csv"));
    for (int i = 0; draws_formats[i]; i++) assert_true(draws_formats[i]->what[0] != 0);
}

/* ---- .npy --------------------------------------------------------------------------- */

static void header(struct str *s, int version, const char *dict)
{
    size_t n = strlen(dict);
    const char head[12] = {
        '\x93', 'N', 'U', 'M', 'P', 'Y', (char)version, 0, (char)(n & 0xFF), (char)(n >> 8), 0, 0};
    s->n = 0;
    str_putn(s, head, version == 1 ? 10 : 12);
    str_put(s, dict);
}

static void npy_types(void **state)
{
    (void)state;
    static const struct {
        const char *type, *bytes;
        size_t size;
        double x;
    } t[] = {{"<f8", "\0\0\0\0\0\0\xf8\xbf", 8, -1.5},
             {">f8", "\xbf\xf8\0\0\0\0\0\0", 8, -1.5},
             {"<f4", "\0\0\xc0\xbf", 4, -1.5},
             {"<i8", "\xfe\xff\xff\xff\xff\xff\xff\xff", 8, -2},
             {">i4", "\xff\xff\xff\xfe", 4, -2},
             {"<i2", "\xfe\xff", 2, -2},
             {"|i1", "\xfe", 1, -2},
             {"|u1", "\xfe", 1, 254},
             {"<u2", "\xfe\xff", 2, 65534},
             {"<u8", "\1\0\0\0\0\0\0\0", 8, 1},
             {"|b1", "\1", 1, 1},
             {"=f8", "\0\0\0\0\0\0\xf8\xbf", 8, -1.5}};
    struct str s = {0};
    struct npy a;
    nami_err err;
    char dict[128];
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        for (int version = 1; version <= 3; version++) {
            double x;
            snprintf(dict, sizeof dict,
                     "{'shape': (1,), \"descr\": '%s', 'fortran_order': False}\n", t[i].type);
            header(&s, version, dict);
            for (size_t k = 0; k < s.n; k++) { /* cut anywhere, it wants more */
                assert_int_equal(npy_header(&a, s.s, k, &err), 0);
                assert_int_equal(a.header, 0);
            }
            if (npy_header(&a, s.s, s.n, &err)) fail_msg("%s: %s", dict, err.msg);
            assert_int_equal(a.header, s.n);
            npy_numbers(&a, t[i].bytes, &x);
            assert_true(x == t[i].x);
        }
    header(&s, 1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }");
    double y[6], want[] = {1, 3, 5, 2, 4, 6};
    assert_int_equal(npy_header(&a, s.s, s.n, &err), 0);
    npy_numbers(&a, "\1\2\3\4\5\6", y);
    assert_memory_equal(y, want, sizeof y);
    str_free(&s);
}

static void npy_refused(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), ", "header"},
        {"{'descr': '<f8', 'fortran_order': False}", "header"},
        {"{'descr': '<f8', 'fortran_order': Maybe, 'shape': (3,)}", "header"},
        {"{'descr': '<f8', 'colour': 1}", "header"},
        {"[1, 2]", "header"},
        {"{'descr': '<f8' 'shape': (3,)}", "header"},
        {"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,)}", "records"},
        {"{'descr': '<c16', 'fortran_order': False, 'shape': (3,)}", "'<c16'"},
        {"{'descr': '<f2', 'fortran_order': False, 'shape': (3,)}", "'<f2'"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (3,)}", "'|O'"},
        {"{'descr': '', 'fortran_order': False, 'shape': (3,)}", "type"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (-3,)}", "shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': 3}", "shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3 4)}", "shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3000000000,)}", "too large"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2000000000, 2000000000, 9)}",
         "too large"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1)}", "dimensions"},
    };
    struct str s = {0};
    struct npy a;
    nami_err err;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        header(&s, 1, bad[i][0]);
        if (!npy_header(&a, s.s, s.n, &err)) fail_msg("not refused: %s", bad[i][0]);
        if (!strstr(err.msg, bad[i][1])) fail_msg("%s: %s", bad[i][0], err.msg);
    }
    header(&s, 9, "{}");
    assert_int_equal(npy_header(&a, s.s, s.n, &err), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "version 9"));
    assert_int_equal(npy_header(&a, "\x93NUMPX", 6, &err), NAMI_EINPUT);
    assert_int_equal(npy_header(&a, "\x93NUMPY\2\0\xff\xff\xff\xff", 12, &err), NAMI_ELIMIT);
    str_free(&s);
}

/* ---- every allocation fails --------------------------------------------------------- */

static int write_all(void *ctx)
{
    const struct draws_format *f = ctx;
    struct draws d = {.n = N, .nvar = NVAR, .var = vars, .x = table};
    struct str out = {0};
    int rc = f->write(&d, &out, NULL);
    str_free(&out);
    return rc;
}

static void nomem_draws(void **state)
{
    (void)state;
    sample();
    for (int i = 0; draws_formats[i]; i++) {
        const char *why;
        long n = nomem_each(write_all, (void *)draws_formats[i], &why);
        if (n < 0) fail_msg("%s: %s", draws_formats[i]->name, why);
        assert_true(n > 2);
    }
}

/* Into $NAMI_DRAWS.npz and .json: for tests/test_numpy.sh. */
static void to_file(void **state)
{
    (void)state;
    const char *path = getenv("NAMI_DRAWS");
    if (!path) skip();
    struct draws d = sample();
    struct str npz_text = written("npz", &d), json_text = written("json", &d);
    char name[512];
    snprintf(name, sizeof name, "%s.npz", path);
    assert_int_equal(file_write(name, npz_text.s, npz_text.n, NULL), 0);
    snprintf(name, sizeof name, "%s.json", path);
    assert_int_equal(file_write(name, json_text.s, json_text.n, NULL), 0);
    str_free(&npz_text);
    str_free(&json_text);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(json),        cmocka_unit_test(csv),       cmocka_unit_test(npz),
    cmocka_unit_test(endings),     cmocka_unit_test(npy_types), cmocka_unit_test(npy_refused),
    cmocka_unit_test(nomem_draws), cmocka_unit_test(to_file),
};

RUN(tests)
