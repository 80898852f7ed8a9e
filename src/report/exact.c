/* exact.c: exact posterior moments or state probabilities, as tables or JSON. */
#include "report/exact.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "data/draws.h"
#include "infer/exact_given.h"
#include "report/names.h"
#include "report/table.h"

static const double z95 = 1.6448536269514722; /* the 95 % quantile of the standard normal */

static void number(struct table *t, double x)
{
    char s[32];
    snprintf(s, sizeof s, "%.4g", x);
    table_cell(t, s);
}

static void key_value(struct str *out, const char *key, double x)
{
    str_printf(out, ",\"%s\":", key);
    json_element(out, x, 0);
}

enum { ROWS = 1000 }; /* of a table; behind them it ends with how many are left out */

static void put_table(struct table *t, int rows, struct str *out)
{
    table_put(t, 2, out);
    if (rows > ROWS)
        str_printf(out, "  … and %s more; the JSON form has all\n", count_text(rows - ROWS).s);
}

static const char *plural(int n) { return n == 1 ? "" : "s"; }

double gauss_evidence(const struct gpost *p) { return p->n > p->nz ? p->log_evidence : 0; }

static int given_count(const struct ctree *t)
{
    int n = 0;
    for (int v = 0; v < t->net->n; v++) n += t->state[v] >= 0;
    return n;
}

double discrete_evidence(const struct ctree *t) { return given_count(t) ? t->log_evidence : 0; }

/* ---- linear Gaussian ---------------------------------------------------------------- */

static int is_shown(const struct exact_view *w, int v) { return !w->shown || w->shown[v]; }

static void gauss_row(struct table *t, const char *name, double mean, double sd)
{
    table_cell(t, name);
    number(t, mean), number(t, sd);
    number(t, mean - z95 * sd), number(t, mean), number(t, mean + z95 * sd);
}

static void gauss_json(struct str *out, const char *name, double mean, double sd)
{
    str_put(out, "{\"name\":");
    str_quote(out, name);
    key_value(out, "mean", mean), key_value(out, "sd", sd);
    key_value(out, "q05", mean - z95 * sd), key_value(out, "q50", mean);
    key_value(out, "q95", mean + z95 * sd);
    str_put(out, "}");
}

void show_gauss(const struct exact_view *w, const struct gnet *g, const struct gpost *p,
                const char *const *name, const double *var, struct str *out)
{
    static const char *const heads[] = {"variable", "mean", "sd", "5%", "50%", "95%"};
    struct table t = {.align = "lrrrrr"};
    int some = 0;
    if (w->json) {
        str_put(out, "{\"kind\":\"linear Gaussian\"");
        str_printf(out, ",\"numbers\":%d,\"observed\":%d", p->n, p->n - p->nz);
        key_value(out, "log_evidence", gauss_evidence(p));
        key_value(out, "entropy", p->entropy);
        str_put(out, ",\n\"variables\":[");
    } else {
        str_printf(out, "linear Gaussian: %d number%s, %d observed\n\n", p->n, plural(p->n),
                   p->n - p->nz);
        for (int i = 0; i < 6; i++) table_cell(&t, heads[i]);
    }
    for (int v = 0, k = 0; v < g->nnode; v++)
        for (int i = g->first[v]; i < g->first[v + 1]; i++) {
            if (k == p->nz || p->z[k] != i) continue;
            double sd = sqrt(var[k++]);
            if (!is_shown(w, v)) continue;
            if (w->json) {
                str_put(out, some++ ? ",\n" : "\n");
                gauss_json(out, name[i], p->x[i], sd);
            } else if (some++ < ROWS)
                gauss_row(&t, name[i], p->x[i], sd);
        }
    if (w->json) {
        str_put(out, "]}\n");
        return;
    }
    put_table(&t, some, out);
    str_printf(out, "\nlog p(x)          %.10g\nE[-log p(z|x)]    %.10g\n", gauss_evidence(p),
               p->entropy);
}

/* ---- discrete ----------------------------------------------------------------------- */

enum { STATES = 8 }; /* of a variable, in text */

/* All states, or the most probable ones in their order. */
static void put_states(const struct exact_view *w, const struct dnet *d, int v, const double *p,
                       struct str *out)
{
    int card = d->card[v], some = 0;
    for (int s = 0; s < card; s++) {
        int before = 0; /* how many are more probable */
        for (int k = 0; card > STATES && k < card; k++)
            before += p[k] > p[s] || (k < s && p[k] == p[s]);
        if (before >= STATES) continue;
        str_put(out, some++ ? "  " : "");
        state_label(w->bn, d, v, s, out);
        str_printf(out, " %.4f", p[s]);
    }
    if (card > STATES) str_put(out, "  ...");
}

static void put_states_json(const struct exact_view *w, const struct dnet *d, int v,
                            const double *p, const int *best, struct str *out)
{
    str_put(out, "{\"name\":");
    str_quote(out, bn_name(w->bn, v));
    for (int what = 0; what < 2; what++) {
        str_put(out, what ? ",\"p\":[" : ",\"states\":[");
        for (int s = 0; s < d->card[v]; s++) {
            if (s) str_put(out, ",");
            if (what)
                json_element(out, p[s], 0);
            else if (w->bn->node.a[v].state)
                str_quote(out, w->bn->node.a[v].state[s]);
            else
                state_label(w->bn, d, v, s, out);
        }
        str_put(out, "]");
    }
    if (best) {
        str_put(out, ",\"mpe\":");
        if (w->bn->node.a[v].state)
            str_quote(out, w->bn->node.a[v].state[best[v]]);
        else
            state_label(w->bn, d, v, best[v], out);
    }
    str_put(out, "}");
}

static void discrete_head(const struct exact_view *w, const struct ctree *t, const int *best,
                          double logp, struct table *table, struct str *out)
{
    int n = t->net->n, given = given_count(t);
    if (w->json) {
        str_printf(out, "{\"kind\":\"discrete\",\"nodes\":%d,\"observed\":%d", n, given);
        str_printf(out, ",\"cliques\":%d,\"entries\":%zu,\"largest\":%zu", t->n, t->total,
                   t->largest);
        key_value(out, "log_evidence", discrete_evidence(t));
        key_value(out, "entropy", ctree_entropy(t));
        if (best) key_value(out, "mpe_logp", logp);
        str_put(out, ",\n\"variables\":[");
        return;
    }
    str_printf(out, "discrete: %d node%s, %d observed; %d clique%s, the largest of %zu entr%s\n\n",
               n, plural(n), given, t->n, plural(t->n), t->largest, t->largest == 1 ? "y" : "ies");
    table->align = best ? "lll" : "ll";
    table_cell(table, "variable");
    if (best) table_cell(table, "mpe");
    table_cell(table, "probabilities");
}

void show_discrete(const struct exact_view *w, const struct ctree *t, const int *best, double logp,
                   struct str *out)
{
    const struct dnet *d = t->net;
    struct table table = {0};
    int most = 0, some = 0;
    for (int v = 0; v < d->n; v++)
        if (d->card[v] > most) most = d->card[v];
    double *p = raw_array(double, most);
    if (!p) {
        out->oom = 1;
        return;
    }
    discrete_head(w, t, best, logp, &table, out);
    for (int v = 0; v < d->n; v++) {
        if (t->state[v] >= 0 || !is_shown(w, v) || (some++ >= ROWS && !w->json)) continue;
        ctree_marginal(t, v, p);
        if (w->json) {
            str_put(out, some > 1 ? ",\n" : "\n");
            put_states_json(w, d, v, p, best, out);
            continue;
        }
        table_cell(&table, bn_name(w->bn, v));
        if (best) {
            state_label(w->bn, d, v, best[v], &table.cells);
            table_end(&table);
        }
        put_states(w, d, v, p, &table.cells);
        table_end(&table);
    }
    free(p);
    if (w->json) {
        str_put(out, "]}\n");
        return;
    }
    put_table(&table, some, out);
    str_printf(out, "\nlog p(x)          %.10g\nE[-log p(z|x)]    %.10g\n", discrete_evidence(t),
               ctree_entropy(t));
    if (best) str_printf(out, "log p(mpe, x)     %.10g\n", logp);
}
