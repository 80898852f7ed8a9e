/* figure_pairs.c: draws of two scalars at a time, with marginal densities on the diagonal. */
#include <math.h>

#include "report/density.h"
#include "report/figure.h"
#include "report/sheet.h"

enum { SCALARS = 5, CANDIDATES = 24, POINTS = 400, GRID = 65, SIDE = 110, LAYERS = 2 };

static double correlation(const double *x, const double *y, size_t n)
{
    double mx = 0, my = 0, xx = 0, yy = 0, xy = 0, k = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i]) || !isfinite(y[i])) continue;
        double dx = x[i] - mx, dy = y[i] - my;
        k++;
        mx += dx / k, my += dy / k;
        xx += dx * (x[i] - mx), yy += dy * (y[i] - my), xy += dx * (y[i] - my);
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx) / sqrt(yy) : 0;
}

/* Keeps, in their order, the `most` whose strongest correlations are largest; of equal ones the
   first. */
static int most_correlated(const struct figure_input *in, int most, int *which, int n)
{
    double strength[CANDIDATES] = {0};
    int kept = 0;
    if (n > CANDIDATES) n = CANDIDATES;
    if (n <= most) return n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            double r = fabs(
                correlation(in->scalar[which[i]].draws, in->scalar[which[j]].draws, in->num_draws));
            if (r > strength[i]) strength[i] = r;
            if (r > strength[j]) strength[j] = r;
        }
    for (int i = 0; i < n; i++) {
        int stronger = 0;
        for (int j = 0; j < n; j++)
            stronger += strength[j] > strength[i] || (strength[j] == strength[i] && j < i);
        if (stronger < most) which[kept++] = which[i];
    }
    return kept;
}

static void range_of(const struct figure_scalar *s, size_t n, double *work, double *lo, double *hi)
{
    size_t k = finite_sorted(s->draws, n, work);
    *lo = k ? sorted_quantile(work, k, 0.002) : 0;
    *hi = k ? sorted_quantile(work, k, 0.998) : 1;
    double room = 0.08 * (*hi - *lo);
    *lo = fmax(*lo - room, s->lo), *hi = fmin(*hi + room, s->hi);
}

static void put_diagonal(struct sheet *s, struct plot_panel *p, const struct figure_input *in,
                         const struct figure_scalar *t, double *work)
{
    size_t n = finite_sorted(t->draws, in->num_draws, work);
    double *x = sheet_numbers(s, GRID), *y = sheet_numbers(s, GRID), *zero = sheet_numbers(s, GRID);
    p->no_y = 1;
    p->title = t->name;
    if (s->oom || !n) return;
    for (int i = 0; i < GRID; i++) x[i] = p->x0 + (p->x1 - p->x0) * i / (GRID - 1), zero[i] = 0;
    if (!density_of(work, n, t->lo, t->hi, GRID, x, y)) return;
    plot_include(y, GRID, &p->y0, &p->y1);
    p->y1 *= 1.05;
    sheet_add(p,
              (struct plot_layer){
                  .kind = PLOT_BAND, .colour = PLOT_BLUE, .n = GRID, .x = x, .lo = zero, .hi = y});
    sheet_add(
        p, (struct plot_layer){.kind = PLOT_LINE, .colour = PLOT_BLUE, .n = GRID, .x = x, .y = y});
}

/* A part of the draws, evenly spaced; integers are spread a little, by a pattern. */
static double *some(struct sheet *s, const struct figure_scalar *t, size_t n, size_t shown,
                    double turn)
{
    double *x = sheet_numbers(s, shown);
    for (size_t i = 0; x && i < shown; i++) {
        double between = fmod((double)i * turn, 1) - 0.5;
        x[i] = t->draws[i * n / shown] + (t->discrete ? 0.5 * between : 0);
    }
    return x;
}

static void put_points(struct sheet *s, struct plot_panel *p, const struct figure_input *in,
                       const struct figure_scalar *across, const struct figure_scalar *up)
{
    size_t n = in->num_draws, shown = n < POINTS ? n : POINTS;
    double *x = some(s, across, n, shown, 0.6180339887), *y = some(s, up, n, shown, 0.7548776662);
    if (s->oom) return;
    sheet_add(
        p,
        (struct plot_layer){
            .kind = PLOT_DOTS, .colour = PLOT_BLUE, .n = (int)shown, .x = x, .y = y, .width = 2.2});
}

static int put(const struct figure_input *in, plot_put *put_plot, struct str *out)
{
    struct sheet s = {
        .plot = {
            .title = "Pairs of scalars", .wide = SIDE, .high = SIDE, .left = 40, .together = 1}};
    int *which = arena_array(&s.mem, int, in->num_scalars + 1);
    double *work = sheet_numbers(&s, in->num_draws);
    if (!which || !work) return sheet_end(&s, -1, put_plot, out);
    int most = in->most ? in->most : SCALARS;
    int n = most_correlated(in, most, which, figure_choose(in, CANDIDATES, which));
    s.plot.ncol = n;
    if (sheet_panels(&s, n * n, LAYERS)) return sheet_end(&s, -1, put_plot, out);
    for (int i = 0; i < n * n && !s.oom; i++) {
        struct plot_panel *p = &s.panel[i];
        const struct figure_scalar *across = &in->scalar[which[i % n]],
                                   *up = &in->scalar[which[i / n]];
        range_of(across, in->num_draws, work, &p->x0, &p->x1);
        p->no_x = i / n < n - 1;
        if (i / n < i % n) { /* above the diagonal: what the mirrored panel shows, in a number */
            struct str text = {0};
            str_printf(&text, "r = %.2f", correlation(across->draws, up->draws, in->num_draws));
            p->text = sheet_text(&s, &text);
            continue;
        }
        if (i / n == i % n) {
            put_diagonal(&s, p, in, up, work);
            continue;
        }
        range_of(up, in->num_draws, work, &p->y0, &p->y1);
        p->no_y = i % n > 0;
        put_points(&s, p, in, across, up);
    }
    struct str sub = {0};
    str_put(&sub, "posterior draws; r: correlation");
    if (n < in->num_scalars)
        str_printf(&sub, "; the %d of %d scalars that depend most on each other", n,
                   in->num_scalars);
    s.plot.subtitle = sheet_text(&s, &sub);
    return sheet_end(&s, 0, put_plot, out);
}

const struct figure figure_pairs = {"pairs", "draws of two scalars at a time", FIGURE_DRAWS, put};
