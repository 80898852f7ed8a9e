/* focus.c: training distributions around the posterior of a data set, for models with vague priors.
 */
#include <math.h>
#include <stdlib.h>

#include "api/posterior.h"
#include "base/err.h"
#include "base/vec.h"

enum { DRAWS = 1000 };
static const double WIDER = 5,         /* than the posterior */
    VAGUE = 20;                        /* a prior that is so much wider than the posterior */
static const double WIDTH_90 = 3.2897; /* of the middle 90 % of a normal, in sds */

/* The scale on which a latent of the model is normal in training. */
enum focus_scale { FOCUS_NONE, FOCUS_REAL, FOCUS_LOG };

/* A latent scalar without random parents, whose support is the real or the positive numbers. */
static enum focus_scale scale_of(const struct model *m, int element)
{
    int node = element_node(m, element), instance = element_instance(m, element);
    const struct dist *dist = element_dist(m, element);
    const struct dag *g = &model_bn(m)->dag;
    double lo, hi;
    if (node < 0 || instance < 0 || !dist || element_is_observed(m, element) ||
        element_is_trained(m, element) || domains[dist->domain].discrete ||
        domains[dist->domain].rank || instance_size(m, instance) != 1 ||
        g->pp[node] != g->pp[node + 1] || model_bn(m)->node.a[node].nuisance)
        return FOCUS_NONE;
    model_support(m, element, &lo, &hi);
    if (hi < INFINITY) return FOCUS_NONE;
    return lo == -INFINITY ? FOCUS_REAL : lo == 0 ? FOCUS_LOG : FOCUS_NONE;
}

/* Half of the middle 68 % of the prior's draws; +inf if they are not finite. */
static double prior_width(const double *draw, enum focus_scale scale, double *work)
{
    for (int i = 0; i < DRAWS; i++) {
        work[i] = scale == FOCUS_LOG ? log(draw[i]) : draw[i];
        if (!isfinite(work[i])) return INFINITY;
    }
    sort_doubles(work, DRAWS);
    return (work[(int)(0.841 * DRAWS)] - work[(int)(0.159 * DRAWS)]) / 2;
}

/* Adds "mu ~ normal(2.1, 8)", if the prior is vague. */
static void add(const struct model *m, int element, const struct summary *s, const double *draw,
                double *work, struct str *out)
{
    enum focus_scale scale = scale_of(m, element);
    double low = s->q[0], middle = s->q[NQUANTILE / 2], high = s->q[NQUANTILE - 1];
    if (scale == FOCUS_LOG) low = log(low), middle = log(middle), high = log(high);
    double sd = (high - low) / WIDTH_90, prior = INFINITY;
    if (scale == FOCUS_NONE || !isfinite(middle) || !(sd > 0) || !isfinite(sd)) return;
    if (draw) prior = prior_width(draw + (size_t)element_row(m, element) * DRAWS, scale, work);
    if (!(prior > VAGUE * sd)) return;
    if (out->n) str_put(out, "; ");
    elem_name(m, element, out);
    str_printf(out, " ~ %s(%.3g, %.2g)", scale == FOCUS_LOG ? "lognormal" : "normal", middle,
               WIDER * sd);
}

int nami_posterior_focus(const nami_posterior *post, size_t set, char **priors, nami_err *err)
{
    const struct model *m = post->net->net.model;
    size_t rows = (size_t)model_num_rows(m);
    struct str out = {0};
    nami_err none;
    *priors = NULL;
    err_clear(err);
    int rc = is_done(post, err);
    if (!rc && set >= post->q.nset)
        rc = err_set(err, NAMI_EUSAGE, "there are %zu data sets, counted from 0", post->q.nset);
    if (rc) return rc;
    double *draw = raw_array(double, rows *DRAWS + 1), *work = raw_array(double, DRAWS);
    if (!draw || !work) rc = err_nomem(err);
    int known = !rc && model_simulated(m) < 0 && /* improper priors cannot be drawn from */
                !model_simulate(m, post->q.seed, 0, DRAWS, post->threads, draw, &none);
    for (int v = 0; v < post->layout.nvar && !rc; v++)
        for (size_t e = 0; e < draws_var_size(&post->layout.var[v]); e++) {
            int element = variable_element(post, &post->layout.var[v], e);
            if (element >= 0 && variable_is_asked(post, &post->layout.var[v], e))
                add(m, element, &post->summary[set * post->stride + post->layout.var[v].base + e],
                    known ? draw : NULL, work, &out);
        }
    free(draw);
    free(work);
    if (!rc && out.n) return give_text(&out, priors, NULL, err);
    str_free(&out);
    return rc;
}
