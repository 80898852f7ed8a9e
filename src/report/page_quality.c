/* page_quality.c: of a report: the calibration of the network, factor by factor, and its training.
 */
#include <string.h>

#include "base/err.h"
#include "report/calibrate.h"
#include "report/page.h"

enum { ROWS = 40, PANELS = 8, AT50 = 0, AT90 = 2 };

/* How the factor of a scalar is made: exact or learned. */
static const char *factor_kind(const struct page *p, const char *scalar)
{
    const struct inverse *h = p->view.h;
    for (int i = 0; i < h->nexact; i++)
        if (strcmp(bn_name(p->view.bn, h->perm[i]), scalar) == 0) return h->exact[i];
    return NULL;
}

/* The worst first. */
static int next_worst(const struct calibration *c, unsigned char *done)
{
    int worst = -1;
    for (int k = 0; k < c->sims.d; k++)
        if (!done[k] && (worst < 0 || calibration_scalar_p(c, k) < calibration_scalar_p(c, worst)))
            worst = k;
    if (worst >= 0) done[worst] = 1;
    return worst;
}

static void put_row(const struct page *p, int k, struct str *out)
{
    const struct calibration *c = p->figures.calibration;
    const struct coverage_at *at = calibration_covered(c, k);
    const char *kind = factor_kind(p, c->name[k]);
    int fine = calibration_scalar_fine(c, k);
    str_put(out, "<tr>");
    page_tag(out, "th scope=\"row\"", c->name[k]);
    str_printf(out, "<td class=\"text\">%s%s%s</td><td class=\"text%s\">%s</td>",
               kind ? "exact (" : "learned", kind ? kind : "", kind ? ")" : "", fine ? "" : " flag",
               flaw_names[calibration_flaw(c, k)]);
    page_number(out, 2, calibration_scalar_p(c, k));
    page_number(out, 2, at[AT50].share), page_number(out, 2, at[AT90].share);
    page_number(out, 2, c->recovery[k].contraction);
    str_put(out, "</tr>\n");
}

static int put_calibration(const struct page *p, struct str *out)
{
    const struct calibration *c = p->figures.calibration;
    struct arena mem = {0};
    unsigned char *done = arena_array(&mem, unsigned char, c->sims.d + 1);
    if (!done) return NAMI_ENOMEM;
    int verdict = calibration_verdict(c), shown = c->sims.d < ROWS ? c->sims.d : ROWS;
    str_printf(
        out,
        "<section id=\"calibration\"><h2>Calibration</h2>\n<p><strong>%s</strong> on %d data "
        "sets that the model simulated, with %d draws each (simulation-based calibration, "
        "coverage and TARP; probability of a false alarm %g). It judges the network's own "
        "draws, which importance weights then correct.</p>\n",
        verdict == 1   ? "Calibrated"
        : verdict == 0 ? "Not calibrated"
                       : "Too few effective draws to tell",
        c->sims.n, c->sims.m, c->alpha);
    str_put(out,
            "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Calibration table\">"
            "<table><caption>By factor, the worst first");
    if (shown < c->sims.d) str_printf(out, ": %d of %d scalars", shown, c->sims.d);
    str_put(out,
            "</caption>\n<thead><tr><th scope=\"col\">variable</th><th scope=\"col\" "
            "class=\"text\">factor</th><th scope=\"col\" class=\"text\">posterior is</th>"
            "<th scope=\"col\">p</th><th scope=\"col\">50 % covers</th>"
            "<th scope=\"col\">90 % covers</th><th scope=\"col\">contraction</th></tr></thead>\n"
            "<tbody>\n");
    for (int i = 0; i < shown; i++) put_row(p, next_worst(c, done), out);
    str_put(out, "</tbody></table></div>\n");
    arena_free(&mem);
    int rc = page_figure(p, &figure_ecdf, PANELS, out);
    if (!rc) rc = page_figure(p, &figure_coverage, PANELS, out);
    str_put(out, "</section>\n");
    return rc;
}

int page_quality(const struct page *p, struct str *out, nami_err *err)
{
    int rc = p->figures.calibration ? put_calibration(p, out) : 0;
    if (!rc && figure_can(&figure_loss, &p->figures)) {
        str_put(out, "<section id=\"training\"><h2>Training</h2>\n");
        rc = page_figure(p, &figure_loss, 0, out);
        str_put(out, "</section>\n");
    }
    return rc ? err_nomem(err) : 0;
}
