/* evidence.c: estimates of the evidence in nami.h. */
#include "report/evidence.h"

#include <stdlib.h>
#include <string.h>

#include "api/query.h"
#include "api/instance.h"
#include "base/err.h"
#include "base/parallel.h"
#include "infer/smc.h"
#include "net/joint.h"

struct nami_evidence {
    struct arena mem;
    struct asked asked;
    struct evidence e;
    nami_network *own_net; /* an instance of an open network; or NULL */
};

/* Some data sets at a time, to say how far it is. */
static int estimate(nami_evidence *w, const nami_evidence_options *o, nami_err *err)
{
    enum { NUMBERS = 1 << 22 };
    const struct evidence *e = &w->e;
    struct query q = {.x = w->asked.x, .nset = e->num_sets, .per = e->draws, .seed = o->seed};
    enum ais_start start = strcmp(o->start, ais_starts[AIS_PRIOR]) ? AIS_NETWORK : AIS_PRIOR;
    struct evidence_options how = {.ais = {start, o->temps, o->leapfrog}};
    size_t rows = (size_t)model_num_rows(e->infer->q->model),
           each = NUMBERS / (rows * q.per) / 8 * 8;
    int rc = 0;
    if (each < 8) each = 8;
    for (size_t s = 0, n; s < q.nset && !rc; s += n) {
        n = q.nset - s < each ? q.nset - s : each;
        rc = e->method->evidence(e->infer, &q, &how, s, n, parallel_threads(o->threads),
                                 e->found + s, err);
        if (!rc) rc = tell_progress(o->watch, "data sets", (double)(s + n), (double)q.nset, err);
    }
    return rc;
}

static int ask(nami_evidence *w, const nami_network *net, const nami_data *data,
               const nami_evidence_options *o, nami_err *err)
{
    struct evidence *e = &w->e;
    e->infer = &net->infer;
    e->method = o->method ? infer_method_find(o->method)
                          : infer_method_default(e->infer->q, (size_t)o->draws);
    e->temps = o->temps;
    e->draws = (size_t)(e->method->chains ? o->chains : o->draws);
    int rc = joint_known(e->infer->q, ", nor p(x)", err);
    if (!rc)
        rc = asked_init(&w->asked, net, data, o->sets, parallel_threads(o->threads), o->watch, err);
    if (rc) return rc;
    if (e->method->chains)
        e->islands = e->draws;
    else if (e->method->islands)
        e->islands = smc_islands(e->infer, e->draws);
    e->num_sets = w->asked.num_sets;
    e->ood_p = w->asked.ood_p;
    e->found = arena_array(&w->mem, struct diagnostics, e->num_sets);
    return e->found ? estimate(w, o, err) : err_nomem(err);
}

int nami_evidence_new(const nami_network *net, const nami_data *data,
                      const nami_evidence_options *opt, nami_evidence **out, nami_err *err)
{
    nami_evidence_options o;
    err_clear(err);
    *out = NULL;
    int rc = options_complete("evidence", opt, sizeof o, &o, err);
    if (rc) return rc;
    nami_evidence *w = new_array(nami_evidence, 1);
    if (!w) return err_nomem(err);
    rc = network_for_query(&net, data, o.watch, &w->own_net, err);
    if (!rc) rc = ask(w, net, data, &o, err);
    if (rc)
        nami_evidence_free(w);
    else
        *out = w;
    return rc;
}

void nami_evidence_free(nami_evidence *w)
{
    if (!w) return;
    asked_free(&w->asked);
    arena_free(&w->mem);
    nami_network_free(w->own_net);
    free(w);
}

size_t nami_evidence_sets(const nami_evidence *w) { return w->e.num_sets; }

int nami_evidence_verdict(const nami_evidence *w, size_t set, nami_verdict *out, nami_err *err)
{
    err_clear(err);
    if (set >= w->e.num_sets) return no_such_set(set, w->e.num_sets, err);
    return give_verdict(w->e.method, &w->e.found[set], w->e.draws, w->e.islands, w->e.ood_p[set],
                        out, err);
}

int nami_evidence_describe(const nami_evidence *w, const char *as, char **text, nami_err *err)
{
    struct str out = {0};
    err_clear(err);
    *text = NULL;
    if (strcmp(as, "text") == 0)
        evidence_text(&w->e, &out);
    else if (strcmp(as, "json") == 0)
        evidence_json(&w->e, &out);
    else
        return no_such_form(as, "text, json", err);
    return give_text(&out, text, NULL, err);
}
