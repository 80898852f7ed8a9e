/* evidence.c: one data set with its diagnostics, or a table of many; as JSON, a record for each. */
#include "report/evidence.h"

#include <math.h>

#include "report/names.h"
#include "report/table.h"
#include "report/trust.h"

enum verdict evidence_verdict(const struct evidence *e, size_t set)
{
    return verdict_of(e->method, &e->found[set], e->draws, e->islands);
}

static void put_chains(const struct evidence *e, struct str *out)
{
    const struct diagnostics *d = &e->found[0];
    str_printf(out, "chains       %zu, through %d temperatures, %.1f effective\n", e->draws,
               e->temps, d->ess);
    str_printf(out, "evidence     log p(x) = %.3f +- %.3f\n", d->log_z, d->log_se);
}

/* A line for each data set, and all together: they are independent. */
static void put_sets(const struct evidence *e, struct str *out)
{
    static const char *const head[] = {"set", "log p(x)", "+-", "k-hat", "ess", ""};
    struct table t = {.align = "rrrrrl"};
    double sum = 0, var = 0;
    for (int i = 0; i < 6; i++) table_cell(&t, head[i]);
    for (size_t s = 0; s < e->num_sets; s++) {
        const struct diagnostics *d = &e->found[s];
        str_printf(&t.cells, "%zu", s + 1), table_end(&t);
        str_printf(&t.cells, "%.3f", d->log_z), table_end(&t);
        str_printf(&t.cells, "%.3f", d->log_se), table_end(&t);
        if (!isnan(d->khat)) str_printf(&t.cells, "%.2f", d->khat);
        table_end(&t);
        str_printf(&t.cells, "%.0f", d->ess), table_end(&t);
        enum verdict v = evidence_verdict(e, s);
        table_cell(&t, v == TRUSTED ? "" : verdict_word(v));
        sum += d->log_z;
        var += d->log_se * d->log_se;
    }
    table_put(&t, 2, out);
    str_printf(out, "evidence     log p of all %zu data sets = %.3f +- %.3f\n", e->num_sets, sum,
               sqrt(var));
}

void evidence_text(const struct evidence *e, struct str *out)
{
    if (e->num_sets > 1) {
        put_sets(e, out);
        return;
    }
    if (e->method->chains)
        put_chains(e, out);
    else
        show_weights(&e->found[0], e->draws, e->islands, out);
    show_verdict(e->infer, e->method, &e->found[0], e->draws, e->islands, out);
}

void evidence_json(const struct evidence *e, struct str *out)
{
    str_put(out, "[");
    for (size_t s = 0; s < e->num_sets; s++) {
        const struct diagnostics *d = &e->found[s];
        str_printf(out, "%s{\"set\":%zu,\"method\":\"%s\"", s ? ",\n" : "", s + 1, e->method->name);
        put_json_number(out, "log_evidence", d->log_z);
        put_json_number(out, "log_evidence_se", d->log_se);
        put_json_number(out, "khat", d->khat), put_json_number(out, "ess", d->ess);
        put_json_number(out, "ood_p", e->ood_p[s]);
        str_printf(out, ",\"verdict\":\"%s\"}", verdict_names[evidence_verdict(e, s)]);
    }
    str_put(out, "]\n");
}
