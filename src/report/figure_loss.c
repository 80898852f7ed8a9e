/* figure_loss.c: the loss of a training run by step: in all, and of each factor or plate of them.
 */
#include <math.h>

#include "report/density.h"
#include "report/figure.h"
#include "report/sheet.h"

enum { PANELS = 12 };

/* The first values may be huge: the axis shows what is below most of them. */
static void fit(struct sheet *s, struct plot_panel *p, const double *y, int n)
{
    double *work = sheet_numbers(s, (size_t)n);
    if (!work) return;
    size_t k = finite_sorted(y, (size_t)n, work);
    if (!k) return;
    p->y0 = fmin(p->y0, work[0]);
    double top = k > 8 ? sorted_quantile(work, k, 0.95) : work[k - 1];
    p->y1 = fmax(p->y1, top);
}

static void add(struct sheet *s, struct plot_panel *p, const struct figure_history *h,
                const double *y, enum plot_colour colour)
{
    fit(s, p, y, h->num_rows);
    sheet_add(p, (struct plot_layer){
                     .kind = PLOT_LINE, .colour = colour, .n = h->num_rows, .x = h->step, .y = y});
}

static void finish(struct plot_panel *p, const struct figure_history *h)
{
    double room = 0.05 * (p->y1 - p->y0);
    p->x0 = 0;
    p->x1 = h->step[h->num_rows - 1];
    p->y0 -= room, p->y1 += room;
}

static int put(const struct figure_input *in, plot_put *put_plot, struct str *out)
{
    static const struct plot_key keys[] = {{"validation", PLOT_BLUE}, {"minibatches", PLOT_ORANGE}};
    const struct figure_history *h = &in->history;
    struct sheet s = {
        .plot = {
            .title = "Training loss", .xlabel = "step", .ylabel = "nats", .key = keys, .nkey = 2}};
    int most = in->most ? in->most : PANELS, terms = h->num_terms > 1 ? h->num_terms : 0;
    if (terms > most - 1) terms = most - 1;
    if (sheet_panels(&s, terms + 1, 2)) return sheet_end(&s, -1, put_plot, out);
    for (int k = 0; k <= terms; k++) {
        struct plot_panel *p = &s.panel[k];
        p->title = k ? h->name[k - 1] : "in all";
        p->y0 = INFINITY, p->y1 = -INFINITY;
        if (!k) add(&s, p, h, h->train, PLOT_ORANGE);
        add(&s, p, h, k ? h->term + (size_t)(k - 1) * (size_t)h->num_rows : h->valid, PLOT_BLUE);
        finish(p, h);
    }
    struct str sub = {0};
    str_put(&sub, "E[-log q(z|x)] on validation draws");
    if (terms) str_put(&sub, ", in all and of each factor");
    figure_say_shown(&sub, terms, h->num_terms > 1 ? h->num_terms : 0);
    s.plot.subtitle = sheet_text(&s, &sub);
    return sheet_end(&s, 0, put_plot, out);
}

const struct figure figure_loss = {"loss", "the loss of training, in all and of each factor",
                                   FIGURE_HISTORY, put};
