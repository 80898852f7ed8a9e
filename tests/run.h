/* run.h: `./test_x` runs all cases, `./test_x NAME` (with * as in a shell) some. */
#ifndef TESTS_RUN_H
#define TESTS_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static inline int run_filtered(const struct CMUnitTest *t, size_t n, int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return _cmocka_run_group_tests("tests", t, n, NULL, NULL);
}

#define RUN(tests)                                                       \
    int main(int argc, char **argv)                                      \
    {                                                                    \
        return run_filtered(tests, sizeof tests / sizeof *tests, argc, argv); \
    }

#endif
