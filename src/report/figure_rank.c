/* figure_rank.c: do Markov chains agree?  Ranks of the draws of each chain among those of all
   (Vehtari et al. 2021, Bayesian Analysis), as the distribution function of the ranks less the
   uniform one. */
#include <math.h>
#include <stdlib.h>

#include "report/figure.h"
#include "report/sheet.h"

enum { PANELS = 8, GRID = 40, MOST_CHAINS = 16 };

struct ranked {
    double value;
    size_t chain, place;
};

/* Ties in an order that does not prefer a chain. */
static int by_value(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    if (x->place != y->place) return x->place < y->place ? -1 : 1;
    return (x->chain > y->chain) - (x->chain < y->chain);
}

/* y[chain * (GRID + 1) + k]: share of the chain's draws among the first k / GRID of all, less k /
 * GRID. */
static void differences(struct ranked *r, size_t n, size_t chains, double *y)
{
    double length = (double)(n / chains);
    size_t done = 0;
    qsort(r, n, sizeof *r, by_value);
    for (size_t k = 0; k <= GRID; k++) {
        for (size_t c = 0; c < chains; c++)
            y[c * (GRID + 1) + k] = k ? y[c * (GRID + 1) + k - 1] : 0;
        for (; done < n * k / GRID; done++) y[r[done].chain * (GRID + 1) + k] += 1 / length;
    }
    for (size_t c = 0; c < chains; c++)
        for (size_t k = 0; k <= GRID; k++)
            y[c * (GRID + 1) + k] -= (double)(n * k / GRID) / (double)n;
}

static void put_panel(struct sheet *s, struct plot_panel *p, const struct figure_scalar *t,
                      size_t n, size_t chains, struct ranked *r, const double *x)
{
    double *y = sheet_numbers(s, chains * (GRID + 1)), *zero = sheet_numbers(s, 1);
    if (s->oom) return;
    for (size_t i = 0; i < n; i++) {
        r[i] = (struct ranked){isnan(t->draws[i]) ? INFINITY : t->draws[i], i / (n / chains),
                               i % (n / chains)};
    }
    differences(r, n, chains, y);
    *zero = 0;
    p->title = t->name;
    p->x1 = 1;
    p->y0 = -0.2, p->y1 = 0.2;
    plot_include(y, (int)(chains * (GRID + 1)), &p->y0, &p->y1);
    sheet_add(p, (struct plot_layer){.kind = PLOT_LEVEL, .y = zero});
    for (size_t c = 0; c < chains; c++)
        sheet_add(p, (struct plot_layer){.kind = PLOT_LINE,
                                         .colour = PLOT_BLUE,
                                         .n = GRID + 1,
                                         .x = x,
                                         .y = y + c * (GRID + 1),
                                         .width = 0.9});
}

static int put(const struct figure_input *in, plot_put *put_plot, struct str *out)
{
    struct sheet s = {.plot = {.title = "Ranks of Markov chains",
                               .xlabel = "rank among the draws of all chains / draws",
                               .ylabel = "difference from uniform"}};
    size_t chains = in->chains < MOST_CHAINS ? in->chains : MOST_CHAINS,
           n = in->chains ? in->num_draws / in->chains * chains : 0;
    int *which = arena_array(&s.mem, int, in->num_scalars + 1);
    struct ranked *r = arena_array(&s.mem, struct ranked, n + 1);
    double *x = sheet_numbers(&s, GRID + 1);
    if (!which || !r || !x) return sheet_end(&s, -1, put_plot, out);
    int shown = figure_choose(in, in->most ? in->most : PANELS, which);
    if (sheet_panels(&s, shown, MOST_CHAINS + 1)) return sheet_end(&s, -1, put_plot, out);
    for (int k = 0; k <= GRID; k++) x[k] = (double)k / GRID;
    for (int k = 0; k < shown && !s.oom && n; k++)
        put_panel(&s, &s.panel[k], &in->scalar[which[k]], n, chains, r, x);
    struct str sub = {0};
    str_printf(&sub, "a line for each of %zu chains: all near zero if they agree", chains);
    figure_say_shown(&sub, shown, in->num_scalars);
    s.plot.subtitle = sheet_text(&s, &sub);
    return sheet_end(&s, 0, put_plot, out);
}

const struct figure figure_rank = {"rank", "ranks of each Markov chain among all", FIGURE_CHAINS,
                                   put};
