/* test_base.c: the foundations do what their headers say: memory, strings, names, files,
   random numbers, errors. */
#include "run.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/dict.h"
#include "base/err.h"
#include "base/file.h"
#include "base/rng.h"
#include "base/str.h"

/* ---- memory ------------------------------------------------------------------------- */

static void arena(void **state)
{
    (void)state;
    struct arena a = {0};
    unsigned char *part[300];
    for (int i = 0; i < 300; i++) { /* of all sizes, some larger than a block */
        size_t size = (size_t)i * (size_t)i * 3;
        part[i] = arena_alloc(&a, size);
        assert_non_null(part[i]);
        assert_int_equal((uintptr_t)part[i] % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < size; k++) assert_int_equal(part[i][k], 0);
        memset(part[i], i, size);
    }
    for (int i = 0; i < 300; i++)
        for (size_t k = 0; k < (size_t)i * (size_t)i * 3; k++)
            assert_int_equal(part[i][k], i & 255);
    assert_null(arena_alloc(&a, SIZE_MAX));
    assert_null(arena_alloc(&a, SIZE_MAX / 2 + 1));
    assert_null(arena_array(&a, double, SIZE_MAX / 4));
    char *s = arena_strndup(&a, "abc\0def", 5);
    assert_memory_equal(s, "abc\0d", 6);
    arena_free(&a);
    assert_null(a.head);
    arena_free(&a);
}

static void vectors(void **state)
{
    (void)state;
    vec(int) v = {0};
    for (int i = 0; i < 100000; i++) assert_int_equal(vec_push(&v, i), 0);
    assert_int_equal(v.n, 100000);
    for (int i = 0; i < 100000; i++) assert_int_equal(v.a[i], i);
    int *before = v.a;
    assert_int_equal(vec_reserve(&v, SIZE_MAX), -1); /* and it stays as it was */
    assert_int_equal(vec_reserve(&v, SIZE_MAX / 4), -1);
    assert_ptr_equal(v.a, before);
    assert_int_equal(v.n, 100000);
    assert_int_equal(vec_reserve(&v, 7), 0);
    vec_free(&v);
    assert_null(v.a);
    assert_int_equal(v.cap, 0);
    char *none = new_array(char, 0);
    assert_non_null(none); /* NULL always means failure */
    free(none);
    assert_non_null(none = raw_array(char, 0));
    free(none);
    assert_null(raw_array(double, SIZE_MAX / 4));
#ifndef __SANITIZE_ADDRESS__ /* which ends the program there */
    assert_null(new_array(double, SIZE_MAX / 4));
#endif
}

/* ---- text --------------------------------------------------------------------------- */

static void text(void **state)
{
    (void)state;
    struct str s = {0};
    str_put(&s, "");
    assert_string_equal(s.s, "");
    str_put(&s, "a");
    str_putn(&s, "bcd", 2);
    str_printf(&s, "%d%s", 17, "!");
    assert_string_equal(s.s, "abc17!");
    assert_int_equal(s.n, 6);
    str_free(&s);
    assert_null(s.s);
    for (int i = 0; i < 50000; i++) str_printf(&s, "%d,", i % 10);
    assert_int_equal(s.n, 100000);
    assert_int_equal(strlen(s.s), 100000);
    assert_int_equal(s.oom, 0);
    str_putn(&s, "x", SIZE_MAX - s.n - 1); /* more than there is: remembered, nothing changed */
    assert_int_equal(s.oom, 1);
    str_put(&s, "more");
    assert_int_equal(s.n, 100000);
    str_free(&s);
    str_quote(&s, "a\"b\\c\n\x01\xC3\xA4");
    assert_string_equal(s.s, "\"a\\\"b\\\\c\\u000a\\u0001\xC3\xA4\"");
    str_free(&s);
    assert_int_equal(str_width(""), 0);
    assert_int_equal(str_width("abc"), 3);
    assert_int_equal(str_width("\xC3\xA4\xE2\x86\x92z"), 3);
}

/* ---- names -------------------------------------------------------------------------- */

static void names(void **state)
{
    (void)state;
    enum { N = 100000 };
    struct dict d = {0};
    char name[32];
    int fresh;
    assert_int_equal(dict_find(&d, "x", 1), -1);
    for (int i = 0; i < N; i++) {
        int len = snprintf(name, sizeof name, "node[%d]", i);
        assert_int_equal(dict_add(&d, name, (size_t)len, &fresh), i);
        assert_int_equal(fresh, 1);
    }
    for (int i = N; i-- > 0;) {
        int len = snprintf(name, sizeof name, "node[%d]", i);
        assert_int_equal(dict_find(&d, name, (size_t)len), i);
        assert_int_equal(dict_add(&d, name, (size_t)len, &fresh), i);
        assert_int_equal(fresh, 0);
        assert_string_equal(d.name.a[i], name);
        assert_int_equal(d.len.a[i], len);
    }
    assert_int_equal(dict_find(&d, "node[1", 6), -1); /* a prefix is another name */
    assert_int_equal(dict_add(&d, "", 0, NULL), N);
    assert_int_equal(dict_find(&d, "", 0), N);
    /* binary names: zero bytes count, and so does what follows them */
    assert_int_equal(dict_add(&d, "a\0b", 3, NULL), N + 1);
    assert_int_equal(dict_add(&d, "a\0c", 3, NULL), N + 2);
    assert_int_equal(dict_add(&d, "a", 1, NULL), N + 3);
    assert_int_equal(dict_add(&d, "a\0", 2, NULL), N + 4);
    assert_int_equal(dict_add(&d, "\0", 1, NULL), N + 5);
    assert_int_equal(dict_add(&d, "\xFF\xFE\0\0\0\0\0\0\0", 9, NULL), N + 6);
    assert_int_equal(dict_find(&d, "a\0c", 3), N + 2);
    assert_int_equal(dict_find(&d, "\xFF\xFE\0\0\0\0\0\0\0", 9), N + 6);
    assert_int_equal(dict_find(&d, "\xFF\xFE\0\0\0\0\0\0", 8), -1);
    assert_int_equal(d.name.n, N + 7);
    dict_free(&d);
    assert_int_equal(dict_find(&d, "a", 1), -1);
}

/* ---- files -------------------------------------------------------------------------- */

static int entries(const char *folder)
{
    DIR *d = opendir(folder);
    int n = 0;
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

/* Linked with --wrap: who changes the mask of the process? */
static int masks;
mode_t __real_umask(mode_t mask);
mode_t __wrap_umask(mode_t mask);
mode_t __wrap_umask(mode_t mask)
{
    masks++;
    return __real_umask(mask);
}

static void files(void **state)
{
    (void)state;
    char dir[] = "/tmp/nami_test_XXXXXX", path[64], sub[64];
    struct str s = {0};
    struct stat st;
    nami_err err;
    char *big = malloc(300000);
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/a", dir);
    for (int i = 0; i < 300000; i++) big[i] = (char)(i * 7);
    for (int k = 0; k < 3; k++) { /* new, over the old one, empty */
        size_t n = k == 0 ? 300000 : k == 1 ? 5 : 0;
        assert_int_equal(file_write(path, big, n, &err), 0);
        assert_int_equal(entries(dir), 1); /* no temporary file is left */
        assert_int_equal(file_read(path, &s, &err), 0);
        assert_int_equal(s.n, n);
        assert_non_null(s.s);
        assert_memory_equal(s.s, big, n);
        assert_int_equal(s.s[n], 0);
        str_free(&s);
    }
    mode_t mask = umask(027);
    unlink(path);
    assert_int_equal(file_write(path, "x", 1, &err), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640); /* as open() would have made it */
    umask(mask);
    assert_int_equal(masks, 2); /* no other call than these two: threads share the mask */
    static const mode_t modes[] = {0600, 0666, 0444, 0755};
    for (int k = 0; k < 4; k++) { /* a file that is replaced keeps its mode */
        assert_int_equal(chmod(path, modes[k]), 0);
        assert_int_equal(file_write(path, "x", 1, &err), 0);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 0777, modes[k]);
    }
    str_put(&s, "before ");
    assert_int_equal(file_read(path, &s, &err), 0); /* appends */
    assert_string_equal(s.s, "before x");

    snprintf(sub, sizeof sub, "%s/none/b", dir);
    assert_int_equal(file_write(sub, "x", 1, &err), NAMI_EFILE);
    assert_int_equal(err.code, NAMI_EFILE);
    assert_non_null(strstr(err.msg, "No such file"));
    assert_int_equal(file_read(sub, &s, &err), NAMI_EFILE);
    assert_non_null(strstr(err.msg, "No such file"));
    assert_int_equal(file_read(dir, &s, &err), NAMI_EFILE);
    assert_non_null(strstr(err.msg, "directory"));
    assert_int_equal(file_write(dir, "x", 1, &err), NAMI_EFILE);
    assert_non_null(strstr(err.msg, "directory"));
    assert_int_equal(file_write(dir, "x", 1, NULL), NAMI_EFILE);
    assert_int_equal(file_write("/dev/null", "x", 1, &err), 0);
    assert_int_equal(file_check(dir, &err), NAMI_EFILE);
    assert_int_equal(file_check(sub, &err), NAMI_EFILE);
    assert_int_equal(file_check("/dev/null", &err), 0);
    assert_int_equal(file_check(path, &err), 0);
    assert_int_equal(entries(dir), 1);
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(file_write("/dev/full", big, 300000, &err), NAMI_EFILE);
        assert_int_equal(file_write("/dev/full", "x", 1, &err), NAMI_EFILE);
    }
    assert_int_equal(entries(dir), 1);
    str_free(&s);
    unlink(path);
    rmdir(dir);
    free(big);
}

/* What is asked of the disk: f(ile), d(irectory), r(ename).  Linked with --wrap. */
static struct {
    char calls[8];
    int n, fail; /* fail: the number of the fsync that fails, from 1 */
} disk;

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);

static void called(char what)
{
    if (disk.n < 7) disk.calls[disk.n++] = what;
}

int __wrap_fsync(int fd)
{
    struct stat st;
    called(fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) ? 'd' : 'f');
    if (disk.fail && --disk.fail == 0) {
        errno = EIO;
        return -1;
    }
    return __real_fsync(fd);
}

int __wrap_rename(const char *from, const char *to)
{
    called('r');
    return __real_rename(from, to);
}

/* The numbers are on the disk before they get the name, the name before it returns. */
static void durable(void **state)
{
    (void)state;
    char dir[] = "/tmp/nami_test_XXXXXX", path[64], here[4096];
    struct str s = {0};
    nami_err err;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/a", dir);
    memset(&disk, 0, sizeof disk);
    assert_int_equal(file_write(path, "old", 3, &err), 0);
    assert_string_equal(disk.calls, "r");
    memset(&disk, 0, sizeof disk);
    disk.fail = 1; /* the old file stays */
    assert_int_equal(file_save(path, "new", 3, &err), NAMI_EFILE);
    assert_non_null(strstr(err.msg, "Input/output"));
    assert_string_equal(disk.calls, "f");
    assert_int_equal(entries(dir), 1);
    assert_int_equal(file_read(path, &s, &err), 0);
    assert_string_equal(s.s, "old");
    memset(&disk, 0, sizeof disk);
    disk.fail = 2; /* the new file is there */
    assert_int_equal(file_save(path, "bad", 3, &err), NAMI_EFILE);
    assert_non_null(strstr(err.msg, "power"));
    assert_string_equal(disk.calls, "frd");
    memset(&disk, 0, sizeof disk);
    assert_int_equal(file_save(path, "new", 3, &err), 0);
    assert_string_equal(disk.calls, "frd");
    str_free(&s);
    assert_int_equal(file_read(path, &s, &err), 0);
    assert_string_equal(s.s, "new");
    assert_int_equal(entries(dir), 1);
    unlink(path);
    /* a name without a directory */
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(dir), 0);
    memset(&disk, 0, sizeof disk);
    assert_int_equal(file_save("b", "x", 1, &err), 0);
    assert_string_equal(disk.calls, "frd");
    assert_int_equal(unlink("b"), 0);
    assert_int_equal(chdir(here), 0);
    assert_int_equal(file_save("/dev/null", "x", 1, &err), 0);
    str_free(&s);
    rmdir(dir);
}

/* ---- random numbers ----------------------------------------------------------------- */

/* Known answers of Random123 (kat_vectors, philox4x32 with 10 rounds). */
static void philox(void **state)
{
    (void)state;
    static const struct {
        uint32_t ctr[4], key[2], out[4];
    } kat[] = {
        {{0}, {0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (int i = 0; i < 3; i++) {
        struct rng r;
        rng_init(&r, kat[i].key[0] | (uint64_t)kat[i].key[1] << 32,
                 kat[i].ctr[2] | (uint64_t)kat[i].ctr[3] << 32);
        memcpy(r.ctr, kat[i].ctr, sizeof r.ctr);
        for (int k = 4; k-- > 0;) assert_int_equal(rng_u32(&r), kat[i].out[k]);
    }
    /* a stream starts at counter 0 and steps by one, with a carry */
    struct rng a, b;
    rng_init(&a, 42, 7);
    rng_init(&b, 42, 7);
    assert_memory_equal(a.ctr, ((uint32_t[]){0, 0, 7, 0}), sizeof a.ctr);
    assert_memory_equal(a.key, ((uint32_t[]){42, 0}), sizeof a.key);
    for (int i = 0; i < 10; i++) assert_int_equal(rng_u32(&a), rng_u32(&b));
    assert_int_equal(a.ctr[0], 3);
    a.ctr[0] = UINT32_MAX;
    a.left = 0;
    rng_u32(&a);
    assert_memory_equal(a.ctr, ((uint32_t[]){0, 1, 7, 0}), sizeof a.ctr);
    rng_init(&b, 42, 8);
    rng_init(&a, 42, 7);
    assert_int_not_equal(rng_u32(&a), rng_u32(&b));
}

/* Chi-square with n - 1 degrees of freedom against its quantile at 1 - 1e-7, by
   Wilson and Hilferty (z = 5.2).  Six tests: a right generator fails one of them
   with probability below 1e-6; with this seed it always or never does. */
static void assert_uniform(const int *count, int n, double each)
{
    double x = 0, df = n - 1, c = 2 / (9 * df), q = 1 - c + 5.2 * __builtin_sqrt(c);
    for (int i = 0; i < n; i++) x += (count[i] - each) * (count[i] - each) / each;
    assert_true(x < df * q * q * q);
}

static void uniform(void **state)
{
    (void)state;
    static const uint32_t sides[] = {2, 3, 10, 1000};
    static int count[1000];
    struct rng r;
    rng_init(&r, 12345, 0);
    for (int k = 0; k < 4; k++) {
        uint32_t n = sides[k];
        memset(count, 0, sizeof count);
        for (uint32_t i = 0; i < 1000 * n; i++) count[rng_below(&r, n)]++;
        assert_uniform(count, (int)n, 1000);
    }
    for (int i = 0; i < 1000; i++) assert_int_equal(rng_below(&r, 1), 0);
    /* a range where a plain remainder would be biased: two thirds of 2^32 */
    memset(count, 0, sizeof count);
    for (int i = 0; i < 30000; i++) count[rng_below(&r, 0xC0000000u) >> 30]++;
    assert_uniform(count, 3, 10000);
    memset(count, 0, sizeof count);
    double sum = 0;
    for (int i = 0; i < 100000; i++) {
        double u = rng_unit(&r);
        assert_true(u >= 0 && u < 1);
        sum += u;
        count[(int)(u * 100)]++;
    }
    assert_uniform(count, 100, 1000);
    assert_true(sum > 49000 && sum < 51000); /* eleven standard errors */
    int a[50], seen[50] = {0}, moved = 0;
    for (int i = 0; i < 50; i++) a[i] = i;
    rng_shuffle(&r, a, 50);
    for (int i = 0; i < 50; i++) seen[a[i]]++, moved += a[i] != i;
    for (int i = 0; i < 50; i++) assert_int_equal(seen[i], 1);
    assert_true(moved > 30);
    rng_shuffle(&r, a, 0);
    rng_shuffle(&r, a, 1);
}

/* ---- errors ------------------------------------------------------------------------- */

static void errors(void **state)
{
    (void)state;
    nami_err e;
    char longest[2000];
    assert_int_equal(err_at(&e, NAMI_EINPUT, 3, 14, "no node '%s'", "x"), NAMI_EINPUT);
    assert_int_equal(e.code, NAMI_EINPUT);
    assert_int_equal(e.line, 3);
    assert_int_equal(e.col, 14);
    assert_string_equal(e.msg, "no node 'x'");
    assert_int_equal(err_set(&e, NAMI_EUSAGE, "why"), NAMI_EUSAGE);
    assert_int_equal(e.line, 0);
    assert_int_equal(err_nomem(&e), NAMI_ENOMEM);
    assert_int_equal(e.code, NAMI_ENOMEM);
    memset(longest, 'y', sizeof longest);
    for (int len = 509; len <= 513; len++) {
        err_set(&e, NAMI_EINPUT, "%.*s", len, longest);
        assert_int_equal(strlen(e.msg), len < 512 ? len : 511);
        assert_int_equal(strcmp(e.msg + strlen(e.msg) - 3, "...") == 0, len >= 512);
    }
    err_set(&e, NAMI_EINPUT, "a\nb\tc\x7F\x1B[1m\xC3\xA4");
    assert_string_equal(e.msg, "a?b?c??[1m\xC3\xA4");
    assert_int_equal(err_at(NULL, NAMI_EFILE, 1, 1, "nobody asks"), NAMI_EFILE);
    err_clear(&e);
    assert_int_equal(e.code, 0);
    assert_string_equal(e.msg, "");
    err_clear(NULL);
    assert_string_equal(nami_strerror(NAMI_ENOMEM), "out of memory");
    assert_string_equal(nami_strerror(0), nami_strerror(12345));
    assert_string_equal(nami_version(), NAMI_VERSION);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(arena),   cmocka_unit_test(vectors), cmocka_unit_test(text),
    cmocka_unit_test(names),   cmocka_unit_test(files),   cmocka_unit_test(philox),
    cmocka_unit_test(uniform), cmocka_unit_test(errors),  cmocka_unit_test(durable),
};

RUN(tests)
