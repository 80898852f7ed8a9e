/* test_bif.c: real networks from files are read, inverted with their sinks observed in both
   modes, and the inverses certified. */
#include "run.h"

#include <glob.h>
#include <stdlib.h>

#include "nami.h"

#define FOLDER SOURCE_DIR "/../shared/data/bif"

static int64_t check(const nami_bn *bn, const char *name, const char *mode)
{
    nami_options o = {.mode = mode, .verify = "full"};
    nami_inverse *h;
    nami_err err;
    const int *order;
    int64_t sum = 0;
    if (nami_invert(bn, &o, &h, &err)) fail_msg("%s %s: %s", name, mode, err.msg);
    if (nami_inverse_faithful(h) != 1 || nami_inverse_minimal(h) != 1 ||
        nami_inverse_natural(h) != 1)
        fail_msg("%s %s: the certificate is not all true", name, mode);
    int k = nami_inverse_order(h, &order);
    for (int i = 0; i < k; i++) sum += nami_inverse_parents(h, order[i], NULL, 0);
    assert_int_equal(sum, nami_inverse_edges(h));
    for (int v = 0; v < nami_bn_size(bn); v++) /* with sinks observed nothing is barren */
        assert_int_equal(nami_inverse_is_model(h, v), nami_bn_observed(bn, v) ? -1 : 0);
    nami_inverse_free(h);
    return sum;
}

static void check_both(nami_bn *bn, const char *name)
{
    nami_err err;
    if (nami_bn_observe(bn, "sinks", &err)) fail_msg("%s: %s", name, err.msg);
    int64_t forward = check(bn, name, "forward"), reverse = check(bn, name, "reverse");
    int64_t best = check(bn, name, "best");
    assert_int_equal(best, forward < reverse ? forward : reverse);
    if (strstr(name, "pigs.")) assert_int_equal(forward, 9647);
    if (strstr(name, "asia.")) assert_int_equal(nami_bn_size(bn), 8);
    print_message("%-20s %4d nodes %7lld edges forward %7lld reverse\n",
                  strrchr(name, '/') ? strrchr(name, '/') + 1 : name, nami_bn_size(bn),
                  (long long)forward, (long long)reverse);
    nami_bn_free(bn);
}

static void networks(void **state)
{
    (void)state;
    glob_t g;
    nami_bn *bn;
    nami_err err;
    if (glob(FOLDER "/*", 0, NULL, &g)) {
        print_message("%s is not there: skipped\n", FOLDER);
        skip();
    }
    for (size_t i = 0; i < g.gl_pathc; i++) {
        const char *path = g.gl_pathv[i], *format = strstr(path, "modelstring") ? "bnlearn" : NULL;
        if (nami_bn_read(path, format, &bn, &err))
            fail_msg("%s:%d:%d: %s", path, err.line, err.col, err.msg);
        check_both(bn, path);
    }
    globfree(&g);
}

/* One that is always there. */
static void small_network(void **state)
{
    (void)state;
    static const char text[] =
        "network sprinkler {}\n"
        "variable cloudy { type discrete [2] { yes, no }; }\n"
        "variable sprinkler { type discrete [2] { on, off }; }\n"
        "variable rain { type discrete [2] { yes, no }; }\n"
        "variable grass { type discrete [2] { wet, dry }; }\n"
        "probability (cloudy) { table 0.5, 0.5; }\n"
        "probability (sprinkler | cloudy) { (yes) 0.1, 0.9; (no) 0.5, 0.5; }\n"
        "probability (rain | cloudy) { (yes) 0.8, 0.2; (no) 0.2, 0.8; }\n"
        "probability (grass | sprinkler, rain) { (on, yes) 0.99, 0.01; (off, yes) 0.9, 0.1;\n"
        "  (on, no) 0.9, 0.1; (off, no) 0, 1; }\n";
    nami_bn *bn;
    nami_err err;
    if (nami_bn_parse(text, sizeof text - 1, "bif", &bn, &err)) fail_msg("%s", err.msg);
    check_both(bn, "sprinkler");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(small_network),
    cmocka_unit_test(networks),
};

RUN(tests)
