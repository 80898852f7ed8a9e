/* test_simulator.c: simulators, commands and plug-ins, are run correctly, and each of their
   failures is reported. */

#include "run.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "data/npy.h"
#include "data/simulator.h"
#include "malloc_fail.h"

/* a and y[2,2] */
static const struct draws_var ay[] = {
    {.name = "a", .ndim = 0, .base = 0},
    {.name = "y", .ndim = 2, .dim = {2, 2}, .base = 1},
};
#define ROW "{\"a\": 1.5, \"y\": [[1, 2], [3, \"-Inf\"]]}"

static int run(const char *command, size_t n, double *x, nami_err *err)
{
    struct simulator s = {.command = command, .nvar = 2, .var = ay};
    return simulator_run(&s, n, 18446744073709551615u, x, err);
}

static void must_run(const char *command, size_t n, double *x)
{
    nami_err err;
    if (run(command, n, x, &err)) fail_msg("%s", err.msg);
}

/* ---- what would run ----------------------------------------------------------------- */

static void describes(const char *command, const char *dir, const char *want)
{
    struct simulator s = {.command = command, .dir = dir, .nvar = 2, .var = ay};
    struct str out = {0};
    simulator_describe(&s, &out);
    if (!strstr(out.s, want)) fail_msg("%s, not %s", out.s, want);
    str_free(&out);
}

static void told_what_runs(void **state)
{
    (void)state;
    char *path = getenv("PATH") ? strdup(getenv("PATH")) : NULL;
    setenv("PATH", "/nowhere:/bin:/usr/bin", 1);
    describes("cat x | y", "/", "'cat x | y' (/bin/cat, in /)");
    describes("  ./dev/null 1", "/", "(/dev/null, in /)");
    describes("dev/../dev/null", "/", "(/dev/null, in /)");
    describes("/dev/null", NULL, "(/dev/null, in /");
    describes("X=1 cat", "/", "(/bin/sh, in /)");
    describes("(cat)", "/", "(/bin/sh, in /)");
    describes("nothing_of_this_name", "/", "(/bin/sh, in /)");
    describes("a/b.so", "/tmp", "'a/b.so' (/tmp/a/b.so)");
    describes("cat \033[2K\r\302\233x", "/", "'cat ?[2K???x' (/bin/cat, in /)");
    char many[300] = "cat ";
    memset(many + 4, 'x', sizeof many - 5);
    describes(many, "/", "x', which goes on, (/bin/cat, in /)");
    if (path) setenv("PATH", path, 1);
    free(path);
}

/* ---- commands ----------------------------------------------------------------------- */

static void command(void **state)
{
    (void)state;
    double x[15];
    must_run("cat >/dev/null; for i in 1 2; do echo '" ROW "'; done; echo; printf '%s' '" ROW "'",
             3, x);
    for (int i = 0; i < 3; i++)
        assert_true(x[i] == 1.5 && x[3 + i] == 1 && x[6 + i] == 2 && x[9 + i] == 3 &&
                    x[12 + i] == -INFINITY);
    must_run("echo '{\"more\": \"text\", \"y\": [[1,2],[3,4]], \"a\": true}'", 1,
             x); /* does not read */
    assert_true(x[0] == 1 && x[4] == 4);
    must_run("sed 's/{\"n\":\\(.*\\),\"seed\":\\(.*\\)}/{\"a\":\\1,\"y\":[[\\2,2],[3,4]]}/'", 1, x);
    assert_true(x[0] == 1 && x[1] == 18446744073709551615.0);
    must_run("false", 0, x); /* nothing to do */
}

/* Much on both pipes at once; rows in pieces of any size. */
static void large(void **state)
{
    (void)state;
    enum { ROWS = 30000 };
    double *x = calloc((size_t)ROWS * 5, sizeof *x);
    must_run("awk 'BEGIN { for (i = 0; i < 30000; i++) {"
             " print \"{\\\"a\\\":\" i \",\\\"y\\\":[[1,2],[3,4]]}\";"
             " print \"a message on its way to nowhere, number\", i >\"/dev/stderr\" } }'",
             ROWS, x);
    for (int i = 0; i < ROWS; i++) assert_true(x[i] == i && x[4 * ROWS + i] == 4);
    free(x);
}

/* A program's own children may live on with its pipes. */
static void background(void **state)
{
    (void)state;
    struct timespec from, to;
    double x[5];
    clock_gettime(CLOCK_MONOTONIC, &from);
    must_run("sleep 30 & echo '" ROW "'", 1, x);
    clock_gettime(CLOCK_MONOTONIC, &to);
    assert_true(to.tv_sec - from.tv_sec < 20);
    must_run("exec 2>&-; echo '" ROW "'; sleep 0.2", 1, x);
}

static const struct {
    const char *command;
    size_t n;
    const char *words; /* in this order, separated by | */
} faults[] = {
    {"/nowhere/sim", 1, "'/nowhere/sim' was not found|/nowhere/sim"},
    {"/", 1, "cannot be run|path"},
    {"echo oops >&2; echo; exit 3", 1, "status 3 after 0 rows: oops"},
    {"echo '" ROW "'; echo first >&2; echo last line >&2; exit 1", 9,
     "status 1 after 1 rows: last line"},
    {"exit 4", 1, "status 4"},
    {"kill -9 $$", 1, "signal 9"},
    {"true", 2, "gave 0 rows|asked for 2"},
    {"echo '" ROW "'", 2, "gave 1 rows|asked for 2"},
    {"echo '" ROW "'; echo '" ROW "'", 1, "more than the 1 rows"},
    {"yes '" ROW "'", 3, "more than the 3 rows"},
    {"echo hello", 1, "row 1|not JSON|standard error"},
    {"echo '" ROW "'; echo '{\"a\": 1'", 2, "row 2|not JSON"},
    {"echo '[1, 2]'", 1, "row 1|not an object"},
    {"echo '{\"y\": [[1,2],[3,4]]}'", 1, "no 'a' in row 1"},
    {"echo '" ROW "'; echo '{\"a\": 1}'", 2, "no 'y' in row 2"},
    {"echo '{\"a\": [1], \"y\": [[1,2],[3,4]]}'", 1, "'a' in row 1 the shape 1|single number"},
    {"echo '{\"a\": 1, \"y\": [[1,2,3],[3,4,5]]}'", 1, "'y'|2 x 3|2 x 2"},
    {"echo '{\"a\": 1, \"y\": [[1,2],[3]]}'", 1, "row 1|y[2] has length 1"},
    {"echo '{\"a\": \"x\", \"y\": [[1,2],[3,4]]}'", 1, "row 1|a is the text"},
    {"echo '{\"a\": 1, \"y\": [[1,2],[null,4]]}'", 1, "no number for y[2,1] in row 1"},
    {"printf '\\223NUMPX'", 1, "row 1|NUMPY"},
    {"printf '\\223NUM'", 1, "middle of row 1"},
};

static void has_words(const char *msg, const char *list)
{
    char words[200];
    const char *at = msg;
    snprintf(words, sizeof words, "%s", list);
    for (char *w = strtok(words, "|"); w && at; w = strtok(NULL, "|")) at = strstr(at, w);
    if (!at) fail_msg("want %s\ngot  %s", list, msg);
}

static int open_files(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    if (!d) return 0;
    while (readdir(d)) n++;
    closedir(d);
    return n;
}

/* ... and nothing stays behind: no zombie, no open file, no changed signal. */
static void faulty(void **state)
{
    (void)state;
    double x[50];
    nami_err err;
    struct sigaction before, after;
    int files = open_files();
    sigaction(SIGPIPE, NULL, &before);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        int rc = run(faults[i].command, faults[i].n, x, &err);
        if (!rc) fail_msg("no error: %s", faults[i].command);
        assert_int_equal(rc, err.code);
        assert_non_null(strstr(err.msg, "the simulator '"));
        has_words(err.msg, faults[i].words);
        assert_int_equal(run(faults[i].command, faults[i].n, x, NULL), rc);
    }
    errno = 0;
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(open_files(), files);
    sigaction(SIGPIPE, NULL, &after);
    assert_true(before.sa_handler == after.sa_handler);
}

/* ---- .npy streams ------------------------------------------------------------------- */

/* An array of k rows, all equal to x. */
static void put_array(struct str *s, size_t k, size_t d1, size_t d2, double x)
{
    size_t dim[] = {k, d1, d2}, n = k * (d1 ? d1 * d2 : 1);
    npy_put_header(s, 0, d1 ? 3 : 1, dim);
    for (size_t i = 0; i < n; i++) str_putn(s, (const char *)&x, sizeof x);
}

static void stream(size_t n, double *x, const struct str *s, const char *words)
{
    char path[] = "/tmp/nami_npy_XXXXXX", line[64];
    nami_err err;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, s->s, s->n), (ssize_t)s->n);
    close(fd);
    snprintf(line, sizeof line, "dd if=%s bs=37 2>/dev/null", path); /* in small pieces */
    int rc = run(line, n, x, &err);
    remove(path);
    if (!words && rc) fail_msg("%s", err.msg);
    if (words) {
        assert_int_not_equal(rc, 0);
        has_words(err.msg, words);
    }
}

static void npy(void **state)
{
    (void)state;
    double x[5 * 6];
    struct str s = {0};
    put_array(&s, 2, 0, 0, 7);
    put_array(&s, 2, 2, 2, 8);
    size_t two = s.n;
    put_array(&s, 3, 0, 0, 9);
    size_t half = s.n;
    put_array(&s, 3, 2, 2, value_missing());
    stream(5, x, &s, "no number for y[1,1] in row 3");
    s.n = half;
    put_array(&s, 3, 2, 2, 10);
    stream(5, x, &s, NULL);
    assert_true(x[1] == 7 && x[2] == 9 && x[4] == 9 && x[5 + 1] == 8 && x[20 + 4] == 10);
    stream(4, x, &s, "more than the 4 rows");
    stream(2, x, &s, "more than the 2 rows");
    stream(6, x, &s, "gave 5 rows");
    s.n -= 8;
    stream(5, x, &s, "middle of row 3");
    s.n = half;
    stream(5, x, &s, "middle of row 3");
    put_array(&s, 2, 2, 2, 10);
    stream(5, x, &s, "2 rows of 'y'|3 of 'a'");
    s.n = two;
    put_array(&s, 3, 2, 2, 10);
    stream(5, x, &s, "'a' in row 3|2 x 2|single number");
    s.n = two;
    str_put(&s, "some text");
    stream(5, x, &s, "row 3|NUMPY");
    s.n = 0;
    put_array(&s, 0, 0, 0, 1);
    stream(5, x, &s, "0 rows");
    s.n = 0;
    npy_put_header(&s, 0, 0, NULL);
    str_putn(&s, "\0\0\0\0\0\0\0\0", 8);
    stream(5, x, &s, "axis");
    str_free(&s);
}

/* ---- plug-ins ----------------------------------------------------------------------- */

#define PLUGIN(name) PLUGIN_DIR "/" name ".so"

static const struct draws_var gk[] = {
    {.name = "y", .ndim = 1, .dim = {20}, .base = 0},
    {.name = "a", .base = 20},
    {.name = "b", .base = 21},
    {.name = "g", .base = 22},
    {.name = "k", .base = 23},
};

static void plugin(void **state)
{
    (void)state;
    struct simulator s = {.command = PLUGIN("plugin_gk"), .nvar = 5, .var = gk};
    enum { MANY = 2500, FEW = 10 };
    double *x = calloc((size_t)24 * MANY, sizeof *x), y[24 * FEW], sum = 0;
    nami_err err;
    if (simulator_run(&s, MANY, 3, x, &err) || simulator_run(&s, FEW, 3, y, &err))
        fail_msg("%s", err.msg);
    for (int e = 0; e < 24; e++)
        for (int i = 0; i < FEW; i++) assert_true(x[e * MANY + i] == y[e * FEW + i]);
    for (int i = 0; i < MANY; i++) sum += x[20 * MANY + i];
    assert_true(fabs(sum / MANY - 5) < 0.3); /* a ~ uniform(0, 10) */
    assert_true(x[20 * MANY] != x[20 * MANY + 1]);
    assert_int_equal(simulator_run(&s, FEW, 4, y, &err), 0);
    assert_true(x[0] != y[0]);
    s.nvar = 4;
    assert_int_equal(simulator_run(&s, FEW, 3, y, &err), NAMI_EINPUT);
    has_words(err.msg, "plugin_gk.so'|row 1|the variables must be");
    free(x);
}

static void bad_plugins(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {PLUGIN("plugin_bad1"), "no function nami_plugin_abi"},
        {PLUGIN("plugin_bad2"), "version 2|version 1|compile"},
        {PLUGIN("plugin_bad3"), "no function nami_plugin_simulate"},
        {PLUGIN("plugin_bad4"), "row 1|there is no data file|7"},
        {PLUGIN("plugin_bad5"), "row 1|does not say why|7"},
        {PLUGIN("plugin_bad6"), "no number for y[1,2] in row 3"},
        {"/nowhere/plug.so", "cannot be loaded|No such file"},
        {"nowhere.so", "cannot be loaded"},
        {"/nowhere/run with.so", "was not found"}, /* a command with an argument */
    };
    double x[5 * 4];
    nami_err err;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_not_equal(run(bad[i][0], 4, x, &err), 0);
        has_words(err.msg, bad[i][1]);
    }
}

/* ---- the example in Python ---------------------------------------------------------- */

static void python(void **state)
{
    (void)state;
    static const struct draws_var v[] = {{.name = "log_r", .base = 0},
                                         {.name = "sigma", .base = 1},
                                         {.name = "phi", .base = 2},
                                         {.name = "y", .ndim = 1, .dim = {8}, .base = 3}};
    enum { ROWS = 150 };
    static double x[2][11 * ROWS];
    static char line[600];
    struct simulator s = {.command = line, .nvar = 4, .var = v};
    nami_err err;
    if (system("python3 -c 'import random' 2>/dev/null")) {
        print_message("SKIPPED: no python3\n");
        skip();
    }
    snprintf(line, sizeof line, "python3 %s/examples/ricker.py 8", SOURCE_DIR);
    if (simulator_run(&s, ROWS, 5, x[0], &err)) fail_msg("%s", err.msg);
    for (int i = 0; i < ROWS; i++) assert_true(x[0][i] >= 3 && x[0][i] <= 5);
    const char *py =
        system("python3 -c 'import numpy' 2>/dev/null") ? "/usr/bin/python3" : "python3";
    snprintf(line, sizeof line, "%s -c 'import numpy' 2>/dev/null", py);
    if (system(line)) {
        print_message("SKIPPED: no numpy\n");
        return;
    }
    snprintf(line, sizeof line, "%s %s/examples/ricker.py --npy 8", py, SOURCE_DIR);
    if (simulator_run(&s, ROWS, 5, x[1], &err)) fail_msg("%s", err.msg);
    assert_memory_equal(x[0], x[1], sizeof x[0]); /* to the last bit */
    snprintf(line, sizeof line, "python3 %s/examples/ricker.py eight", SOURCE_DIR);
    assert_int_equal(simulator_run(&s, ROWS, 5, x[0], &err), NAMI_EINPUT);
    has_words(err.msg, "status 1|ValueError|eight");
}

/* ---- threads, and every allocation fails -------------------------------------------- */

static void *in_thread(void *ctx)
{
    double x[50];
    nami_err err;
    (void)ctx;
    for (int i = 0; i < 10; i++)
        if (run("for i in 1 2 3 4 5 6 7 8 9 10; do echo '" ROW "'; done", 10, x, &err) ||
            run(PLUGIN("plugin_bad0"), 10, x, &err))
            return (void *)"failed";
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    pthread_t t[4];
    void *why;
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&t[i], NULL, in_thread, NULL), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(t[i], &why);
        assert_null(why);
    }
}

static int run_once(void *ctx)
{
    double x[15];
    return run(ctx, 3, x, NULL);
}

static void nomem_simulator(void **state)
{
    (void)state;
    static char job[][600] = {"for i in 1 2 3; do echo '" ROW "'; done", PLUGIN("plugin_bad0")};
    for (int i = 0; i < 2; i++) {
        const char *why;
        long n = nomem_each(run_once, job[i], &why);
        if (n < 0) fail_msg("%s: %s", job[i], why);
        assert_true(n > 1);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(told_what_runs), cmocka_unit_test(command),         cmocka_unit_test(large),
    cmocka_unit_test(background),     cmocka_unit_test(faulty),          cmocka_unit_test(npy),
    cmocka_unit_test(plugin),         cmocka_unit_test(bad_plugins),     cmocka_unit_test(python),
    cmocka_unit_test(threads),        cmocka_unit_test(nomem_simulator),
};

RUN(tests)
