/* test_posterior.c: posterior files have the right content however the draws arrive, and
   failures leave no partial file.  tests/test_posterior.py reads them with xarray, netCDF4 and
   NumPy. */

#include "run.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "data/npz.h"
#include "malloc_fail.h"
#include "posterior_at.h"

static nami_err err;

static void good(int rc)
{
    if (rc) fail_msg("%s", err.msg);
}

static char dir[64];
static struct str path;

static const char *in_dir(const char *name)
{
    path.n = 0;
    str_printf(&path, "%s/%s", dir, name);
    return path.s;
}

static int enter(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/nami-posterior.XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

/* The number of files in the folder. */
static int files(void)
{
    DIR *d = opendir(dir);
    int n = 0;
    for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static int leave(void **state)
{
    (void)state;
    DIR *d = opendir(dir);
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.') unlink(in_dir(e->d_name));
    closedir(d);
    str_free(&path);
    return rmdir(dir);
}

static struct str content(const char *name)
{
    struct str t = {0};
    if (file_read(in_dir(name), &t, &err)) fail_msg("%s: %s", name, err.msg);
    return t;
}

static int can(const struct posterior_format *f) { return !f->lacks; }

/* ---- text ---------------------------------------------------------------------------------------
 */

static void csv(void **state)
{
    (void)state;
    static const struct draws_var v[] = {{.name = "x", .base = 2},
                                         {.name = "m", .ndim = 2, .dim = {1, 2}, .integer = 1}};
    struct posterior_spec s = {.nset = 2, .part[POSTERIOR] = {2, 2, v}};
    const double x[] = {1, 2, 3, 4, 5, 6, 7, value_missing(), 0.1, 0.2, -INFINITY, 0.4};
    const double w[] = {-1, -2, -3, -INFINITY};
    struct posterior *p;
    struct posterior_block b = {4, x, NULL, NULL, NULL};
    good(posterior_open(in_dir("t.csv"), &s, &p, &err));
    good(posterior_put(p, POSTERIOR, &b, &err));
    good(posterior_close(p, NULL, &err));
    struct str t = content("t.csv");
    assert_string_equal(t.s,
                        ".chain,.iteration,.draw,.set,x,\"m[1,1]\",\"m[1,2]\"\n"
                        "1,1,1,1,0.1,1,5\n1,2,2,1,0.2,2,6\n1,1,1,2,-Inf,3,7\n1,2,2,2,0.4,4,NA\n");
    str_free(&t);
    s.nset = 1;
    s.part[POSTERIOR].ndraw = 4;
    s.log_weight = s.log_p = s.log_q = 1;
    b = (struct posterior_block){4, x, w, x, x + 4};
    good(posterior_open(in_dir("t.csv"), &s, &p, &err));
    good(posterior_put(p, POSTERIOR, &b, &err));
    good(posterior_close(p, NULL, &err));
    t = content("t.csv");
    assert_non_null(strstr(t.s, ".chain,.iteration,.draw,.log_weight,lp__,lp_approx__,x,"));
    assert_non_null(strstr(t.s, "\n1,4,4,-Inf,4,NA,0.4,4,NA\n"));
    str_free(&t);
    assert_int_equal(files(), 1);
}

static void json(void **state)
{
    (void)state;
    static const struct draws_var v[] = {{.name = "x", .base = 0},
                                         {.name = "m", .ndim = 2, .dim = {1, 2}, .base = 1}};
    const struct summary a[3] = {
        {.mean = 1, .sd = 2, .q = {3, 4, 5, 6, 7}, .mcse = 8, .ess = 9}, {.mean = INFINITY, .sd = (double)NAN}, {.mean = 0.5}};
    const struct posterior_found f[] = {{{-INFINITY, 9.5, -3, 0.1, 0, 0, 0, NULL}, a, (double)NAN},
                                        {{0.5, 8, 1, 0, 0, 0, 0, NULL}, a, (double)NAN}};
    struct posterior_spec s = {
        .nset = 1, .part[POSTERIOR] = {1, 2, v}, .note = at_notes, .nnote = 2};
    struct posterior_block b = {1, (const double[]){1, 2, 3}, NULL, NULL, NULL};
    struct posterior *p;
    good(posterior_open(in_dir("t.json"), &s, &p, &err));
    good(posterior_put(p, POSTERIOR, &b, &err));
    good(posterior_close(p, f, &err));
    struct str t = content("t.json");
    const char *want =
        "{\"program\": \"nami " NAMI_VERSION "\",\n"
        "\"settings\": {\"model\": \"eight \\\"schools\\\".nami\", \"seed\": 17},\n"
        "\"draws\": 1,\n\"khat\": \"-Inf\",\n\"ess\": 9.5,\n\"log_evidence\": -3,\n"
        "\"log_evidence_se\": 0.1,\n\"variables\": {\n"
        "  \"x\": {\"mean\": 1, \"sd\": 2, \"q5\": 3, \"q25\": 4, \"q50\": 5, \"q75\": 6, "
        "\"q95\": 7, \"mcse\": 8, \"ess\": 9},\n"
        "  \"m\": {\"mean\": [[\"Inf\",0.5]], \"sd\": [[\"NaN\",0]], \"q5\": [[0,0]], ";
    if (strncmp(t.s, want, strlen(want)) != 0) fail_msg("%s", t.s);
    str_free(&t);
    s.nset = 2;
    b.n = 2;
    b.x = (const double[]){1, 2, 3, 4, 5, 6};
    good(posterior_open(in_dir("t.json"), &s, &p, &err));
    good(posterior_put(p, POSTERIOR, &b, &err));
    good(posterior_close(p, f, &err));
    t = content("t.json");
    assert_non_null(strstr(t.s, "\"sets\": 2,\n\"khat\": [\"-Inf\",0.5],\n\"ess\": [9.5,8],"));
    assert_non_null(strstr(t.s, "\"m\": {\"mean\": [[[\"Inf\",0.5]],[[\"Inf\",0.5]]], "));
    str_free(&t);
}

/* ---- NPZ, by our own reader --------------------------------------------------------- */

static void npz(void **state)
{
    (void)state;
    struct at *a = at_new(3, 50, 1);
    good(at_write(in_dir("t.npz"), a, 13, &err));
    for (int part = 0; part < NPART; part++)
        for (int v = 0; v < a->spec.part[part].nvar; v++) {
            const struct draws_var *var = &a->spec.part[part].var[v];
            const char *prefix[] = {"", "posterior_predictive/", "prior/"};
            char name[64];
            struct npz *z;
            struct npy h;
            size_t size = draws_var_size(var), n = part == PRIOR ? 26 : 150;
            snprintf(name, sizeof name, "%s%s", prefix[part], var->name);
            good(npz_open(in_dir("t.npz"), &z, &err));
            good(npz_find(z, name, &h, &err));
            if (!h.header) fail_msg("no %s", name);
            assert_int_equal(h.ndim, var->ndim + (part == PRIOR ? 1 : 2));
            assert_int_equal(h.dim[0], part == PRIOR ? 26 : 3);
            assert_int_equal(h.kind, var->base == 10 ? 'i' : 'f');
            double *x = calloc(n * size + 1, sizeof *x);
            good(npz_next(z, n * size, x, &err));
            good(npz_end(z, &err));
            for (size_t i = 0; i < n; i++)
                for (size_t e = 0; e < size; e++) {
                    double y = at_value(part, var->base + e, i);
                    assert_true(isnan(y) ? isnan(x[i * size + e]) : x[i * size + e] == y);
                }
            free(x);
            npz_close(z);
        }
    free(a);
}

/* ---- however the draws come --------------------------------------------------------- */

static void blocks(void **state)
{
    (void)state;
    static const size_t nset[] = {1, 3, 16}, ndraw[] = {203, 50, 1};
    for (int i = 0; posterior_formats[i]; i++) {
        const struct posterior_format *f = posterior_formats[i];
        if (!can(f)) continue;
        for (int k = 0; k < 3; k++) {
            struct at *a = at_new(nset[k], ndraw[k], f->parts != 1 << POSTERIOR);
            char name[16];
            struct str first = {0};
            snprintf(name, sizeof name, "b%s", f->ending);
            for (size_t block = 1; block < 300; block += block / 2 + 3) {
                good(at_write(in_dir(name), a, block, &err));
                struct str t = content(name);
                if (!first.s) {
                    first = t;
                    continue;
                }
                if (t.n != first.n || memcmp(t.s, first.s, t.n) != 0)
                    fail_msg("%s: %zu sets in blocks of %zu", f->name, nset[k], block);
                str_free(&t);
            }
            str_free(&first);
            free(a);
        }
    }
}

/* ---- refused
 * ------------------------------------------------------------------------------------------------
 */

static void refused(const char *name, struct at *a, int code, const char *what)
{
    int before = files();
    int rc = at_write(name[0] == '/' ? name : in_dir(name), a, 10, &err);
    if (rc != code) fail_msg("%s: %d, not %d", name, rc, code);
    if (!strstr(err.msg, what)) fail_msg("%s: '%s' has no '%s'", name, err.msg, what);
    assert_int_equal(files(), before);
}

static void refusals(void **state)
{
    (void)state;
    struct at *a = at_new(1, 30, 0), *b = at_new(1, 30, 1);
    struct posterior_group *g = &a->spec.part[POSTERIOR];
    struct draws_var v[2] = {at_vars[0], at_vars[0]};
    int nc = can(posterior_format_of("x.nc"));
    refused("x.txt", a, NAMI_EUSAGE, "x.txt'; end it in .nc, .npz, .csv or .json");
    refused("x.csv", b, NAMI_EUSAGE,
            "cannot hold the part 'posterior_predictive'; write .nc or .npz");
    refused("no/such/folder/x.csv", a, NAMI_EFILE, "cannot create: No such file");
    refused("no/such/folder/x.npz", a, NAMI_EFILE, "cannot create: No such file");
    refused("/dev/null/x.json", a, NAMI_EFILE, "cannot create: Not a directory");
    g->var = v;
    g->nvar = 2;
    refused("x.csv", a, NAMI_EINPUT, "two variables are called 'a'");
    g->nvar = 1;
    v[0].name = "log_weight";
    refused("x.npz", a, NAMI_EINPUT, "'log_weight' of its own");
    v[0].name = "draw";
    if (nc) refused("x.nc", a, NAMI_EINPUT, "has a 'draw' of its own");
    v[0].name = "a/b";
    if (nc) refused("x.nc", a, NAMI_EINPUT, "'a/b' cannot be a name");
    v[0].name = "\xff";
    refused("x.json", a, NAMI_EINPUT, "not UTF-8");
    v[0].name = "big";
    v[0].integer = 1;
    v[0].base = 1; /* has an infinity */
    if (nc) refused("x.nc", a, NAMI_EINPUT, "'big' is inf, which is no 64-bit integer");
    v[0] = at_vars[0];
    g->ndraw = SIZE_MAX / 8;
    refused("x.csv", a, NAMI_ELIMIT, "too many draws");
    g->ndraw = 0;
    refused("x.csv", a, NAMI_EUSAGE, "at least one draw");
    free(a);
    free(b);
    if (!nc) {
        a = at_new(1, 30, 0);
        refused("x.nc", a, NAMI_EUSAGE, "libnetcdf-dev");
        free(a);
    }
}

static void misuse(void **state)
{
    (void)state;
    struct at *a = at_new(1, 30, 0);
    for (int i = 0; posterior_formats[i]; i++) {
        struct posterior *p;
        char name[16];
        if (!can(posterior_formats[i])) continue;
        snprintf(name, sizeof name, "m%s", posterior_formats[i]->ending);
        good(posterior_open(in_dir(name), &a->spec, &p, &err));
        good(at_put(p, POSTERIOR, 0, 29, &err));
        assert_int_equal(posterior_close(p, a->found, &err), NAMI_EBUG); /* one is missing */
        assert_non_null(strstr(err.msg, "29 draws and should have 30"));
        good(posterior_open(in_dir(name), &a->spec, &p, &err));
        assert_int_equal(at_put(p, POSTERIOR, 0, 31, &err), NAMI_EBUG);
        assert_int_equal(posterior_close(p, a->found, &err), NAMI_EBUG);
        good(posterior_open(in_dir(name), &a->spec, &p, &err));
        posterior_drop(p);
        assert_true(access(in_dir(name), F_OK) != 0);
    }
    posterior_drop(NULL);
    assert_null(posterior_format_of(".nc"));
    free(a);
}

/* ---- no room
 * ----------------------------------------------------------------------------------------------------
 */

/* In a process that may write no file longer than `limit`: what goes wrong, or NULL. */
static const char *without_room(const char *name, rlim_t limit)
{
    struct rlimit r = {limit, limit};
    struct at *a = at_new(1, 20000, 0);
    struct str t = {0};
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &r)) return "no limit";
    if (at_write(in_dir(name), a, 100, &err) != NAMI_EFILE) return "not NAMI_EFILE";
    if (!strstr(err.msg, "cannot write: File too large")) return err.msg[0] ? strdup(err.msg) : "?";
    if (file_read(in_dir(name), &t, &err) || strcmp(t.s, "old") != 0) return "the old file is gone";
    return files() == 1 ? NULL : "a temporary file is left";
}

static void in_child(const char *what, const char *(*f)(const char *, rlim_t), const char *name,
                     rlim_t limit)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        const char *why = f(name, limit);
        if (why) fprintf(stderr, "%s: %s\n", name, why);
        fflush(NULL);
        _exit(why != NULL);
    }
    assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        fail_msg("%s: %s, status %d", what, name, status);
}

static void no_room(void **state)
{
    (void)state;
    for (int i = 0; posterior_formats[i]; i++) {
        const struct posterior_format *f = posterior_formats[i];
        char name[16];
        if (!can(f)) continue;
        snprintf(name, sizeof name, "old%s", f->ending);
        leave(NULL);
        enter(NULL);
        good(file_write(in_dir(name), "old", 3, &err));
        rlim_t draws = 20000 * AT_NELEM * 8, limit[] = {64, 3000, 50000, draws / 2, draws};
        for (int k = 0; k < 5 && (k == 0 || strcmp(f->name, "json") != 0); k++)
            in_child("no room", without_room, name, limit[k]);
    }
    unlink(in_dir("old.json"));
    struct at *a = at_new(1, 20, 0);
    refused("/dev/full", a, NAMI_EUSAGE, "end it in");
    if (symlink("/dev/full", in_dir("full.csv")) || symlink("/dev/full", in_dir("full.npz")))
        fail();
    refused("full.csv", a, NAMI_EFILE, "cannot write: No space left on device");
    refused("full.npz", a, NAMI_EUSAGE, "cannot be written to a pipe");
    free(a);
}

/* ---- 10^6 draws
 * ----------------------------------------------------------------------------------------------------
 */

enum { MANY = 1000000, MEGABYTES = 12 };

static long peak_kb(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

static const char *much(const char *name, rlim_t limit)
{
    (void)limit;
    struct at *a = at_new(2, MANY / 2, 0), *small = at_new(2, 3000, 0);
    if (at_write(in_dir("small.nc"), small, 3000, &err) && can(posterior_format_of("x.nc")))
        return "small";                                            /* libraries are loaded now */
    if (at_write(in_dir(name), small, 3000, &err)) return "small"; /* and buffers have been */
    long before = peak_kb();
    if (at_write(in_dir(name), a, 3000, &err)) return strdup(err.msg);
    long more = peak_kb() - before;
    return more < MEGABYTES * 1024 ? NULL : "too much memory";
}

/* 136 MB of draws in 12 MB. */
static void streaming(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* it keeps what is freed */
#endif
    for (int i = 0; posterior_formats[i]; i++) {
        char name[16];
        if (!can(posterior_formats[i])) continue;
        snprintf(name, sizeof name, "much%s", posterior_formats[i]->ending);
        in_child("10^6 draws", much, name, 0);
        unlink(in_dir(name));
    }
}

/* ---- every allocation fails --------------------------------------------------------- */

static int write_some(void *ctx)
{
    struct at *a = ctx;
    return at_write(path.s, a, 20, NULL);
}

static void nomem_posterior(void **state)
{
    (void)state;
    leave(NULL);
    enter(NULL);
    for (int i = 0; posterior_formats[i]; i++) {
        const struct posterior_format *f = posterior_formats[i];
        struct at *a = at_new(2, 30, f->parts != 1 << POSTERIOR);
        const char *why;
        char name[16];
        if (!can(f)) continue;
        snprintf(name, sizeof name, "n%s", f->ending);
        in_dir(name);
        long n = nomem_each(write_some, a, &why);
        if (n < 0) fail_msg("%s: %s", f->name, why);
        assert_true(n > 2);
        assert_int_equal(unlink(in_dir(name)), 0);
        assert_int_equal(files(), 0);
        free(a);
    }
}

/* Into the folder $NAMI_POSTERIOR: for tests/test_posterior.py. */
static void to_folder(void **state)
{
    (void)state;
    const char *to = getenv("NAMI_POSTERIOR");
    if (!to) skip();
    for (int i = 0; posterior_formats[i]; i++) {
        const struct posterior_format *f = posterior_formats[i];
        if (!can(f)) continue;
        for (size_t s = 1; s <= 3; s += 2) {
            struct at *a = at_new(s, 203, f->parts != 1 << POSTERIOR);
            path.n = 0;
            str_printf(&path, "%s/%zu%s", to, s, f->ending);
            good(at_write(path.s, a, 37, &err));
            free(a);
        }
    }
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, enter, leave)
static const struct CMUnitTest tests[] = {
    CASE(csv),    CASE(json),    CASE(npz),       CASE(blocks),          CASE(refusals),
    CASE(misuse), CASE(no_room), CASE(streaming), CASE(nomem_posterior), CASE(to_folder),
};

RUN(tests)
