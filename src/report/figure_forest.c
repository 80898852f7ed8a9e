/* figure_forest.c: intervals of scalars below each other: a panel for each variable of several
   elements; or, if there is none, all in one panel. */
#include <math.h>

#include "report/density.h"
#include "report/figure.h"
#include "report/sheet.h"

enum { ROWS = 60, LAYERS = 3, ROW_HIGH = 14, Q5 = 0, Q25 = 1, Q50 = 2, Q75 = 3, Q95 = 4 };

/* Rows of one panel: scalars `which`, the first at the top. */
static void put_rows(struct sheet *s, struct plot_panel *p, const struct figure_input *in,
                     const int *which, int n)
{
    double *x = sheet_numbers(s, (size_t)n), *y = sheet_numbers(s, (size_t)n), *q[5];
    const char **name = arena_array(&s->mem, const char *, n + 1);
    for (int k = 0; k < 5; k++) q[k] = sheet_numbers(s, (size_t)n);
    if (!name) s->oom = 1;
    if (s->oom) return;
    p->x0 = INFINITY, p->x1 = -INFINITY;
    for (int i = 0; i < n; i++) {
        const struct figure_scalar *t = &in->scalar[which[i]];
        y[i] = n - 1 - i;
        name[n - 1 - i] = t->name;
        for (int k = 0; k < 5; k++) q[k][i] = t->summary.q[k];
        x[i] = t->summary.q[Q50];
    }
    for (int k = 0; k < 5; k++) plot_include(q[k], n, &p->x0, &p->x1);
    double room = 0.03 * (p->x1 - p->x0);
    p->x0 -= room, p->x1 += room;
    p->y0 = -0.6, p->y1 = n - 0.4;
    p->row = name, p->num_rows = n;
    p->high = ROW_HIGH * n + 8;
    if (p->x0 < 0 && p->x1 > 0) {
        double *zero = sheet_numbers(s, 1);
        if (!zero) return;
        *zero = 0;
        sheet_add(
            p, (struct plot_layer){.kind = PLOT_UPRIGHT, .colour = PLOT_LIGHT, .n = 1, .x = zero});
    }
    sheet_add(p, (struct plot_layer){.kind = PLOT_SPANS,
                                     .colour = PLOT_BLUE,
                                     .n = n,
                                     .y = y,
                                     .lo = q[Q5],
                                     .hi = q[Q95],
                                     .width = 1});
    sheet_add(p, (struct plot_layer){.kind = PLOT_SPANS,
                                     .colour = PLOT_BLUE,
                                     .n = n,
                                     .x = x,
                                     .y = y,
                                     .lo = q[Q25],
                                     .hi = q[Q75],
                                     .width = 3});
}

/* Intervals say little of states: their variables are shown if there are no others. */
static int is_shown(const struct figure_input *in, int a, int discrete)
{
    return in->array[a].num > 1 && (discrete || !in->scalar[in->array[a].first].discrete);
}

static int put(const struct figure_input *in, plot_put *put_plot, struct str *out)
{
    struct sheet s = {
        .plot = {.title = "Posterior intervals", .wide = 360, .left = 110, .ncol = 2}};
    int most = in->most ? in->most : ROWS, panels = 0, shown = 0, rows = 0, singles = 0, widest = 0;
    int *which = arena_array(&s.mem, int, in->num_scalars + 1);
    if (!which) return sheet_end(&s, -1, put_plot, out);
    int discrete = 1;
    for (int a = 0; a < in->num_arrays; a++) discrete &= !is_shown(in, a, 0);
    for (int a = 0; a < in->num_arrays; a++) {
        int n = in->array[a].num < most ? in->array[a].num : most;
        if (in->array[a].num < 2)
            which[singles++] = in->array[a].first;
        else if (n && is_shown(in, a, discrete))
            panels++, rows = n > rows ? n : rows;
    }
    if (panels) singles = 0; /* they have no scale in common; those alone are shown as they are */
    if (singles > most) singles = most;
    if (singles > rows) rows = singles;
    panels += singles > 0;
    if (panels < 2) s.plot.ncol = 1;
    if (sheet_panels(&s, panels, LAYERS)) return sheet_end(&s, -1, put_plot, out);
    struct plot_panel *p = s.panel;
    for (int i = 0; i < in->num_scalars; i++) {
        int n = str_width(in->scalar[i].name);
        widest = n > widest ? n : widest;
    }
    s.plot.left = widest < 6 ? 50 : widest > 24 ? 160 : 14 + 6 * widest;
    s.plot.high = ROW_HIGH * rows + 8;
    if (singles) {
        put_rows(&s, p++, in, which, singles);
        shown += singles;
    }
    for (int a = 0; a < in->num_arrays && !s.oom; a++) {
        int n = in->array[a].num < most ? in->array[a].num : most;
        if (!is_shown(in, a, discrete) || !n) continue;
        for (int i = 0; i < n; i++) which[i] = in->array[a].first + i;
        p->title = in->array[a].name;
        put_rows(&s, p++, in, which, n);
        shown += n;
    }
    struct str sub = {0};
    str_put(&sub, "median, 50 % and 90 % intervals");
    figure_say_shown(&sub, shown, in->num_scalars);
    s.plot.subtitle = sheet_text(&s, &sub);
    return sheet_end(&s, 0, put_plot, out);
}

const struct figure figure_forest = {
    "forest", "posterior intervals of the elements of each variable", FIGURE_DRAWS, put};
