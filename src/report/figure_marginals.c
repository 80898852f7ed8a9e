/* figure_marginals.c: the marginal posterior of each scalar, with its prior. */
#include <math.h>

#include "report/density.h"
#include "report/figure.h"
#include "report/sheet.h"

enum { PANELS = 16, GRID = 129, LAYERS = 5, MOST_STATES = 40 };

/* From where to where: nearly all draws, and some of the prior where it is not much wider. */
static void range_of(const struct figure_scalar *s, const double *sorted, size_t n,
                     struct plot_panel *p)
{
    double a = sorted_quantile(sorted, n, 0.001), b = sorted_quantile(sorted, n, 0.999);
    double room = 0.35 * (b - a);
    if (!(room > 0)) room = fmax(0.5, 0.05 * fabs(a));
    p->x0 = fmax(a - room, s->lo);
    p->x1 = fmin(b + room, s->hi);
}

/* Densities on a grid; 0 if the draws have none. */
static int add_curve(struct sheet *sheet, struct plot_panel *p, const struct figure_scalar *s,
                     const double *sorted, size_t n, enum plot_colour colour, int filled)
{
    double *x = sheet_numbers(sheet, GRID), *y = sheet_numbers(sheet, GRID),
           *zero = sheet_numbers(sheet, GRID), unused = 0;
    if (sheet->oom) return 0;
    for (int i = 0; i < GRID; i++) x[i] = p->x0 + (p->x1 - p->x0) * i / (GRID - 1), zero[i] = 0;
    if (!density_of(sorted, n, s->lo, s->hi, GRID, x, y)) return 0;
    if (filled) plot_include(y, GRID, &unused, &p->y1);
    if (filled)
        sheet_add(p,
                  (struct plot_layer){
                      .kind = PLOT_BAND, .colour = colour, .n = GRID, .x = x, .lo = zero, .hi = y});
    sheet_add(p,
              (struct plot_layer){.kind = PLOT_LINE, .colour = colour, .n = GRID, .x = x, .y = y});
    return 1;
}

/* Probabilities of `states` integers from `first` on. */
static double *share_of(struct sheet *sheet, const double *sorted, size_t n, double first,
                        int states)
{
    double *y = sheet_numbers(sheet, (size_t)states);
    for (int k = 0; y && k < states; k++) y[k] = 0;
    for (size_t i = 0; y && i < n; i++) {
        double k = floor(sorted[i] - first + 0.5);
        if (k >= 0 && k < states) y[(int)k] += 1 / (double)n;
    }
    return y;
}

/* Bars of the posterior, and a mark for the prior of each value. */
static int add_states(struct sheet *sheet, struct plot_panel *p, const double *sorted, size_t n,
                      const double *prior, size_t num_prior)
{
    double first = sorted[0], last = sorted[n - 1], unused = 0;
    if (prior && num_prior) {
        first = fmin(first, fmax(prior[0], first - 10));
        last = fmax(last, fmin(prior[num_prior - 1], last + 10));
    }
    if (last - first >= MOST_STATES) return 0;
    int states = (int)(last - first) + 1;
    double *edge = sheet_numbers(sheet, (size_t)states + 1),
           *mid = sheet_numbers(sheet, (size_t)states);
    double *y = share_of(sheet, sorted, n, first, states);
    if (sheet->oom) return 0;
    for (int k = 0; k <= states; k++) edge[k] = first + k - 0.5;
    for (int k = 0; k < states; k++) mid[k] = first + k;
    p->x0 = edge[0] - 0.2, p->x1 = edge[states] + 0.2;
    p->whole = 1;
    plot_include(y, states, &unused, &p->y1);
    sheet_add(p, (struct plot_layer){
                     .kind = PLOT_BARS, .colour = PLOT_BLUE, .n = states, .x = edge, .y = y});
    if (!num_prior) return 1;
    double *at = share_of(sheet, prior, num_prior, first, states);
    if (!at) return 0;
    plot_include(at, states, &unused, &p->y1);
    sheet_add(p, (struct plot_layer){
                     .kind = PLOT_POINTS, .colour = PLOT_ORANGE, .n = states, .x = mid, .y = at});
    return 1;
}

static const char *say_moments(struct sheet *sheet, const struct figure_scalar *s)
{
    struct str text = {0};
    if (isfinite(s->summary.mean) && isfinite(s->summary.sd))
        str_printf(&text, "%.3g \xc2\xb1 %.2g", s->summary.mean, s->summary.sd);
    return sheet_text(sheet, &text);
}

static void put_panel(struct sheet *sheet, struct plot_panel *p, const struct figure_input *in,
                      const struct figure_scalar *s, double *work)
{
    double *sorted = work, *prior = work + in->num_draws;
    size_t n = finite_sorted(s->draws, in->num_draws, sorted);
    size_t m = s->prior ? finite_sorted(s->prior, in->num_prior, prior) : 0;
    p->title = s->name;
    p->no_y = 1;
    p->y0 = 0, p->y1 = 0;
    if (!n) {
        p->text = "no finite draw";
        return;
    }
    p->note = say_moments(sheet, s);
    if (s->discrete && add_states(sheet, p, sorted, n, m ? prior : NULL, m)) {
        p->y1 *= 1.05;
        return;
    }
    range_of(s, sorted, n, p);
    int curve = add_curve(sheet, p, s, sorted, n, PLOT_BLUE, 1);
    if (m) add_curve(sheet, p, s, prior, m, PLOT_ORANGE, 0);
    if (!curve && !sheet->oom) { /* all draws are equal */
        double *at = sheet_numbers(sheet, 1);
        if (!at) return;
        *at = sorted[0];
        p->y1 = 1;
        sheet_add(p,
                  (struct plot_layer){.kind = PLOT_UPRIGHT, .colour = PLOT_SKY, .n = 1, .x = at});
    }
    p->y1 *= 1.05;
}

static int put(const struct figure_input *in, plot_put *put_plot, struct str *out)
{
    static const struct plot_key keys[] = {{"posterior", PLOT_BLUE}, {"prior", PLOT_ORANGE}};
    struct sheet s = {.plot = {.title = "Marginal posteriors", .key = keys, .nkey = 1, .left = 20}};
    int *which = arena_array(&s.mem, int, in->num_scalars + 1);
    double *work = sheet_numbers(&s, in->num_draws + in->num_prior);
    if (!which || !work) return sheet_end(&s, -1, put_plot, out);
    int shown = figure_choose(in, in->most ? in->most : PANELS, which);
    if (sheet_panels(&s, shown, LAYERS)) return sheet_end(&s, -1, put_plot, out);
    for (int i = 0; i < shown && !s.oom; i++) {
        const struct figure_scalar *scalar = &in->scalar[which[i]];
        put_panel(&s, &s.panel[i], in, scalar, work);
        if (scalar->prior) s.plot.nkey = 2;
    }
    struct str sub = {0};
    str_put(&sub, "mean \xc2\xb1 standard deviation");
    figure_say_shown(&sub, shown, in->num_scalars);
    s.plot.subtitle = sheet_text(&s, &sub);
    return sheet_end(&s, 0, put_plot, out);
}

const struct figure figure_marginals = {
    "marginals", "marginal posteriors of scalars, with their priors", FIGURE_DRAWS, put};
