/* map.c: the mode of one data set, variable by variable, or a table of many data sets. */
#include "report/map.h"

#include <math.h>

#include "model/view.h"
#include "report/names.h"
#include "report/table.h"

const char *map_state_name(enum lbfgs_state state)
{
    static const char *const names[] = {[LBFGS_FOUND] = "maximum",
                                        [LBFGS_FLAT] = "edge",
                                        [LBFGS_FALLS] = "unbounded",
                                        [LBFGS_STOPS] = "none"};
    return names[state];
}

const char *map_state_reason(enum lbfgs_state state)
{
    static const char *const reasons[] = {
        [LBFGS_FOUND] = NULL,
        [LBFGS_FLAT] = "the density is largest at the edge of the support, or far out",
        [LBFGS_FALLS] = "the density grows without bound",
        [LBFGS_STOPS] = "no maximum was found: perhaps a scale goes to 0 with all that it scales"};
    return reasons[state];
}

/* Where the numbers of an element are. */
static size_t place(const struct maxima *x, int element, size_t set)
{
    return (size_t)element_row(x->model, element) * x->num_sets + set;
}

int map_has(const struct maxima *x, int element, size_t set)
{
    const struct model *m = x->model;
    if (!element_is_random(m, element) || element_is_observed(m, element)) return 0;
    if (element_row(m, element) < 0) return 0;
    if (element_node(m, element) < 0 && !x->all) return 0;
    return !isnan(x->value[place(x, element, set)]);
}

/* Is it integrated out?  Then its value is its mean at the mode of the others. */
static int is_mean(const struct maxima *x, int element)
{
    int node = element_node(x->model, element);
    return x->collapse && node >= 0 && x->collapse->kind[node];
}

static void put_sd(double sd, struct table *t)
{
    isnan(sd) ? str_put(&t->cells, "-") : str_printf(&t->cells, "%.3g", sd);
    table_end(t);
}

static void put_one(const struct maxima *x, struct str *out)
{
    struct table t = {.align = x->sd ? "lrrl" : "lrl"};
    const struct map_mode *b = x->mode;
    table_cell(&t, "variable"), table_cell(&t, "mode");
    if (x->sd) table_cell(&t, "sd");
    table_cell(&t, "");
    for (int e = 0; e < model_num_elements(x->model); e++) {
        if (!map_has(x, e, 0)) continue;
        elem_name(x->model, e, &t.cells), table_end(&t);
        str_printf(&t.cells, "%.6g", x->value[place(x, e, 0)]), table_end(&t);
        if (x->sd) put_sd(x->sd[place(x, e, 0)], &t);
        table_cell(&t, is_mean(x, e) ? "exact: its mean, given the others" : "");
    }
    table_put(&t, 2, out);
    str_printf(out, "density      log p(x, z) = %.6g%s, largest derivative %.1e after %d steps\n",
               b->logp, x->collapse ? " without exact latents" : "", b->grad, b->steps);
    str_printf(out, "searches     %d of %d ended there\n", b->agree, x->searches);
}

static void put_sets(const struct maxima *x, struct str *out)
{
    struct table t = {.align = "rrrrrl"};
    static const char *const head[] = {"set", "log p(x,z)", "derivative", "steps", "agree", ""};
    for (int i = 0; i < 6; i++) table_cell(&t, head[i]);
    for (size_t s = 0; s < x->num_sets; s++) {
        const struct map_mode *b = &x->mode[s];
        str_printf(&t.cells, "%zu", s + 1), table_end(&t);
        str_printf(&t.cells, "%.6g", b->logp), table_end(&t);
        str_printf(&t.cells, "%.1e", b->grad), table_end(&t);
        str_printf(&t.cells, "%d", b->steps), table_end(&t);
        str_printf(&t.cells, "%d of %d", b->agree, x->searches), table_end(&t);
        table_cell(&t, map_state_name(b->state));
    }
    table_put(&t, 2, out);
}

void map_text(const struct maxima *x, struct str *out)
{
    (x->num_sets == 1 ? put_one : put_sets)(x, out);
}

static void put_variables(const struct maxima *x, size_t set, struct str *out)
{
    struct str name = {0};
    int first = 1;
    for (int e = 0; e < model_num_elements(x->model); e++) {
        if (!map_has(x, e, set)) continue;
        name.n = 0;
        elem_name(x->model, e, &name);
        str_put(out, first ? "\n {\"name\":" : ",\n {\"name\":");
        str_quote(out, name.s ? name.s : "");
        put_json_number(out, is_mean(x, e) ? "mean" : "mode", x->value[place(x, e, set)]);
        if (x->sd) put_json_number(out, "sd", x->sd[place(x, e, set)]);
        str_put(out, "}");
        first = 0;
    }
    out->oom |= name.oom;
    str_free(&name);
}

void map_json(const struct maxima *x, struct str *out)
{
    for (size_t s = 0; s < x->num_sets; s++) {
        const struct map_mode *b = &x->mode[s];
        str_printf(out, "%s{\"set\":%zu,\"state\":\"%s\"", s ? ",\n" : "[", s + 1,
                   map_state_name(b->state));
        put_json_number(out, "log_p", b->logp), put_json_number(out, "derivative", b->grad);
        str_printf(out, ",\"steps\":%d,\"agree\":%d,\"variables\":[", b->steps, b->agree);
        put_variables(x, s, out);
        str_put(out, "]}");
    }
    str_put(out, "]\n");
}
