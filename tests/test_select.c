/* test_select.c: lists of names as users write them, and what they set. */
#include "run.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "model/bn.h"

static nami_bn *parse(const char *format, const char *text)
{
    nami_err err;
    nami_bn *bn;
    if (nami_bn_parse(text, strlen(text), format, &bn, &err)) fail_msg("%s", err.msg);
    return bn;
}

static int observed(const nami_bn *bn, const char *name)
{
    return nami_bn_observed(bn, nami_bn_find(bn, name));
}

/* Names of the nodes that `what` selects, by number. */
static const char *chosen(const nami_bn *bn, const char *what)
{
    static char out[1024];
    int mark[64] = {0};
    nami_err err = {0};
    out[0] = 0;
    if (bn_select(bn, what, mark, 1, &err)) {
        snprintf(out, sizeof out, "! %s", err.msg);
        return out;
    }
    for (int v = 0; v < nami_bn_size(bn); v++)
        if (mark[v])
            snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s", *out ? " " : "",
                     nami_bn_name(bn, v));
    return out;
}

#define assert_piece(s, piece)                                                                     \
    if (!strstr(s, piece)) fail_msg("'%s' lacks '%s'", s, piece)

static void selection(void **state)
{
    (void)state;
    nami_bn *bn =
        parse("json", "{\"nodes\": [\"H\", \"x[1]\", \"x[2]\", \"x[3]\", \"m[1,1]\","
                      "\"m[1, 2]\", \"m[2,1]\", \"a,b\", \"q\\\"q\", \"s\", \"s[1]\", \"@f\","
                      "\"a;b\", \"long_name\"], \"edges\": [[\"H\", \"s\"], [\"H\", \"x[1]\"]]}");
    assert_string_equal(chosen(bn, "H"), "H");
    assert_string_equal(chosen(bn, " H , x[2] "), "H x[2]");
    assert_string_equal(chosen(bn, "x[1:2]"), "x[1] x[2]");
    assert_string_equal(chosen(bn, "x"), "x[1] x[2] x[3]");
    assert_string_equal(chosen(bn, "m[1,1:2],H"), "H m[1,1] m[1, 2]");
    assert_string_equal(chosen(bn, "m[1,2]"), "m[1, 2]");
    assert_string_equal(chosen(bn, "m[1:2, 1]"), "m[1,1] m[2,1]");
    assert_string_equal(chosen(bn, "m"), "m[1,1] m[1, 2] m[2,1]");
    assert_string_equal(chosen(bn, "s"), "s");
    assert_string_equal(chosen(bn, "a,b"), "a,b");
    assert_string_equal(chosen(bn, "\"a,b\",H"), "H a,b");
    assert_string_equal(chosen(bn, "\"q\\\"q\""), "q\"q");
    assert_string_equal(chosen(bn, "@f"), "@f");
    assert_string_equal(chosen(bn, "\"a;b\""), "a;b");
    assert_string_equal(chosen(bn, "none"), "");
    assert_piece(chosen(bn, "sinks"), "x[1] x[2]");
    assert_piece(chosen(bn, "Hh"), "! no node is called 'Hh'; did you mean 'H'?");
    assert_piece(chosen(bn, "long_mane"), "did you mean 'long_name'?");
    assert_piece(chosen(bn, "zzzzzz"), "! no node is called 'zzzzzz'; see");
    assert_piece(chosen(bn, ""), "empty name");
    assert_piece(chosen(bn, "H,,x"), "empty name");
    assert_piece(chosen(bn, "H;x"), "semicolon");
    assert_piece(chosen(bn, "\"H"), "quote");
    assert_piece(chosen(bn, "\"H\"x"), "no node");
    assert_piece(chosen(bn, "x[1:1000000000000]"), "only 3 of them");
    assert_piece(chosen(bn, "x[1:999999999999999999999]"), "no node");
    assert_piece(chosen(bn, "x[3:1]"), "smaller number first");
    assert_piece(chosen(bn, "x[7]"), "did you mean");
    assert_piece(chosen(bn, "x[1"), "no node");
    assert_piece(chosen(bn, "@/nonexistent/file"), "cannot open");

    char path[] = "/tmp/nami_test_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    char what[64];
    snprintf(what, sizeof what, "s,@%s", path);
    static const char names[] = "# comment\r\n\r\n H \nx[1:2]\n\"a,b\"\na;b";
    assert_int_equal(file_write(path, names, sizeof names - 1, NULL), 0);
    assert_string_equal(chosen(bn, what), "H x[1] x[2] a,b s a;b");
    assert_int_equal(file_write(path, "H\nlong_nam\n", 11, NULL), 0);
    assert_piece(chosen(bn, what), "line 2 of");
    assert_int_equal(file_write(path, "H\0x", 3, NULL), 0);
    assert_piece(chosen(bn, what), "zero byte");
    unlink(path);
    nami_bn_free(bn);

    bn =
        parse("json", "{\"nodes\": [\"sinks\", \"none\", \"c\"], \"edges\": [[\"sinks\", \"c\"]]}");
    assert_string_equal(chosen(bn, "sinks"), "sinks");
    assert_string_equal(chosen(bn, "none"), "none");
    nami_bn_free(bn);
}

static void observe_infer_stages(void **state)
{
    (void)state;
    nami_err err;
    nami_bn *bn = parse("edges", "# observed: d\na b\nb c\nc d\n");
    assert_int_equal(nami_bn_observe(bn, "c,d", &err), 0);
    assert_int_equal(nami_bn_observe(bn, "nope", &err), NAMI_EINPUT);
    assert_true(observed(bn, "c") && observed(bn, "d")); /* as it was */
    assert_int_equal(nami_bn_observe(bn, "sinks", &err), 0);
    assert_true(!observed(bn, "c") && observed(bn, "d"));

    assert_int_equal(nami_bn_infer(bn, "a,d", &err), NAMI_EINPUT);
    assert_piece(err.msg, "'d' is observed");
    assert_int_equal(nami_bn_infer(bn, "a", &err), 0);
    assert_true(!bn->node.a[0].nuisance && bn->node.a[1].nuisance && !bn->node.a[3].nuisance);

    assert_int_equal(nami_bn_stages(bn, "b;a", &err), 0);
    assert_int_equal(bn->node.a[1].stage, 0);
    assert_int_equal(bn->node.a[0].stage, 1);
    assert_int_equal(bn->node.a[2].stage, 2);
    assert_int_equal(nami_bn_stages(bn, "b,a;a", &err), NAMI_EINPUT);
    assert_piece(err.msg, "two stages");
    assert_int_equal(nami_bn_stages(bn, "b;d", &err), NAMI_EINPUT);
    assert_int_equal(nami_bn_stages(bn, "b;", &err), NAMI_EINPUT);
    assert_int_equal(nami_bn_stages(bn, "", NULL), NAMI_EINPUT);
    assert_int_equal(bn->node.a[2].stage, 2); /* as it was */

    assert_null(nami_bn_name(bn, 4));
    assert_int_equal(nami_bn_find(bn, "z"), -1);
    assert_int_equal(nami_bn_parents(bn, -1, NULL), NAMI_EUSAGE);
    assert_int_equal(nami_bn_observed(bn, -1), 0);
    nami_bn_free(bn);
    nami_bn_free(NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(selection),
    cmocka_unit_test(observe_infer_stages),
};

RUN(tests)
