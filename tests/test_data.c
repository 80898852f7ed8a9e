/* test_data.c: data files are read correctly, and invalid ones are refused with the right
   message. */

#include "run.h"

#include <glob.h>
#include <math.h>

#include "data/data.h"
#include "malloc_fail.h"

static struct data parse(const char *text)
{
    struct data d = {0};
    nami_err err;
    if (data_parse(&d, text, strlen(text), &err))
        fail_msg("%s\n%d:%d: %s", text, err.line, err.col, err.msg);
    return d;
}

static int same(double a, double b)
{
    return value_is_missing(a) ? value_is_missing(b)
           : isnan(a)          ? isnan(b) && !value_is_missing(b)
                               : a == b && signbit(a) == signbit(b);
}

/* Is `name` of the first set an array of these dimensions (0: their end) and values? */
#define dims(...) ((const int[]){__VA_ARGS__, -1})
#define SCALAR    ((const int[]){-1})
#define is(d, name, dim, ...)                                                                      \
    check(d, name, dim, (const double[]){__VA_ARGS__},                                             \
          sizeof((const double[]){__VA_ARGS__}) / sizeof(double), __LINE__)

static void check(const struct data *d, const char *name, const int *dim, const double *x, size_t n,
                  int line)
{
    const struct value *v = dataset_find(&d->set.a[0], name, strlen(name));
    if (!v) fail_msg("line %d: no %s", line, name);
    int ndim = 0;
    for (; dim[ndim] >= 0; ndim++)
        if (ndim >= v->ndim || v->dim[ndim] != dim[ndim])
            fail_msg("line %d: dimension %d of %s", line, ndim, name);
    if (ndim != v->ndim) fail_msg("line %d: %s has %d dimensions", line, name, v->ndim);
    if (n != v->n) fail_msg("line %d: %s has %zu elements", line, name, v->n);
    for (size_t i = 0; i < n; i++)
        if (!same(x[i], v->x[i])) fail_msg("line %d: %s[%zu] is %g", line, name, i, v->x[i]);
}

static void is_empty(const struct data *d, const char *name, int ndim)
{
    const struct value *v = dataset_find(&d->set.a[0], name, strlen(name));
    assert_non_null(v);
    assert_int_equal(v->ndim, ndim);
    assert_int_equal(v->n, 0);
    assert_int_equal(v->dim[ndim - 1], 0);
}

static void missing(void **state)
{
    (void)state;
    double na = value_missing();
    assert_true(isnan(na) && value_is_missing(na) && value_is_missing(na + 1));
    assert_false(value_is_missing((double)NAN) || value_is_missing(0) || value_is_missing(1954));
    struct data none = {0};
    data_free(&none);
    data_free(NULL);
}

static void json(void **state)
{
    (void)state;
    struct data d =
        parse("\xEF\xBB\xBF{\"N\": 8, \"y\": [28, 8.5, -3e-2],\n\"m\": [[1, 2, 3], [4, 5, null]],\n"
              "\"s\": [\"NaN\", \"Inf\", \"-Inf\", \"+Inf\", \"Infinity\", \"-Infinity\"],"
              " \"b\": [true, false], \"e\": [], \"f\": [[], []], \"one\": [5],"
              "\"c\": [[[1, 2]], [[3, 4]]], \"big\": 12345678901234567890 }\n");
    assert_int_equal(d.set.n, 1);
    assert_int_equal(d.set.a[0].value.n, 10);
    is(&d, "N", SCALAR, 8);
    is(&d, "y", dims(3), 28, 8.5, -3e-2);
    is(&d, "m", dims(2, 3), 1, 2, 3, 4, 5, value_missing());
    is(&d, "s", dims(6), (double)NAN, INFINITY, -INFINITY, INFINITY, INFINITY, -INFINITY);
    is(&d, "b", dims(2), 1, 0);
    is(&d, "one", dims(1), 5);
    is(&d, "c", dims(2, 1, 2), 1, 2, 3, 4);
    is(&d, "big", SCALAR, 12345678901234567890.0);
    is_empty(&d, "e", 1);
    is_empty(&d, "f", 2);
    assert_int_equal(dataset_find(&d.set.a[0], "m", 1)->line, 2);
    assert_null(dataset_find(&d.set.a[0], "mm", 2));
    assert_null(dataset_find(&d.set.a[0], "on", 2));
    data_free(&d);
}

static void json_sets(void **state)
{
    (void)state;
    static const char *const text[] = {"[{\"a\": 1}, {\"a\": [2, 3]},\n {}]",
                                       "{\"a\": 1}\n{\"a\": [2, 3]}\n\n{}\n",
                                       "{\"a\": 1} [{\"a\": [2, 3]}, {}]"};
    nami_err err;
    for (int i = 0; i < 3; i++) {
        struct data d = parse(text[i]);
        assert_int_equal(d.set.n, 3);
        is(&d, "a", SCALAR, 1);
        assert_int_equal(d.set.a[1].value.a[0].n, 2);
        assert_int_equal(d.set.a[2].value.n, 0);
        assert_int_equal(data_parse(&d, "b <- 2", 6, &err), 0); /* is added */
        assert_int_equal(d.set.n, 4);
        assert_int_not_equal(data_parse(&d, "{\"a\": 1}\n[{\"b\": 2}, 3]", 22, &err), 0);
        assert_int_equal(d.set.n, 4); /* as it was */
        data_free(&d);
    }
}

static void r_dump(void **state)
{
    (void)state;
    struct data d = parse(
        "# a comment\n\"x\" <- c(1,2,NA)\n`y z` <- 5; w = -.5e-3\n'v' <-\nc(1L, -2L, 1e5L, 0x1F)\n"
        "m <- structure(c(1, 2, 3, 4, 5, 6), .Dim = c(2L,3L))\n"
        "m2 <- structure(c(1, 2, 3, 4, 5, 6), .Dim = as.integer(c(2, 3)), .Dimnames = "
        "list(c(\"a\",\n"
        "\"b\"), NULL))\na3 <- structure(1:12, .Dim = c(2, 3, 2))\n"
        "s <- c(NaN, Inf, -Inf, TRUE, FALSE, NA_real_, -NA)\nr <- 3:1\nq <- -1:2\n"
        "z <- rep(0, 3)\nz2 <- rep(c(1,2), times = 2)\nz3 <- rep(1:2, each = 2, length.out = 3)\n"
        "n <- c(c(1, c(2)), 3:4, a = 5)\ni <- as.integer(c(1.9, -1.9))\nk <- as.integer(7)\n"
        "mm <- matrix(c(1,2,3,4,5,6), nrow = 2)\nmr <- matrix(c(1,2,3,4,5,6), 2, 3, byrow = TRUE)\n"
        "m0 <- matrix(0, 2, 2)\nar <- array(1:6, dim = c(3, 2))\ne <- integer(0)\ne2 <- c()\n"
        "f <- structure(c(2L, 1L), .Label = c(\"u\", \"v\"), class = \"factor\")\n"
        "p <- (1:3)\none <- c(4)\n.x_1.y <- 1 # end");
    assert_int_equal(d.set.n, 1);
    is(&d, "x", dims(3), 1, 2, value_missing());
    is(&d, "y z", SCALAR, 5);
    is(&d, "w", SCALAR, -.5e-3);
    is(&d, "v", dims(4), 1, -2, 1e5, 31);
    is(&d, "m", dims(2, 3), 1, 3, 5, 2, 4, 6);
    is(&d, "m2", dims(2, 3), 1, 3, 5, 2, 4, 6);
    is(&d, "a3", dims(2, 3, 2), 1, 7, 3, 9, 5, 11, 2, 8, 4, 10, 6, 12);
    is(&d, "s", dims(7), (double)NAN, INFINITY, -INFINITY, 1, 0, value_missing(), value_missing());
    is(&d, "r", dims(3), 3, 2, 1);
    is(&d, "q", dims(4), -1, 0, 1, 2);
    is(&d, "z", dims(3), 0, 0, 0);
    is(&d, "z2", dims(4), 1, 2, 1, 2);
    is(&d, "z3", dims(3), 1, 1, 2);
    is(&d, "n", dims(5), 1, 2, 3, 4, 5);
    is(&d, "i", dims(2), 1, -1);
    is(&d, "k", SCALAR, 7);
    is(&d, "mm", dims(2, 3), 1, 3, 5, 2, 4, 6);
    is(&d, "mr", dims(2, 3), 1, 2, 3, 4, 5, 6);
    is(&d, "m0", dims(2, 2), 0, 0, 0, 0);
    is(&d, "ar", dims(3, 2), 1, 4, 2, 5, 3, 6);
    is_empty(&d, "e", 1);
    is_empty(&d, "e2", 1);
    is(&d, "f", dims(2), 2, 1);
    is(&d, "p", dims(3), 1, 2, 3);
    is(&d, "one", dims(1), 4);
    is(&d, ".x_1.y", SCALAR, 1);
    assert_int_equal(dataset_find(&d.set.a[0], "a3", 2)->line, 9);
    data_free(&d);
}

/* .Data in a list is WinBUGS's and row-major; without it, the list is R's. */
static void winbugs(void **state)
{
    (void)state;
    struct data d = parse("list(N = 3, y = structure(.Data = c(1,2,3,4,5,6), .Dim = c(2,3)),\n"
                          "     m = structure(c(1,2,3,4,5,6), .Dim = c(2,3)))\n"
                          "list(x = c(1.0E+3, NA))\ndata <- list(u = 1)\n"
                          "o <- structure(.Data = c(1,2,3,4), .Dim = c(2,2))\nlist <- 3");
    assert_int_equal(d.set.n, 1);
    is(&d, "N", SCALAR, 3);
    is(&d, "y", dims(2, 3), 1, 2, 3, 4, 5, 6);
    is(&d, "m", dims(2, 3), 1, 3, 5, 2, 4, 6);
    is(&d, "x", dims(2), 1000, value_missing());
    is(&d, "u", SCALAR, 1);
    is(&d, "o", dims(2, 2), 1, 3, 2, 4);
    is(&d, "list", SCALAR, 3);
    data_free(&d);
}

/* ---- what is refused ---------------------------------------------------------------- */

struct refusal {
    const char *text;
    int line, col;
    const char *words; /* in this order, separated by | */
};

static const struct refusal refusals[] = {
    {"", 0, 0, "empty"},
    {" \n\t", 0, 0, "empty"},
    {"[]", 1, 1, "no data set"},
    {"{\"a\": [1, 2", 1, 11, "ends too early"},
    {"{\"a\": 1,\n \"b\": [[1, 2],\n  [3]]}", 3, 3, "b[2] has length 1|b[1] has length 2|null"},
    {"{\"a\": [1, [2]]}", 1, 11, "a[2] is a list|a[1] is a number"},
    {"{\"a\": [[1],\n2]}", 2, 1, "a[2] is a number|a[1] is a list"},
    {"{\"a\": [[[1],[2]], [[3],\n [4, 5]]]}", 2, 2, "a[2,2] has length 2|a[1,1] has length 1"},
    {"{\"a\": [1, 2, \"x,]\\\"\", 3, \"abc\"]}", 1, 14, "a[3]|text|numbers|categories"},
    {"{\"a\": \"abc\"}", 1, 7, "a is the text \"abc\""},
    {"{\"a\": [1, \"NA\"]}", 1, 11, "a[2]|\"NA\"|null"},
    {"{\"a\": {\"b\": 1}}", 1, 7, "a is an object"},
    {"{\"x\": 1,\n\"a\": [1, {\"b\": 1}]}", 2, 10, "a[2] is an object"},
    {"{\"a\": 1,\n\"a\": 2}", 2, 3, "twice|\"a\"|keep one"},
    {"{\"\": 1}", 1, 2, "name is empty"},
    {"{\"a\": 1e999}", 1, 11, "too large|\"Inf\""},
    {"{\"a\": NaN}", 1, 9, "not valid JSON|\"NaN\""},
    {"{\"a\": 1}\n{\"a\": 2,}", 2, 9, "not valid JSON"},
    {"{\"a\": 1}\n[1, 2]", 2, 2, "must hold objects"},
    {"[[{\"a\": 1}]]", 1, 2, "must hold objects"},
    {"[{\"a\": 1},\n {\"a\": [1, \"b\"]}]", 2, 12, "a[2] is the text"},
    {"{\"a\": 1}\nx", 2, 1, "expected '{'|'x'"},
    {"{\"a\": \"\xff\"}", 1, 7, "UTF-8"},
    {"{\"a\": [[[[[[[[[1]]]]]]]]]}", 1, 7, "more than 8 dimensions"},
    {"x <- c(1, 2", 1, 12, "',' or ')'|ends here"},
    {"x <- c(1 2)", 1, 10, "',' or ')'|'2'"},
    {"x <- \"abc\"", 1, 6, "'abc' is text|numbers|NA"},
    {"x <- c(1,\n'a')", 2, 1, "'a' is text"},
    {"x <- 1\ny <- 2\nx <- 3", 3, 1, "'x' is given twice|line 1"},
    {"list(a = 1, a = 2)", 1, 13, "'a' is given twice"},
    {"x <- 1 + 2", 1, 8, "computations|'+'"},
    {"x <- y", 1, 6, "expected a number|'y'|other names"},
    {"x <- exp(1)", 1, 6, "does not know exp()"},
    {"x <- structure(c(1,2,3), .Dim = c(2,2))", 1, 16, "2 x 2 needs 4 values|3"},
    {"x <- structure(c(1,2), .Dim = c(1.5,2))", 1, 31, "dimension 1|whole number"},
    {"x <- structure(c(1,2), .Dim = c(2,NA))", 1, 31, "dimension 2|whole number"},
    {"x <- structure(c(1,2), .Dim = c())", 1, 31, "1 to 8 dimensions, not 0"},
    {"x <- structure(c(1,2), .dim = c(1,2))", 1, 24, "no argument '.dim'|.Dim"},
    {"x <- structure(.Dim = c(1,2))", 1, 16, "no values"},
    {"x <- structure(1, 2)", 1, 19, "values already"},
    {"x <- structure(1, class = list(1)", 1, 34, "')'|ends here"},
    {"x <- matrix(c(1,2,3), nrow = 2)", 1, 13, "2 x 2 needs 4 values"},
    {"x <- matrix(nrow = 2)", 1, 13, "no values"},
    {"x <- matrix(1:4, foo = 2)", 1, 24, "data, nrow, ncol or byrow"},
    {"x <- array(1:4)", 1, 12, "needs its dim"},
    {"x <- array(1:4, c(2, 3))", 1, 12, "2 x 3 needs 6"},
    {"x <- rep(1:3, -1)", 1, 15, "whole number"},
    {"x <- rep(c(), 3)\ny <- rep(c(), length.out = 2)", 2, 29, "nothing to repeat"},
    {"x <- rep(0, 1000000000)", 1, 23, "33554432"},
    {"x <- rep(0, foo = 3)", 1, 19, "times, each or length.out"},
    {"x <- 1:1e12", 1, 12, "33554432"},
    {"x <- 1:NA", 1, 7, "range"},
    {"x <- c(1,2):3", 1, 12, "range"},
    {"x <- 1e999", 1, 6, "too large|Inf"},
    {"x <- 12abc", 1, 6, "not a number"},
    {"x <- \"abc", 1, 6, "no closing quote"},
    {"x 5", 1, 3, "'<-'|'5'"},
    {"x[] y[]\n1 2\nEND", 1, 2, "list("},
    {"5 <- x", 1, 1, "name <- value"},
    {"list(1, 2)", 1, 6, "name in list"},
    {"list(a, 2)", 1, 7, "'='"},
    {"list(a = list(b = 1))", 1, 10, "list inside"},
    {"list(a = 1; b = 2)", 1, 11, "',' or ')'"},
    {"# nothing", 1, 1, "no data"},
    {"x <- \x01", 1, 6, "byte 0x01"},
    {"\"\" <- 1", 1, 1, "name is empty"},
    {"x <- as.integer(1, 2)", 1, 18, "')'"},
    {"x <- 0123456789012345678901234567890123456789012345678901234567890123456789", 1, 6, "digits"},
};

static void refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const struct refusal *r = &refusals[i];
        struct data d = {0};
        nami_err err;
        int rc = data_parse(&d, r->text, strlen(r->text), &err);
        if (!rc) fail_msg("not refused: %s", r->text);
        assert_int_equal(d.set.n, 0);
        assert_int_equal(rc, err.code);
        const char *at = err.msg;
        char words[200];
        snprintf(words, sizeof words, "%s", r->words);
        for (char *w = strtok(words, "|"); w && at; w = strtok(NULL, "|")) at = strstr(at, w);
        if (!at || err.line != r->line || err.col != r->col)
            fail_msg("%s\nwant %d:%d: %s\ngot  %d:%d: %s", r->text, r->line, r->col, r->words,
                     err.line, err.col, err.msg);
        assert_int_equal(data_parse(&d, r->text, strlen(r->text), NULL), rc);
        data_free(&d);
    }
    struct data d = {0};
    nami_err err;
    assert_int_equal(data_parse(&d, "{\"a\":\0 1}", 9, &err), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "zero byte"));
    assert_int_equal(data_parse(&d, "a <- \0 1", 8, &err), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "0x00"));
    data_free(&d);
}

/* Deep brackets are an error, not a crash. */
static void deep(void **state)
{
    (void)state;
    static char text[300000];
    struct data d = {0};
    nami_err err;
    memset(text, '(', sizeof text);
    memcpy(text, "x <- ", 5);
    assert_int_equal(data_parse(&d, text, sizeof text, &err), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "nested"));
    memset(text, '[', sizeof text);
    assert_int_equal(data_parse(&d, text, sizeof text, &err), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "nested"));
    data_free(&d);
}

/* ---- files -------------------------------------------------------------------------- */

static void endings(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        int ok;
    } file[] = {
        {"x.json", "{\"a\": 1}", 1}, {"x.jsonl", "{\"a\": 1}", 1}, {"x.json", "a <- 1", 0},
        {"x.R", "a <- 1", 1},        {"x.R", "{\"a\": 1}", 0},     {"x.txt", "{\"a\": 1}", 1},
        {"x.txt", "a <- 1", 1},      {"x", "list(a = 1)", 1},      {"x.R", "", 0}};
    char dir[] = "/tmp/nami_data_XXXXXX", path[64];
    nami_err err;
    assert_non_null(mkdtemp(dir));
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        struct data d = {0};
        snprintf(path, sizeof path, "%s/%s", dir, file[i].name);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(file[i].text, f);
        fclose(f);
        if ((data_read(&d, path, &err) == 0) != file[i].ok) fail_msg("%s: %s", path, err.msg);
        if (file[i].ok) is(&d, "a", SCALAR, 1);
        data_free(&d);
        remove(path);
        assert_int_equal(data_read(&d, path, &err), NAMI_EFILE);
    }
    remove(dir);
}

/* The data of the classic BUGS examples, where they lie beside the repository. */
static void bugs(void **state)
{
    (void)state;
    static const char *const pattern[] = {"/../shared/data/bugs/classic/*/*.R",
                                          "/../shared/data/bugs/weak-priors/*/data.R"};
    size_t files = 0;
    for (int k = 0; k < 2; k++) {
        char path[512];
        glob_t g;
        snprintf(path, sizeof path, "%s%s", SOURCE_DIR, pattern[k]);
        if (glob(path, 0, NULL, &g)) continue;
        for (size_t i = 0; i < g.gl_pathc; i++) {
            struct data d = {0};
            nami_err err;
            if (data_read(&d, g.gl_pathv[i], &err))
                fail_msg("%s:%d:%d: %s", g.gl_pathv[i], err.line, err.col, err.msg);
            assert_int_equal(d.set.n, 1);
            data_free(&d);
            files++;
        }
        globfree(&g);
    }
    print_message("%zu files%s\n", files, files ? "" : ": SKIPPED, they are not here");
}

/* ---- every allocation fails --------------------------------------------------------- */

static int parse_text(void *ctx)
{
    struct data d = {0};
    const char *text = ctx;
    int rc = data_parse(&d, text, strlen(text), NULL);
    data_free(&d);
    return rc;
}

static void nomem_data(void **state)
{
    (void)state;
    static char text[][200] = {
        "{\"a\": [1, 2], \"b\": [[1, 2], [3, 4]]}\n{\"a\": 2}",
        "a <- rep(1:3, 100)\nb <- structure(c(1,2,3,4), .Dim = c(2, 2)); c <- list(d = 1)"};
    for (int i = 0; i < 2; i++) {
        const char *why;
        long n = nomem_each(parse_text, text[i], &why);
        if (n < 0) fail_msg("%s: %s", text[i], why);
        assert_true(n > 2);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(missing),    cmocka_unit_test(json),    cmocka_unit_test(json_sets),
    cmocka_unit_test(r_dump),     cmocka_unit_test(winbugs), cmocka_unit_test(refused),
    cmocka_unit_test(deep),       cmocka_unit_test(endings), cmocka_unit_test(bugs),
    cmocka_unit_test(nomem_data),
};

RUN(tests)
