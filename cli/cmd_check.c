/* cmd_check.c: `nami check`: the prior predictive check, as a table or JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/parallel.h"
#include "model/check.h"
#include "report/table.h"
#include "with_model.h"

struct options {
    struct opt_common common;
    struct model_opts model;
    int n, json;
};

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    {"draws", 'n', OPT_COUNT, AT(n), "N", "2000", NULL, "how many draws from the prior predictive",
     0},
    {"json", 0, OPT_FLAG, AT(json), NULL, NULL, NULL, "print JSON", 0},
    MODEL_OPTIONS(struct options, model),
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

static void number(struct table *t, double x)
{
    char s[32];
    snprintf(s, sizeof s, "%.3g", isnan(x) ? NAN : x); /* never "-nan" */
    table_cell(t, s);
}

static int observed_part(const struct model *m, const struct stmt *s)
{
    int n = 0;
    for (int k = s->first; k < s->first + s->n; k++)
        n += m->ir.observed[m->ir.defined[m->ir.first_defined[k]]];
    return n == 0 ? 0 : n == s->n ? 2 : 1;
}

static void put_text(const struct model *m, const struct check *c, struct str *out)
{
    static const char *const roles[] = {"", "part", "observed"};
    static const char *const heads[] = {"variable", "", "nodes", "mean", "sd", "5%", "50%", "95%"};
    struct table t = {.align = "llrrrrrr"};
    int observed = 0;
    for (int v = 0; v < bn_n(m->ir.bn); v++) observed += m->ir.bn->node.a[v].observed;
    str_printf(out, "%d node%s, %d edge%s, %d observed; %zu draws from the prior predictive\n\n",
               bn_n(m->ir.bn), bn_n(m->ir.bn) == 1 ? "" : "s", m->ir.bn->dag.m,
               m->ir.bn->dag.m == 1 ? "" : "s", observed, c->n);
    for (int i = 0; i < 8; i++) table_cell(&t, heads[i]);
    for (int i = 0; i < c->nrow; i++) {
        const struct check_row *r = &c->row[i];
        const struct stmt *s = &m->ir.statements.a[r->stmt];
        struct str lhs = {0};
        char count[16];
        syntax_put_expr(&m->source.syntax, s->rel->lhs, &lhs);
        snprintf(count, sizeof count, "%d", s->n);
        table_cell(&t, lhs.s ? lhs.s : "");
        table_cell(&t, roles[observed_part(m, s)]);
        table_cell(&t, count);
        number(&t, r->mean), number(&t, r->sd), number(&t, r->q05), number(&t, r->q50),
            number(&t, r->q95);
        str_free(&lhs);
    }
    table_put(&t, 2, out);
    if (c->nproblem)
        str_printf(out, "\n%d problem%s: see above\n", c->nproblem, c->nproblem == 1 ? "" : "s");
    else
        str_put(out, "\nno problem found\n");
    if (c->without_data)
        str_put(out, "no data: with those of --data, draws are compared, and priors proposed to "
                     "their scale\n");
}

static void json_number(struct str *out, const char *key, double x)
{
    if (isfinite(x))
        str_printf(out, ",\"%s\":%.6g", key, x);
    else
        str_printf(out, ",\"%s\":null", key);
}

static void put_json(const struct model *m, const struct check *c, struct str *out)
{
    str_printf(out, "{\"nodes\":%d,\"edges\":%d,\"draws\":%zu,\"ok\":%s,\n\"variables\":[",
               bn_n(m->ir.bn), m->ir.bn->dag.m, c->n, c->nproblem ? "false" : "true");
    for (int i = 0; i < c->nrow; i++) {
        const struct check_row *r = &c->row[i];
        const struct stmt *s = &m->ir.statements.a[r->stmt];
        struct str lhs = {0};
        syntax_put_expr(&m->source.syntax, s->rel->lhs, &lhs);
        str_put(out, i ? ",\n{\"name\":" : "\n{\"name\":");
        str_quote(out, lhs.s ? lhs.s : "");
        str_printf(out, ",\"line\":%d,\"nodes\":%d,\"observed\":%s", s->rel->lhs->at.line, s->n,
                   observed_part(m, s) == 2 ? "true" : "false");
        json_number(out, "mean", r->mean), json_number(out, "sd", r->sd);
        json_number(out, "q05", r->q05), json_number(out, "q50", r->q50),
            json_number(out, "q95", r->q95);
        json_number(out, "nan", r->nan), json_number(out, "inf", r->inf);
        if (r->num_data) {
            str_printf(out, ",\"data\":%d", r->num_data);
            json_number(out, "data_mean", r->data_mean), json_number(out, "data_sd", r->data_sd);
        }
        str_put(out, "}");
        str_free(&lhs);
    }
    str_put(out, "],\n\"problems\":[");
    for (size_t i = 0; i < c->diags.list.n; i++) {
        const struct diag *d = &c->diags.list.a[i];
        str_printf(out, "%s\n{\"line\":%d,\"column\":%d,\"message\":", i ? "," : "", d->at.line,
                   d->at.col);
        str_quote(out, d->msg);
        str_put(out, ",\"advice\":");
        if (d->advice)
            str_quote(out, d->advice);
        else
            str_put(out, "null");
        str_put(out, "}");
    }
    str_put(out, "]}\n");
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    struct model_opts quiet = o->model;
    struct model m = {0};
    struct check c = {0};
    struct str out = {0};
    nami_err err;
    quiet.quiet = 1; /* messages come once, with those of the check */
    int rc = open_model(&m, arg[0], &quiet);
    (void)narg;
    if (!rc) tell_simulator(&m, o->model.quiet);
    if (!rc && model_check(&m, (size_t)(o->n ? o->n : 1), o->model.seed,
                           parallel_threads(o->model.threads), &c, &err))
        rc = fail(err.line ? READING : RUNNING, err.line ? file_name(arg[0]) : NULL, &err);
    if (!rc) {
        struct model shown = m; /* with the messages of the check */
        shown.source.diags = c.diags;
        if (!o->json) show_messages(&shown, o->model.quiet);
        if (o->json)
            put_json(&m, &c, &out);
        else if (!o->model.quiet)
            put_text(&m, &c, &out);
        rc = finish(&out, c.nproblem ? EXIT_NO : EXIT_YES);
    }
    check_fini(&c);
    model_fini(&m);
    return rc;
}

static const struct example examples[] = {
    {"nami check schools.nami --data schools.json", "what the model's own draws look like"},
    {NULL, NULL},
};

const struct cmd cmd_check = {
    .name = "check",
    .summary = "draw from the prior predictive, and say what makes a model hard",
    .usage = "[OPTION]... FILE",
    .about = "Reads a model, draws from its prior predictive distribution, and says what makes it "
             "hard or impossible to learn an inference network from such draws: parameters that "
             "leave their support, overflow and underflow, observations that saturate, draws that "
             "are nothing like the data, constants that are never used, latents that no "
             "observation informs. Each message names the prior to change. With data, it proposes "
             "a weakly informative prior, scaled to the data and the covariates.\n\n"
             "The exit code is 1 if there is a problem.",
    .opt = options,
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .size = sizeof(struct options),
    .run = run,
};
