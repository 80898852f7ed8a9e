/* instance.c: an open network for the design of a data set: its sizes, constants and missing
   observations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/instance.h"
#include "base/err.h"
#include "model/given.h"
#include "train/design_draw.h"

/* ---- does a data set need another network? ------------------------------------------------- */

static int has_missing(const struct model *m, const struct given *g)
{
    for (int e = 0; e < model_num_elements(m); e++)
        if (element_row(m, e) >= 0 && element_is_observed(m, e) && isnan(given_value(g, e)))
            return 1;
    return 0;
}

static int is_same_design(const struct model *m, const struct dataset *data)
{
    struct given g = {0};
    double value;
    int same = !given_open(&g, m, data, NULL) && given_other(&g, &value) < 0 && !has_missing(m, &g);
    given_close(&g);
    return same;
}

/* ---- sizes and patterns outside of training -------------------------------------------------- */

static void tell_sizes(const struct network *n, const struct dataset *data, const nami_watch *watch)
{
    struct open_ranges open;
    struct arena mem = {0};
    if (!open_ranges_make(&open, n->plan.options.open, data, &n->plan, &mem, NULL))
        for (size_t i = 0; i < open.range.n; i++) {
            const struct open_range *r = &open.range.a[i];
            if (r->is_size && (r->now < r->low || r->now > r->high))
                tell(watch, NAMI_WARNING,
                     "%.60s is %d in these data; the network was trained for %g to %g, and "
                     "extrapolates",
                     r->name, r->now, r->low, r->high);
        }
    open_ranges_free(&open);
    arena_free(&mem);
}

/* Constants that are not open must be those of training: scalars alone, since arrays may have any
   values of the kind that they were drawn from. */
static int check_scalars(const struct network *n, const struct dataset *data, nami_err *err)
{
    const struct dataset *before = model_first_data(n->model);
    const char *open = n->plan.options.open ? n->plan.options.open : "";
    for (size_t i = 0; before && i < before->value.n; i++) {
        const struct value *a = &before->value.a[i],
                           *b = dataset_find(data, a->name, strlen(a->name));
        const char *at = strstr(open, a->name);
        size_t len = strlen(a->name);
        int is_open = at && at[len] == '=' && (at == open || strchr(", ;", at[-1]));
        int array = model_find_array(n->model, a->name, len);
        if (!b || a->ndim || b->n != 1 || is_open || array < 0) continue;
        int e = array_first(n->model, array);
        if (element_row(n->model, e) < 0 && a->x[0] != b->x[0] && !isnan(b->x[0]))
            return err_set(err, NAMI_EINPUT,
                           "%.60s is %g in these data, and %g in training; it can be opened by "
                           "training with a range of it",
                           a->name, b->x[0], a->x[0]);
    }
    return 0;
}

/* ---- missing observations ----------------------------------------------------------------------
 */

/* What the data give of the observed variables, as a list of names: sinks may be missing.  *num:
   how many are. */
static int list_given(const struct model *m, const struct dataset *data, struct str *out, int *num,
                      int *of, nami_err *err)
{
    const struct bn *bn = model_bn(m);
    struct given g = {0};
    unsigned char *gone = new_array(unsigned char, bn_n(bn) + 1);
    int rc = gone ? given_open(&g, m, data, err) : err_nomem(err);
    for (int e = 0; e < model_num_elements(m) && !rc; e++)
        if (element_row(m, e) >= 0 && element_is_observed(m, e) && isnan(given_value(&g, e)))
            gone[element_node(m, e)] = 1;
    *num = *of = 0;
    for (int v = 0; v < bn_n(bn) && !rc; v++) {
        if (!bn->node.a[v].observed) continue;
        ++*of;
        if (!gone[v])
            str_printf(out, "%s%s", out->n ? "," : "", bn_name(bn, v));
        else if (bn->dag.cp[v] != bn->dag.cp[v + 1])
            rc = err_set(
                err, NAMI_EINPUT,
                "%s is missing, but others depend on it: without it the inverse would "
                "have other edges; only observations that nothing depends on may be missing",
                bn_name(bn, v));
        else
            ++*num;
    }
    if (!rc && *num == *of)
        rc = err_set(err, NAMI_EINPUT, "the data give no value of any observed variable");
    if (!rc && out->oom) rc = err_nomem(err);
    given_close(&g);
    free(gone);
    return rc;
}

static int leave_out(nami_network *w, const nami_network *net, const struct dataset *data,
                     const nami_watch *watch, nami_err *err)
{
    struct str observe = {0};
    int num, of;
    double most = net->net.plan.options.missing;
    int rc = list_given(w->net.model, data, &observe, &num, &of, err);
    if (!rc && num && !(most > 0))
        rc = err_set(err, NAMI_EINPUT,
                     "%d of %d observations are missing, and the network was trained for data "
                     "without missing values: train it with a fraction of missing ones",
                     num, of);
    if (!rc && num > most * of + 2 * sqrt(most * of) + 1)
        tell(watch, NAMI_WARNING,
             "%d of %d observations are missing; the network was trained for up to %g %%", num, of,
             100 * most);
    if (!rc && num) {
        network_free(&w->net);
        rc = network_instance(&w->net, &net->net, data, observe.s, err);
    }
    str_free(&observe);
    return rc;
}

/* ---- instances ------------------------------------------------------------------------------- */

int nami_network_is_open(const nami_network *net) { return net->net.kinds != NULL; }

static int make(nami_network *w, const nami_network *net, const struct dataset *data,
                const nami_watch *watch, nami_err *err)
{
    int rc = check_scalars(&net->net, data, err);
    if (!rc) rc = network_instance(&w->net, &net->net, data, NULL, err);
    if (!rc) rc = leave_out(w, net, data, watch, err);
    if (!rc) rc = network_make(&w->net, 0, NULL, 1, err);
    if (!rc) tell_sizes(&net->net, data, watch);
    return rc ? rc : network_ready(w, err);
}

int nami_network_for(const nami_network *net, const nami_data *data, size_t set,
                     const nami_watch *watch, nami_network **out, nami_err *err)
{
    err_clear(err);
    *out = NULL;
    if (!nami_network_is_open(net))
        return err_set(err, NAMI_EUSAGE,
                       "the network is for one design: sizes and patterns of missing data can "
                       "vary only if it was trained for that");
    if (set >= data->sets.set.n) return no_such_set(set, data->sets.set.n, err);
    nami_network *w = new_array(nami_network, 1);
    if (!w) return err_nomem(err);
    int rc = make(w, net, &data->sets.set.a[set], watch, err);
    if (rc)
        nami_network_free(w);
    else
        *out = w;
    return rc;
}

int network_for_query(const nami_network **net, const nami_data *data, const nami_watch *watch,
                      nami_network **own, nami_err *err)
{
    *own = NULL;
    if (!nami_network_is_open(*net) || !data || !data->sets.set.n ||
        is_same_design((*net)->net.model, &data->sets.set.a[0]))
        return 0;
    int rc = nami_network_for(*net, data, 0, watch, own, err);
    if (!rc) *net = *own;
    return rc;
}
