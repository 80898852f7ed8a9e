/* Every allocation fails once: an error comes back, and nothing is left behind. */

#include "run.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "io/format.h"
#include "malloc_fail.h"

struct job {
    const char *format;
    struct str text;
    int rc; /* the last error */
};

static int read_and_write(void *ctx)
{
    struct job *j = ctx;
    struct str out = {0};
    nami_bn *bn;
    nami_err err;
    const struct format *f = format_by_name(j->format);
    int rc = nami_bn_parse(j->text.s, j->text.n, j->format, &bn, &err);
    if (!rc && f->write) {
        rc = f->write(bn, &out, &err);
        if (!rc && out.oom) rc = NAMI_ENOMEM;
    }
    bn_free(bn);
    str_free(&out);
    return j->rc = rc;
}

/* The seeds of the fuzzer that can be read and written. */
static void test_formats(void **state)
{
    (void)state;
    for (int i = 0; formats[i]; i++) {
        char pattern[512];
        glob_t g;
        long fails = 0;
        snprintf(pattern, sizeof pattern, "%s/fuzz/corpus/%s/*", SOURCE_DIR, formats[i]->name);
        if (glob(pattern, 0, NULL, &g)) fail_msg("no samples in %s", pattern);
        for (size_t k = 0; k < g.gl_pathc; k++) {
            struct job j = {.format = formats[i]->name};
            const char *why;
            nami_err err;
            if (file_read(g.gl_pathv[k], &j.text, &err)) fail_msg("%s: %s", g.gl_pathv[k], err.msg);
            if (read_and_write(&j) == 0) {
                long n = nomem_each(read_and_write, &j, &why);
                if (n < 0) fail_msg("%s: %s (last code %d)", g.gl_pathv[k], why, j.rc);
                fails += n;
            }
            str_free(&j.text);
        }
        globfree(&g);
        print_message("%s: %ld allocations failed\n", formats[i]->name, fails);
        assert_true(fails > 0);
    }
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_formats)};

RUN(tests)
