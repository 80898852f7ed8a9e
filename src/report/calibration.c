/* calibration.c: figures of calibration diagnostics: rank histograms, ECDF, coverage, TARP,
   recovery. */
#include "report/calibration.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "report/plot.h"

enum { LAYERS = 4, MOST_SETS = 200 };

/* A picture being put together; all that it shows is in its memory. */
struct page {
    struct arena mem;
    struct plot plot;
    struct plot_panel *panel;
    int *which; /* (npanel): the scalar of each */
    int oom;
};

static double *numbers(struct page *p, int n)
{
    double *x = arena_array(&p->mem, double, n > 0 ? n : 1);
    if (!x) p->oom = 1;
    return x;
}

static const char *text(struct page *p, struct str *s)
{
    char *t = s->oom ? NULL : arena_strndup(&p->mem, s->s ? s->s : "", s->n);
    str_free(s);
    if (!t) p->oom = 1;
    return t;
}

/* Panels for the n scalars with the smallest `good`, in their own order. */
static int begin(struct page *p, int n, const double *good, const char *const *name)
{
    int shown = n < CALIBRATION_PANELS ? n : CALIBRATION_PANELS, at = 0;
    p->panel = arena_array(&p->mem, struct plot_panel, shown);
    p->which = arena_array(&p->mem, int, shown);
    struct plot_layer *layer = arena_array(&p->mem, struct plot_layer, shown * LAYERS);
    if (!p->panel || !p->which || !layer) return -1;
    for (int k = 0; k < n; k++) {
        int better = 0; /* scalars before this one */
        for (int j = 0; n > shown && j < n; j++)
            better += good[j] < good[k] || (j < k && good[j] == good[k]);
        if (better >= shown) continue;
        struct str s = {0};
        if (name)
            str_put(&s, name[k]);
        else
            str_printf(&s, "scalar %d", k + 1);
        p->panel[at] = (struct plot_panel){.title = text(p, &s), .layer = layer + at * LAYERS};
        p->which[at++] = k;
    }
    p->plot.panel = p->panel;
    p->plot.npanel = shown;
    return p->oom ? -1 : 0;
}

static void add(struct plot_panel *p, struct plot_layer l)
{
    ((struct plot_layer *)p->layer)[p->nlayer++] = l;
}

static const char *say_p(struct page *p, double value)
{
    struct str s = {0};
    if (value < 0.001)
        str_put(&s, "p < 0.001");
    else
        str_printf(&s, "p = %.*f", value < 0.1 ? 3 : 2, value);
    return text(p, &s);
}

/* How many of how many are shown, and what the grey band is. */
static void subtitle(struct page *p, int n, int sets, double alpha)
{
    struct str s = {0};
    str_printf(&s, "%d data sets; grey: %.4g %% band", sets, 100 * (1 - alpha));
    if (n > 1) str_printf(&s, " for all %d together", n);
    if (n > p->plot.npanel) str_printf(&s, "; the %d worst are shown", p->plot.npanel);
    p->plot.subtitle = text(p, &s);
}

static int finish(struct page *p, int rc, struct str *out)
{
    if (!rc && !p->oom)
        plot_svg(&p->plot, out);
    else
        rc = NAMI_ENOMEM;
    arena_free(&p->mem);
    return rc ? rc : out->oom ? NAMI_ENOMEM : 0;
}

/* The sbc's p-values: what makes a scalar worth showing. */
static double *sbc_p(struct page *p, const struct sbc *b)
{
    double *good = numbers(p, b->d);
    for (int k = 0; good && k < b->d; k++) good[k] = b->scalar[k].ecdf.p;
    return good;
}

int plot_ranks(const struct sbc *b, const char *const *name, struct str *out)
{
    struct page p = {.plot = {.title = "Ranks of the truth among posterior draws",
                              .xlabel = "rank",
                              .ylabel = "data sets"}};
    double *good = sbc_p(&p, b), *side = numbers(&p, b->nbin + 1), *level = numbers(&p, 3);
    int rc = !good || !side || !level || begin(&p, b->d, good, name), tallest = b->bin_hi;
    if (rc) return finish(&p, rc, out);
    for (int i = 0; i <= b->nbin; i++) side[i] = (b->m + 1.0) * i / b->nbin;
    level[0] = (double)b->n / b->nbin;
    level[1] = b->bin_lo;
    level[2] = b->bin_hi;
    for (int i = 0; i < b->d * b->nbin; i++)
        tallest = b->count[i] > tallest ? b->count[i] : tallest;
    double *lo = numbers(&p, 2), *hi = numbers(&p, 2), *ends = numbers(&p, 2);
    if (p.oom) return finish(&p, -1, out);
    lo[0] = lo[1] = b->bin_lo;
    hi[0] = hi[1] = b->bin_hi;
    ends[1] = b->m + 1;
    for (int i = 0; i < p.plot.npanel; i++) {
        struct plot_panel *q = &p.panel[i];
        const struct sbc_scalar *t = &b->scalar[p.which[i]];
        double *y = numbers(&p, b->nbin);
        for (int j = 0; y && j < b->nbin; j++) y[j] = b->count[p.which[i] * b->nbin + j];
        q->x1 = b->m + 1;
        q->y1 = tallest * 1.05;
        q->note = say_p(&p, t->ecdf.p);
        q->alarm = !t->ecdf.inside;
        add(q, (struct plot_layer){PLOT_BAND, PLOT_LIGHT, 2, ends, NULL, lo, hi});
        add(q, (struct plot_layer){PLOT_BARS, q->alarm ? PLOT_RED : PLOT_BLUE, b->nbin, side, y,
                                   NULL, NULL});
        add(q, (struct plot_layer){.kind = PLOT_LEVEL, .y = level});
    }
    subtitle(&p, b->d, b->n, b->alpha);
    return finish(&p, 0, out);
}

/* A distribution function and its band at 0, 1/k, ..., 1, less `slope` times the uniform one. */
struct curve {
    int n;
    double *x, *y, *lo, *hi;
};

static struct curve curve_of(struct page *p, const struct uniform_band *b, const int *below,
                             double slope)
{
    struct curve c = {b->k + 1, numbers(p, b->k + 1), numbers(p, b->k + 1), numbers(p, b->k + 1),
                      numbers(p, b->k + 1)};
    if (p->oom) return c;
    for (int i = 0; i <= b->k; i++) {
        int end = i == 0 ? 0 : b->n, inner = i > 0 && i < b->k;
        double u = (double)i / b->k, n = b->n;
        c.x[i] = u;
        c.y[i] = (inner ? below[i - 1] : end) / n - slope * u;
        c.lo[i] = (inner ? b->lo[i - 1] : end) / n - slope * u;
        c.hi[i] = (inner ? b->hi[i - 1] : end) / n - slope * u;
    }
    return c;
}

static void add_curve(struct plot_panel *q, const struct curve *c)
{
    add(q, (struct plot_layer){PLOT_BAND, PLOT_LIGHT, c->n, c->x, NULL, c->lo, c->hi});
    add(q, (struct plot_layer){PLOT_LINE, q->alarm ? PLOT_RED : PLOT_BLUE, c->n, c->x, c->y, NULL,
                               NULL});
}

int plot_ecdf(const struct sbc *b, const char *const *name, struct str *out)
{
    struct page p = {.plot = {.title = "Distribution of ranks, less the uniform one",
                              .xlabel = "rank / (draws + 1)",
                              .ylabel = "difference of distribution functions"}};
    double *good = sbc_p(&p, b), *zero = numbers(&p, 1), lo = 0, hi = 0;
    if (!good || !zero || begin(&p, b->d, good, name)) return finish(&p, -1, out);
    for (int i = 0; i < p.plot.npanel && !p.oom; i++) {
        struct plot_panel *q = &p.panel[i];
        const struct sbc_scalar *t = &b->scalar[p.which[i]];
        struct curve c = curve_of(&p, &b->band, b->below + p.which[i] * (b->band.k - 1), 1);
        if (p.oom) break;
        q->note = say_p(&p, t->ecdf.p);
        q->alarm = !t->ecdf.inside;
        add_curve(q, &c);
        add(q, (struct plot_layer){.kind = PLOT_LEVEL, .y = zero});
        plot_include(c.y, c.n, &lo, &hi);
        plot_include(c.lo, c.n, &lo, &hi);
        plot_include(c.hi, c.n, &lo, &hi);
    }
    for (int i = 0; i < p.plot.npanel; i++) {
        p.panel[i].x1 = 1;
        p.panel[i].y1 = 1.05 * fmax(-lo, hi);
        p.panel[i].y0 = -p.panel[i].y1;
    }
    subtitle(&p, b->d, b->n, b->alpha);
    return finish(&p, 0, out);
}

int plot_coverage(const struct coverage *c, const char *const *name, struct str *out)
{
    struct page p = {.plot = {.title = "How often posterior intervals hold the truth",
                              .xlabel = "stated probability",
                              .ylabel = "share of data sets"}};
    double *good = numbers(&p, c->nrow);
    const char **label = arena_array(&p.mem, const char *, c->nrow);
    if (!good || !label) return finish(&p, -1, out);
    for (int r = 0; r < c->nrow; r++) {
        struct str s = {0};
        good[r] = c->test[r].p;
        if (c->joint && r == c->nrow - 1)
            str_put(&s, "jointly, by density");
        else if (name)
            str_put(&s, name[r]);
        else
            str_printf(&s, "scalar %d", r + 1);
        if (!(label[r] = text(&p, &s))) return finish(&p, -1, out);
    }
    if (begin(&p, c->nrow, good, label)) return finish(&p, -1, out);
    for (int i = 0; i < p.plot.npanel && !p.oom; i++) {
        struct plot_panel *q = &p.panel[i];
        int row = p.which[i], n = c->nlevel;
        struct curve v = curve_of(&p, &c->band, c->below + row * (c->band.k - 1), 0);
        double *at = numbers(&p, 4 * n);
        if (p.oom) break;
        for (int l = 0; l < n; l++) {
            const struct coverage_at *a = &c->at[row * n + l];
            at[l] = a->level, at[n + l] = a->share, at[2 * n + l] = a->lo, at[3 * n + l] = a->hi;
        }
        q->note = say_p(&p, c->test[row].p);
        q->alarm = !c->test[row].inside;
        q->x1 = q->y1 = 1;
        add_curve(q, &v);
        add(q, (struct plot_layer){.kind = PLOT_DIAGONAL});
        add(q, (struct plot_layer){PLOT_POINTS, q->alarm ? PLOT_RED : PLOT_BLUE, n, at, at + n,
                                   at + 2 * n, at + 3 * n});
    }
    subtitle(&p, c->nrow, c->n, c->band.alpha * c->nrow);
    return finish(&p, 0, out);
}

int plot_tarp(const struct tarp *t, struct str *out)
{
    static const char *const NAME[] = {"all scalars together"};
    struct page p = {.plot = {.title = "Coverage of balls around random points",
                              .xlabel = "stated probability",
                              .ylabel = "share of data sets"}};
    if (begin(&p, 1, &t->test.p, NAME)) return finish(&p, -1, out);
    struct curve v = curve_of(&p, &t->band, t->below, 0);
    if (p.oom) return finish(&p, -1, out);
    p.panel->note = say_p(&p, t->test.p);
    p.panel->alarm = !t->test.inside;
    p.panel->x1 = p.panel->y1 = 1;
    add_curve(p.panel, &v);
    add(p.panel, (struct plot_layer){.kind = PLOT_DIAGONAL});
    subtitle(&p, 1, t->n, t->band.alpha);
    return finish(&p, 0, out);
}

int plot_recovery(const struct sims *s, const struct recovery *r, const double *mean,
                  const char *const *name, struct str *out)
{
    struct page p = {.plot = {.title = "Truths and what the posterior says",
                              .xlabel = "true value",
                              .ylabel = "posterior mean, 90 % interval"}};
    int n = s->n < MOST_SETS ? s->n : MOST_SETS;
    double *good = numbers(&p, s->d), *work = numbers(&p, 2 * s->m);
    for (int k = 0; good && k < s->d; k++) good[k] = isnan(r[k].corr) ? -2 : r[k].corr;
    if (!good || !work || begin(&p, s->d, good, name)) return finish(&p, -1, out);
    for (int i = 0; i < p.plot.npanel && !p.oom; i++) {
        struct plot_panel *q = &p.panel[i];
        int k = p.which[i];
        size_t at = (size_t)k * (size_t)s->n;
        double *lo = numbers(&p, n), *hi = numbers(&p, n);
        if (p.oom) break;
        q->x0 = INFINITY, q->x1 = -INFINITY;
        for (int j = 0; j < n; j++) recovery_interval(s, k, j, 0.9, work, &lo[j], &hi[j]);
        plot_include(s->theta + at, n, &q->x0, &q->x1);
        plot_include(mean + at, n, &q->x0, &q->x1);
        double room = 0.03 * (q->x1 - q->x0);
        q->x0 -= room, q->x1 += room;
        q->y0 = q->x0, q->y1 = q->x1;
        plot_include(lo, n, &q->y0, &q->y1);
        plot_include(hi, n, &q->y0, &q->y1);
        struct str note = {0};
        str_printf(&note, "r = %.2f", r[k].corr);
        q->note = text(&p, &note);
        add(q, (struct plot_layer){.kind = PLOT_DIAGONAL});
        add(q, (struct plot_layer){PLOT_POINTS, PLOT_BLUE, n, s->theta + at, mean + at, lo, hi});
    }
    struct str sub = {0};
    str_printf(&sub, "%d data sets", n);
    if (n < s->n) str_printf(&sub, " of %d", s->n);
    if (s->d > p.plot.npanel) str_printf(&sub, "; the %d worst scalars are shown", p.plot.npanel);
    p.plot.subtitle = text(&p, &sub);
    return finish(&p, 0, out);
}
