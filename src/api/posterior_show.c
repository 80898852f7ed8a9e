/* posterior_show.c: nami_posterior_describe: the answer as a table for people, and as JSON. */
#include <math.h>
#include <string.h>

#include "api/posterior.h"
#include "base/err.h"
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

static void put_one(const nami_posterior *p, struct str *out)
{
    const struct diagnostics *d = &p->found[0].diagnostics;
    put_table(p, out);
    if (p->method->weighted) show_weights(d, p->q.per, p->islands, out);
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

static void put_variables(const nami_posterior *p, size_t set, struct str *out)
{
#define NAME(p) "q" #p,
    static const char *const quantile[] = {QUANTILES(NAME)};
    const char *sep = "\n ";
    for (int i = 0; i < p->layout.nvar; i++) {
        const struct draws_var *v = &p->layout.var[i];
        for (size_t e = 0; e < draws_var_size(v); e++) {
            const struct summary *s = &p->summary[set * p->stride + v->base + e];
            struct str name = {0}, numbers = {0};
            put_label(p, v, e, &name);
            put_json_number(&numbers, "mean", s->mean), put_json_number(&numbers, "sd", s->sd);
            for (int q = 0; q < NQUANTILE; q++) put_json_number(&numbers, quantile[q], s->q[q]);
            put_json_number(&numbers, "mcse", s->mcse), put_json_number(&numbers, "ess", s->ess);
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
        put_json_number(out, "khat", d->khat), put_json_number(out, "ess", d->ess);
        put_json_number(out, "log_evidence", d->log_z);
        put_json_number(out, "log_evidence_se", d->log_se);
        put_json_number(out, "ood_p", p->found[s].ood_p);
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
