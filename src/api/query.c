/* query.c: data sets as rows of a network's model, compared with what the model draws. */
#include "api/query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/instance.h"
#include "base/err.h"
#include "train/samples.h"

static size_t first_sets(size_t n, int most) { return most && (size_t)most < n ? (size_t)most : n; }

/* Records: images and the like, as those that it was trained on. */
static int take_records(struct asked *q, const struct network *n, const nami_data *data,
                        int max_sets, nami_err *err)
{
    const char *const *file = data->records.a;
    int nfile = (int)data->records.n, rows = model_num_rows(n->model), other;
    struct feeds f = {0};
    double value;
    int rc = feeds_read(&f, n->model, file, nfile, err);
    if (!rc && (other = feeds_other(n->model, file, nfile, &value)) >= 0)
        rc = infer_refuse(n->model, other, value, err);
    if (!rc) rc = samples_brighten(n, &f, err);
    if (!rc) rc = samples_complete(n, &f, err);
    q->num_sets = first_sets(f.n, max_sets);
    q->x = rc ? NULL : new_array(double, (size_t)rows * q->num_sets + 1);
    if (!rc && !q->x) rc = err_nomem(err);
    for (size_t s = 0; s < q->num_sets && !rc; s++) feeds_copy(&f, s, q->x + s, q->num_sets);
    feeds_free(&f);
    return rc;
}

static int take_sets(struct asked *q, const struct model *m, const struct data *d, size_t sets,
                     nami_err *err)
{
    int rc = 0;
    q->num_sets = sets;
    if (!sets)
        return err_set(err, NAMI_EUSAGE,
                       "there are no data: the network must be given what was observed");
    q->x = new_array(double, (size_t)model_num_rows(m) * sets + 1);
    if (!q->x) return err_nomem(err);
    for (size_t s = 0; s < sets && !rc; s++) rc = infer_data(m, &d->set.a[s], sets, s, q->x, err);
    return rc;
}

/* ---- are they like what the model draws? --------------------------------------------------- */

/* The scalars that are most out of place: "x[3] = 250 lies 14 sd from its median, ..."; what others
   suggest counts if none is far out itself, since they may be led astray by one that is. */
static void put_unlike(const struct model *m, const struct ood_model *o, const struct ood_answer *a,
                       struct str *out)
{
    enum { NAMED = 3, FAR = 4 };
    int alone = 0, named = 0;
    for (int i = 0; i < a->ntop; i++) alone |= fabs(a->top[i].z) >= FAR;
    for (int i = 0; i < a->ntop && named < NAMED; i++) {
        const struct ood_scalar *s = &a->top[i];
        double far = fabs(s->z), given = alone ? 0 : fabs(s->given);
        if (fmax(far, given) < FAR && (alone || named)) continue;
        if (named++) str_put(out, ", ");
        elem_name(m, o->elem[s->scalar], out);
        str_printf(out, " = %.4g ", o->x[s->scalar]);
        if (isinf(far))
            str_printf(out, "is %.4g in all its draws", o->o.centre[s->scalar]);
        else if (far >= given)
            str_printf(out, "lies %.2g sd from its median", far);
        else
            str_printf(out, "lies %.2g sd from what the others suggest", given);
    }
}

static int compare_sets(struct asked *q, const struct model *m, const struct ood_model *o,
                        struct str *first, size_t *bad, nami_err *err)
{
    for (size_t s = 0; s < q->num_sets; s++) {
        struct ood_answer a;
        int rc = ood_model_query(o, m, q->x, q->num_sets, s, &a, err);
        if (rc) return rc;
        q->ood_p[s] = a.p;
        if (!(a.p < OOD_ALARM) || (*bad)++) continue;
        if (q->num_sets > 1) str_printf(first, "number %zu, where ", s + 1);
        put_unlike(m, o, &a, first);
    }
    return first->oom ? err_nomem(err) : 0;
}

static void tell_unlike(const struct asked *q, size_t bad, const char *first,
                        const nami_watch *watch)
{
    double chance = OOD_ALARM * (double)q->num_sets;
    if (bad && q->num_sets == 1)
        tell(watch, NAMI_WARNING,
             "these data are unlike what the model draws (p < %g): %s; the network was not trained "
             "for them",
             OOD_ALARM, first);
    else if ((double)bad > 3 * chance)
        tell(watch, NAMI_WARNING,
             "%zu of %zu data sets are unlike what the model draws (p < %g), the first is %s; the "
             "network was not trained for them",
             bad, q->num_sets, OOD_ALARM, first);
    else if (bad)
        tell(watch, NAMI_NOTE,
             "%zu of %zu data sets are unlike what the model draws (p < %g), as chance has it; the "
             "first is %s",
             bad, q->num_sets, OOD_ALARM, first);
}

/* The network's fit, with room of its own for a data set.  After an error, the next query tries to
   fit again. */
static int fit_of(const nami_network *net, int threads, struct ood_model *out, nami_err *err)
{
    struct network_ood *o = net->ood;
    int rc = 0;
    pthread_mutex_lock(&o->lock);
    if (!o->known) {
        rc = ood_model_fit(net->net.model, threads, &o->fit, err);
        o->known = !rc;
        if (rc) ood_model_free(&o->fit);
    }
    *out = o->fit;
    pthread_mutex_unlock(&o->lock);
    if (rc) return rc;
    out->x = raw_array(double, out->k + 1);
    return out->x ? 0 : err_nomem(err);
}

static int compare(struct asked *q, const nami_network *net, int threads, const nami_watch *watch,
                   nami_err *err)
{
    const struct model *m = net->net.model;
    struct str first = {0};
    struct ood_model o;
    size_t bad = 0;
    if (!(q->ood_p = new_array(double, q->num_sets))) return err_nomem(err);
    int rc = fit_of(net, threads, &o, err);
    if (!rc) rc = compare_sets(q, m, &o, &first, &bad, err);
    if (!rc && o.why)
        tell(watch, NAMI_NOTE, "the data are not compared with the model's draws: %s", o.why);
    if (!rc) tell_unlike(q, bad, first.s ? first.s : "", watch);
    str_free(&first);
    free(o.x); /* the rest is the network's */
    return rc;
}

/* ---- all --------------------------------------------------------------------------------------
 */

int asked_rows(struct asked *q, const nami_network *net, const nami_data *data, int max_sets,
               const nami_watch *watch, nami_err *err)
{
    const struct network *n = &net->net;
    *q = (struct asked){0};
    const struct data *sets = data ? &data->sets : model_data(n->model);
    int rc;
    if (data && data->records.n)
        rc = take_records(q, n, data, max_sets, err);
    else
        rc = take_sets(q, n->model, sets,
                       data ? first_sets(sets->set.n, max_sets) : (size_t)(sets->set.n > 0), err);
    if (!rc && data && tell_unused(n->model, &data->sets, "the network", watch))
        rc = err_nomem(err);
    return rc;
}

int asked_uncompared(struct asked *q, const nami_network *net, const nami_data *data, int max_sets,
                     const nami_watch *watch, nami_err *err)
{
    int rc = asked_rows(q, net, data, max_sets, watch, err);
    if (!rc && !(q->ood_p = raw_array(double, q->num_sets))) rc = err_nomem(err);
    for (size_t s = 0; s < q->num_sets && !rc; s++) q->ood_p[s] = NAN;
    return rc;
}

int asked_init(struct asked *q, const nami_network *net, const nami_data *data, int max_sets,
               int threads, const nami_watch *watch, nami_err *err)
{
    if (net->net.untrained) return asked_uncompared(q, net, data, max_sets, watch, err);
    int rc = asked_rows(q, net, data, max_sets, watch, err);
    return rc ? rc : compare(q, net, threads, watch, err);
}

/* The data sets of an open network may have different designs. */
static int check_each(const nami_network *net, const nami_data *data, nami_err *err)
{
    int rc = 0;
    for (size_t s = 0; s < data->sets.set.n && !rc; s++) {
        nami_network *at;
        rc = nami_network_for(net, data, s, NULL, &at, err);
        nami_network_free(at);
    }
    return rc;
}

int nami_network_check_data(const nami_network *net, const nami_data *data, nami_err *err)
{
    struct asked q = {0};
    err_clear(err);
    if (nami_network_is_open(net) && data) return check_each(net, data, err);
    int rc = asked_rows(&q, net, data, 0, NULL, err);
    asked_free(&q);
    return rc;
}

void asked_free(struct asked *q)
{
    free(q->x);
    free(q->ood_p);
}

int give_verdict(const struct infer_method *method, const struct diagnostics *found, size_t draws,
                 size_t islands, double ood_p, nami_verdict *out, nami_err *err)
{
    struct str reason = {0};
    *out = (nami_verdict){.verdict = (int)verdict_of(method, found, draws, islands),
                          .khat = found->khat,
                          .ess = found->ess,
                          .log_evidence = found->log_z,
                          .log_evidence_se = found->log_se,
                          .ood_p = ood_p};
    verdict_reason(method, found, draws, islands, &reason);
    int rc = reason.oom ? err_nomem(err) : 0;
    if (!rc) strncat(out->reason, reason.s, sizeof out->reason - 1);
    str_free(&reason);
    return rc;
}

int array_is_latent(const struct model *m, int array, int all)
{
    int is = 0, first = array_first(m, array);
    for (int e = first; e < first + array_size(m, array) && !is; e++) {
        if (!element_is_random(m, e) || element_instance(m, e) < 0) continue;
        is = element_node(m, e) < 0 ? all : !element_is_observed(m, e);
    }
    return is;
}
