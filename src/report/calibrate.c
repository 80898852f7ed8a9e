/* calibrate.c: the table of scalars, the flaws found and the verdict, as text or JSON. */
#include "report/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "report/calibration.h"
#include "report/figure.h"
#include "report/names.h"
#include "report/table.h"

enum { MOST = 60, AT50 = 0, AT90 = 2 }; /* rows of a table; places in COVERAGE_LEVELS */

const char *const flaw_names[NFLAW] = {"ok",      "too narrow", "too wide",
                                       "too low", "too high",   "misshapen"};

const struct coverage_at *calibration_covered(const struct calibration *c, int row)
{
    return c->coverage.at + (size_t)row * (size_t)c->coverage.nlevel;
}

int calibration_scalar_fine(const struct calibration *c, int k)
{
    return c->sbc.scalar[k].ecdf.inside && c->coverage.test[k].inside;
}

static int joint_fine(const struct calibration *c)
{
    return !c->coverage.joint || c->coverage.test[c->sims.d].inside;
}

/* p-values that compare with alpha: times the number of tests (Bonferroni). */
double calibration_scalar_p(const struct calibration *c, int row)
{
    double p = c->coverage.nrow * c->coverage.test[row].p;
    if (row < c->sims.d) p = fmin(p, c->sims.d * c->sbc.scalar[row].ecdf.p);
    return fmin(1, CALIBRATION_TESTS * p);
}

static double p_tarp(const struct calibration *c)
{
    return fmin(1, CALIBRATION_TESTS * c->tarp.test.p);
}

/* With few effective draws ranks say little, least of all that all is well. */
static int can_tell(const struct calibration *c)
{
    return !c->weighted || (c->ess >= 50 && 2 * c->good >= c->sims.n);
}

int calibration_verdict(const struct calibration *c)
{
    if (!can_tell(c)) return -1;
    return c->sbc.inside && c->coverage.inside && c->tarp.test.inside;
}

/* The means of u and of |2u - 1| are 1/2 with variance 1/12n if all is well. */
enum flaw calibration_flaw(const struct calibration *c, int k)
{
    const double *u = c->sbc.u + (size_t)k * (size_t)c->sims.n;
    double shift = 0, width = 0, unit = sqrt(12.0 / c->sims.n);
    if (calibration_scalar_fine(c, k)) return FLAW_NONE;
    for (int i = 0; i < c->sims.n; i++) {
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
    double *p = c->sims.d > MOST ? raw_array(double, c->sims.d) : NULL, limit = INFINITY;
    if (!p) return limit;
    for (int k = 0; k < c->sims.d; k++) p[k] = calibration_scalar_p(c, k);
    qsort(p, (size_t)c->sims.d, sizeof *p, by_value);
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
    for (int k = 0; k < c->sims.d; k++) {
        const struct coverage_at *at = calibration_covered(c, k);
        const struct recovery *r = &c->recovery[k];
        if (calibration_scalar_p(c, k) > limit || shown >= MOST) continue;
        shown++;
        table_cell(&t, c->name[k]);
        table_cell(&t, flaw_names[calibration_flaw(c, k)]);
        put_p(&t.cells, calibration_scalar_p(c, k)), table_end(&t);
        put_cell(&t, at[AT50].share), put_cell(&t, at[AT90].share);
        put_cell(&t, r->corr), put_cell(&t, r->contraction), put_cell(&t, r->z_sd);
    }
    table_put(&t, 2, out);
    if (shown < c->sims.d) str_printf(out, "  ... +%d that look better\n", c->sims.d - shown);
}

static int count(const struct calibration *c, enum flaw f)
{
    int n = 0;
    for (int k = 0; k < c->sims.d; k++) n += calibration_flaw(c, k) == f;
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
    str_printf(out, "             %s (%s): ", flaw_names[f], means[f]);
    for (int k = 0; k < c->sims.d; k++) {
        if (calibration_flaw(c, k) != f) continue;
        if (left < n && out->n - begin > 90) break;
        str_printf(out, "%s%s", left == n ? "" : ", ", c->name[k]);
        left--;
    }
    if (left) str_printf(out, ", ... +%d", left);
    str_put(out, "\n");
}

static void put_joint(const struct calibration *c, struct str *out)
{
    const struct coverage_at *at = calibration_covered(c, c->sims.d);
    int fine = joint_fine(c);
    if (!c->coverage.joint) return;
    str_printf(out,
               "jointly      %s: regions of 50 %% and 90 %% of all latents hold the truth in "
               "%.0f %% and %.0f %% (p ",
               fine                                  ? "ok"
               : c->coverage.test[c->sims.d].dev < 0 ? "too narrow"
                                                     : "too wide",
               100 * at[AT50].share, 100 * at[AT90].share);
    if (calibration_scalar_p(c, c->sims.d) >= 0.001) str_put(out, "= ");
    put_p(out, calibration_scalar_p(c, c->sims.d));
    str_put(out, ")\n");
}

static void show_tarp(const struct calibration *c, struct str *out)
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
    int d = c->sims.d, bad = d - count(c, FLAW_NONE);
    if (calibration_verdict(c) == 1) {
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
    str_put(out, "advice       train longer, with more hidden units or with the family 'spline'");
    str_put(out, c->weighted   ? "; ask for more draws\n"
                 : c->training ? "\n"
                               : "; or use importance weights: method 'is'\n");
}

void calibration_text(const struct calibration *c, struct str *out)
{
    put_table(c, out);
    str_printf(out, "\ndata sets    %d, %d draws each, %s\n", c->sims.n, c->sims.m,
               c->weighted ? "weighted" : "not weighted");
    if (c->training)
        str_put(out, "             from the training distributions, which the network's own draws "
                     "are compared with\n");
    if (c->weighted)
        str_printf(out,
                   "weights      k-hat is good for %d of %d, %.0f effective draws on average\n",
                   c->good, c->sims.n, c->ess);
    put_joint(c, out);
    show_tarp(c, out);
    put_verdict(c, out);
}

/* ---- JSON --------------------------------------------------------------------------- */

static void put_levels(const struct calibration *c, int row, struct str *out)
{
    const struct coverage_at *at = calibration_covered(c, row);
    for (int l = 0; l < c->coverage.nlevel; l++) {
        char name[24];
        snprintf(name, sizeof name, "coverage%.0f", 100 * at[l].level);
        put_json_number(out, name, at[l].share);
    }
}

static void put_scalar(const struct calibration *c, int k, struct str *out)
{
    const struct recovery *r = &c->recovery[k];
    const struct sbc_scalar *t = &c->sbc.scalar[k];
    str_put(out, k ? ",\n {\"name\":" : "\n {\"name\":");
    str_quote(out, c->name[k]);
    str_printf(out, ",\"verdict\":\"%s\",\"inside\":%s", flaw_names[calibration_flaw(c, k)],
               calibration_scalar_fine(c, k) ? "true" : "false");
    put_json_number(out, "p", calibration_scalar_p(c, k)),
        put_json_number(out, "ecdf_p", t->ecdf.p);
    put_json_number(out, "chi2_p", t->chi2_p),
        put_json_number(out, "coverage_p", c->coverage.test[k].p);
    put_levels(c, k, out);
    put_json_number(out, "corr", r->corr), put_json_number(out, "rmse", r->rmse);
    put_json_number(out, "contraction", r->contraction);
    put_json_number(out, "z_mean", r->z_mean), put_json_number(out, "z_sd", r->z_sd);
    str_put(out, ",\"ranks\":[");
    for (int b = 0; b < c->sbc.nbin; b++)
        str_printf(out, "%s%d", b ? "," : "", c->sbc.count[k * c->sbc.nbin + b]);
    str_put(out, "]}");
}

void calibration_json(const struct calibration *c, struct str *out)
{
    static const char *const word[] = {"false", "true"};
    str_printf(out, "{\"calibrated\":%s,\"sets\":%d,\"draws\":%d,\"method\":\"%s\"",
               word[calibration_verdict(c) == 1], c->sims.n, c->sims.m, c->method);
    double p = CALIBRATION_TESTS * fmin(fmin(c->sbc.p, c->coverage.p), c->tarp.test.p);
    put_json_number(out, "alpha", c->alpha), put_json_number(out, "p", fmin(1, p));
    str_printf(out, ",\"ranks_per_bin\":[%d,%d]", c->sbc.bin_lo, c->sbc.bin_hi);
    if (c->training) str_put(out, ",\"training\":true");
    if (c->weighted) {
        put_json_number(out, "good_khat", c->good);
        put_json_number(out, "ess", c->ess);
    }
    if (c->coverage.joint) {
        str_printf(out, ",\n\"joint\":{\"inside\":%s", word[joint_fine(c)]);
        put_json_number(out, "p", calibration_scalar_p(c, c->sims.d));
        put_levels(c, c->sims.d, out);
        str_put(out, "}");
    }
    str_printf(out, ",\n\"tarp\":{\"inside\":%s", word[c->tarp.test.inside]);
    put_json_number(out, "p", p_tarp(c)), put_json_number(out, "atc", c->tarp.atc);
    str_put(out, "},\n\"scalars\":[");
    for (int k = 0; k < c->sims.d; k++) put_scalar(c, k, out);
    str_put(out, "]}\n");
}

/* ---- pictures ------------------------------------------------------------------------- */

static int put_ecdf(const struct figure_input *in, plot_put *put, struct str *out)
{
    return plot_ecdf(&in->calibration->sbc, in->calibration->name, in->most, put, out);
}

static int put_ranks(const struct figure_input *in, plot_put *put, struct str *out)
{
    return plot_ranks(&in->calibration->sbc, in->calibration->name, in->most, put, out);
}

static int put_coverage(const struct figure_input *in, plot_put *put, struct str *out)
{
    return plot_coverage(&in->calibration->coverage, in->calibration->name, in->most, put, out);
}

static int put_tarp(const struct figure_input *in, plot_put *put, struct str *out)
{
    return plot_tarp(&in->calibration->tarp, put, out);
}

static int put_recovery(const struct figure_input *in, plot_put *put, struct str *out)
{
    const struct calibration *c = in->calibration;
    return plot_recovery(&c->sims, c->recovery, c->mean, c->name, in->most, put, out);
}

const struct figure figure_ecdf = {"ecdf",
                                   "distribution function of the ranks minus that of the uniform",
                                   FIGURE_CALIBRATION, put_ecdf};
const struct figure figure_ranks = {"ranks", "histograms of the ranks", FIGURE_CALIBRATION,
                                    put_ranks};
const struct figure figure_coverage = {"coverage",
                                       "nominal against empirical coverage of credible intervals",
                                       FIGURE_CALIBRATION, put_coverage};
const struct figure figure_tarp = {"tarp", "expected coverage of balls around random points",
                                   FIGURE_CALIBRATION, put_tarp};
const struct figure figure_recovery = {"recovery", "true values against posterior means",
                                       FIGURE_CALIBRATION, put_recovery};
