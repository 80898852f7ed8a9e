/* calibrate_show.c: what `nami calibrate` prints: the table of scalars, the flaws found and the
   verdict, as text or JSON. */
#include "calibrate_show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "report/table.h"
#include "with_net.h"

enum { MOST = 60, AT50 = 0, AT90 = 2 }; /* rows of a table; places in COVERAGE_LEVELS */

static const char *const flaws[NFLAW] = {"ok",      "too narrow", "too wide",
                                         "too low", "too high",   "misshapen"};

static const struct coverage_at *covered(const struct calibration *c, int row)
{
    return c->coverage.at + (size_t)row * (size_t)c->coverage.nlevel;
}

static int scalar_fine(const struct calibration *c, int k)
{
    return c->sbc.scalar[k].ecdf.inside && c->coverage.test[k].inside;
}

static int joint_fine(const struct calibration *c)
{
    return !c->coverage.joint || c->coverage.test[c->s.d].inside;
}

/* p-values that compare with alpha: times the number of tests (Bonferroni). */
static double p_row(const struct calibration *c, int row)
{
    double p = c->coverage.nrow * c->coverage.test[row].p;
    if (row < c->s.d) p = fmin(p, c->s.d * c->sbc.scalar[row].ecdf.p);
    return fmin(1, CALIBRATION_TESTS * p);
}

static double p_tarp(const struct calibration *c)
{
    return fmin(1, CALIBRATION_TESTS * c->tarp.test.p);
}

/* With few effective draws ranks say little, least of all that all is well. */
static int can_tell(const struct calibration *c)
{
    return !c->weighted || (c->ess >= 50 && 2 * c->good >= c->s.n);
}

int calibrated(const struct calibration *c)
{
    return can_tell(c) && c->sbc.inside && c->coverage.inside && c->tarp.test.inside;
}

/* The means of u and of |2u - 1| are 1/2 with variance 1/12n if all is well. */
enum flaw flaw_of(const struct calibration *c, int k)
{
    const double *u = c->sbc.u + (size_t)k * (size_t)c->s.n;
    double shift = 0, width = 0, unit = sqrt(12.0 / c->s.n);
    if (scalar_fine(c, k)) return FLAW_NONE;
    for (int i = 0; i < c->s.n; i++) {
        shift += (u[i] - 0.5) * unit;
        width += (fabs(2 * u[i] - 1) - 0.5) * unit;
    }
    if (fmax(fabs(shift), fabs(width)) < 2.5) return MISSHAPEN;
    if (fabs(shift) > fabs(width)) return shift > 0 ? TOO_LOW : TOO_HIGH;
    return width > 0 ? TOO_NARROW : TOO_WIDE;
}

/* ---- text --------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The p-value up to which scalars are shown, if there are too many. */
static double shown_below(const struct calibration *c)
{
    double *p = c->s.d > MOST ? raw_array(double, c->s.d) : NULL, limit = INFINITY;
    if (!p) return limit;
    for (int k = 0; k < c->s.d; k++) p[k] = p_row(c, k);
    qsort(p, (size_t)c->s.d, sizeof *p, by_value);
    limit = p[MOST - 1];
    free(p);
    return limit;
}

static void put_p(struct str *out, double p)
{
    if (p < 0.001)
        str_put(out, "< 0.001");
    else
        str_printf(out, "%.*f", p < 0.1 ? 3 : 2, p);
}

static void put_cell(struct table *t, double x)
{
    if (isfinite(x))
        str_printf(&t->cells, "%.2f", x);
    else
        str_put(&t->cells, "-");
    table_end(t);
}

static void put_table(const struct calibration *c, struct str *out)
{
    static const char *const head[] = {"variable", "ranks", "p",           "50%",
                                       "90%",      "corr",  "contraction", "z sd"};
    struct table t = {.align = "llrrrrrr"};
    double limit = shown_below(c);
    int shown = 0;
    for (int i = 0; i < 8; i++) table_cell(&t, head[i]);
    for (int k = 0; k < c->s.d; k++) {
        const struct coverage_at *at = covered(c, k);
        const struct recovery *r = &c->recovery[k];
        if (p_row(c, k) > limit || shown >= MOST) continue;
        shown++;
        table_cell(&t, c->name[k]);
        table_cell(&t, flaws[flaw_of(c, k)]);
        put_p(&t.cells, p_row(c, k)), table_end(&t);
        put_cell(&t, at[AT50].share), put_cell(&t, at[AT90].share);
        put_cell(&t, r->corr), put_cell(&t, r->contraction), put_cell(&t, r->z_sd);
    }
    table_put(&t, 2, out);
    if (shown < c->s.d)
        str_printf(out, "  ... +%d that look better: --only NAMES, or --json, for the others\n",
                   c->s.d - shown);
}

static int count(const struct calibration *c, enum flaw f)
{
    int n = 0;
    for (int k = 0; k < c->s.d; k++) n += flaw_of(c, k) == f;
    return n;
}

/* The scalars with a flaw, as many as a line holds. */
static void put_flaw(const struct calibration *c, enum flaw f, struct str *out)
{
    static const char *const means[NFLAW] = {"",
                                             "the truth is too often far out",
                                             "the truth is too seldom far out",
                                             "the truth is too often above",
                                             "the truth is too often below",
                                             "neither shifted nor of a wrong width"};
    int n = count(c, f), left = n;
    size_t begin = out->n;
    if (!n) return;
    str_printf(out, "             %s (%s): ", flaws[f], means[f]);
    for (int k = 0; k < c->s.d; k++) {
        if (flaw_of(c, k) != f) continue;
        if (left < n && out->n - begin > 90) break;
        str_printf(out, "%s%s", left == n ? "" : ", ", c->name[k]);
        left--;
    }
    if (left) str_printf(out, ", ... +%d", left);
    str_put(out, "\n");
}

static void put_joint(const struct calibration *c, struct str *out)
{
    const struct coverage_at *at = covered(c, c->s.d);
    int fine = joint_fine(c);
    if (!c->coverage.joint) return;
    str_printf(out,
               "jointly      %s: regions of 50 %% and 90 %% of all latents hold the truth in "
               "%.0f %% and %.0f %% (p ",
               fine                               ? "ok"
               : c->coverage.test[c->s.d].dev < 0 ? "too narrow"
                                                  : "too wide",
               100 * at[AT50].share, 100 * at[AT90].share);
    if (p_row(c, c->s.d) >= 0.001) str_put(out, "= ");
    put_p(out, p_row(c, c->s.d));
    str_put(out, ")\n");
}

static void put_tarp(const struct calibration *c, struct str *out)
{
    const struct tarp *t = &c->tarp;
    str_printf(out, "tarp         %s: balls around random points hold the truth %s (p ",
               t->test.inside ? "ok" : "not ok",
               t->test.inside ? "as often as they should"
               : t->atc < 0   ? "too seldom: too narrow, or shifted"
                              : "too often: too wide");
    if (p_tarp(c) >= 0.001) str_put(out, "= ");
    put_p(out, p_tarp(c));
    str_put(out, ")\n");
}

static void put_verdict(const struct calibration *c, struct str *out)
{
    int d = c->s.d, bad = d - count(c, FLAW_NONE);
    if (calibrated(c)) {
        str_printf(out, "calibration  ok: ranks of %s%d scalar%s are uniform (alpha %g)\n",
                   d > 1 ? "all " : "", d, d > 1 ? "s" : "", c->alpha);
        return;
    }
    if (!can_tell(c))
        str_put(out, "calibration  not ok: the weights cannot be trusted, they have too few "
                     "effective draws or a k-hat that is too large\n");
    else if (bad)
        str_printf(out,
                   "calibration  not ok: ranks of %d of %d scalar%s are not uniform (alpha %g)\n",
                   bad, d, d > 1 ? "s" : "", c->alpha);
    else
        str_printf(out,
                   "calibration  not ok: each scalar is fine on average, but not all together: "
                   "how they depend on each other or on the data (alpha %g)\n",
                   c->alpha);
    for (int f = FLAW_NONE + 1; f < NFLAW; f++) put_flaw(c, (enum flaw)f, out);
    str_put(out, "advice       train longer, with more units (--hidden) or with --family spline");
    str_put(out, c->weighted ? "; give more --draws\n" : "; or weigh the draws: --method is\n");
}

void calibration_text(const struct calibration *c, struct str *out)
{
    put_table(c, out);
    str_printf(out, "\ndata sets    %d, %d draws each, %s\n", c->s.n, c->s.m,
               c->weighted ? "weighted" : "not weighted");
    if (c->weighted)
        str_printf(out,
                   "weights      k-hat is good for %d of %d, %.0f effective draws on average\n",
                   c->good, c->s.n, c->ess);
    put_joint(c, out);
    put_tarp(c, out);
    put_verdict(c, out);
}

/* ---- JSON --------------------------------------------------------------------------- */

static void put_coverage(const struct calibration *c, int row, struct str *out)
{
    const struct coverage_at *at = covered(c, row);
    for (int l = 0; l < c->coverage.nlevel; l++) {
        char name[24];
        snprintf(name, sizeof name, "coverage%.0f", 100 * at[l].level);
        old_put_json_number(out, name, at[l].share);
    }
}

static void put_scalar(const struct calibration *c, int k, struct str *out)
{
    const struct recovery *r = &c->recovery[k];
    const struct sbc_scalar *t = &c->sbc.scalar[k];
    str_put(out, k ? ",\n {\"name\":" : "\n {\"name\":");
    str_quote(out, c->name[k]);
    str_printf(out, ",\"verdict\":\"%s\",\"inside\":%s", flaws[flaw_of(c, k)],
               scalar_fine(c, k) ? "true" : "false");
    old_put_json_number(out, "p", p_row(c, k)), old_put_json_number(out, "ecdf_p", t->ecdf.p);
    old_put_json_number(out, "chi2_p", t->chi2_p),
        old_put_json_number(out, "coverage_p", c->coverage.test[k].p);
    put_coverage(c, k, out);
    old_put_json_number(out, "corr", r->corr), old_put_json_number(out, "rmse", r->rmse);
    old_put_json_number(out, "contraction", r->contraction);
    old_put_json_number(out, "z_mean", r->z_mean), old_put_json_number(out, "z_sd", r->z_sd);
    str_put(out, ",\"ranks\":[");
    for (int b = 0; b < c->sbc.nbin; b++)
        str_printf(out, "%s%d", b ? "," : "", c->sbc.count[k * c->sbc.nbin + b]);
    str_put(out, "]}");
}

void calibration_json(const struct calibration *c, struct str *out)
{
    static const char *const word[] = {"false", "true"};
    str_printf(out, "{\"calibrated\":%s,\"sets\":%d,\"draws\":%d,\"method\":\"%s\"",
               word[calibrated(c)], c->s.n, c->s.m, c->method);
    double p = CALIBRATION_TESTS * fmin(fmin(c->sbc.p, c->coverage.p), c->tarp.test.p);
    old_put_json_number(out, "alpha", c->alpha), old_put_json_number(out, "p", fmin(1, p));
    str_printf(out, ",\"ranks_per_bin\":[%d,%d]", c->sbc.bin_lo, c->sbc.bin_hi);
    if (c->weighted) {
        old_put_json_number(out, "good_khat", c->good);
        old_put_json_number(out, "ess", c->ess);
    }
    if (c->coverage.joint) {
        str_printf(out, ",\n\"joint\":{\"inside\":%s", word[joint_fine(c)]);
        old_put_json_number(out, "p", p_row(c, c->s.d));
        put_coverage(c, c->s.d, out);
        str_put(out, "}");
    }
    str_printf(out, ",\n\"tarp\":{\"inside\":%s", word[c->tarp.test.inside]);
    old_put_json_number(out, "p", p_tarp(c)), old_put_json_number(out, "atc", c->tarp.atc);
    str_put(out, "},\n\"scalars\":[");
    for (int k = 0; k < c->s.d; k++) put_scalar(c, k, out);
    str_put(out, "]}\n");
}
