/* test_figure.c: figures are well-formed, deterministic, and survive odd input and failing
   allocations: every row of figure.def.  PLOT_DIR=/tmp writes them there, to be looked at. */
#include <expat.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "malloc_fail.h"
#include "report/density.h"
#include "report/figure.h"
#include "sims_at.h"

enum { DRAWS = 320, PRIOR = 100, MOST_SCALARS = 500, ELEMENTS = 90 };

/* What draws are like. */
enum kind { NORMAL, CONSTANT, WILD, COUNTS, ALL_NAN, KINDS };

struct made_input {
    struct figure_input in;
    struct figure_scalar scalar[MOST_SCALARS];
    struct figure_array array[2];
    struct figure_observed observed[3];
    double draws[MOST_SCALARS][DRAWS], prior[PRIOR], data[ELEMENTS], predicted[ELEMENTS * DRAWS],
        history[6];
};

static double value(enum kind kind, int i, int k)
{
    double u = fmod((i + 1) * 0.6180339887 + k * 0.37, 1), x = log(u / (1 - u));
    if (kind == CONSTANT) return 3;
    if (kind == ALL_NAN) return NAN;
    if (kind == COUNTS) return floor(5 * u);
    if (kind == WILD)
        return i % 7 == 0 ? INFINITY : i % 7 == 1 ? -INFINITY : i % 7 == 2 ? NAN : 1e300 * x;
    return x;
}

static struct made_input *make(enum kind kind, int scalars, int draws)
{
    static const char *const name[] = {"a < \"b\" & 'c'", "</script><b>", "\xff\xfe\x01 bad", "mu"};
    struct made_input *m = calloc(1, sizeof *m);
    assert_non_null(m);
    for (int k = 0; k < scalars; k++) {
        for (int i = 0; i < draws; i++) m->draws[k][i] = value(kind, i, k);
        m->scalar[k] = (struct figure_scalar){.name = name[k % 4],
                                              .array = k > 0,
                                              .lo = -INFINITY,
                                              .hi = INFINITY,
                                              .discrete = kind == COUNTS,
                                              .draws = m->draws[k],
                                              .prior = m->prior};
        m->scalar[k].summary =
            (struct summary){.mean = m->draws[k][0], .sd = 1, .q = {-1, 0, m->draws[k][0], 1, 2}};
    }
    for (int i = 0; i < PRIOR; i++) m->prior[i] = value(kind, i, 9);
    for (int e = 0; e < ELEMENTS; e++) {
        m->data[e] = value(kind == ALL_NAN ? NORMAL : kind, e, 3);
        for (int i = 0; i < draws; i++) m->predicted[e * draws + i] = value(kind, i + e, 5);
    }
    for (int i = 0; i < 6; i++) m->history[i] = i < 2 ? 500 * (i + 1) : value(kind, i, 1);
    m->array[0] = (struct figure_array){"mu", 0, 1};
    m->array[1] = (struct figure_array){"theta<&>", 1, scalars - 1};
    for (int v = 0; v < 3; v++)
        m->observed[v] = (struct figure_observed){.name = name[v],
                                                  .num = v ? ELEMENTS : 5,
                                                  .discrete = v == 2,
                                                  .data = m->data,
                                                  .predicted = m->predicted,
                                                  .prior = m->predicted};
    static const char *const terms[] = {"q(<&>)", "b"};
    m->in = (struct figure_input){
        .num_scalars = scalars,
        .num_arrays = scalars > 1 ? 2 : 1,
        .num_observed = 3,
        .scalar = m->scalar,
        .array = m->array,
        .observed = m->observed,
        .num_draws = (size_t)draws,
        .num_prior = draws < PRIOR ? (size_t)draws : PRIOR,
        .num_predicted = (size_t)draws,
        .chains = draws >= 16 ? 16 : 1,
        .history = {2, 2, m->history, m->history + 2, m->history + 4, m->history + 2, terms}};
    m->observed[0].prior = NULL;
    return m;
}

static void check_xml(const struct str *s, const char *name)
{
    const char *dir = getenv("PLOT_DIR");
    if (dir) {
        char path[400];
        snprintf(path, sizeof path, "%s/figure-%s.svg", dir, name);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fwrite(s->s, 1, s->n, f);
        fclose(f);
    }
    XML_Parser x = XML_ParserCreate(NULL);
    if (XML_Parse(x, s->s, (int)s->n, 1) != XML_STATUS_OK)
        fail_msg("%s: %s in line %d", name, XML_ErrorString(XML_GetErrorCode(x)),
                 (int)XML_GetCurrentLineNumber(x));
    XML_ParserFree(x);
    assert_null(strstr(s->s, "\"nan"));
    assert_null(strstr(s->s, " nan"));
    assert_null(strstr(s->s, "inf"));
    assert_null(strstr(s->s, "<b>m"));
    assert_null(strstr(s->s, "</script>"));
}

static void put(const struct figure *f, const struct figure_input *in, plot_put *how,
                const char *name)
{
    struct str a = {0}, b = {0};
    assert_int_equal(f->put(in, how, &a), 0);
    assert_int_equal(f->put(in, how, &b), 0);
    assert_true(a.n == b.n && memcmp(a.s, b.s, a.n) == 0);
    check_xml(&a, name);
    str_free(&a);
    str_free(&b);
}

/* Every figure but those of calibration, which test_plot has, of every kind of draws. */
static void all_are_well_formed(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, DRAWS}, {3, DRAWS}, {12, 1}, {MOST_SCALARS, 48}};
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            struct made_input *m = make((enum kind)kind, sizes[s][0], sizes[s][1]);
            for (int i = 0; figures[i]; i++) {
                char name[80];
                snprintf(name, sizeof name, "%s-%d-%zu", figures[i]->name, kind, s);
                if (!figure_can(figures[i], &m->in)) continue;
                put(figures[i], &m->in, plot_svg, name);
                put(figures[i], &m->in, plot_html, name);
            }
            free(m);
        }
}

/* A figure can be drawn of what it needs alone. */
static void needs_are_told(void **state)
{
    (void)state;
    struct figure_input none = {0};
    struct made_input *m = make(NORMAL, 3, 8);
    for (int i = 0; figures[i]; i++) {
        assert_false(figure_can(figures[i], &none));
        assert_ptr_equal(figure_find(figures[i]->name), figures[i]);
    }
    assert_false(figure_can(&figure_trace, &m->in)); /* 8 draws, no chains */
    assert_true(figure_can(&figure_marginals, &m->in));
    assert_null(figure_find("nonsense"));
    free(m);
}

static int all_figures(void *ctx)
{
    const struct figure_input *in = ctx;
    int rc = 0;
    for (int i = 0; figures[i] && !rc; i++) {
        struct str s = {0};
        if (figure_can(figures[i], in)) rc = figures[i]->put(in, plot_html, &s);
        str_free(&s);
    }
    return rc;
}

static void no_memory(void **state)
{
    (void)state;
    struct made_input *m = make(NORMAL, 3, 16);
    const char *why;
    if (nomem_each(all_figures, &m->in, &why) < 0) fail_msg("%s", why);
    free(m);
}

/* The density of many normal draws is that of the normal; it integrates to 1 at a bound, too. */
static void densities(void **state)
{
    (void)state;
    enum { N = 4000, GRID = 401 };
    static double x[N], grid[GRID], y[GRID];
    for (int i = 0; i < N; i++) x[i] = -log((i + 0.5) / N); /* exponential quantiles */
    size_t n = finite_sorted(x, N, x);
    assert_int_equal(n, N);
    for (int i = 0; i < GRID; i++) grid[i] = 0.03 * i;
    assert_true(density_of(x, n, 0, INFINITY, GRID, grid, y));
    double sum = 0;
    for (int i = 0; i < GRID; i++) sum += 0.03 * (i ? y[i] : y[i] / 2);
    assert_true(fabs(sum - 1) < 0.01);
    assert_true(fabs(y[50] - exp(-1.5)) < 0.02);
    assert_true(fabs(sorted_quantile(x, n, 0.5) - log(2)) < 0.01);
    assert_false(density_of((const double[]){2, 2, 2}, 3, -INFINITY, INFINITY, GRID, grid, y));
}

static const char SVG[] =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" "
    "xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"60\" height=\"40\">";

/* A PNG of an SVG with this head and content. */
static struct str painted(const char *head, const char *content, const nami_png_options *how)
{
    struct str svg = {0}, out = {0};
    nami_err err;
    char *png;
    str_printf(&svg, "%s%s%s</svg>", head, SVG, content);
    if (nami_figure_png(svg.s, how, &png, &out.n, &err)) fail_msg("%s", err.msg);
    out.s = png;
    assert_memory_equal(out.s, "\x89PNG\r\n\x1a\n", 8);
    str_free(&svg);
    return out;
}

static int same(struct str a, struct str b)
{
    int yes = a.n == b.n && memcmp(a.s, b.s, a.n) == 0;
    str_free(&a);
    str_free(&b);
    return yes;
}

/* Whatever an SVG names, nothing is opened: it looks as without. */
static void png_opens_nothing(void **state)
{
    (void)state;
    char path[] = "/tmp/nami_figure_XXXXXX.svg", text[400];
    int fd = mkstemps(path, 4);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    assert_non_null(f);
    fprintf(f, "%s<rect width=\"60\" height=\"40\"/></svg>", SVG);
    fclose(f);
    static const char *const ways[] = {"<image width=\"60\" height=\"40\" xlink:href=\"%s\"/>",
                                       "<image width=\"60\" height=\"40\" href=\"file://%s\"/>",
                                       "<use href=\"%s#x\"/>",
                                       "<style>@import url(\"file://%s\");</style>"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        snprintf(text, sizeof text, ways[i], path); // NOLINT: formats of the table above
        assert_true(same(painted("", text, NULL), painted("", "", NULL)));
    }
    nami_err err;
    char *png;
    size_t n;
    snprintf(text, sizeof text, "<!DOCTYPE svg [<!ENTITY x SYSTEM \"file://%s\">]>%s&x;</svg>",
             path, SVG);
    assert_int_equal(nami_figure_png(text, NULL, &png, &n, &err), NAMI_EINPUT);
    unlink(path);
}

static void png_options(void **state)
{
    (void)state;
    static const char shape[] = "<rect class=\"nf0\" width=\"30\" height=\"40\" fill=\"#0072b2\"/>";
    nami_png_options how = {.size = sizeof how, .dark = 1};
    nami_err err;
    char *png = NULL;
    size_t n;
    assert_true(same(painted("", shape, NULL), painted("", shape, &(nami_png_options){.zoom = 2})));
    assert_false(same(painted("", shape, &how), painted("", shape, NULL)));
    assert_false(
        same(painted("", shape, &(nami_png_options){.zoom = 3}), painted("", shape, NULL)));
    const double bad[] = {-1, 0.05, 21, INFINITY, NAN};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        how.zoom = bad[i];
        assert_int_equal(nami_figure_png(SVG, &how, &png, &n, &err), NAMI_EUSAGE);
        assert_null(png);
    }
    assert_int_equal(nami_figure_png("not XML", NULL, &png, &n, &err), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "not an SVG"));
    assert_null(png);
    /* huge: fewer pixels than asked for */
    static const char wide[] =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"20000\" height=\"2\"/>";
    assert_int_equal(nami_figure_png(wide, NULL, &png, &n, &err), 0);
    const unsigned char *size = (const unsigned char *)png + 16;
    assert_int_equal(size[0] << 24 | size[1] << 16 | size[2] << 8 | size[3], 32000);
    nami_free(png);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(all_are_well_formed), cmocka_unit_test(needs_are_told),
    cmocka_unit_test(no_memory),           cmocka_unit_test(densities),
    cmocka_unit_test(png_opens_nothing),   cmocka_unit_test(png_options),
};
RUN(tests)
