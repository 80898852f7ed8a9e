/* test_normal.c: the quantile of the normal distribution against numbers of 22 digits, its
   symmetry, round trips, order and ends. */
#include "base/normal.h"

#include <float.h>
#include <math.h>

#include "dist/math.h"
#include "run.h"

static const double lowest = 0x1p-1074; /* the smallest number above 0 */

/* z with Phi(z) = u, for the double nearest to u (scripts/normal_quantile.py, by mpmath) */
static const struct {
    double u;
    long double z;
} reference[] = {
    {5e-324, -38.46740561714434625078L},
    {2.2250738585072014e-308, -37.51937934714449982068L},
    {1e-300, -37.04709629936119923655L},
    {1e-250, -33.79958617269483746959L},
    {1e-200, -30.20559417957964306312L},
    {1e-150, -26.12296119059398350925L},
    {1e-120, -23.33407506734186821574L},
    {1e-100, -21.27345356096532429418L},
    {1e-80, -18.99163587882020711363L},
    {1e-60, -16.39727821271871048034L},
    {1e-50, -14.93333753478848898066L},
    {1e-40, -13.31092137142517089531L},
    {1e-30, -11.46402468844361571977L},
    {1e-25, -10.42045220080309761739L},
    {1e-20, -9.262340089798407579572L},
    {1e-18, -8.757290348782315055814L},
    {1e-16, -8.222082216130435615182L},
    {1e-14, -7.650628092935268816571L},
    {1.2664e-14, -7.620201512604882864012L},
    {1.2665e-14, -7.620191320492448281693L},
    {1e-13, -7.348796102800677513479L},
    {1e-12, -7.034483825301131932614L},
    {1e-11, -6.706023155495136296102L},
    {1e-10, -6.3613409024040561991L},
    {1e-09, -5.997807015007686861446L},
    {1e-08, -5.61200124417478872793L},
    {1e-07, -5.199337582192816939999L},
    {1e-06, -4.753424308822898957339L},
    {1e-05, -4.264890793922824610234L},
    {0.0001, -3.719016485455680552288L},
    {0.001, -3.090232306167813535358L},
    {0.0025, -2.807033768343804110516L},
    {0.01, -2.326347874040841093075L},
    {0.0111089, -2.28662364319866525366L},
    {0.0111091, -2.286616796157342482507L},
    {0.02275, -2.000002443899603910176L},
    {0.04, -1.750686071252169969772L},
    {0.07, -1.475791028179170685609L},
    {0.0999999999999999, -1.281551565544601067946L},
    {0.1, -1.281551565544600435335L},
    {0.10000000000000002, -1.281551565544600356258L},
    {0.11, -1.226528120036610077497L},
    {0.15, -1.036433389493789603522L},
    {0.2, -0.8416212335729141655225L},
    {0.25, -0.6744897501960817432022L},
    {0.3, -0.5244005127080408159695L},
    {0.35, -0.3853204664075676837582L},
    {0.4, -0.2533471031357997413247L},
    {0.45, -0.1256613468550740061604L},
    {0.49, -0.02506890825871105803269L},
    {0.499, -0.002506630899571766231699L},
    {0.49999, -0.00002506628274896000852685L},
    {0.4999999999, -2.506628482030353902221e-10L},
    {0.49999999999999994, -1.391458212335883461117e-16L},
    {0.5000000000000001, 2.782916424671766922234e-16L},
    {0.5000000001, 2.506628482030353902221e-10L},
    {0.501, 0.002506630899571766231699L},
    {0.55, 0.1256613468550741464092L},
    {0.6, 0.2533471031357997413247L},
    {0.7, 0.5244005127080406563136L},
    {0.77, 0.7388468491852136878217L},
    {0.841, 0.9985762706156593936473L},
    {0.9, 1.281551565544600593487L},
    {0.925, 1.439531470938456229063L},
    {0.95, 1.644853626951472284276L},
    {0.975, 1.959963984540053855604L},
    {0.99, 2.326347874040840767637L},
    {0.999, 3.090232306167813277758L},
    {0.9999, 3.719016485455708386723L},
    {0.999999, 4.753424308817087765688L},
    {0.99999999, 5.612001243305504982605L},
    {0.9999999999, 6.361340889697421864155L},
    {0.999999999999, 7.034486910047835205692L},
    {0.99999999999999, 7.650730905155642956255L},
    {0.9999999999999998, 8.125890664701906858508L},
    {0.9999999999999999, 8.209536151601386855631L},
};
enum { REFERENCES = sizeof reference / sizeof *reference };

static void error_is_below_4e_16(void **state)
{
    (void)state;
    for (int i = 0; i < REFERENCES; i++) {
        double u = reference[i].u, z = normal_quantile(u);
        long double off = fabsl(((long double)z - reference[i].z) / reference[i].z);
        if (!(off < 4e-16L + LDBL_EPSILON / 2)) /* the reference is rounded too */
            fail_msg("%.17g: %.17g, wrong by %Lg of it", u, z, off);
    }
}

static void symmetric_to_the_last_bit(void **state)
{
    (void)state;
    for (int i = 1; i < 100000; i++) {
        double u = i * 0x1p-18, tiny = i * 0x1p-53; /* 1 - u is exact */
        assert_true(normal_quantile(u) == -normal_quantile(1 - u));
        assert_true(normal_quantile(tiny) == -normal_quantile(1 - tiny));
    }
    assert_true(normal_quantile(0.5) == 0);
}

/* Phi magnifies a relative error of z by z^2 in the tail, and rounds itself. */
static void inverts_the_distribution_function(void **state)
{
    (void)state;
    for (int i = 1; i <= 3000; i++) {
        double u = exp(-0.23 * i), z = normal_quantile(u), back = normal_p(z);
        if (!(fabs(back - u) < 1e-15 * (1 + z * z) * u))
            fail_msg("%.17g: %.17g, and back %.17g", u, z, back);
        z = -0.0123 * i, u = normal_p(z), back = normal_quantile(u);
        if (!(fabs(back - z) < 1e-15 * fmax(-z, 1))) fail_msg("%.17g, and back %.17g", z, back);
    }
}

static void rises(double from, double to, double u, double v)
{
    if (!(from < to)) fail_msg("%.17g at %.17g, but %.17g at %.17g", from, u, to, v);
}

static void increases_everywhere(void **state)
{
    enum { N = 1000000 };
    (void)state;
    double last = -INFINITY, before = 0;
    for (int i = 0; i < N; i++) {
        double u = (i + 0.5) / N, z = normal_quantile(u);
        rises(last, z, before, u);
        last = z, before = u;
    }
    last = -INFINITY, before = 0;
    for (double u = lowest; u < 0.4; u *= u < 1e-310 ? 2 : 1.001) {
        double z = normal_quantile(u);
        rises(last, z, before, u);
        last = z, before = u;
    }
}

/* Neighbors on both sides of a seam between two pieces of the approximation */
static void continuous_at_seams(void **state)
{
    (void)state;
    const double seams[] = {0.1, exp(-4.5), exp(-32)};
    for (int i = 0; i < 3; i++) {
        double u = seams[i] * (1 - 4e-14), last = normal_quantile(u), z;
        for (int k = 0; k < 400; k++, last = z) {
            u = nextafter(u, 1), z = normal_quantile(u);
            if (!(fabs(z - last) < 8e-16 * -z)) fail_msg("%.17g: %.17g to %.17g", u, last, z);
        }
        assert_true(u > seams[i] * (1 + 4e-15));
    }
}

static void ends_and_outside(void **state)
{
    (void)state;
    assert_true(normal_quantile(0) == -INFINITY && normal_quantile(-0.0) == -INFINITY);
    assert_true(normal_quantile(1) == INFINITY);
    assert_true(isfinite(normal_quantile(lowest)) && isfinite(normal_quantile(1 - 0x1p-53)));
    const double bad[] = {NAN, -lowest, nextafter(1, 2), -1, 2, -INFINITY, INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_true(isnan(normal_quantile(bad[i])));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(error_is_below_4e_16),
    cmocka_unit_test(symmetric_to_the_last_bit),
    cmocka_unit_test(inverts_the_distribution_function),
    cmocka_unit_test(increases_everywhere),
    cmocka_unit_test(continuous_at_seams),
    cmocka_unit_test(ends_and_outside),
};
RUN(tests)
