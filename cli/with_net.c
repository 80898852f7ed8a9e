/* with_net.c: what commands that ask a trained network share: opening it, its data, trust. */
#include "with_net.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/parallel.h"
#include "infer/ood_model.h"
#include "infer/weights.h"
#include "model/eval.h"
#include "train/samples.h"

int read_net(struct training *r, const char *path, int threads)
{
    nami_err err = {0};
    if (!network_read(&r->net, path, threads, &err)) return EXIT_YES;
    if (err.code == NAMI_EINPUT && !network_is(path))
        err_set(&err, NAMI_EINPUT,
                "this is no trained network; 'nami train MODEL -o NET' makes one of a model, and "
                "'nami run' does all from model and data to draws");
    return fail(READING, path, &err);
}

int allow_simulator(struct training *r, const char *path, int allowed, int quiet)
{
    struct str what = {0};
    nami_err err;
    int rc = EXIT_YES;
    if (!r->net.model->source.simulator) return rc;
    model_simulator(r->net.model, &what);
    if (what.oom) {
        err_nomem(&err);
        rc = fail(RUNNING, NULL, &err);
    } else if (r->net.model->source.simulator_locked && !allowed) {
        err_set(
            &err, NAMI_EUSAGE,
            "this network would run a program; if you trust the file, give --allow-simulator: it "
            "is the simulator %s",
            what.s);
        rc = fail(READING, path, &err);
    } else if (r->net.model->source.simulator_locked) {
        old_tell_simulator(r->net.model, quiet);
        r->net.model->source.simulator_locked = 0;
    }
    str_free(&what);
    return rc;
}

int open_net(struct trained *n, const char *path, int threads)
{
    nami_err err = {0};
    *n = (struct trained){0};
    int rc = read_net(&n->r, path, threads);
    if (rc) return rc;
    if (!(n->param = raw_array(float, network_nparam(&n->r.net) + 1))) rc = err_nomem(&err);
    if (!rc) rc = network_weights(&n->r.net, n->param, &err);
    if (!rc) rc = infer_init(&n->a, &n->r.net.q, n->param, &err);
    return rc ? fail(READING, path, &err) : EXIT_YES;
}

static size_t first_sets(size_t n, int most) { return most && (size_t)most < n ? (size_t)most : n; }

/* Records: images and the like, as those that it was trained on. */
static int open_records(struct trained *n, const struct opt_many *file, int most)
{
    struct feeds f = {0};
    nami_err err = {0};
    double value;
    int rc = feeds_read(&f, n->r.net.model, file->a, file->n, &err);
    int other = rc ? -1 : feeds_other(n->r.net.model, file->a, file->n, &value);
    if (other >= 0) rc = infer_refuse(n->r.net.model, other, value, &err);
    if (!rc) rc = samples_brighten(&n->r.net, &f, &err);
    if (!rc) rc = samples_complete(&n->r.net, &f, &err);
    n->nset = first_sets(f.n, most);
    n->x = rc ? NULL : new_array(double, (size_t)n->r.net.model->ir.num_rows * n->nset + 1);
    if (!rc && !n->x) rc = err_nomem(&err);
    for (size_t s = 0; s < n->nset && !rc; s++) feeds_copy(&f, s, n->x + s, n->nset);
    feeds_free(&f);
    return rc ? fail(READING, NULL, &err) : EXIT_YES;
}

/* Do data sets from `first` on repeat a name of those before?  Each file's sets have the same. */
static int repeats(const struct data *d, size_t first)
{
    if (!first || first >= d->set.n) return 0;
    for (size_t i = 0; i < d->set.a[0].value.n; i++) {
        const char *name = d->set.a[0].value.a[i].name;
        if (dataset_find(&d->set.a[first], name, strlen(name))) return 1;
    }
    return 0;
}

/* One more file: more data sets, or, if it repeats no name, more of the same ones. */
static int read_more(struct data *d, const char *file, nami_err *err)
{
    size_t before = d->set.n;
    int rc = data_read(d, file, err);
    return rc || repeats(d, before) ? rc : data_join(d, before, err);
}

int open_data(struct trained *n, const struct opt_many *files, int most, int quiet)
{
    const char *const *file = files->a;
    int nfile = files->n;
    const struct model *m = n->r.net.model;
    const struct data *d = nfile ? &n->data : &m->source.data;
    nami_err err = {0};
    for (int i = 0; i < nfile; i++)
        if (is_records(file[i])) return open_records(n, files, most);
    for (int i = 0; i < nfile; i++)
        if (read_more(&n->data, file[i], &err)) return fail(READING, file_name(file[i]), &err);
    n->nset = first_sets(nfile ? d->set.n : d->set.n > 0, most);
    if (!n->nset) {
        err_set(&err, NAMI_EUSAGE, "what was observed? give --data FILE");
        return fail(RUNNING, NULL, &err);
    }
    n->x = new_array(double, (size_t)m->ir.num_rows * n->nset + 1);
    if (!n->x) return err_nomem(&err), fail(RUNNING, NULL, &err);
    for (size_t s = 0; s < n->nset; s++)
        if (infer_data(m, &d->set.a[s], n->nset, s, n->x, &err))
            return fail(READING, nfile == 1 ? file_name(file[0]) : NULL, &err);
    if (nfile) say_unknown(m, d);
    if (nfile && !quiet) say_unused(m, d, "the network");
    return EXIT_YES;
}

void close_net(struct trained *n)
{
    if (n->a.q) infer_fini(&n->a);
    data_free(&n->data);
    free(n->x);
    free(n->param);
    training_free(&n->r);
}

/* The scalars that are most out of place: "x[3] = 250 lies 14 sd from its median, ..."; what others
   suggest counts if none is far out itself, since they may be led astray by one that is. */
static void put_unlike(const struct model *m, const struct ood_model *o, const struct ood_answer *a,
                       const double *x, struct str *out)
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
        str_printf(out, " = %.4g ", x[s->scalar]);
        if (isinf(far))
            str_printf(out, "is %.4g in all its draws", o->o.centre[s->scalar]);
        else if (far >= given)
            str_printf(out, "lies %.2g sd from its median", far);
        else
            str_printf(out, "lies %.2g sd from what the others suggest", given);
    }
}

static int compare_sets(const struct trained *n, const struct ood_model *o, double *p,
                        struct str *first, size_t *bad, nami_err *err)
{
    for (size_t s = 0; s < n->nset; s++) {
        struct ood_answer a;
        int rc = ood_model_query(o, n->r.net.model, n->x, n->nset, s, &a, err);
        if (rc) return rc;
        p[s] = a.p;
        if (!(a.p < OOD_ALARM) || (*bad)++) continue;
        if (n->nset > 1) str_printf(first, "number %zu, where ", s + 1);
        put_unlike(n->r.net.model, o, &a, o->x, first);
    }
    return first->oom ? err_nomem(err) : 0;
}

int warn_unlike(const struct trained *n, int threads, int quiet, double *p)
{
    struct str first = {0};
    struct ood_model o;
    size_t bad = 0;
    nami_err err;
    int rc = ood_model_fit(n->r.net.model, threads, &o, &err);
    if (!rc) rc = compare_sets(n, &o, p, &first, &bad, &err);
    if (!rc && o.why && !quiet) note("the data are not compared with the model's draws: %s", o.why);
    double chance = OOD_ALARM * (double)n->nset;
    if (!rc && bad && n->nset == 1)
        warn("these data are unlike what the model draws (p < %g): %s; the network was not trained "
             "for them",
             OOD_ALARM, first.s);
    else if (!rc && (double)bad > 3 * chance)
        warn("%zu of %zu data sets are unlike what the model draws (p < %g), the first is %s; the "
             "network was not trained for them",
             bad, n->nset, OOD_ALARM, first.s);
    else if (!rc && bad && !quiet)
        note("%zu of %zu data sets are unlike what the model draws (p < %g), as chance has it; the "
             "first is %s",
             bad, n->nset, OOD_ALARM, first.s);
    str_free(&first);
    ood_model_free(&o);
    return rc ? fail(RUNNING, NULL, &err) : EXIT_YES;
}

int old_latent_names(const struct model *m, int all, struct str *out)
{
    for (size_t i = 0; i < m->ir.arrays.n; i++) {
        const struct array *a = &m->ir.arrays.a[i];
        int want = 0;
        for (int e = a->first; e < a->first + a->n && !want; e++) {
            if (m->ir.state[e] != E_RANDOM || a->free) continue;
            want = m->ir.node[m->ir.defined_by[e]] < 0 ? all : !m->ir.observed[e];
        }
        if (want) str_printf(out, "%s%s", out->n ? "," : "", a->name);
    }
    return out->oom || !out->n ? NAMI_ENOMEM : 0;
}

void old_put_json_number(struct str *out, const char *name, double x)
{
    char buf[NUM_MAX];
    str_printf(out, ",\"%s\":", name);
    if (isfinite(x))
        str_putn(out, buf, (size_t)num_print(buf, x));
    else
        str_put(out, "null");
}

/* Islands whose estimates of p(x) vary by as much as their mean disagree. */
int trusted(const struct diagnostics *d, size_t draws, size_t islands)
{
    if (!isfinite(d->log_z)) return 0; /* all weights are 0 */
    if (!isnan(d->khat)) return d->khat < khat_limit(draws);
    return d->log_se < 1 / sqrt((double)islands);
}

/* Would --family spline be another network? */
static int can_bend(const struct qnet *q)
{
    for (int g = 0; g < q->ngroup; g++) {
        const struct family *f = q->group[g].head.family;
        if (f == &family_match || f == &family_mixture || f == &family_logistic) return 1;
    }
    return 0;
}

/* What to do about weights that are not to be trusted, most promising first. */
static void put_advice(const struct trained *n, const struct diagnostics *d, size_t draws,
                       size_t islands, struct str *out)
{
    /* Draws: still quick, and often enough up to a k-hat of 1; of few draws, k-hat is not sure. */
    enum { FEW = 1000, MORE = 100000 };
    const char *family = can_bend(n->a.q) ? ", or with --family spline" : "";
    if (draws < KHAT_DRAWS)
        str_put(out, "too few draws to tell: do not trust these numbers; ask for more with -n\n");
    else if (!isfinite(d->log_z))
        str_printf(out,
                   "no draw is near the posterior: these numbers say nothing; do data and model "
                   "fit together? train longer%s\n",
                   family);
    else if (d->khat < (draws < FEW ? 2 : 1) && draws < MORE)
        str_printf(out,
                   "k-hat is too large: do not trust these numbers; ask for more draws (-n %d), "
                   "then train longer%s\n",
                   MORE, family);
    else
        str_printf(out, "k-hat is too large: do not trust these numbers; train longer%s%s\n",
                   family, islands ? "" : "; for long chains, --method smc");
}

/* "k-hat 0.31 (good below 0.70)" */
static void put_khat(double khat, size_t draws, struct str *out)
{
    if (draws < KHAT_DRAWS)
        str_printf(out, "k-hat needs %d draws or more", KHAT_DRAWS);
    else if (khat == INFINITY)
        str_printf(out, "k-hat cannot be told (good below %.2f)", khat_limit(draws));
    else
        str_printf(out, "k-hat %.2f (good below %.2f)", khat, khat_limit(draws));
}

void put_trust(const struct trained *n, const struct diagnostics *d, size_t draws, size_t islands,
               struct str *out)
{
    int resampled = isnan(d->khat), good = trusted(d, draws, islands);
    str_put(out, "weights      ");
    if (!isfinite(d->log_z))
        str_printf(out, "all 0, or too small to be told apart: 0 effective draws of %zu\n", draws);
    else if (resampled)
        str_printf(out, "resampled in %zu islands, %.0f effective draws of %zu at the end\n",
                   islands, d->ess, draws);
    else {
        put_khat(d->khat, draws, out);
        str_printf(out, ", %.0f effective draws of %zu\n", d->ess, draws);
    }
    if (isfinite(d->log_z))
        str_printf(out, "evidence     log p(x) = %.3f +- %.3f\n", d->log_z, d->log_se);
    if (good) return;
    str_put(out, "warning      ");
    if (resampled && isfinite(d->log_z))
        str_put(out, "the islands disagree, or are too few: do not trust these numbers; ask for "
                     "more draws, or train longer\n");
    else
        put_advice(n, d, draws, islands, out);
}
