/* test_npz.c: NumPy .npz archives are read correctly, as arrays and as points of models. */

#include "run.h"

#include <math.h>
#include <unistd.h>
#include <zip.h>

#include "base/file.h"
#include "data/npz.h"
#include "malloc_fail.h"
#include "model/eval.h"
#include "model/model.h"
#include "model/points.h"
#include "model_at.h"

static char path[] = "/tmp/nami_npz_XXXXXX.json";

static void new_path(const char *ending)
{
    strcpy(path, "/tmp/nami_npz_XXXXXX");
    strcat(path, ending);
    int fd = mkstemps(path, (int)strlen(ending));
    assert_true(fd >= 0);
    close(fd);
}

static void put_file(const struct str *s)
{
    nami_err err;
    if (file_write(path, s->s, s->n, &err)) fail_msg("%s", err.msg);
}

/* ---- archives by hand --------------------------------------------------------------- */

/* One array: what stands in its header, and its bytes. */
struct entry {
    const char *name, *descr, *shape;
    int fortran, deflate;
    const void *x;
    size_t bytes;
};

static void put_array(struct str *s, const struct entry *e)
{
    struct str head = {0};
    str_printf(&head, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", e->descr,
               e->fortran ? "True" : "False", e->shape);
    str_putn(s, NPY_MAGIC "\1\0", 8);
    str_putn(s, (char[]){(char)(head.n & 0xff), (char)(head.n >> 8)}, 2);
    str_putn(s, head.s, head.n);
    str_putn(s, e->x, e->bytes);
    str_free(&head);
}

/* In a file at path. */
static void archive(const struct entry *e, int n)
{
    struct str bytes[8] = {{0}};
    new_path(".npz");
    unlink(path);
    zip_t *z = zip_open(path, ZIP_CREATE, NULL);
    assert_non_null(z);
    for (int i = 0; i < n; i++) {
        char name[64];
        put_array(&bytes[i], &e[i]);
        snprintf(name, sizeof name, "%s.npy", e[i].name);
        zip_source_t *src = zip_source_buffer(z, bytes[i].s, bytes[i].n, 0);
        zip_int64_t at = zip_file_add(z, name, src, ZIP_FL_ENC_UTF_8);
        assert_true(at >= 0);
        zip_set_file_compression(z, (zip_uint64_t)at, e[i].deflate ? ZIP_CM_DEFLATE : ZIP_CM_STORE,
                                 0);
    }
    assert_int_equal(zip_close(z), 0);
    for (int i = 0; i < n; i++) str_free(&bytes[i]);
}

static const double nums[12] = {0, 1.5, -2, 3, 4, 5, 6e300, 7, 8, -INFINITY, 10, 11};

static void arrays(void **state)
{
    (void)state;
    static const int32_t ints[4] = {1, -2, 3, -4};
    static const struct entry e[] = {
        {"x", "<f8", "(3, 2, 2)", 0, 0, nums, sizeof nums},
        {"c", "<f8", "(12,)", 0, 1, nums, sizeof nums},
        {"k.i", "<i4", "(4,)", 1, 0, ints, sizeof ints},
        {"none", "<f8", "(0, 3)", 0, 1, nums, 0},
    };
    struct npz *z;
    struct npy a;
    nami_err err;
    double x[12];
    archive(e, 4);
    if (npz_open(path, &z, &err)) fail_msg("%s", err.msg);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(npz_find(z, i ? "c" : "x", &a, &err), 0);
        assert_int_equal(a.n, 12);
        assert_int_equal(a.ndim, i ? 1 : 3);
        assert_int_equal(npz_next(z, 5, x, &err), 0);
        assert_int_equal(npz_next(z, 7, x + 5, &err), 0);
        assert_int_equal(npz_end(z, &err), 0);
        assert_memory_equal(x, nums, sizeof nums);
    }
    assert_int_equal(npz_find(z, "k.i", &a, &err), 0);
    assert_true(a.fortran);
    assert_int_equal(npz_next(z, 4, x, &err), 0);
    assert_true(x[1] == -2 && x[3] == -4);
    assert_int_equal(npz_find(z, "none", &a, &err), 0);
    assert_true(a.header && a.n == 0);
    assert_int_equal(npz_end(z, &err), 0);
    assert_int_equal(npz_find(z, "y", &a, &err), 0);
    assert_false(a.header);
    npz_close(z);
    npz_close(NULL);
    unlink(path);
}

static int all_of(const char *text, size_t len, nami_err *err)
{
    struct npz *z;
    struct npy a;
    double x[12];
    int rc = npz_parse(text, len, &z, err);
    if (rc) return rc;
    rc = npz_find(z, "x", &a, err);
    if (!rc && a.header && a.n <= 12) rc = npz_next(z, a.n, x, err);
    if (!rc && a.header && a.n <= 12) rc = npz_end(z, err);
    npz_close(z);
    return rc;
}

/* Cut anywhere, it is no archive; with a changed byte, the checksum or a header says so, or what
   changed does not matter. */
static void broken(void **state)
{
    (void)state;
    nami_err err;
    for (int deflate = 0; deflate < 2; deflate++) {
        struct entry e = {"x", "<f8", "(3, 4)", 0, deflate, nums, sizeof nums};
        struct str s = {0};
        int bad = 0;
        archive(&e, 1);
        assert_int_equal(file_read(path, &s, &err), 0);
        unlink(path);
        assert_int_equal(all_of(s.s, s.n, &err), 0);
        for (size_t n = 0; n < s.n; n++) {
            if (all_of(s.s, n, &err) != NAMI_EINPUT)
                fail_msg("%zu of %zu bytes are enough", n, s.n);
            assert_true(err.msg[0] != 0);
        }
        for (size_t i = 0; i < s.n; i++) {
            s.s[i] ^= 0x41;
            if (all_of(s.s, s.n, &err)) bad++, assert_true(err.msg[0] != 0);
            s.s[i] ^= 0x41;
        }
        assert_true(bad > 100);
        str_free(&s);
    }
    struct npz *z;
    struct npy a;
    struct entry e[] = {{"x", "<f8", "(3, 5)", 0, 1, nums, sizeof nums},
                        {"s", "<U3", "(4,)", 0, 0, nums, sizeof nums},
                        {"n", "<f8", "(99999999, 99999999)", 0, 0, nums, sizeof nums}};
    archive(e, 3);
    assert_int_equal(npz_open(path, &z, &err), 0);
    assert_int_equal(npz_find(z, "x", &a, &err), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "'x.npy' has 1"));
    assert_int_equal(npz_find(z, "s", &a, &err), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "'s.npy': a .npy array has the type '<U3'"));
    assert_int_equal(npz_find(z, "n", &a, &err), NAMI_EINPUT);
    npz_close(z);
    unlink(path);
    assert_int_equal(npz_open(path, &z, &err), NAMI_EFILE);
    assert_null(z);
    assert_true(npz_open("/", &z, &err) < 0);
}

/* ---- points ------------------------------------------------------------------------- */

static void read_example(struct model *m, const char *name)
{
    char file[200], data[200];
    const char *d = data;
    struct model_options opt = {0};
    nami_err err;
    snprintf(file, sizeof file, SOURCE_DIR "/examples/models/%s.nami", name);
    snprintf(data, sizeof data, SOURCE_DIR "/examples/models/%s.json", name);
    *m = (struct model){0};
    if (model_read(m, file, &d, access(data, F_OK) == 0, &opt, &err)) fail_msg("%s", err.msg);
}

static int is_computed(const struct model *m, int row)
{
    for (int e = 0; e < m->ir.num_elements; e++)
        if (m->ir.row[e] == row) return !instance_stmt(m, m->ir.defined_by[e])->rel->stochastic;
    return 1;
}

/* What simulate writes is read again to the last bit. */
static void round_trip(struct model *m, const char *ending)
{
    enum { N = 300 };
    double *x = new_array(double, m->ir.num_rows *N), *y;
    struct arena mem = {0};
    struct draws d;
    struct str out = {0};
    nami_err err;
    size_t n;
    assert_non_null(x);
    if (model_simulate(m, 1, 0, N, 1, x, &err) || model_draws(m, N, x, NULL, 0, &mem, &d, &err))
        fail_msg("%s", err.msg);
    new_path(ending);
    assert_int_equal(draws_format_of(path)->write(&d, &out, &err), 0);
    put_file(&out);
    if (points_read(m, path, &n, &y, &err)) fail_msg("%s", err.msg);
    unlink(path);
    assert_int_equal(n, N);
    for (int r = 0; r < m->ir.num_rows; r++)
        for (int i = 0; i < N; i++) {
            if (is_computed(m, r))
                assert_true(y[r * N + i] == 0);
            else
                assert_true(x[r * N + i] == y[r * N + i]);
        }
    str_free(&out);
    arena_free(&mem);
    free(x), free(y);
}

static void round_trips(void **state)
{
    (void)state;
    static const char *const name[] = {"tree", "surgical", "hmm", "gmm", "student", "lgssm"};
    struct model m;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        read_example(&m, name[i]);
        round_trip(&m, ".npz");
        round_trip(&m, ".json");
        model_fini(&m);
    }
    build(&m,
          "model {\n  y[1] <- 3\n  for (i in 2:4) { y[i] ~ normal(y[i-1], 1) }\n"
          "  s <- y[2] + y[3]\n}\nobserve y[4]\n",
          NULL);
    round_trip(&m, ".npz"); /* a constant among them */
    model_fini(&m);
}

static const char small[] = "model {\n  k ~ poisson(3)\n  for (i in 1:2) { for (j in 1:3) {\n"
                            "    y[i,j] ~ gamma(1 + k, 1)\n  } }\n}\nobserve y\n";

static void column_major(void **state)
{
    (void)state;
    struct model m;
    nami_err err;
    size_t n;
    double *x, y[12];
    int8_t k[2] = {7, 9};
    /* y[draw, i, j] at draw + 2 * (i + 2 * j) */
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 3; j++) y[d + 2 * (i + 2 * j)] = 100 * (d + 1) + 10 * i + j;
    const struct entry e[] = {{"y", "<f8", "(2, 2, 3)", 1, 1, y, sizeof y},
                              {"k", "|i1", "(2,)", 0, 0, k, sizeof k}};
    archive(e, 2);
    build(&m, small, NULL);
    if (points_read(&m, path, &n, &x, &err)) fail_msg("%s", err.msg);
    assert_int_equal(n, 2);
    for (size_t a = 0; a < m.ir.arrays.n; a++)
        for (int s = 0; s < m.ir.arrays.a[a].n; s++)
            for (int d = 0; d < 2; d++) {
                double got = x[m.ir.row[m.ir.arrays.a[a].first + s] * 2 + d];
                if (m.ir.arrays.a[a].name[0] == 'k')
                    assert_true(got == k[d]);
                else
                    assert_true(got == 100 * (d + 1) + 10 * (s / 3) + s % 3);
            }
    free(x);
    model_fini(&m);
    unlink(path);
}

static void refused(const struct model *m, int code, const char *say)
{
    size_t n;
    double *x;
    nami_err err = {0};
    assert_int_equal(points_read(m, path, &n, &x, &err), code);
    assert_null(x);
    if (!strstr(err.msg, say)) fail_msg("no '%s' in: %s", say, err.msg);
    assert_int_equal(points_read(m, path, &n, &x, NULL), code);
    unlink(path);
}

static void refused_json(const struct model *m, const char *text, const char *say)
{
    struct str s = {0};
    str_put(&s, text);
    new_path(".json");
    put_file(&s);
    str_free(&s);
    refused(m, NAMI_EINPUT, say);
}

static void refusals(void **state)
{
    (void)state;
    struct model m;
    double y[18] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18},
           k[3] = {1, 2, 3};
    struct entry e[] = {{"k", "<f8", "(3,)", 0, 0, k, sizeof k},
                        {"y", "<f8", "(3, 2, 3)", 0, 0, y, sizeof y}};
    build(&m, small, NULL);
    archive(e, 1);
    refused(&m, NAMI_EINPUT, "there is no array 'y'");
    archive(e, 1);
    refused(&m, NAMI_EINPUT, "the shape (draws, 2, 3)");
    archive(e + 1, 1);
    refused(&m, NAMI_EINPUT, "the shape (draws,)");
    e[1].shape = "(3, 6)";
    archive(e, 2);
    refused(&m, NAMI_EINPUT, "'y' has the shape 3 x 6, but must have (draws, 2, 3)");
    e[1].shape = "(2, 2, 3)", e[1].bytes = 96;
    archive(e, 2);
    refused(&m, NAMI_EINPUT, "'y' has 2 draws, but others have 3");
    e[1].shape = "(3, 2, 3)", e[1].bytes = sizeof y;
    y[8] = -1;
    archive(e, 2);
    refused(&m, NAMI_EINPUT, "y[1,3] is -1 in draw 2; it must be positive");
    y[8] = NAN;
    archive(e, 2);
    refused(&m, NAMI_EINPUT, "y[1,3] is nan in draw 2; it must be a number");
    y[8] = 0, k[2] = 0.5;
    archive(e, 2);
    refused(&m, NAMI_EINPUT, "k is 0.5 in draw 3; it must be one of 0, 1, 2, ...");
    k[2] = 3;
    e[0].shape = "(0,)", e[0].bytes = 0;
    archive(e, 2);
    refused(&m, NAMI_EINPUT, "'k' has no draws");
    new_path(".npz");
    refused(&m, NAMI_EINPUT, "no whole .npz archive");
    unlink(path);
    refused(&m, NAMI_EFILE, "cannot open: No such file");
    strcpy(path, "/tmp/none.csv");
    refused(&m, NAMI_EINPUT, ".npz or .json");

    refused_json(&m, "[{\"k\": 1, \"y\": [[1,2,3],[4,5,6]]}, {\"k\": 1}]",
                 "draw 2: the data give no value for y");
    refused_json(&m, "[{\"k\": 1, \"y\": [1,2]}]", "draw 1: y has 2 elements");
    refused_json(&m, "[{\"k\": 1.5, \"y\": [[1,2,3],[4,5,6]]}]", "k is 1.5 in draw 1");
    refused_json(&m, "[{\"k\": 1, \"y\": [[1,2,3],[4,5,\"NaN\"]]}]", "y[2,3] is nan in draw 1");
    refused_json(&m, "[]", "there is no data set");
    refused_json(&m, "[{\"k\": }]", "JSON");
    model_fini(&m);
}

static int read_all(void *m)
{
    size_t n;
    double *x;
    nami_err err;
    int rc = points_read(m, path, &n, &x, &err);
    free(x);
    return rc;
}

static void memory(void **state)
{
    (void)state;
    static const double y[6] = {1, 2, 3, 4, 5, 6}, k[1] = {1};
    const struct entry e[] = {{"k", "<f8", "(1,)", 0, 0, k, sizeof k},
                              {"y", "<f8", "(1, 2, 3)", 0, 0, y, sizeof y}};
    struct model m;
    const char *why;
    build(&m, small, NULL);
    archive(e, 2);
    assert_int_equal(read_all(&m), 0);
    long n = nomem_each(read_all, &m, &why);
    if (n < 0) fail_msg("%s", why);
    assert_true(n > 4);
    unlink(path);
    model_fini(&m);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(arrays),   cmocka_unit_test(broken),       cmocka_unit_test(round_trips),
    cmocka_unit_test(refusals), cmocka_unit_test(column_major), cmocka_unit_test(memory),
};

RUN(tests)
