/* figure_trace.c: draws of Markov chains, in their order. */
#include <math.h>

#include "report/figure.h"
#include "report/sheet.h"

enum { PANELS = 8, CHAINS = 4, POINTS = 150 };

static int put(const struct figure_input *in, plot_put *put_plot, struct str *out)
{
    static const enum plot_colour colours[CHAINS] = {PLOT_BLUE, PLOT_ORANGE, PLOT_GREEN,
                                                     PLOT_PURPLE};
    struct sheet s = {.plot = {.title = "Traces of Markov chains",
                               .xlabel = "draw of a chain",
                               .wide = 330,
                               .high = 110,
                               .ncol = 2}};
    size_t length = in->chains ? in->num_draws / in->chains : 0,
           points = length < POINTS ? length : POINTS;
    int chains = in->chains < CHAINS ? (int)in->chains : CHAINS;
    int *which = arena_array(&s.mem, int, in->num_scalars + 1);
    double *x = sheet_numbers(&s, points);
    if (!which || !x) return sheet_end(&s, -1, put_plot, out);
    int shown = figure_choose(in, in->most ? in->most : PANELS, which);
    if (sheet_panels(&s, shown, CHAINS)) return sheet_end(&s, -1, put_plot, out);
    for (size_t i = 0; i < points; i++) x[i] = (double)(i * length / points + 1);
    for (int k = 0; k < shown && !s.oom; k++) {
        struct plot_panel *p = &s.panel[k];
        p->title = in->scalar[which[k]].name;
        p->x0 = 1, p->x1 = (double)length;
        p->y0 = INFINITY, p->y1 = -INFINITY;
        for (int c = 0; c < chains; c++) {
            const double *from = in->scalar[which[k]].draws + (size_t)c * length;
            double *y = sheet_numbers(&s, points);
            for (size_t i = 0; y && i < points; i++) y[i] = from[i * length / points];
            if (!y) break;
            plot_include(y, (int)points, &p->y0, &p->y1);
            sheet_add(p, (struct plot_layer){.kind = PLOT_LINE,
                                             .colour = colours[c],
                                             .n = (int)points,
                                             .x = x,
                                             .y = y,
                                             .width = 0.8});
        }
    }
    struct str sub = {0};
    str_printf(&sub, "%d of %zu chains", chains, in->chains);
    figure_say_shown(&sub, shown, in->num_scalars);
    s.plot.subtitle = sheet_text(&s, &sub);
    return sheet_end(&s, 0, put_plot, out);
}

const struct figure figure_trace = {"trace", "draws of Markov chains in their order", FIGURE_CHAINS,
                                    put};
