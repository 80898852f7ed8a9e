/* test_plot.c: the pictures of diagnostics are XML, hold what they should, and survive odd numbers
   and failing allocations.  PLOT_DIR=/tmp writes them there, to be looked at. */
#include <expat.h>

#include "malloc_fail.h"
#include "report/calibration.h"
#include "report/plot.h"
#include "sims_at.h"

static nami_err err;

static void check_xml(const struct str *s, const char *file)
{
    assert_false(s->oom);
    const char *dir = getenv("PLOT_DIR");
    if (dir) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s.svg", dir, file);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fwrite(s->s, 1, s->n, f);
        fclose(f);
    }
    XML_Parser x = XML_ParserCreate(NULL);
    assert_int_equal(XML_Parse(x, s->s, (int)s->n, 1), XML_STATUS_OK);
    XML_ParserFree(x);
    assert_null(strstr(s->s, "nan"));
    assert_null(strstr(s->s, "inf"));
}

static int count(const char *s, const char *what)
{
    int n = 0;
    while ((s = strstr(s, what))) n++, s++;
    return n;
}

static void steps(void **state)
{
    (void)state;
    assert_true(fabs(plot_step(0, 1, 5) - 0.2) < 1e-12);
    assert_true(fabs(plot_step(-3.1, 3.3, 5) - 1) < 1e-12);
    assert_true(fabs(plot_step(0, 430, 4) - 100) < 1e-9);
    assert_true(plot_step(1, 1, 4) == 1 && plot_step(0, INFINITY, 4) == 1);
}

/* Right, too narrow, shifted, a discrete one. */
static struct made mixed(int m, int n)
{
    struct made a = make_sims(4, m, n, RIGHT, 1);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double *z = &a.z[(m + j) * n + i], *shifted = &a.z[(2 * m + j) * n + i];
            *z = a.mean[n + i] + 0.6 * (*z - a.mean[n + i]);
            *shifted += 0.35;
            a.z[(3 * m + j) * n + i] = floor(a.z[(3 * m + j) * n + i] * 2);
        }
    for (int i = 0; i < n; i++) a.theta[3 * n + i] = floor(a.theta[3 * n + i] * 2);
    return a;
}

static const char *const NAME[] = {"mu", "tau[1] < \"2\" & more", "β",
                                   "a very long name of a count[12,3]"};

static int all_pictures(void *ctx)
{
    struct made *a = ctx;
    struct sbc b = {0};
    struct coverage c = {0};
    struct tarp t = {0};
    struct recovery r[4];
    struct str s[5] = {{0}};
    int n = a->s.n, rc = 0;
    double *mean = new_array(double, 4 * n);
    if (!mean) return -1;
    rc = sbc_run(&a->s, 0.05, 0, 1, &b, &err);
    if (!rc) rc = coverage_run(&a->s, a->logq, a->logq0, 0.05, COVERAGE_LEVELS, 1, &c, &err);
    if (!rc) rc = tarp_run(&a->s, NULL, 0.05, 1, &t, &err);
    if (!rc) rc = recovery_run(&a->s, r, mean, NULL, &err);
    if (!rc) rc = plot_ranks(&b, NAME, 0, plot_svg, &s[0]);
    if (!rc) rc = plot_ecdf(&b, NAME, 0, plot_svg, &s[1]);
    if (!rc) rc = plot_coverage(&c, NAME, 0, plot_svg, &s[2]);
    if (!rc) rc = plot_tarp(&t, plot_svg, &s[3]);
    if (!rc) rc = plot_recovery(&a->s, r, mean, NAME, 0, plot_svg, &s[4]);
    if (!rc && !nomem.on) {
        static const char *const FILE_NAME[] = {"ranks", "ecdf", "coverage", "tarp", "recovery"};
        for (int i = 0; i < 5; i++) check_xml(&s[i], FILE_NAME[i]);
        assert_int_equal(count(s[0].s, "<clipPath"), 4);
        int outside = 0;
        for (int k = 0; k < 4; k++) outside += !b.scalar[k].ecdf.inside;
        assert_true(outside >= 2);
        for (int i = 0; i < 2; i++) assert_int_equal(count(s[i].s, "\xe2\x9a\xa0"), outside);
        assert_int_equal(count(s[2].s, "<clipPath"), 5);
        assert_int_equal(count(s[2].s, "tau[1] &lt;"), 1);
        assert_int_equal(count(s[4].s, "<circle"), 4 * (n < 200 ? n : 200));
    }
    for (int i = 0; i < 5; i++) str_free(&s[i]);
    sbc_free(&b);
    coverage_free(&c);
    tarp_free(&t);
    free(mean);
    return rc;
}

static void pictures(void **state)
{
    (void)state;
    struct made a = mixed(99, 400);
    assert_int_equal(all_pictures(&a), 0);
    made_free(&a);
}

static void no_memory(void **state)
{
    (void)state;
    struct made a = mixed(5, 20);
    const char *why;
    if (nomem_each(all_pictures, &a, &why) < 0) fail_msg("%s", why);
    made_free(&a);
}

/* More scalars than panels: the worst are shown. */
static void many(void **state)
{
    (void)state;
    struct made a = make_sims(50, 19, 100, RIGHT, 1);
    struct sbc b;
    struct str s = {0};
    for (int i = 0; i < 19 * 100; i++) a.z[44 * 1900 + i] += 1; /* scalar 45 */
    assert_int_equal(sbc_run(&a.s, 0.05, 0, 1, &b, &err), 0);
    assert_int_equal(plot_ranks(&b, NULL, 0, plot_svg, &s), 0);
    check_xml(&s, "many");
    assert_int_equal(count(s.s, "<clipPath"), CALIBRATION_PANELS);
    assert_int_equal(count(s.s, ">scalar 45<"), 1);
    int outside = 0; /* the worst, so all of them are shown */
    for (int k = 0; k < 50; k++) outside += !b.scalar[k].ecdf.inside;
    assert_false(b.scalar[44].ecdf.inside);
    assert_int_equal(count(s.s, "\xe2\x9a\xa0"), outside);
    str_free(&s);
    sbc_free(&b);
    made_free(&a);
}

static void odd_numbers(void **state)
{
    (void)state;
    double x[] = {0, NAN, 2, INFINITY, 4, 5}, y[] = {1, 2, -INFINITY, 1e300, 4, NAN},
           lo[] = {0, 0, NAN, 0, 3, 1};
    double fine[] = {0, 1, 2, 3, 4, 5};
    struct plot_layer l[] = {{PLOT_BAND, PLOT_LIGHT, 6, fine, NULL, lo, y, 0},
                             {PLOT_BARS, PLOT_BLUE, 5, fine, y, NULL, NULL, 0},
                             {PLOT_LINE, PLOT_BLUE, 6, x, y, NULL, NULL, 0},
                             {PLOT_POINTS, PLOT_RED, 6, x, y, lo, y, 0},
                             {.kind = PLOT_DIAGONAL}};
    struct plot_panel p[] = {
        {.x1 = 5, .y1 = 4, .nlayer = 5, .layer = l},
        {.title = "flat", .x0 = 3, .x1 = 3, .y0 = NAN, .y1 = 2, .nlayer = 5, .layer = l},
        {.title = "small\n", .x1 = 3e-7, .y0 = -2e9, .y1 = 1e9, .note = "n"}};
    struct str s = {0};
    plot_svg(&(struct plot){.npanel = 3, .panel = p, .ncol = 2}, &s);
    check_xml(&s, "odd");
    str_free(&s);
    plot_svg(&(struct plot){.title = "none"}, &s);
    check_xml(&s, "none");
    str_free(&s);
}

/* Logarithms have ticks at 1, 2 and 5 times powers of ten; colours have names. */
static void logarithms(void **state)
{
    (void)state;
    static const double x[] = {0, 1, 2}, y[] = {-2, -1.2, NAN}, lo[] = {-2.2, NAN, -1},
                        hi[] = {-1, 0, -1};
    struct plot_layer layer[] = {{PLOT_BAND, PLOT_GREEN, 3, x, NULL, lo, hi, 0},
                                 {PLOT_LINE, PLOT_GREEN, 3, x, y, NULL, NULL, 0}};
    struct plot_panel panel = {
        .x1 = 2, .y0 = -2.3, .y1 = 0.1, .log = 1, .nlayer = 2, .layer = layer};
    struct plot_key key[] = {{"a < b", PLOT_GREEN}, {"other", PLOT_SKY}};
    struct plot p = {.wide = 400, .high = 200, .nkey = 2, .key = key, .npanel = 1, .panel = &panel};
    struct str s = {0};
    plot_svg(&p, &s);
    check_xml(&s, "logarithms");
    assert_int_equal(
        count(s.s, ">0.02<") + count(s.s, ">0.05<") + count(s.s, ">0.1<") + count(s.s, ">1<"), 4);
    assert_int_equal(count(s.s, ">a &lt; b<"), 1);
    assert_int_equal(count(s.s, "fill-opacity"), 1);
    panel.y0 = -30; /* too many for each power */
    s.n = 0;
    plot_svg(&p, &s);
    check_xml(&s, "powers");
    str_free(&s);
}

/* Thousands and millions are short, and all of an axis alike. */
static void large(void **state)
{
    (void)state;
    struct plot_panel panel = {.x0 = -4e5, .x1 = 1.4e6, .y0 = -2, .y1 = 8, .log = 1};
    struct plot p = {.wide = 400, .high = 200, .npanel = 1, .panel = &panel};
    struct str s = {0};
    plot_svg(&p, &s);
    check_xml(&s, "large");
    assert_int_equal(count(s.s, ">0<") + count(s.s, ">500k<") + count(s.s, ">1000k<"), 3);
    assert_int_equal(count(s.s, ">100<") + count(s.s, ">10k<") + count(s.s, ">1M<"), 3);
    assert_int_equal(count(s.s, "e+"), 0);
    str_free(&s);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(logarithms), cmocka_unit_test(steps), cmocka_unit_test(pictures),
    cmocka_unit_test(no_memory),  cmocka_unit_test(many),  cmocka_unit_test(odd_numbers),
    cmocka_unit_test(large),
};
RUN(tests)
