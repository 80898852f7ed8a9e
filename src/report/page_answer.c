/* page_answer.c: of a report: the verdict, the posterior as a table and figures, and what it
   predicts. */
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "infer/ood_model.h"
#include "report/density.h"
#include "report/names.h"
#include "report/page.h"
#include "report/trust.h"

enum { ROWS = 60, LEAST_ELEMENTS = 3 };

/* ---- the verdict ------------------------------------------------------------------------------
 */

static void put_data(double p, struct str *out)
{
    str_put(out, "<dt>data</dt><dd>");
    if (isnan(p))
        str_put(out, "not compared with what the model draws");
    else if (p < OOD_ALARM)
        str_printf(out,
                   "<strong>unlike what the model draws</strong> (p = %.2g): the network was not "
                   "trained for them",
                   p);
    else
        str_printf(out, "like data sets that the model draws (p = %.2g)", p);
    str_put(out, "</dd>\n");
}

static void put_verdict(const struct page *p, struct str *out)
{
    const struct page_answer *a = p->answer;
    enum verdict v = verdict_of(a->method, a->found, a->draws, a->islands);
    struct str text = {0};
    if (a->method->weighted) show_weights(a->found, a->draws, a->islands, &text);
    show_verdict(a->infer, a->method, a->found, a->draws, a->islands, &text);
    str_printf(
        out,
        "<section id=\"verdict\" class=\"verdict %s\"><h2>Verdict: <strong>%s</strong></h2>\n"
        "<dl>\n",
        verdict_names[v], verdict_word(v));
    if (text.s) page_labeled(text.s, out);
    put_data(a->ood_p, out);
    str_printf(out, "<dt>method</dt><dd>%s, %zu draws</dd>\n",
               a->found->method ? a->found->method : a->method->name, a->draws);
    str_put(out, "</dl></section>\n");
    out->oom |= text.oom;
    str_free(&text);
}

/* ---- the posterior ----------------------------------------------------------------------------
 */

static int put_prior_cells(const struct page *p, const struct figure_scalar *s, double *work,
                           struct str *out)
{
    size_t n = s->prior ? finite_sorted(s->prior, p->figures.num_prior, work) : 0;
    page_number(out, 3, n ? sorted_quantile(work, n, 0.05) : NAN);
    page_number(out, 3, n ? sorted_quantile(work, n, 0.95) : NAN);
    return 0;
}

static void put_table(const struct page *p, double *work, struct str *out)
{
    const struct figure_input *in = &p->figures;
    int n = in->num_scalars < ROWS ? in->num_scalars : ROWS;
    str_put(out,
            "<div class=\"scroll tall\" tabindex=\"0\" role=\"group\" aria-label=\"Posterior table\">"
            "<table><caption>Posterior summaries");
    if (n < in->num_scalars) str_printf(out, ": the first %d of %d scalars", n, in->num_scalars);
    str_put(out, "</caption>\n<thead><tr><th scope=\"col\">variable</th><th scope=\"col\">mean</th>"
                 "<th scope=\"col\">sd</th><th scope=\"col\">5 %</th><th scope=\"col\">50 %</th>"
                 "<th scope=\"col\">95 %</th><th scope=\"col\">effective draws</th>"
                 "<th scope=\"col\">prior 5 %</th><th scope=\"col\">prior 95 %</th></tr></thead>\n"
                 "<tbody>\n");
    for (int i = 0; i < n; i++) {
        const struct figure_scalar *s = &in->scalar[i];
        str_put(out, "<tr>");
        page_tag(out, "th scope=\"row\"", s->name);
        page_number(out, 3, s->summary.mean), page_number(out, 3, s->summary.sd);
        page_number(out, 3, s->summary.q[0]), page_number(out, 3, s->summary.q[NQUANTILE / 2]);
        page_number(out, 3, s->summary.q[NQUANTILE - 1]);
        str_printf(out, "<td>%.0f</td>", s->summary.ess);
        put_prior_cells(p, s, work, out);
        str_put(out, "</tr>\n");
    }
    str_put(out, "</tbody></table></div>\n");
}

static int has_plate(const struct figure_input *in)
{
    for (int a = 0; a < in->num_arrays; a++)
        if (in->array[a].num >= LEAST_ELEMENTS) return 1;
    return 0;
}

static int put_posterior(const struct page *p, double *work, struct str *out)
{
    int rc = 0;
    str_put(out, "<section id=\"posterior\"><h2>Posterior</h2>\n");
    if (!p->figures.num_scalars) {
        str_put(out, "<p>There is nothing to infer.</p></section>\n");
        return 0;
    }
    put_table(p, work, out);
    rc = page_figure(p, &figure_marginals, 12, out);
    if (!rc && has_plate(&p->figures)) rc = page_figure(p, &figure_forest, 0, out);
    if (!rc && p->figures.num_scalars > 1) rc = page_figure(p, &figure_pairs, 4, out);
    if (!rc) rc = page_figure(p, &figure_trace, 4, out);
    if (!rc) rc = page_figure(p, &figure_rank, 4, out);
    str_put(out, "</section>\n");
    return rc;
}

/* ---- predictions ------------------------------------------------------------------------------
 */

/* Statistics of a data set: elements x[i * stride]; NaN where data are missing. */
enum { MEAN, SD, MIN, MAX, STATISTICS };
static const char *const statistic[STATISTICS] = {"mean", "sd", "minimum", "maximum"};

static void measure(const struct figure_observed *o, const double *x, size_t stride, double *out)
{
    double n = 0, mean = 0, square = 0, lo = INFINITY, hi = -INFINITY;
    for (int i = 0; i < o->num; i++) {
        double v = x[(size_t)i * stride];
        if (!isfinite(o->data[i])) continue;
        double from = v - mean;
        n++;
        mean += from / n;
        square += from * (v - mean);
        lo = fmin(lo, v), hi = fmax(hi, v);
    }
    out[MEAN] = n > 0 ? mean : NAN;
    out[SD] = n > 1 ? sqrt(square / (n - 1)) : NAN;
    out[MIN] = n > 0 ? lo : NAN, out[MAX] = n > 0 ? hi : NAN;
}

static void put_statistic(const struct figure_observed *o, int k, double seen, double *all,
                          size_t n, struct str *out)
{
    double above = 0;
    for (size_t i = 0; i < n; i++) above += all[i] > seen ? 1 : all[i] == seen ? 0.5 : 0;
    size_t m = finite_sorted(all, n, all);
    double p = above / (double)n;
    str_put(out, "<tr>");
    page_tag(out, "th scope=\"row\"", o->name);
    str_printf(out, "<td class=\"text\">%s</td>", statistic[k]);
    page_number(out, 4, seen);
    page_number(out, 4, m ? sorted_quantile(all, m, 0.05) : NAN);
    page_number(out, 4, m ? sorted_quantile(all, m, 0.5) : NAN);
    page_number(out, 4, m ? sorted_quantile(all, m, 0.95) : NAN);
    int far = p < 0.01 || p > 0.99;
    str_printf(out, "<td%s>%.3f%s</td></tr>\n", far ? " class=\"flag\"" : "", p,
               far ? " (extreme)" : "");
}

/* Data and replications: statistics, and where they lie (Gelman, Meng, Stern 1996). */
static int put_statistics(const struct page *p, struct arena *mem, struct str *out)
{
    const struct figure_input *in = &p->figures;
    size_t n = in->num_predicted;
    double *all = arena_array(mem, double, STATISTICS *n + 1);
    if (!all) return NAMI_ENOMEM;
    str_put(out,
            "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Predictive checks\">"
            "<table><caption>Statistics of the data among those of posterior predictive data "
            "sets; p: share of these with a larger one</caption>\n<thead><tr>"
            "<th scope=\"col\">variable</th><th scope=\"col\" class=\"text\">statistic</th>"
            "<th scope=\"col\">data</th><th scope=\"col\">predicted 5 %</th>"
            "<th scope=\"col\">50 %</th><th scope=\"col\">95 %</th><th scope=\"col\">p</th>"
            "</tr></thead>\n<tbody>\n");
    for (int v = 0; v < in->num_observed; v++) {
        const struct figure_observed *o = &in->observed[v];
        double seen[STATISTICS], one[STATISTICS];
        if (!o->predicted) continue;
        measure(o, o->data, 1, seen);
        for (size_t i = 0; i < n; i++) {
            measure(o, o->predicted + i, n, one);
            for (size_t k = 0; k < STATISTICS; k++) all[k * n + i] = one[k];
        }
        for (int k = 0; k < STATISTICS; k++)
            if (isfinite(seen[k])) put_statistic(o, k, seen[k], all + (size_t)k * n, n, out);
    }
    str_put(out, "</tbody></table></div>\n");
    return 0;
}

static int put_predictions(const struct page *p, struct arena *mem, struct str *out)
{
    int post = figure_can(&figure_predictive, &p->figures),
        prior = figure_can(&figure_prior, &p->figures), rc = 0;
    if (!post && !prior) return 0;
    str_put(out, "<section id=\"predictive\"><h2>Predictive checks</h2>\n");
    if (post) {
        str_put(out, "<h3>Could the fitted model have made these data?</h3>\n");
        rc = put_statistics(p, mem, out);
        if (!rc) rc = page_figure(p, &figure_predictive, 4, out);
    }
    if (!rc && prior) {
        str_put(out, "<h3>Where do the data lie in the prior predictive distribution?</h3>\n<p>");
        if (isnan(p->answer->ood_p))
            str_put(out, "They were not compared with it as a whole.");
        else
            str_printf(out, "As a whole, the data are %s those that the model draws: p = %.2g.",
                       p->answer->ood_p < OOD_ALARM ? "unlike" : "like", p->answer->ood_p);
        str_put(out, "</p>\n");
        rc = page_figure(p, &figure_prior, 4, out);
    }
    str_put(out, "</section>\n");
    return rc;
}

int page_answer(const struct page *p, struct str *out, nami_err *err)
{
    struct arena mem = {0};
    double *work = arena_array(&mem, double, p->figures.num_prior + 1);
    int rc = work ? 0 : NAMI_ENOMEM;
    if (!rc) put_verdict(p, out);
    if (!rc) rc = put_posterior(p, work, out);
    if (!rc) rc = put_predictions(p, &mem, out);
    arena_free(&mem);
    return rc ? err_nomem(err) : 0;
}
