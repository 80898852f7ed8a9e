/* posterior_show.c: nami_posterior_describe: the answer as a table for people, and as JSON. */
#include <math.h>
#include <string.h>

#include "api/posterior.h"
#include "base/err.h"
#include "infer/mcmc.h"
#include "infer/weights.h"
#include "report/table.h"
#include "report/trust.h"

static void put_label(const nami_posterior *p, const struct draws_var *v, size_t e, struct str *out)
{
    int element = variable_element(p, v, e);
    if (element >= 0) elem_name(p->net->net.model, element, out);
}

/* ---- text -------------------------------------------------------------------------------------
 */

static void put_cell(struct table *t, int digits, double x)
{
    if (isnan(x)) /* printf may say "-nan" */
        str_put(&t->cells, "NaN");
    else
        str_printf(&t->cells, digits ? "%.*g" : "%.*f", digits, x);
    table_end(t);
}

static void put_table(const nami_posterior *p, struct str *out)
{
    enum { MOST = 60 };
    static const char *const head[] = {"variable", "mean", "sd", "5%", "50%", "95%", "ess"};
    struct table t = {.align = "lrrrrrr"};
    size_t shown = 0;
    for (int i = 0; i < 7; i++) table_cell(&t, head[i]);
    for (int i = 0; i < p->layout.nvar; i++) {
        const struct draws_var *v = &p->layout.var[i];
        for (size_t e = 0; e < draws_var_size(v); e++) {
            const struct summary *s = &p->summary[v->base + e];
            if (!variable_is_asked(p, v, e) || shown++ >= MOST) continue;
            put_label(p, v, e, &t.cells), table_end(&t);
            put_cell(&t, 3, s->mean), put_cell(&t, 3, s->sd);
            put_cell(&t, 3, s->q[0]), put_cell(&t, 3, s->q[NQUANTILE / 2]);
            put_cell(&t, 3, s->q[NQUANTILE - 1]);
            put_cell(&t, 0, s->ess);
        }
    }
    if (!shown) { /* no table without rows */
        str_free(&t.cells);
        str_put(out, "variables    all of these are observed: there is nothing to infer of them\n");
        return;
    }
    table_put(&t, 2, out);
    if (shown > MOST) str_printf(out, "  ... and %zu more\n", shown - MOST);
}

/* Discrete latents: "  z[1]  1: 0.98, 2: 0.02". */
static void put_states(const nami_posterior *p, struct str *out)
{
    enum { MOST = 60 };
    struct table t = {.align = "ll"};
    size_t shown = 0, k = 0, n;
    table_cell(&t, "variable"), table_cell(&t, "probabilities of its states");
    for (int i = 0; i < p->layout.nvar; i++)
        for (size_t e = 0; e < draws_var_size(&p->layout.var[i]); e++, k++) {
            const struct state *s = states_of(p, 0, k, &n);
            if (!n || shown++ >= MOST) continue;
            put_label(p, &p->layout.var[i], e, &t.cells), table_end(&t);
            for (size_t j = 0; j < n; j++)
                str_printf(&t.cells, "%s%.10g: %.3g", j ? ", " : "", s[j].value, s[j].share);
            table_end(&t);
        }
    if (shown)
        table_put(&t, 2, out);
    else
        str_free(&t.cells);
    if (shown > MOST) str_printf(out, "  ... and %zu more\n", shown - MOST);
}

static void put_checks(const nami_posterior *p, struct str *out)
{
    static const char *const head[] = {"check", "statistic", "observed", "predicted", "p"};
    struct table t = {.align = "llrrr"};
    nami_predictive c;
    for (int i = 0; i < 5; i++) table_cell(&t, head[i]);
    for (size_t i = 0; nami_posterior_predictive(p, 0, i, &c, NULL) == 0; i++) {
        table_cell(&t, c.variable), table_cell(&t, c.statistic);
        put_cell(&t, 3, c.observed), put_cell(&t, 3, c.predicted);
        put_cell(&t, 2, c.p);
    }
    table_put(&t, 2, out);
}

static void put_loo(const nami_posterior *p, struct str *out)
{
    nami_loo l;
    if (nami_posterior_loo(p, 0, &l, NULL)) return;
    str_printf(out, "loo          elpd = %.2f +- %.2f, %.1f effective parameters; ", l.elpd, l.se,
               l.p_loo);
    if (l.num_bad)
        str_printf(out, "k-hat is too large (%.2f or more) for %zu of %zu observations\n",
                   khat_limit(p->q.per), l.num_bad, l.num_observations);
    else
        str_printf(out, "k-hat is good (below %.2f) for all %zu observations\n",
                   khat_limit(p->q.per), l.num_observations);
}

static void put_blame(const nami_posterior *p, struct str *out)
{
    const struct blamed *b = &p->blamed[0];
    if (!b->n) return;
    str_put(out, "blame        the log weights vary with ");
    for (int k = 0; k < b->n; k++) {
        if (k) str_put(out, ", ");
        elem_name(p->net->net.model, b->element[k], out);
        str_printf(out, " (%.0f %% of their variance)", 100 * b->share[k]);
    }
    str_put(out, "\n");
}

static void put_one(const nami_posterior *p, struct str *out)
{
    const struct diagnostics *d = &p->found[0].diagnostics;
    put_table(p, out);
    put_states(p, out);
    if (p->opt.ppc) put_checks(p, out);
    if (p->opt.loo) put_loo(p, out);
    if (p->method->weighted) show_weights(d, p->q.per, p->islands, out);
    put_blame(p, out);
    show_verdict(&p->net->infer, p->method, d, p->q.per, p->islands, out);
}

/* Many answers: how many are fine. */
static void put_sets(const nami_posterior *p, struct str *out)
{
    size_t good = 0, sets = p->q.nset, draws = p->q.per;
    double ess = 0;
    str_printf(out, "data sets    %zu, %zu draws each\n", sets, draws);
    if (!p->method->weighted) return;
    for (size_t s = 0; s < sets; s++) {
        const struct diagnostics *d = &p->found[s].diagnostics;
        good += verdict_of(p->method, d, draws, p->islands) == TRUSTED;
        ess += d->ess / (double)sets;
    }
    if (draws < KHAT_DRAWS && infer_is_exact(&p->net->infer))
        str_printf(out, "weights      all equal, %.0f effective draws on average\n", ess);
    else if (draws < KHAT_DRAWS && !p->islands)
        str_printf(out,
                   "weights      k-hat needs %d draws or more, %.0f effective draws on average\n",
                   KHAT_DRAWS, ess);
    else
        str_printf(out,
                   "weights      k-hat is good (below %.2f)%s for %zu of %zu, %.0f effective draws "
                   "on average\n",
                   khat_limit(draws), p->islands ? " or islands agree" : "", good, sets, ess);
    str_printf(out, "verdict      trusted: %zu of %zu\n", good, sets);
}

/* ---- JSON -------------------------------------------------------------------------------------
 */

static void put_json_states(const nami_posterior *p, size_t set, size_t row, struct str *out)
{
    size_t n;
    const struct state *s = states_of(p, set, row, &n);
    for (size_t i = 0; i < n; i++)
        str_printf(out, "%s\"%.10g\":%.10g", i ? "," : ",\"states\":{", s[i].value, s[i].share);
    if (n) str_put(out, "}");
}

static void put_json_loo(const nami_posterior *p, size_t set, struct str *out)
{
    nami_loo l;
    nami_loo_point x;
    if (!p->opt.loo || nami_posterior_loo(p, set, &l, NULL)) return;
    str_printf(out, ",\"loo\":{\"observations\":%zu,\"khat_bad\":%zu", l.num_observations,
               l.num_bad);
    put_json_number(out, "elpd", l.elpd), put_json_number(out, "se", l.se);
    put_json_number(out, "p_loo", l.p_loo), put_json_number(out, "khat", l.khat);
    str_put(out, ",\"pointwise\":{");
    for (size_t i = 0; nami_posterior_loo_point(p, set, i, &x, NULL) == 0; i++) {
        str_put(out, i ? ",\n  " : "\n  ");
        str_quote(out, x.name);
        str_printf(out, ":{\"observation\":%zu", i + 1);
        put_json_number(out, "elpd", x.elpd), put_json_number(out, "lpd", x.lpd);
        put_json_number(out, "khat", x.khat);
        str_put(out, "}");
    }
    str_put(out, "}}");
}

static void put_json_blame(const nami_posterior *p, size_t set, struct str *out)
{
    const struct blamed *b = &p->blamed[set];
    for (int k = 0; k < b->n; k++) {
        struct str name = {0};
        elem_name(p->net->net.model, b->element[k], &name);
        str_put(out, k ? "," : ",\"blame\":{");
        str_quote(out, name.s ? name.s : "");
        str_printf(out, ":%.4g", b->share[k]);
        out->oom |= name.oom;
        str_free(&name);
    }
    if (b->n) str_put(out, "}");
}

static void put_json_checks(const nami_posterior *p, size_t set, struct str *out)
{
    nami_predictive c;
    if (!p->opt.ppc) return;
    str_put(out, ",\"checks\":[");
    for (size_t i = 0; nami_posterior_predictive(p, set, i, &c, NULL) == 0; i++) {
        str_put(out, i ? ",\n  {\"variable\":" : "\n  {\"variable\":");
        str_quote(out, c.variable);
        str_printf(out, ",\"statistic\":\"%s\"", c.statistic);
        put_json_number(out, "observed", c.observed),
            put_json_number(out, "predicted", c.predicted);
        put_json_number(out, "p", c.p);
        str_put(out, "}");
    }
    str_put(out, "]");
}

/* Mean, sd and error of an exact latent, from its conditional moments. */
static void put_json_exact(const struct summary *s, struct str *out)
{
    struct str numbers = {0};
    if (!s->has_exact) return;
    put_json_number(&numbers, "mean", s->exact_mean);
    put_json_number(&numbers, "sd", s->exact_sd);
    put_json_number(&numbers, "mcse", s->exact_mcse);
    str_printf(out, ",\"exact\":{%s}", numbers.s ? numbers.s + 1 : "");
    out->oom |= numbers.oom;
    str_free(&numbers);
}

static void put_variables(const nami_posterior *p, size_t set, struct str *out)
{
#define NAME(p) "q" #p,
    static const char *const quantile[] = {QUANTILES(NAME)};
    const char *sep = "\n ";
    size_t row = 0;
    for (int i = 0; i < p->layout.nvar; i++) {
        const struct draws_var *v = &p->layout.var[i];
        for (size_t e = 0; e < draws_var_size(v); e++) {
            const struct summary *s = &p->summary[set * p->stride + v->base + e];
            struct str name = {0}, numbers = {0};
            put_label(p, v, e, &name);
            put_json_number(&numbers, "mean", s->mean), put_json_number(&numbers, "sd", s->sd);
            for (int q = 0; q < NQUANTILE; q++) put_json_number(&numbers, quantile[q], s->q[q]);
            put_json_number(&numbers, "mcse", s->mcse), put_json_number(&numbers, "ess", s->ess);
            put_json_states(p, set, row++, &numbers);
            put_json_exact(s, &numbers);
            str_put(out, sep);
            str_quote(out, name.s ? name.s : "");
            str_printf(out, ":{%s}", numbers.s ? numbers.s + 1 : ""); /* without the comma */
            out->oom |= name.oom | numbers.oom;
            str_free(&name);
            str_free(&numbers);
            sep = ",\n ";
        }
    }
}

static void put_json(const nami_posterior *p, struct str *out)
{
    str_put(out, "{\"sets\":[");
    for (size_t s = 0; s < p->q.nset; s++) {
        const struct diagnostics *d = &p->found[s].diagnostics;
        enum verdict v = verdict_of(p->method, d, p->q.per, p->islands);
        struct str reason = {0};
        verdict_reason(p->method, d, p->q.per, p->islands, &reason);
        str_printf(out, "%s{\"set\":%zu,\"verdict\":\"%s\",\"reason\":", s ? ",\n" : "", s + 1,
                   verdict_names[v]);
        str_quote(out, reason.s ? reason.s : "");
        str_printf(out, ",\"method\":\"%s\"", d->method ? d->method : p->method->name);
        if (d->rhat) put_json_number(out, "rhat", d->rhat);
        if (d->rhat && p->q.per % MCMC_CHAINS == 0) str_printf(out, ",\"chains\":%d", MCMC_CHAINS);
        put_json_number(out, "khat", d->khat), put_json_number(out, "ess", d->ess);
        put_json_number(out, "log_evidence", d->log_z);
        put_json_number(out, "log_evidence_se", d->log_se);
        put_json_number(out, "ood_p", p->found[s].ood_p);
        put_json_blame(p, s, out);
        put_json_loo(p, s, out);
        put_json_checks(p, s, out);
        str_printf(out, ",\"draws\":%zu,\"variables\":{", p->q.per);
        put_variables(p, s, out);
        str_put(out, "}}");
        out->oom |= reason.oom;
        str_free(&reason);
    }
    str_put(out, "]}\n");
}

int nami_posterior_describe(const nami_posterior *p, const char *as, char **text, nami_err *err)
{
    struct str out = {0};
    err_clear(err);
    *text = NULL;
    int rc = is_done(p, err);
    if (rc) return rc;
    if (strcmp(as, "json") == 0)
        put_json(p, &out);
    else if (strcmp(as, "text") != 0)
        return no_such_form(as, "text, json", err);
    else if (p->q.nset == 1)
        put_one(p, &out);
    else
        put_sets(p, &out);
    return give_text(&out, text, NULL, err);
}
