/* run.h: main for a test program; `test_x NAME` runs the cases that match. */
#ifndef TESTS_RUN_H
#define TESTS_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef run_tests /* an old macro of cmocka */

static inline int run_tests(const struct CMUnitTest *t, size_t n, int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return _cmocka_run_group_tests("tests", t, n, NULL, NULL);
}

#define RUN(tests)                                                           \
    int main(int argc, char **argv)                                          \
    {                                                                        \
        return run_tests(tests, sizeof tests / sizeof *tests, argc, argv);   \
    }

#endif
