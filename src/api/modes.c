/* modes.c: maximum a posteriori estimates in nami.h. */
#include <stdlib.h>
#include <string.h>

#include "api/query.h"
#include "api/instance.h"
#include "base/err.h"
#include "base/parallel.h"
#include "report/map.h"

struct nami_modes {
    struct arena mem;
    struct asked asked;
    const nami_network *net;
    struct maxima x;
    nami_network *own_net; /* an instance of an open network; or NULL */
};

/* Searches so far, for the caller's watch. */
struct searching {
    const nami_watch *watch;
    nami_err *err;
};

static int on_search(size_t done, size_t all, void *user)
{
    const struct searching *s = user;
    return tell_progress(s->watch, "searches", (double)done, (double)all, s->err);
}

static int ask(nami_modes *w, const nami_data *data, const nami_modes_options *o, nami_err *err)
{
    struct maxima *x = &w->x;
    struct searching told = {o->watch, err};
    int rc = asked_rows(&w->asked, w->net, data, o->sets, o->watch, err);
    if (rc) return rc;
    x->model = w->net->net.model;
    x->collapse = w->net->net.q.collapse;
    x->num_sets = w->asked.num_sets;
    x->searches = o->searches;
    x->all = o->all;
    struct query q = {
        .x = w->asked.x, .nset = x->num_sets, .per = (size_t)o->searches, .seed = o->seed};
    size_t size = (size_t)model_num_rows(x->model) * x->num_sets + 1;
    x->mode = arena_array(&w->mem, struct map_mode, x->num_sets);
    x->value = arena_array(&w->mem, double, size);
    if (o->sd) x->sd = arena_array(&w->mem, double, size);
    if (!x->mode || !x->value || (o->sd && !x->sd)) return err_nomem(err);
    struct map_options how = {o->unconstrained, parallel_threads(o->threads), on_search, &told};
    return map_sets(&w->net->infer, &q, &how, x->mode, x->value, x->sd, err);
}

int nami_modes_new(const nami_network *net, const nami_data *data, const nami_modes_options *opt,
                   nami_modes **out, nami_err *err)
{
    nami_modes_options o;
    err_clear(err);
    *out = NULL;
    int rc = options_complete("modes", opt, sizeof o, &o, err);
    if (rc) return rc;
    nami_modes *w = new_array(nami_modes, 1);
    if (!w) return err_nomem(err);
    w->net = net;
    rc = network_for_query(&w->net, data, o.watch, &w->own_net, err);
    if (!rc) rc = ask(w, data, &o, err);
    if (rc)
        nami_modes_free(w);
    else
        *out = w;
    return rc;
}

void nami_modes_free(nami_modes *w)
{
    if (!w) return;
    asked_free(&w->asked);
    arena_free(&w->mem);
    nami_network_free(w->own_net);
    free(w);
}

size_t nami_modes_sets(const nami_modes *w) { return w->x.num_sets; }

int nami_modes_get(const nami_modes *w, size_t set, nami_mode *out, nami_err *err)
{
    err_clear(err);
    if (set >= w->x.num_sets) return no_such_set(set, w->x.num_sets, err);
    const struct map_mode *m = &w->x.mode[set];
    *out = (nami_mode){.state = map_state_name(m->state),
                       .reason = map_state_reason(m->state),
                       .log_p = m->logp,
                       .derivative = m->grad,
                       .steps = m->steps,
                       .agree = m->agree};
    return 0;
}

int nami_modes_value(const nami_modes *w, size_t set, const char *name, double *value, double *sd,
                     nami_err *err)
{
    const struct maxima *x = &w->x;
    int row = nami_model_scalar_find(w->net->model, name), at = -1;
    err_clear(err);
    if (set >= x->num_sets) return no_such_set(set, x->num_sets, err);
    for (int e = 0; e < model_num_elements(x->model) && at < 0; e++)
        if (row >= 0 && element_row(x->model, e) == row && map_has(x, e, set)) at = e;
    if (at < 0)
        return err_set(err, NAMI_EUSAGE,
                       "there is no estimate of '%.60s': it is no latent that "
                       "the data depend on",
                       name);
    size_t i = (size_t)row * x->num_sets + set;
    *value = x->value[i];
    if (sd && !x->sd)
        return err_set(err, NAMI_EUSAGE, "standard deviations were not asked for (option sd)");
    if (sd) *sd = x->sd[i];
    return 0;
}

int nami_modes_describe(const nami_modes *w, const char *as, char **text, nami_err *err)
{
    struct str out = {0};
    err_clear(err);
    *text = NULL;
    if (strcmp(as, "text") == 0)
        map_text(&w->x, &out);
    else if (strcmp(as, "json") == 0)
        map_json(&w->x, &out);
    else
        return no_such_form(as, "text, json", err);
    return give_text(&out, text, NULL, err);
}
