/* samples.c: prepares the training data of a run: draws from a file, observations with their
   preprocessing, labels of discrete latents. */
#include "train/samples.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "model/points.h"

static int check_count(const struct training *r, size_t n, nami_err *err)
{
    unsigned long long had = r->net.plan.samples;
    if (r->net.file.tensor.n == 0 || had == n)
        return 0; /* a new run, or resumed with the same number */
    if (!had)
        return err_set(err, NAMI_EUSAGE,
                       "this network was trained on draws of the model; it cannot go on with those "
                       "of a file");
    if (!n)
        return err_set(err, NAMI_EUSAGE,
                       "this network was trained on %llu draws of a file; give it again", had);
    return err_set(err, NAMI_EUSAGE,
                   "there are %zu draws, but the network was trained on %llu; give the same file "
                   "again",
                   n, had);
}

int samples_read(struct training *r, const char *path, nami_err *err)
{
    nami_err why = {0};
    size_t n = 0;
    int rc = path ? points_read(r->net.model, path, &n, &r->points, &why) : 0;
    if (!rc) rc = check_count(r, n, &why);
    if (!rc) r->net.plan.samples = n;
    if (rc && path)
        err_in_file(err, path, &why);
    else if (rc && err)
        *err = why;
    return rc;
}

int samples_brighten(const struct network *n, struct feeds *f, nami_err *err)
{
    int rc = 0, how = n->plan.brightness;
    for (size_t i = 0; i < f->feed.n && !rc && how != AS_IS; i++) {
        struct records *x = &f->feed.a[i].r;
        if (!feed_is_data(n->model, &f->feed.a[i])) continue;
        rc = how == SCALED      ? records_scale(x, err)
             : how == THRESHOLD ? records_threshold(x, err)
                                : records_binarise(x, n->plan.train.seed, err);
    }
    return rc ? rc : feeds_check(f, n->model, err);
}

/* All observed arrays must be in the data; other arrays are labels. */
int samples_complete(const struct network *n, const struct feeds *all, nami_err *err)
{
    const struct model *m = n->model;
    for (int a = 0; a < model_num_arrays(m); a++) {
        const char *name = array_name(m, a);
        const struct feed *f = feeds_find(all, name);
        int seen = 0, first = array_first(m, a);
        for (int e = first; e < first + array_size(m, a); e++)
            seen |= element_is_observed(m, e) && element_is_random(m, e);
        if (seen && !f)
            return err_set(err, NAMI_EINPUT, "%.60s is observed, but no data are given for it",
                           name);
        for (size_t i = 0; seen && i < all->n; i++)
            if (feed_misses(m, f, i))
                return err_set(err, NAMI_EINPUT, "observation %zu of %.60s has missing numbers",
                               i + 1, name);
    }
    return 0;
}

/* ---- labels ------------------------------------------------------------------------- */

/* Latents in the data must be discrete: the bound is then that of log p(x, y), and q is trained on
   y. */
static int check_latents(const struct training *r, nami_err *err)
{
    const struct model *m = r->net.model;
    for (size_t k = 0; k < r->feeds.feed.n; k++) {
        const struct feed *f = &r->feeds.feed.a[k];
        for (size_t j = 0; j < f->r.k; j++) {
            if (f->row[j] < 0 || feed_observed(m, f, j)) continue;
            const struct dist *d = element_dist(m, f->first + (int)j);
            if (!d || !domains[d->domain].discrete)
                return err_set(
                    err, NAMI_EINPUT,
                    "'%.60s' is a latent that is not discrete: of latents, data can give "
                    "the discrete ones only; observe it, or leave it out",
                    f->name);
        }
    }
    return 0;
}

/* Latents that are integrated out could not be labeled: with labels, none are. */
static int keep_latents(struct training *r, nami_err *err)
{
    const char **exact = &r->net.plan.invert.exact;
    for (size_t k = 0; k < r->feeds.feed.n; k++) {
        const struct feed *f = &r->feeds.feed.a[k];
        for (size_t j = 0; j < f->r.k; j++) {
            if (f->row[j] < 0 || feed_observed(r->net.model, f, j)) continue;
            if (*exact && strcmp(*exact, "auto") != 0 && strcmp(*exact, "none") != 0)
                return err_set(err, NAMI_EUSAGE,
                               "data that give the latent '%.60s' do not go with latents that are "
                               "integrated out (exact = %.60s)",
                               f->name, *exact);
            *exact = "none";
            return 0;
        }
    }
    return 0;
}

/* Checks the labels of one latent; given[i] counts those of observation i. */
static int check_choice(const struct choice *c, const struct feed *f, size_t j, int *given,
                        nami_err *err)
{
    for (size_t i = 0; i < f->r.n; i++) {
        double x = records_at(&f->r, i, j);
        given[i] += !isnan(x);
        if (c->states && (x < c->low || x >= c->low + c->states))
            return err_set(err, NAMI_EINPUT,
                           "%.60s is %g in observation %zu; it must be one of %d .. %d", f->name, x,
                           i + 1, c->low, c->low + c->states - 1);
    }
    return 0;
}

/* Labels must be states of their latents; an observation contains all discrete latents, or none. */
static int check_labels(const struct training *r, nami_err *err)
{
    int n = (int)r->net.elbo.choice.n, rc = 0, *given = new_array(int, r->feeds.n + 1);
    if (!given) return err_nomem(err);
    for (int c = 0; c < n; c++) {
        const struct choice *x = &r->net.elbo.choice.a[c];
        int row = r->net.q.encoding[x->node].row[0];
        for (size_t k = 0; k < r->feeds.feed.n; k++) {
            const struct feed *f = &r->feeds.feed.a[k];
            for (size_t j = 0; j < f->r.k && !rc; j++)
                if (f->row[j] == row) rc = check_choice(x, f, j, given, err);
        }
    }
    for (size_t i = 0; i < r->feeds.n && !rc; i++)
        if (given[i] && given[i] < n)
            rc = err_set(
                err, NAMI_EINPUT,
                "observation %zu gives %d of %d discrete latents; all must be given, or none",
                i + 1, given[i], n);
    free(given);
    return rc;
}

/* ---- observations ------------------------------------------------------------------- */

int samples_feed(struct training *r, const char *const *file, int nfile, const struct data *sets,
                 nami_err *err)
{
    unsigned long long had = r->net.plan.observations;
    char rest[40];
    struct plan *p = &r->net.plan;
    int rc = nfile ? feeds_read(&r->feeds, r->net.model, file, nfile, err)
                   : feeds_of_sets(&r->feeds, r->net.model, sets, err);
    if (!rc) rc = samples_brighten(&r->net, &r->feeds, err);
    if (!rc) rc = samples_complete(&r->net, &r->feeds, err);
    if (!rc) rc = check_latents(r, err);
    if (!rc) rc = keep_latents(r, err);
    if (!rc && r->net.file.tensor.n && had != r->feeds.n)
        rc = err_set(err, NAMI_EUSAGE,
                     "there are %zu observations, but the network was trained on %llu; give the "
                     "same files again",
                     r->feeds.n, had);
    r->net.plan.observations = r->feeds.n;
    size_t valid = r->feeds.n / 10 < (size_t)r->net.plan.train.valid
                       ? r->feeds.n / 10
                       : (size_t)r->net.plan.train.valid;
    snprintf(rest, sizeof rest, "rest,%zu", valid ? valid : 1);
    if (!rc)
        rc = split_make(&r->split, r->feeds.n, r->net.plan.split ? r->net.plan.split : rest, 1,
                        r->net.plan.train.seed, err);
    if (!rc && p->options.epochs) {
        size_t per = r->split.n[SPLIT_TRAIN] / (size_t)p->train.batch;
        p->train.steps = (int)((per ? per : 1) * (size_t)p->options.epochs);
    }
    return rc;
}

int samples_source(struct training *r, uint64_t seed, struct source **out, nami_err *err)
{
    const struct train_options *t = &r->net.plan.train;
    double *x = r->points;
    r->points = NULL;
    *out = NULL;
    int rc = r->feeds.n ? check_labels(r, err) : 0;
    if (!rc)
        rc = r->feeds.n ? source_feeds(&r->feeds, &r->split, seed, t->batch, out, err)
             : x ? source_points(r->net.model, seed, t->batch, t->valid, r->net.plan.samples, x,
                                 out, err)
                 : source_model_parts(r->net.model, seed, t->batch, t->valid, &r->train.t.sum, out,
                                      err);
    if (rc) {
        source_free(*out);
        *out = NULL;
    }
    return rc;
}
