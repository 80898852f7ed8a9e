/* test_num.c: numbers as text are exact, and as short as printf can make them. */
#include "run.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/rng.h"

static void slowly(char *buf, double x)
{
    for (int p = 15; p <= 17; p++) {
        snprintf(buf, NUM_MAX, "%.*g", p, x);
        if (strtod(buf, NULL) == x) return;
    }
}

static double any_number(struct rng *r, int kind)
{
    double x, ten = pow(10, (int)rng_below(r, 40) - 20);
    uint64_t bits = (uint64_t)rng_u32(r) << 32 | rng_u32(r);
    switch (kind) {
    case 0: memcpy(&x, &bits, sizeof x); return isfinite(x) ? x : 0;
    case 1: return rng_unit(r) - 0.5;
    case 2: return rng_unit(r) * ten;
    case 3: return ldexp(1, (int)rng_below(r, 120) - 60);
    case 4: return nextafter(ten, rng_u32(r) % 2 ? DBL_MAX : 0);
    case 5: return ten * (1 + rng_below(r, 9));
    case 6: return rng_below(r, 1000000) / 1000.0;
    default: return (double)rng_below(r, 1000000) - 500000;
    }
}

static void numbers(void **state)
{
    (void)state;
    static const double some[] = {0,
                                  -0.0,
                                  1,
                                  -1,
                                  0.1,
                                  1e15,
                                  1e-11,
                                  999999999999999.9,
                                  1e22,
                                  1e23,
                                  DBL_MAX,
                                  DBL_MIN,
                                  5e-324,
                                  123456789012345678.0,
                                  1e-5,
                                  1e-4,
                                  0.30000000000000004,
                                  9.5367431640625e-07};
    char fast[NUM_MAX], slow[NUM_MAX];
    struct rng r;
    rng_init(&r, 7, 0);
    for (int i = 0; i < 400000; i++) {
        size_t k = (size_t)i, nsome = sizeof some / sizeof *some;
        double x = k < nsome ? some[k] : any_number(&r, i % 8);
        int n = num_print(fast, x);
        slowly(slow, x);
        if (strcmp(fast, slow) != 0) fail_msg("%s instead of %s", fast, slow);
        assert_int_equal(n, strlen(fast));
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(numbers),
};

RUN(tests)
