/* run.h: main() for a test program: `./test_x` runs all cases, `./test_x NAME`
   (with * and ? as in a shell) some; a name that fits none is an error. */
#ifndef TESTS_RUN_H
#define TESTS_RUN_H

#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static inline int run_cases(const struct CMUnitTest *t, size_t n, int argc, char **argv)
{
    size_t found = 0;
    for (size_t i = 0; i < n && argc > 1; i++) found += fnmatch(argv[1], t[i].name, 0) == 0;
    if (argc > 1 && !found) {
        fprintf(stderr, "no case is called '%s'\n", argv[1]);
        return 2;
    }
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return _cmocka_run_group_tests("tests", t, n, NULL, NULL);
}

#define RUN(tests)                                                                                 \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        return run_cases(tests, sizeof tests / sizeof *tests, argc, argv);                         \
    }

#endif
