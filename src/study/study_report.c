/* study_report.c: writes results as CSV, figures, and a Markdown page. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "report/plot.h"
#include "study/study.h"
#include "study/study_test.h"

static const double LEVEL = 0.01; /* of tests */

static const struct job *job_of(const struct study *s, int run, int variant)
{
    return &s->job[run * s->nvariant + variant];
}

static double value_of(const struct study *s, const struct job *j, size_t epoch, int k)
{
    return j->epoch.a[epoch * (size_t)s->nepoch + (size_t)k];
}

/* ---- CSV --------------------------------------------------------------------------------------
 */

/* Non-finite values are left empty. */
static void put_field(struct str *out, double x)
{
    str_put(out, ",");
    if (isfinite(x)) str_printf(out, "%.10g", x);
}

int study_csv(const struct study *s, struct str *epochs, struct str *ends)
{
    str_put(epochs, "run,variant,epoch");
    str_put(ends, "run,variant");
    for (int k = 0; k < s->nepoch; k++) str_printf(epochs, ",%s", s->x->epoch[k].name);
    for (int k = 0; k < s->nend; k++) str_printf(ends, ",%s", s->x->end[k].name);
    str_put(epochs, "\n");
    str_put(ends, "\n");
    for (int i = 0; i < s->njob; i++) {
        const struct job *j = &s->job[i];
        if (!j->done) continue;
        for (size_t e = 0; e < job_epochs(s, j); e++) {
            str_printf(epochs, "%d,%s,%zu", j->run, j->v->name, e + 1);
            for (int k = 0; k < s->nepoch; k++) put_field(epochs, value_of(s, j, e, k));
            str_put(epochs, "\n");
        }
        str_printf(ends, "%d,%s", j->run, j->v->name);
        for (int k = 0; k < s->nend; k++) put_field(ends, j->end[k]);
        str_put(ends, "\n");
    }
    return epochs->oom || ends->oom ? NAMI_ENOMEM : 0;
}

/* ---- means over runs ----------------------------------------------------------------------------
 */

struct moments {
    int n;
    double mean, sd;
};

/* Moments of a measure after an epoch, or of a final one (epoch < 0). */
static struct moments over_runs(const struct study *s, int variant, int epoch, int k)
{
    struct moments m = {0};
    double ss = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int r = 0; r < s->opt.runs; r++) {
            const struct job *j = job_of(s, r, variant);
            if (!j->done) continue;
            double x = epoch < 0 ? j->end[k] : value_of(s, j, (size_t)epoch, k);
            if (!isfinite(x)) continue;
            if (pass)
                ss += (x - m.mean) * (x - m.mean);
            else
                m.mean += (x - m.mean) / ++m.n;
        }
    if (!m.n) m.mean = NAN;
    m.sd = m.n > 1 ? sqrt(ss / (m.n - 1)) : NAN;
    return m;
}

/* ---- figures ------------------------------------------------------------------------------------
 */

static const enum plot_colour colours[] = {PLOT_BLUE,   PLOT_RED, PLOT_GREEN, PLOT_PURPLE,
                                           PLOT_ORANGE, PLOT_SKY, PLOT_GREY};
enum { NCOLOUR = sizeof colours / sizeof *colours };

/* "faithful" of faithful-300: the common prefix of variants of several sizes. */
static size_t stem(const char *name)
{
    const char *dash = strrchr(name, '-');
    return dash ? (size_t)(dash - name) : strlen(name);
}

struct curves {
    int n;
    struct plot_key *key;
    struct plot_layer *layer;
    double *room; /* four numbers a point: x, y, lo, hi */
    double *work; /* a number for each point of a curve */
    int points;   /* maximum number of points of a curve */
    struct arena mem;
};

static double scaled(const struct study_figure *f, double x)
{
    return !f->log ? x : x > 0 ? log10(x) : NAN;
}

static void add_point(const struct study_figure *f, struct plot_layer *l, double x, struct moments m)
{
    double half = f->band * m.sd / (f->by_error ? sqrt(m.n) : 1);
    double *to = (double *)l->x;
    int i = l->n++;
    to[i] = x;
    ((double *)l->y)[i] = scaled(f, m.mean);
    ((double *)l->lo)[i] = scaled(f, isfinite(half) ? m.mean - half : m.mean);
    ((double *)l->hi)[i] = scaled(f, isfinite(half) ? m.mean + half : m.mean);
}

/* The curve of this name. */
static struct plot_layer *curve(struct curves *c, const char *name, size_t len)
{
    for (int i = 0; i < c->n; i++)
        if (strlen(c->key[i].name) == len && memcmp(c->key[i].name, name, len) == 0)
            return &c->layer[i];
    size_t n = (size_t)c->points;
    double *room = c->room + 4 * n * (size_t)c->n;
    c->key[c->n] = (struct plot_key){arena_strndup(&c->mem, name, len), colours[c->n % NCOLOUR]};
    c->layer[c->n] = (struct plot_layer){.colour = colours[c->n % NCOLOUR],
                                         .x = room,
                                         .y = room + n,
                                         .lo = room + 2 * n,
                                         .hi = room + 3 * n};
    return c->key[c->n].name ? &c->layer[c->n++] : NULL;
}

static int fill_curves(const struct study *s, const struct study_figure *f, struct curves *c)
{
    const struct measure *m = f->against ? s->x->end : s->x->epoch;
    int k = measure_find(m, f->measure), by = f->against ? measure_find(m, f->against) : -1;
    for (int v = 0; v < s->nvariant; v++) {
        const char *name = s->x->variant[v].name;
        struct plot_layer *l = curve(c, name, f->against ? stem(name) : strlen(name));
        if (!l) return NAMI_ENOMEM;
        if (f->against) add_point(f, l, over_runs(s, v, -1, by).mean, over_runs(s, v, -1, k));
        for (int e = 0; e < s->s.epochs && !f->against; e++)
            add_point(f, l, e + 1, over_runs(s, v, e, k));
    }
    return 0;
}

/* Widens [*lo, *hi] to contain x[n], except for a fraction of the largest and the smallest;
   work[n]. */
static void include_most(const double *x, int n, double share, double *work, double *lo, double *hi)
{
    int m = 0;
    for (int i = 0; i < n; i++)
        if (isfinite(x[i])) work[m++] = x[i];
    sort_doubles(work, (size_t)m);
    int drop = (int)(share * m);
    plot_include(work + drop, m - 2 * drop, lo, hi);
}

/* Limits of the axes. For curves over epochs, these may exclude the first epochs, outlying epochs,
   and wide bands. */
static void fit_axes(const struct study_figure *f, const struct curves *c, struct plot_panel *p)
{
    p->x0 = p->y0 = INFINITY;
    p->x1 = p->y1 = -INFINITY;
    for (int i = 0; i < c->n; i++) {
        const struct plot_layer *l = &c->layer[i];
        int from = f->against ? 0 : l->n / 10, n = l->n - from;
        double rare = f->against ? 0 : 0.05, often = f->against ? 0 : 0.1;
        plot_include(l->x, l->n, &p->x0, &p->x1);
        include_most(l->y + from, n, rare, c->work, &p->y0, &p->y1);
        include_most(l->lo + from, n, often, c->work, &p->y0, &p->y1);
        include_most(l->hi + from, n, often, c->work, &p->y0, &p->y1);
    }
    double more = 0.04 * (p->y1 - p->y0), beside = f->against ? 0.02 * (p->x1 - p->x0) : 0;
    p->y0 -= more;
    p->y1 += more;
    p->x0 -= beside;
    p->x1 += beside;
}

int study_figure(const struct study *s, const struct study_figure *f, struct str *out, nami_err *err)
{
    static const double zero[] = {0};
    struct curves c = {.points = f->against ? s->nvariant : s->s.epochs};
    size_t n = (size_t)s->nvariant;
    struct plot_panel panel = {.log = f->log};
    struct str sub = {0}, label = {0};
    struct plot_layer *all = new_array(struct plot_layer, 2 * n + 1);
    c.key = new_array(struct plot_key, n);
    c.layer = new_array(struct plot_layer, n);
    c.room = new_array(double, (4 * n + 1) * (size_t)c.points);
    if (c.room) c.work = c.room + 4 * n * (size_t)c.points;
    int rc = !all || !c.key || !c.layer || !c.room || fill_curves(s, f, &c) ? err_nomem(err) : 0;
    for (int i = 0; i < c.n && !rc; i++) { /* bands behind lines */
        all[1 + i] = c.layer[i];
        all[1 + i].kind = f->against ? PLOT_POINTS : PLOT_BAND;
        all[1 + c.n + i] = c.layer[i];
        all[1 + c.n + i].kind = PLOT_LINE;
    }
    str_printf(&sub, "%s: ", s->x->name);
    if (s->opt.runs > 1)
        str_printf(&sub, "mean of %d runs, with %.2g standard %s", s->opt.runs, f->band,
                   f->by_error ? "errors" : "deviations");
    else
        str_put(&sub, "one run");
    if (f->against) str_put(&label, s->x->end[measure_find(s->x->end, f->against)].what);
    if (!rc && (sub.oom || label.oom)) rc = err_nomem(err);
    if (!rc) {
        fit_axes(f, &c, &panel);
        all[0] = (struct plot_layer){.kind = PLOT_LEVEL, .y = zero};
        int level = !f->log && panel.y0 < 0 && panel.y1 > 0;
        panel.layer = all + !level;
        panel.nlayer = 2 * c.n + level;
        struct plot p = {.title = f->title,
                         .subtitle = sub.s,
                         .xlabel = f->against ? label.s : "epoch",
                         .wide = 560,
                         .high = 320,
                         .nkey = c.n,
                         .key = c.key,
                         .npanel = 1,
                         .panel = &panel};
        plot_svg(&p, out);
        if (out->oom) rc = err_nomem(err);
    }
    str_free(&sub);
    str_free(&label);
    free(all);
    free(c.key);
    free(c.layer);
    free(c.room);
    arena_free(&c.mem);
    return rc;
}

/* ---- claims -------------------------------------------------------------------------------------
 */

/* Matches a pattern; returns the text matched by its * (or ""). */
static const char *fits(const char *pattern, const char *name)
{
    size_t n = strlen(pattern);
    if (n && pattern[n - 1] == '*') return strncmp(pattern, name, n - 1) == 0 ? name + n - 1 : NULL;
    return strcmp(pattern, name) == 0 ? name + n : NULL;
}

/* The variant of pattern b that corresponds to this one of a; -1: none. */
static int partner(const struct study *s, const char *b, const char *rest)
{
    for (int v = 0; v < s->nvariant; v++) {
        const char *r = fits(b, s->x->variant[v].name);
        if (r && strcmp(r, rest) == 0) return v;
    }
    return -1;
}

/* The median over runs where both variants are done. */
static double middle(const struct study *s, int v, int other, int k, double *room)
{
    int n = 0;
    for (int r = 0; r < s->opt.runs; r++)
        if (job_of(s, r, v)->done && job_of(s, r, other)->done) room[n++] = job_of(s, r, v)->end[k];
    return median_of(n, room);
}

/* Differences of all pairs that are done: at most njob of them. */
static int differences(const struct study *s, const struct claim *c, double *d, double *room)
{
    int k = measure_find(s->x->end, c->measure), n = 0;
    for (int v = 0; v < s->nvariant; v++) {
        const char *rest = fits(c->a, s->x->variant[v].name);
        int w = rest ? partner(s, c->b, rest) : -1;
        if (w < 0) continue;
        double mv = 0, mw = 0;
        if (c->kind == CLAIM_SPREAD) mv = middle(s, v, w, k, room), mw = middle(s, w, v, k, room);
        for (int r = 0; r < s->opt.runs; r++) {
            const struct job *a = job_of(s, r, v), *b = job_of(s, r, w);
            if (!a->done || !b->done) continue;
            double x = a->end[k], y = b->end[k];
            if (c->kind == CLAIM_SPREAD) x = fabs(x - mv), y = fabs(y - mw);
            if (isfinite(x) && isfinite(y)) d[n++] = x - y;
        }
    }
    return n;
}

/* From the p-values of the claim and of its opposite. */
static const char *verdict(double p, double contrary)
{
    return p < LEVEL ? "holds" : contrary < LEVEL ? "the contrary holds" : "not shown";
}

static void put_pairs(const struct study *s, const struct claim *c, double *d, struct str *out)
{
    struct paired t, contrary;
    int n = differences(s, c, d, d + s->njob);
    paired_test(n, d, &t);
    for (int i = 0; i < n; i++) d[i] = -d[i];
    paired_test(n, d, &contrary);
    str_printf(out, "| %s | %s%s, `%s` less `%s` | ", c->text,
               c->kind == CLAIM_SPREAD ? "spread of " : "", c->measure, c->a, c->b);
    if (n < 1)
        str_put(out, "| | | | |\n");
    else if (n < 2)
        str_printf(out, "%.4g | %d of 1 | | | |\n", t.mean, t.wins);
    else
        str_printf(out, "%.4g [%.4g, %.4g] | %d of %d | %.2g | %.2g | %s |\n", t.mean, t.lo, t.hi,
                   t.wins, n, t.p_t, t.p_flip,
                   verdict(fmax(t.p_t, t.p_flip), fmax(contrary.p_t, contrary.p_flip)));
}

/* Decreasing or increasing trend. */
static void put_order(const struct study *s, const struct claim *c, double *x, struct str *out)
{
    int k = measure_find(s->x->end, c->measure), n = 0;
    for (int v = 0; v < s->nvariant; v++) {
        double m = fits(c->a, s->x->variant[v].name) ? over_runs(s, v, -1, k).mean : NAN;
        if (isfinite(m)) x[n++] = m;
    }
    str_printf(out, "| %s | %s of `%s`, in their order | ", c->text, c->measure, c->a);
    double difference = n ? x[n - 1] - x[0] : NAN, falls = falls_test(n, x);
    for (int i = 0; i < n; i++) x[i] = -x[i];
    double rises = falls_test(n, x), p = c->kind == CLAIM_FALLS ? falls : rises;
    if (n < 2)
        str_put(out, "| | | | |\n");
    else
        str_printf(out, "%.4g | | | %.2g | %s |\n", difference, p,
                   verdict(p, c->kind == CLAIM_FALLS ? rises : falls));
}

/* ---- the page -----------------------------------------------------------------------------------
 */

static void put_variants(const struct study *s, struct str *out)
{
    str_put(out, "| variant | | runs |");
    for (int k = 0; k < s->nend; k++) str_printf(out, " %s |", s->x->end[k].name);
    str_put(out, "\n|---|---|--:|");
    for (int k = 0; k < s->nend; k++) str_put(out, "--:|");
    str_put(out, "\n");
    for (int v = 0; v < s->nvariant; v++) {
        const struct variant *x = &s->x->variant[v];
        int n = 0;
        for (int r = 0; r < s->opt.runs; r++) n += job_of(s, r, v)->done;
        str_printf(out, "| %s | %s%s | %d |", x->name, x->what, x->ours ? " (ours)" : "", n);
        for (int k = 0; k < s->nend; k++) {
            struct moments m = over_runs(s, v, -1, k);
            if (!m.n)
                str_put(out, " |");
            else if (m.n < 2 || m.sd == 0)
                str_printf(out, " %.*f |", m.mean == floor(m.mean) ? 0 : 4, m.mean);
            else
                str_printf(out, " %.4g ± %.2g |", m.mean, m.sd);
        }
        str_put(out, "\n");
    }
}

int study_summary(const struct study *s, struct str *out, nami_err *err)
{
    double *room = new_array(double, 2 * s->njob + s->nvariant + 1);
    if (!room) return err_nomem(err);
    str_printf(out, "# %s: %s\n\n%d run%s, %d epochs of %d steps of %d: %s settings", s->x->name,
               s->x->what, s->opt.runs, s->opt.runs > 1 ? "s" : "", s->s.epochs, s->s.steps,
               s->s.batch, s->opt.quick ? "**quick**" : "full");
    for (int i = 0; i < s->opt.nset; i++)
        str_printf(out, "%s %s", i ? "," : " but for", s->opt.set[i]);
    str_put(out, ".\n\n");
    put_variants(s, out);
    str_put(out, "\nMeans over runs ± standard deviation.\n\n");
    for (int k = 0; k < s->nend; k++)
        str_printf(out, "- `%s`: %s\n", s->x->end[k].name, s->x->end[k].what);
    str_put(out, "\n| claim | measure | difference [95 %] | won | p (t) | p (signs) | verdict |\n"
                 "|---|---|---|--:|--:|--:|---|\n");
    for (const struct claim *c = s->x->claim; c->text; c++)
        (c->kind == CLAIM_FALLS || c->kind == CLAIM_RISES ? put_order : put_pairs)(s, c, room, out);
    str_put(out,
            "\nPaired tests over runs, one-sided: Student's, and of all signs of the differences. "
            "\"holds\": both below 0.01; \"the contrary holds\": both below 0.01 the other way "
            "round.\n\n");
    for (const struct study_figure *f = s->x->figure; f->file; f++)
        str_printf(out, "![%s](%s.svg)\n", f->title, f->file);
    if (s->x->remarks) str_printf(out, "\n%s\n", s->x->remarks);
    free(room);
    return out->oom ? err_nomem(err) : 0;
}

static int write_text(const struct study *s, const char *name, const char *ending, struct str *text,
                      nami_err *err)
{
    struct str path = {0};
    str_printf(&path, "%s/%s%s", s->opt.dir, name, ending);
    int rc = path.oom || text->oom ? err_nomem(err)
                                   : file_write(path.s, text->s ? text->s : "", text->n, err);
    str_free(&path);
    text->n = 0;
    return rc;
}

int study_report(const struct study *s, nami_err *err)
{
    struct str a = {0}, b = {0};
    int rc = study_csv(s, &a, &b) ? err_nomem(err) : 0;
    if (!rc) rc = write_text(s, "epochs", ".csv", &a, err);
    if (!rc) rc = write_text(s, "ends", ".csv", &b, err);
    for (const struct study_figure *f = s->x->figure; f->file && !rc; f++) {
        rc = study_figure(s, f, &a, err);
        if (!rc) rc = write_text(s, f->file, ".svg", &a, err);
    }
    if (!rc) rc = study_summary(s, &a, err);
    if (!rc) rc = write_text(s, "summary", ".md", &a, err);
    str_free(&a);
    str_free(&b);
    return rc;
}
