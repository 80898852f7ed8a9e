/* test_numerics.c: densities, distribution functions and special functions at points of their whole
   range, tails and limits included, against numerics_reference.inc, which verify/numerics.py writes
   with mpmath (50 digits). */
#include "numbers.h"
#include "run.h"

static const struct {
    const char *who, *what;
    double a[NUMBER_ARGS], value;
} rows[] = {
#include "numerics_reference.inc"
};

/* By how much the value changes if the i-th argument changes by one part in 2^40, in units of that
 */
static double moves(size_t row, int i)
{
    double a[NUMBER_ARGS];
    int known;
    memcpy(a, rows[row].a, sizeof a);
    a[i] *= 1 + 0x1p-40;
    return fabs(number(rows[row].who, rows[row].what, a, &known) - rows[row].value) * 0x1p40;
}

/* Behind the numbers of elements, which do not move. */
static int first(size_t row)
{
    const struct dist *d = dist_find(rows[row].who, strlen(rows[row].who));
    return strcmp(rows[row].what, "at") == 0 && d ? 1 + d->narg : 0;
}

/* Within 500 units in the last place of the value, or of what its arguments are known to. */
static void references(void **state)
{
    (void)state;
    int bad = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int known, is_log = strcmp(rows[i].what, "lp") == 0 || strcmp(rows[i].what, "at") == 0 ||
                            strcmp(rows[i].who, "-") == 0 || strcmp(rows[i].who, "function") == 0;
        double v = number(rows[i].who, rows[i].what, rows[i].a, &known), ref = rows[i].value;
        double room = is_log ? fmax(1, fabs(ref)) : fabs(ref);
        for (int k = first(i); k < NUMBER_ARGS; k++) {
            double m = rows[i].a[k] ? moves(i, k) : 0;
            if (m <= 1e9 * fmax(1, fabs(ref))) room += m;
        }
        if (known && fabs(v - ref) <= 500 * DBL_EPSILON * room) continue;
        fprintf(stderr, "%s %s(%.17g, %.17g, %.17g): %.17g, not %.17g\n", rows[i].who, rows[i].what,
                rows[i].a[0], rows[i].a[1], rows[i].a[2], v, ref);
        bad++;
    }
    assert_int_equal(bad, 0);
}

static void shapes(void **state) /* what once was wrong, or took no end */
{
    (void)state;
    static const struct {
        const char *who, *what;
        double a[NUMBER_ARGS], value, error;
    } once[] = {
        {"beta", "cdf", {3.45387512415447e-15, 2.385, 1e15}, 0.7939546991102864, 1e-13},
        {"beta", "ccdf", {4.791259041632452e-16, 0.31, 1e15}, 0.20000000000000118, 1e-13},
        {"beta", "cdf", {2.647467432239976e-05, 1e-10, 1e4}, 0.9999999999, 1e-14},
        {"gamma", "cdf", {2.470328229206233e-24, 0.31, 1e-300}, 5.3634459802549847e-101, 1e-13},
        {"gamma", "ccdf", {8.824671380463979e-07, 1e-10, 3e5}, 9.9999092418460123e-11, 1e-13},
        {"student_t",
         "cdf",
         {-9.385465550959818e+148, 1e-10, 1.3, 0.7},
         0.49999998222077513,
         1e-14},
        {"chi_square", "lp", {999999999999999.4, 1e15}, -18.534900320939988, 1e-13},
        {"f_dist", "cdf", {1.797693134862316e+294, 10000, 1e-10}, 3.5034419588316784e-8, 1e-13},
        {"f_dist", "ccdf", {1.797693134862316e+294, 10000, 1e-10}, 0.99999996496558041, 1e-14},
        {"f_dist", "ccdf", {5.572848718073179e+307, 1, 0.31}, 1.3843078239975191e-48, 1e-13},
        {"scaled_gamma",
         "ccdf",
         {1.9974368165136842e+307, 3e5, 1e-10},
         7.4583407306832343e-165,
         1e-12},
        {"scaled_gamma",
         "ccdf",
         {1.5382647797563995e+308, 0.7, 2.385},
         8.2973508757365329e-155,
         1e-13},
        {"interval(normal)", "at", {1, 1, 1, 2, 1, 0, 3, 1e-10, 2e-10}, -25.043401751813239, 1e-14},
        {"interval(beta)",
         "at",
         {1, 1, 1, 2, 1, 1e-10, 1e-10, 1e-5, 0.9},
         -21.10086240289517,
         1e-6},
        {"ordered_logistic", "at", {1, 1, 3, 2, -30, 0, 1e-9, 3}, -50.723265837446598, 1e-15},
        {"ordered_probit", "at", {1, 1, 3, 2, -30, 0, 1e-9, 3}, -471.64220438515108, 1e-15},
        {"dirichlet", "at", {3, 3, 0.25, 0.25, 0.5, 1e15, 1e15, 2e15}, 35.820061641021094, 1e-14},
        {"dirichlet_multinomial",
         "at",
         {3, 3, 1, 0, 0, 1, 1e15, 1e15, 2e15, 1},
         -0.69314718055994531,
         1e-14},
        {"scaled_wishart", "at", {1, 1, 1, 2.633809911275867, 1, 1e6}, -2.5614251479430117, 1e-14},
        {"inv_gamma", "lp", {1.0000000000333334e-20, 1e10, 1e-10}, 56.645688791599247, 1e-12},
    };
    for (size_t i = 0; i < sizeof once / sizeof *once; i++) {
        int known;
        double v = number(once[i].who, once[i].what, once[i].a, &known);
        if (!(fabs(v / once[i].value - 1) <= once[i].error))
            fail_msg("%s %s: %.17g, not %.17g", once[i].who, once[i].what, v, once[i].value);
    }
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(references), cmocka_unit_test(shapes)};
RUN(tests)
