/* Broken programs, tests/models/bad/NAME.nami or NAME.bug: what is said about them
   is NAME.txt, to the letter.  NAMI_BLESS=1 writes the .txt files anew; read them. */

#include "run.h"

#include <glob.h>
#include <stdlib.h>

#include "base/file.h"
#include "model/lang/syntax.h"

/* All that is wrong with a program: *nerror, and the messages. */
static void check(const char *name, const struct str *text, struct str *out, int *nerror)
{
    struct syntax s;
    struct diags d = {0};
    enum dialect dialect = strstr(name, ".bug") ? BUGS : NATIVE;
    assert_int_equal(syntax_parse(&s, text->s, text->n, dialect, &d), 0);
    diags_print(&d, name, text->s, text->n, out);
    *nerror = d.nerror;
    syntax_free(&s);
    diags_free(&d);
}

static void read_whole(const char *path, struct str *text)
{
    nami_err err;
    str_put(text, ""); /* an empty file is a text too */
    if (file_read(path, text, &err)) fail_msg("%s: %s", path, err.msg);
}

static void compare(const char *path)
{
    struct str text = {0}, want = {0}, got = {0}, golden = {0};
    const char *name = strrchr(path, '/') + 1;
    nami_err err;
    int nerror;
    read_whole(path, &text);
    str_put(&got, "");
    check(name, &text, &got, &nerror);
    assert_false(got.oom);
    str_putn(&golden, path, (size_t)(strrchr(path, '.') - path));
    str_put(&golden, ".txt");
    if (getenv("NAMI_BLESS")) {
        if (file_write(golden.s, got.s, got.n, &err)) fail_msg("%s: %s", golden.s, err.msg);
    } else {
        read_whole(golden.s, &want);
        if (strcmp(got.s, want.s) != 0)
            fail_msg("%s: expected\n%s\nbut got\n%s", name, want.s, got.s);
    }
    if (!nerror && !strstr(got.s, "warning")) fail_msg("%s: nothing is wrong", name);
    str_free(&text);
    str_free(&want);
    str_free(&got);
    str_free(&golden);
}

static size_t compare_all(const char *pattern)
{
    glob_t g;
    char path[512];
    snprintf(path, sizeof path, "%s/tests/models/bad/%s", SOURCE_DIR, pattern);
    if (glob(path, 0, NULL, &g)) fail_msg("no files %s", path);
    for (size_t i = 0; i < g.gl_pathc; i++) compare(g.gl_pathv[i]);
    size_t n = g.gl_pathc;
    globfree(&g);
    return n;
}

static void test_messages(void **state)
{
    (void)state;
    size_t n = compare_all("*.nami") + compare_all("*.bug");
    print_message("%zu broken programs\n", n);
    assert_true(n >= 45);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_messages),
};

RUN(tests)
