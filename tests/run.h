/* run.h: `test_x` runs every case of a cmocka group, `test_x NAME` one (or those
   that match a pattern with * and ?). */
#ifndef TESTS_RUN_H
#define TESTS_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static inline int is_case(const struct CMUnitTest *tests, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(tests[i].name, name) == 0) return 1;
    return strpbrk(name, "*?") != NULL;
}

/* In main: `return RUN(tests, argc, argv);` */
#define RUN(tests, argc, argv)                                                             \
    ((argc) > 1 && !is_case(tests, sizeof(tests) / sizeof *(tests), (argv)[1])             \
         ? (fprintf(stderr, "no case is called '%s'\n", (argv)[1]), 2)                     \
         : (cmocka_set_test_filter((argc) > 1 ? (argv)[1] : NULL),                         \
            cmocka_run_group_tests(tests, NULL, NULL)))

#endif
