/* calibration.c: figures of calibration diagnostics: rank histograms, ECDF, coverage, TARP,
   recovery. */
#include "report/calibration.h"

#include <math.h>
#include <stdlib.h>

#include "report/sheet.h"

enum { LAYERS = 5, MOST_SETS = 200 };

/* A plot, and the scalar of each panel. */
struct page {
    struct sheet sheet;
    int *which;
};

/* Panels for the n scalars with the smallest `good`, in their own order. */
static int begin(struct page *p, int n, int most, const double *good, const char *const *name)
{
    int limit = most ? most : CALIBRATION_PANELS, shown = n < limit ? n : limit, at = 0;
    p->which = arena_array(&p->sheet.mem, int, shown);
    if (!p->which || sheet_panels(&p->sheet, shown, LAYERS)) return -1;
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
        p->sheet.panel[at].title = sheet_text(&p->sheet, &s);
        p->which[at++] = k;
    }
    return p->sheet.oom ? -1 : 0;
}

static const char *say_p(struct page *p, double value)
{
    struct str s = {0};
    if (value < 0.001)
        str_put(&s, "p < 0.001");
    else
        str_printf(&s, "p = %.*f", value < 0.1 ? 3 : 2, value);
    return sheet_text(&p->sheet, &s);
}

/* How many of how many are shown, and what the gray band is. */
static void subtitle(struct page *p, int n, int sets, double alpha)
{
    struct str s = {0};
    str_printf(&s, "%d data sets; gray: %.4g %% band", sets, 100 * (1 - alpha));
    if (n > 1) str_printf(&s, " for all %d together", n);
    if (n > p->sheet.plot.npanel) str_printf(&s, "; the %d worst are shown", p->sheet.plot.npanel);
    p->sheet.plot.subtitle = sheet_text(&p->sheet, &s);
}

/* The sbc's p-values: what makes a scalar worth showing. */
static double *sbc_p(struct page *p, const struct sbc *b)
{
    double *good = sheet_numbers(&p->sheet, b->d);
    for (int k = 0; good && k < b->d; k++) good[k] = b->scalar[k].ecdf.p;
    return good;
}

int plot_ranks(const struct sbc *b, const char *const *name, int most, plot_put *put,
               struct str *out)
{
    struct page p = {.sheet.plot = {.title = "Ranks of the truth among posterior draws",
                                    .xlabel = "rank",
                                    .ylabel = "data sets"}};
    double *good = sbc_p(&p, b), *side = sheet_numbers(&p.sheet, b->nbin + 1),
           *level = sheet_numbers(&p.sheet, 3);
    int rc = !good || !side || !level || begin(&p, b->d, most, good, name), tallest = b->bin_hi;
    if (rc) return sheet_end(&p.sheet, rc, put, out);
    for (int i = 0; i <= b->nbin; i++) side[i] = (b->m + 1.0) * i / b->nbin;
    level[0] = (double)b->n / b->nbin;
    level[1] = b->bin_lo;
    level[2] = b->bin_hi;
    for (int i = 0; i < b->d * b->nbin; i++)
        tallest = b->count[i] > tallest ? b->count[i] : tallest;
    double *lo = sheet_numbers(&p.sheet, 2), *hi = sheet_numbers(&p.sheet, 2),
           *ends = sheet_numbers(&p.sheet, 2);
    if (p.sheet.oom) return sheet_end(&p.sheet, -1, put, out);
    lo[0] = lo[1] = b->bin_lo;
    hi[0] = hi[1] = b->bin_hi;
    ends[1] = b->m + 1;
    for (int i = 0; i < p.sheet.plot.npanel; i++) {
        struct plot_panel *q = &p.sheet.panel[i];
        const struct sbc_scalar *t = &b->scalar[p.which[i]];
        double *y = sheet_numbers(&p.sheet, b->nbin);
        for (int j = 0; y && j < b->nbin; j++) y[j] = b->count[p.which[i] * b->nbin + j];
        q->x1 = b->m + 1;
        q->y1 = tallest * 1.05;
        q->note = say_p(&p, t->ecdf.p);
        q->alarm = !t->ecdf.inside;
        sheet_add(
            q, (struct plot_layer){
                   .kind = PLOT_BAND, .colour = PLOT_LIGHT, .n = 2, .x = ends, .lo = lo, .hi = hi});
        sheet_add(q, (struct plot_layer){.kind = PLOT_BARS,
                                         .colour = q->alarm ? PLOT_RED : PLOT_BLUE,
                                         .n = b->nbin,
                                         .x = side,
                                         .y = y});
        sheet_add(q, (struct plot_layer){.kind = PLOT_LEVEL, .y = level});
    }
    subtitle(&p, b->d, b->n, b->alpha);
    return sheet_end(&p.sheet, 0, put, out);
}

/* A distribution function and its band at 0, 1/k, ..., 1, less `slope` times the uniform one. */
struct curve {
    int n;
    double *x, *y, *lo, *hi;
};

static struct curve curve_of(struct page *p, const struct uniform_band *b, const int *below,
                             double slope)
{
    struct curve c = {b->k + 1, sheet_numbers(&p->sheet, b->k + 1),
                      sheet_numbers(&p->sheet, b->k + 1), sheet_numbers(&p->sheet, b->k + 1),
                      sheet_numbers(&p->sheet, b->k + 1)};
    if (p->sheet.oom) return c;
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
    sheet_add(q, (struct plot_layer){.kind = PLOT_BAND,
                                     .colour = PLOT_LIGHT,
                                     .n = c->n,
                                     .x = c->x,
                                     .lo = c->lo,
                                     .hi = c->hi});
    sheet_add(q, (struct plot_layer){.kind = PLOT_LINE,
                                     .colour = q->alarm ? PLOT_RED : PLOT_BLUE,
                                     .n = c->n,
                                     .x = c->x,
                                     .y = c->y});
}

/* Circles where the curve leaves the band: there first, and where it is furthest from it. */
static void add_leaving(struct page *p, struct plot_panel *q, const struct curve *c)
{
    double *at = sheet_numbers(&p->sheet, 4), most = 0;
    int n = 0;
    for (int i = 0; at && i < c->n; i++) {
        double far = fmax(c->y[i] - c->hi[i], c->lo[i] - c->y[i]);
        if (!(far > 1e-9)) continue;
        int k = n ? 1 : 0;
        if (n && far <= most) continue;
        at[k] = c->x[i], at[2 + k] = c->y[i];
        if (n < 2) n++;
        most = far;
    }
    if (n)
        sheet_add(q, (struct plot_layer){
                         .kind = PLOT_RINGS, .colour = PLOT_RED, .n = n, .x = at, .y = at + 2});
}

int plot_ecdf(const struct sbc *b, const char *const *name, int most, plot_put *put,
              struct str *out)
{
    struct page p = {.sheet.plot = {.title = "Distribution of ranks, less the uniform one",
                                    .xlabel = "rank / (draws + 1)",
                                    .ylabel = "difference of distribution functions"}};
    double *good = sbc_p(&p, b), *zero = sheet_numbers(&p.sheet, 1), lo = 0, hi = 0;
    if (!good || !zero || begin(&p, b->d, most, good, name))
        return sheet_end(&p.sheet, -1, put, out);
    for (int i = 0; i < p.sheet.plot.npanel && !p.sheet.oom; i++) {
        struct plot_panel *q = &p.sheet.panel[i];
        const struct sbc_scalar *t = &b->scalar[p.which[i]];
        struct curve c = curve_of(&p, &b->band, b->below + p.which[i] * (b->band.k - 1), 1);
        if (p.sheet.oom) break;
        q->note = say_p(&p, t->ecdf.p);
        q->alarm = !t->ecdf.inside;
        add_curve(q, &c);
        sheet_add(q, (struct plot_layer){.kind = PLOT_LEVEL, .y = zero});
        add_leaving(&p, q, &c);
        plot_include(c.y, c.n, &lo, &hi);
        plot_include(c.lo, c.n, &lo, &hi);
        plot_include(c.hi, c.n, &lo, &hi);
    }
    for (int i = 0; i < p.sheet.plot.npanel; i++) {
        p.sheet.panel[i].x1 = 1;
        p.sheet.panel[i].y1 = 1.05 * fmax(-lo, hi);
        p.sheet.panel[i].y0 = -p.sheet.panel[i].y1;
    }
    subtitle(&p, b->d, b->n, b->alpha);
    if (p.sheet.plot.subtitle) {
        struct str more = {0};
        str_printf(&more, "%s; circles: where a curve leaves it, and is furthest out",
                   p.sheet.plot.subtitle);
        p.sheet.plot.subtitle = sheet_text(&p.sheet, &more);
    }
    return sheet_end(&p.sheet, 0, put, out);
}

int plot_coverage(const struct coverage *c, const char *const *name, int most, plot_put *put,
                  struct str *out)
{
    struct page p = {.sheet.plot = {.title = "How often posterior intervals hold the truth",
                                    .xlabel = "stated probability",
                                    .ylabel = "share of data sets"}};
    double *good = sheet_numbers(&p.sheet, c->nrow);
    const char **label = arena_array(&p.sheet.mem, const char *, c->nrow);
    if (!good || !label) return sheet_end(&p.sheet, -1, put, out);
    for (int r = 0; r < c->nrow; r++) {
        struct str s = {0};
        good[r] = c->test[r].p;
        if (c->joint && r == c->nrow - 1)
            str_put(&s, "jointly, by density");
        else if (name)
            str_put(&s, name[r]);
        else
            str_printf(&s, "scalar %d", r + 1);
        if (!(label[r] = sheet_text(&p.sheet, &s))) return sheet_end(&p.sheet, -1, put, out);
    }
    if (begin(&p, c->nrow, most, good, label)) return sheet_end(&p.sheet, -1, put, out);
    for (int i = 0; i < p.sheet.plot.npanel && !p.sheet.oom; i++) {
        struct plot_panel *q = &p.sheet.panel[i];
        int row = p.which[i], n = c->nlevel;
        struct curve v = curve_of(&p, &c->band, c->below + row * (c->band.k - 1), 0);
        double *at = sheet_numbers(&p.sheet, 4 * n);
        if (p.sheet.oom) break;
        for (int l = 0; l < n; l++) {
            const struct coverage_at *a = &c->at[row * n + l];
            at[l] = a->level, at[n + l] = a->share, at[2 * n + l] = a->lo, at[3 * n + l] = a->hi;
        }
        q->note = say_p(&p, c->test[row].p);
        q->alarm = !c->test[row].inside;
        q->x1 = q->y1 = 1;
        add_curve(q, &v);
        sheet_add(q, (struct plot_layer){.kind = PLOT_DIAGONAL});
        sheet_add(q, (struct plot_layer){.kind = PLOT_POINTS,
                                         .colour = q->alarm ? PLOT_RED : PLOT_BLUE,
                                         .n = n,
                                         .x = at,
                                         .y = at + n,
                                         .lo = at + 2 * n,
                                         .hi = at + 3 * n});
    }
    subtitle(&p, c->nrow, c->n, c->band.alpha * c->nrow);
    return sheet_end(&p.sheet, 0, put, out);
}

int plot_tarp(const struct tarp *t, plot_put *put, struct str *out)
{
    static const char *const NAME[] = {"all scalars together"};
    struct page p = {.sheet.plot = {.title = "Coverage of balls around random points",
                                    .xlabel = "stated probability",
                                    .ylabel = "share of data sets"}};
    if (begin(&p, 1, 1, &t->test.p, NAME)) return sheet_end(&p.sheet, -1, put, out);
    struct curve v = curve_of(&p, &t->band, t->below, 0);
    if (p.sheet.oom) return sheet_end(&p.sheet, -1, put, out);
    p.sheet.panel->note = say_p(&p, t->test.p);
    p.sheet.panel->alarm = !t->test.inside;
    p.sheet.panel->x1 = p.sheet.panel->y1 = 1;
    add_curve(p.sheet.panel, &v);
    sheet_add(p.sheet.panel, (struct plot_layer){.kind = PLOT_DIAGONAL});
    subtitle(&p, 1, t->n, t->band.alpha);
    return sheet_end(&p.sheet, 0, put, out);
}

int plot_recovery(const struct sims *s, const struct recovery *r, const double *mean,
                  const char *const *name, int most, plot_put *put, struct str *out)
{
    struct page p = {.sheet.plot = {.title = "Truths and what the posterior says",
                                    .xlabel = "true value",
                                    .ylabel = "posterior mean, 90 % interval"}};
    int n = s->n < MOST_SETS ? s->n : MOST_SETS;
    double *good = sheet_numbers(&p.sheet, s->d), *work = sheet_numbers(&p.sheet, 2 * s->m);
    for (int k = 0; good && k < s->d; k++) good[k] = isnan(r[k].corr) ? -2 : r[k].corr;
    if (!good || !work || begin(&p, s->d, most, good, name))
        return sheet_end(&p.sheet, -1, put, out);
    for (int i = 0; i < p.sheet.plot.npanel && !p.sheet.oom; i++) {
        struct plot_panel *q = &p.sheet.panel[i];
        int k = p.which[i];
        size_t at = (size_t)k * (size_t)s->n;
        double *lo = sheet_numbers(&p.sheet, n), *hi = sheet_numbers(&p.sheet, n);
        if (p.sheet.oom) break;
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
        q->note = sheet_text(&p.sheet, &note);
        sheet_add(q, (struct plot_layer){.kind = PLOT_DIAGONAL});
        sheet_add(q, (struct plot_layer){.kind = PLOT_POINTS,
                                         .colour = PLOT_BLUE,
                                         .n = n,
                                         .x = s->theta + at,
                                         .y = mean + at,
                                         .lo = lo,
                                         .hi = hi});
    }
    struct str sub = {0};
    str_printf(&sub, "%d data sets", n);
    if (n < s->n) str_printf(&sub, " of %d", s->n);
    if (s->d > p.sheet.plot.npanel)
        str_printf(&sub, "; the %d worst scalars are shown", p.sheet.plot.npanel);
    p.sheet.plot.subtitle = sheet_text(&p.sheet, &sub);
    return sheet_end(&p.sheet, 0, put, out);
}
