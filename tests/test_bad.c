/* test_bad.c: the messages about broken programs, tests/models/bad/NAME.nami or NAME.bug, are
   NAME.txt to the letter.  NAMI_BLESS=1 writes the .txt files anew; read them. */

#include "run.h"

#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "model/model.h"

/* sem_NAME: the whole way to a model, with the data of sem_NAME.json if there are any. */
static void check_model(const char *path, const char *name, const struct str *text, struct str *out,
                        int *nerror)
{
    struct model m = {0};
    enum dialect dialect = strstr(name, ".bug") ? BUGS : NATIVE;
    nami_err err = {0};
    struct str data = {0};
    str_putn(&data, path, (size_t)(strrchr(path, '.') - path));
    str_put(&data, ".json");
    if (access(data.s, R_OK) == 0 && data_read(&m.source.data, data.s, &err))
        fail_msg("%s: %s", data.s, err.msg);
    int rc = model_parse(&m, name, text->s, text->n, dialect, NULL, &err);
    diags_print(&m.source.diags, name, text->s, text->n, out);
    *nerror = m.source.diags.nerror;
    if (rc && (rc != NAMI_EINPUT || !err.msg[0])) fail_msg("%s: code %d, '%s'", name, rc, err.msg);
    if (rc && !m.source.diags.nerror) fail_msg("%s: %s", name, err.msg);
    model_fini(&m);
    str_free(&data);
}

/* All that is wrong with a program: *nerror, and the messages. */
static void check(const char *path, const char *name, const struct str *text, struct str *out,
                  int *nerror)
{
    if (strncmp(name, "sem_", 4) == 0) {
        check_model(path, name, text, out, nerror);
        return;
    }
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

static int compare(const char *path)
{
    int ok = 1;
    struct str text = {0}, want = {0}, got = {0}, golden = {0};
    const char *name = strrchr(path, '/') + 1;
    nami_err err;
    int nerror;
    read_whole(path, &text);
    str_put(&got, "");
    check(path, name, &text, &got, &nerror);
    assert_false(got.oom);
    str_putn(&golden, path, (size_t)(strrchr(path, '.') - path));
    str_put(&golden, ".txt");
    if (getenv("NAMI_BLESS")) {
        if (file_write(golden.s, got.s, got.n, &err)) fail_msg("%s: %s", golden.s, err.msg);
    } else {
        read_whole(golden.s, &want);
        ok = strcmp(got.s, want.s) == 0;
        if (!ok) print_error("%s: expected\n%s\nbut got\n%s\n", name, want.s, got.s);
    }
    if (!nerror && !strstr(got.s, "warning")) {
        print_error("%s: nothing is wrong\n", name);
        ok = 0;
    }
    str_free(&text);
    str_free(&want);
    str_free(&got);
    str_free(&golden);
    return ok;
}

static size_t compare_all(const char *pattern, size_t *bad)
{
    glob_t g;
    char path[512];
    snprintf(path, sizeof path, "%s/tests/models/bad/%s", SOURCE_DIR, pattern);
    if (glob(path, 0, NULL, &g)) fail_msg("no files %s", path);
    size_t n = g.gl_pathc;
    for (size_t i = 0; i < n; i++) *bad += !compare(g.gl_pathv[i]);
    globfree(&g);
    return n;
}

static void test_messages(void **state)
{
    (void)state;
    size_t bad = 0, n = compare_all("*.nami", &bad) + compare_all("*.bug", &bad);
    print_message("%zu broken programs\n", n);
    assert_int_equal(bad, 0);
    assert_true(n >= 150);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_messages),
};

RUN(tests)
