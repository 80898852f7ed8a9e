/* figure_predictive.c: the data among draws of them from the posterior predictive distribution:
   counts of each value, an interval for each element, or, of many elements, in the order of their
   predictions. */
#include <math.h>
#include <stdlib.h>

#include "report/density.h"
#include "report/figure.h"
#include "report/sheet.h"

enum { PANELS = 6, STATES = 15, FEW = 60, MOST = 240, LAYERS = 4, LEVELS = 5 };
static const double level[LEVELS] = {0.05, 0.25, 0.5, 0.75, 0.95};

/* Its elements that were observed, and what was drawn of them. */
struct shown {
    const struct figure_observed *of;
    const double *draws;
    size_t num_draws;
    int n, *element;
};

static int is_counted(const struct shown *v)
{
    const struct figure_observed *o = v->of;
    double lo = INFINITY, hi = -INFINITY;
    if (!o->discrete || v->n < 10) return 0;
    plot_include(o->data, o->num, &lo, &hi);
    return hi - lo < STATES;
}

/* Observed counts of each value, and 90 % intervals of predicted ones. */
static void put_counts(struct sheet *s, struct plot_panel *p, const struct shown *v)
{
    const struct figure_observed *o = v->of;
    double lo = INFINITY, hi = -INFINITY, unused = 0;
    plot_include(o->data, o->num, &lo, &hi);
    int states = (int)(hi - lo) + 1;
    size_t n = v->num_draws;
    double *edge = sheet_numbers(s, (size_t)states + 1), *x = sheet_numbers(s, 5 * (size_t)states);
    double *seen = x + states, *mid = seen + states, *low = mid + states, *high = low + states;
    double *count = sheet_numbers(s, n);
    if (s->oom) return;
    for (int k = 0; k <= states; k++) edge[k] = lo + k - 0.5;
    for (int k = 0; k < states; k++) {
        x[k] = lo + k, seen[k] = 0;
        for (size_t i = 0; i < n; i++) count[i] = 0;
        for (int j = 0; j < v->n; j++) {
            const double *draw = v->draws + (size_t)v->element[j] * n;
            seen[k] += o->data[v->element[j]] == x[k];
            for (size_t i = 0; i < n; i++) count[i] += draw[i] == x[k];
        }
        size_t m = finite_sorted(count, n, count);
        mid[k] = sorted_quantile(count, m, 0.5);
        low[k] = sorted_quantile(count, m, 0.05), high[k] = sorted_quantile(count, m, 0.95);
    }
    p->x0 = edge[0] - 0.2, p->x1 = edge[states] + 0.2;
    p->whole = 1;
    plot_include(seen, states, &unused, &p->y1);
    plot_include(high, states, &unused, &p->y1);
    p->y1 *= 1.05;
    p->note = "elements with each value; 90 % intervals";
    sheet_add(p, (struct plot_layer){
                     .kind = PLOT_BARS, .colour = PLOT_SKY, .n = states, .x = edge, .y = seen});
    sheet_add(p, (struct plot_layer){.kind = PLOT_POINTS,
                                     .colour = PLOT_BLUE,
                                     .n = states,
                                     .x = x,
                                     .y = mid,
                                     .lo = low,
                                     .hi = high});
}

struct placed {
    double q[LEVELS], data;
    int element;
};

static int by_median(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->q[2] != y->q[2]) return x->q[2] < y->q[2] ? -1 : 1;
    return (x->element > y->element) - (x->element < y->element);
}

static void put_elements(struct sheet *s, struct plot_panel *p, const struct shown *v)
{
    int n = v->n < MOST ? v->n : MOST, outside = 0;
    struct placed *at = arena_array(&s->mem, struct placed, n + 1);
    double *work = sheet_numbers(s, v->num_draws), *x = sheet_numbers(s, 7 * (size_t)n);
    if (!at) s->oom = 1;
    if (s->oom) return;
    for (int i = 0; i < n; i++) {
        int e = v->element[(size_t)i * (size_t)v->n / (size_t)n];
        size_t m = finite_sorted(v->draws + (size_t)e * v->num_draws, v->num_draws, work);
        at[i].element = e, at[i].data = v->of->data[e];
        for (int k = 0; k < LEVELS; k++) at[i].q[k] = m ? sorted_quantile(work, m, level[k]) : NAN;
        outside += at[i].data < at[i].q[0] || at[i].data > at[i].q[LEVELS - 1];
    }
    int sorted = v->n > FEW;
    if (sorted) qsort(at, (size_t)n, sizeof *at, by_median);
    p->y0 = INFINITY, p->y1 = -INFINITY;
    for (int i = 0; i < n; i++) {
        x[i] = sorted ? i + 1 : at[i].element + 1;
        x[n + i] = at[i].data;
        for (int k = 0; k < LEVELS; k++) x[(2 + k) * n + i] = at[i].q[k];
    }
    plot_include(x + n, 2 * n, &p->y0, &p->y1);
    plot_include(x + 6 * n, n, &p->y0, &p->y1);
    double room = 0.04 * (p->y1 - p->y0);
    p->y0 -= room, p->y1 += room;
    p->x0 = x[0] - 0.7, p->x1 = x[n - 1] + 0.7;
    p->whole = 1;
    struct str note = {0};
    str_printf(&note, "%.0f %% of %s outside of 90 %%%s", 100.0 * outside / n,
               n < v->n ? "those shown" : "elements",
               sorted ? "; in the order of predictions" : "");
    p->note = sheet_text(s, &note);
    if (sorted) {
        sheet_add(p, (struct plot_layer){.kind = PLOT_BAND,
                                         .colour = PLOT_BLUE,
                                         .n = n,
                                         .x = x,
                                         .lo = x + 2 * n,
                                         .hi = x + 6 * n});
        sheet_add(p, (struct plot_layer){.kind = PLOT_BAND,
                                         .colour = PLOT_BLUE,
                                         .n = n,
                                         .x = x,
                                         .lo = x + 3 * n,
                                         .hi = x + 5 * n});
    } else {
        sheet_add(p, (struct plot_layer){.kind = PLOT_POINTS,
                                         .colour = PLOT_BLUE,
                                         .n = n,
                                         .x = x,
                                         .lo = x + 2 * n,
                                         .hi = x + 6 * n});
        sheet_add(p, (struct plot_layer){.kind = PLOT_POINTS,
                                         .colour = PLOT_BLUE,
                                         .n = n,
                                         .x = x,
                                         .y = x + 4 * n,
                                         .lo = x + 3 * n,
                                         .hi = x + 5 * n,
                                         .width = n > FEW / 2 ? 2 : 3});
    }
    sheet_add(p, (struct plot_layer){.kind = PLOT_DOTS,
                                     .colour = PLOT_RED,
                                     .n = n,
                                     .x = x,
                                     .y = x + n,
                                     .width = v->n > FEW ? 4 : 6.5});
}

/* Elements that have a value, and draws; 0: none. */
static int show(struct sheet *s, const struct figure_observed *o, const double *draws, size_t n,
                struct shown *out)
{
    *out = (struct shown){.of = o, .draws = draws, .num_draws = n};
    if (!draws || !n) return 0;
    if (!(out->element = arena_array(&s->mem, int, o->num + 1))) return s->oom = 1, 0;
    for (int i = 0; i < o->num; i++)
        if (isfinite(o->data[i])) out->element[out->n++] = i;
    return out->n > 0;
}

int figure_put_predicted(const struct figure_input *in, int of_prior, plot_put *put_plot,
                         struct str *out)
{
    struct plot_key keys[] = {{"data", PLOT_RED},
                              {of_prior ? "prior predictive" : "posterior predictive", PLOT_BLUE}};
    struct sheet s = {.plot = {.title = of_prior
                                            ? "The data in the prior predictive distribution"
                                            : "The data in the posterior predictive distribution",
                               .xlabel = "element",
                               .key = keys,
                               .nkey = 2,
                               .wide = 460,
                               .high = 170,
                               .ncol = 1}};
    size_t n = of_prior ? in->num_prior : in->num_predicted;
    struct shown v;
    int most = in->most ? in->most : PANELS, have = 0, at = 0;
    for (int i = 0; i < in->num_observed && !s.oom; i++)
        have += show(&s, &in->observed[i],
                     of_prior ? in->observed[i].prior : in->observed[i].predicted, n, &v);
    if (s.oom || sheet_panels(&s, have < most ? have : most, LAYERS))
        return sheet_end(&s, -1, put_plot, out);
    for (int i = 0; i < in->num_observed && !s.oom && at < s.plot.npanel; i++) {
        const struct figure_observed *o = &in->observed[i];
        if (!show(&s, o, of_prior ? o->prior : o->predicted, n, &v)) continue;
        struct plot_panel *p = &s.panel[at++];
        p->title = o->name;
        if (is_counted(&v))
            put_counts(&s, p, &v);
        else
            put_elements(&s, p, &v);
    }
    struct str sub = {0};
    str_put(&sub, "50 % and 90 % intervals");
    figure_say_shown(&sub, s.plot.npanel, have);
    s.plot.subtitle = sheet_text(&s, &sub);
    return sheet_end(&s, 0, put_plot, out);
}

static int put(const struct figure_input *in, plot_put *put_plot, struct str *out)
{
    return figure_put_predicted(in, 0, put_plot, out);
}

const struct figure figure_predictive = {"predictive", "the data among posterior predictive draws",
                                         FIGURE_PREDICTED, put};
