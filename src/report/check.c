/* check.c: the prior predictive check as a table of what draws look like, or as JSON. */
#include "report/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "report/table.h"

/* How many instances of each statement are observed; NULL: no memory. */
static int *count_observed(const struct model *m)
{
    int *count = new_array(int, model_num_statements(m) + 1);
    for (int k = 0; count && k < model_num_instances(m); k++)
        count[instance_statement(m, k)] += element_is_observed(m, instance_elements(m, k)[0]);
    return count;
}

static void number(struct table *t, double x)
{
    char s[32];
    snprintf(s, sizeof s, "%.3g", isnan(x) ? NAN : x); /* never "-nan" */
    table_cell(t, s);
}

static void put_row(const struct model *m, const struct check_row *r, int observed, struct table *t)
{
    int of = model_statement(m, r->stmt).num_instances;
    statement_name(m, r->stmt, &t->cells), table_end(t);
    table_cell(t, observed == 0 ? "" : observed == of ? "observed" : "part");
    str_printf(&t->cells, "%d", of), table_end(t);
    number(t, r->mean), number(t, r->sd), number(t, r->q05), number(t, r->q50), number(t, r->q95);
}

void check_text(const struct model *m, const struct check *c, struct str *out)
{
    static const char *const heads[] = {"variable", "", "nodes", "mean", "sd", "5%", "50%", "95%"};
    const struct bn *bn = model_bn(m);
    struct table t = {.align = "llrrrrrr"};
    int observed = 0, *of = count_observed(m);
    if (!of) {
        out->oom = 1;
        return;
    }
    for (int v = 0; v < bn_n(bn); v++) observed += bn->node.a[v].observed;
    str_printf(out, "%d node%s, %d edge%s, %d observed; %zu draws from the %s\n\n", bn_n(bn),
               bn_n(bn) == 1 ? "" : "s", bn->dag.m, bn->dag.m == 1 ? "" : "s", observed, c->n,
               c->training ? "training distribution" : "prior predictive");
    for (int i = 0; i < 8; i++) table_cell(&t, heads[i]);
    for (int i = 0; i < c->nrow; i++) put_row(m, &c->row[i], of[c->row[i].stmt], &t);
    table_put(&t, 2, out);
    if (c->nproblem)
        str_printf(out, "\n%d problem%s: see the messages\n", c->nproblem,
                   c->nproblem == 1 ? "" : "s");
    else
        str_put(out, "\nno problem found\n");
    if (model_has_train_priors(m)) {
        str_put(out, "networks are trained with ");
        model_train_priors(m, out);
        str_put(out, "; their answers are for the model's priors\n");
    }
    if (c->without_data)
        str_put(out, "no data: with observed values, draws are compared to them, and priors "
                     "proposed on their scale\n");
    free(of);
}

static void json_number(struct str *out, const char *key, double x)
{
    if (isfinite(x))
        str_printf(out, ",\"%s\":%.6g", key, x);
    else
        str_printf(out, ",\"%s\":null", key);
}

static void json_row(const struct model *m, const struct check_row *r, int observed,
                     struct str *out)
{
    struct statement s = model_statement(m, r->stmt);
    struct str name = {0};
    statement_name(m, r->stmt, &name);
    str_put(out, "{\"name\":");
    str_quote(out, name.s ? name.s : "");
    str_printf(out, ",\"line\":%d,\"nodes\":%d,\"observed\":%s", s.line, s.num_instances,
               observed && observed == s.num_instances ? "true" : "false");
    json_number(out, "mean", r->mean), json_number(out, "sd", r->sd);
    json_number(out, "q05", r->q05), json_number(out, "q50", r->q50),
        json_number(out, "q95", r->q95);
    json_number(out, "nan", r->nan), json_number(out, "inf", r->inf);
    if (r->num_data) {
        str_printf(out, ",\"data\":%d", r->num_data);
        json_number(out, "data_mean", r->data_mean), json_number(out, "data_sd", r->data_sd);
    }
    str_put(out, "}");
    out->oom |= name.oom;
    str_free(&name);
}

static void json_problem(const struct diag *d, struct str *out)
{
    str_printf(out, "{\"line\":%d,\"column\":%d,\"message\":", d->at.line, d->at.col);
    str_quote(out, d->msg);
    str_put(out, ",\"advice\":");
    if (d->advice)
        str_quote(out, d->advice);
    else
        str_put(out, "null");
    str_put(out, "}");
}

void check_json(const struct model *m, const struct check *c, struct str *out)
{
    int *of = count_observed(m);
    if (!of) {
        out->oom = 1;
        return;
    }
    struct str train = {0};
    str_printf(out, "{\"nodes\":%d,\"edges\":%d,\"draws\":%zu,\"ok\":%s,\n", bn_n(model_bn(m)),
               model_bn(m)->dag.m, c->n, c->nproblem ? "false" : "true");
    if (model_has_train_priors(m)) {
        model_train_priors(m, &train);
        str_printf(out, "\"training\":%s,\"train\":", c->training ? "true" : "false");
        str_quote(out, train.s ? train.s : "");
        str_put(out, ",\n");
    }
    out->oom |= train.oom;
    str_free(&train);
    str_put(out, "\"variables\":[");
    for (int i = 0; i < c->nrow; i++) {
        str_put(out, i ? ",\n" : "\n");
        json_row(m, &c->row[i], of[c->row[i].stmt], out);
    }
    str_put(out, "],\n\"problems\":[");
    for (size_t i = 0; i < c->diags.list.n; i++) {
        str_put(out, i ? ",\n" : "\n");
        json_problem(&c->diags.list.a[i], out);
    }
    str_put(out, "]}\n");
    free(of);
}
