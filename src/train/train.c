/* train.c: the training loop: steps, validation, learning-rate schedule, early stopping. */
#include "train/train.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "train/designs.h"
#include "train/schedule.h"

enum { BAD_MOST = 10, FALLS_MOST = 4 };

const char *const train_done[] = {
    "",
    "all steps were made",
    "the loss no longer falls",
    "there is nothing to learn",
    "the loss has converged",
    "the time is over",
};

int train_make(struct train *x, struct qnet *q, struct elbo *e, struct source *s,
               const struct train_options *opt, int threads, nami_err *err)
{
    return train_make_with(x, q, e, s, opt, NULL, NULL, threads, err);
}

/* Networks that read messages learn faster at a higher rate. */
static double default_rate(const struct qnet *q)
{
    return q->opt.arch == &arch_messages ? 0.005 : 0.001;
}

int train_make_with(struct train *x, struct qnet *q, struct elbo *e, struct source *s,
                    const struct train_options *opt, const nami_exchange *with,
                    struct designs *designs, int threads, nami_err *err)
{
    struct bound_options bound = {opt->particles, 1, opt->labels};
    *x = (struct train){
        .opt = *opt, .source = s, .designs = designs, .best = INFINITY, .best_bad = INT_MAX};
    if (!(x->opt.rate > 0)) x->opt.rate = default_rate(q);
    x->rate = x->opt.rate;
    x->width = HIST_PARTS + (e ? e->num_loss_terms : q->num_loss_terms);
    int rc = designs ? designs_start(designs, &x->t, opt->batch, threads, err)
                     : trainer_make_parts(&x->t, q, e, &bound, opt->batch, opt->parts, with,
                                          threads, err);
    if (rc) return rc;
    x->best_param = new_array(float, x->t.nparam + 1);
    if (!x->best_param) return err_nomem(err);
    memcpy(x->best_param, x->t.param, sizeof(float) * x->t.nparam);
    if (!x->t.nparam) x->done = TRAIN_NOTHING;
    return 0;
}

void train_free(struct train *x)
{
    trainer_free(&x->t);
    source_free(x->source);
    free(x->best_param);
    vec_free(&x->history);
}

const double *train_last(const struct train *x)
{
    return x->history.n ? x->history.a + x->history.n - (size_t)x->width : NULL;
}

const double *train_best(const struct train *x)
{
    size_t width = (size_t)x->width;
    for (size_t at = 0; at < x->history.n; at += width)
        if (x->history.a[at + HIST_VALID] == x->best) return x->history.a + at;
    return NULL;
}

double train_rate(const struct train *x) { return schedule_rate(x, x->step ? x->step - 1 : 0); }

/* ---- what is not finite ------------------------------------------------------------- */

/* Skips a batch; after several consecutive ones, restores the best weights and reduces the rate. */
static int leave_out(struct train *x, nami_err *err)
{
    struct trainer *t = &x->t;
    x->skipped++;
    for (int k = 0; k < t->num_loss_terms; k++)
        if (!isfinite(t->loss[k])) x->bad_part = t->loss_term[k].name;
    if (++x->bad < BAD_MOST) return 0;
    if (++x->falls > FALLS_MOST)
        return err_set(
            err, NAMI_EINPUT,
            "the loss of %s is not finite at any learning rate; check the model's priors "
            "(the prior predictive check names those to change), or train with the "
            "family 'mixture'",
            x->bad_part ? x->bad_part : "the network");
    x->bad = 0;
    schedule_cut(x);
    return 0;
}

/* ---- validation ---------------------------------------------------------------------------------
 */

/* Of a part of each validation batch: the loss terms and the total. */
static void part_losses(void *x_, int part, float *floats, double *loss)
{
    struct train *x = x_;
    struct trainer *t = &x->t;
    int terms = t->num_loss_terms;
    (void)floats;
    for (int k = 0; k < source_nvalid(x->source); k++, loss += terms + 1) {
        struct batch b;
        source_valid(x->source, k, &b);
        trainer_part_loss(t, &b, part);
        memcpy(loss, t->loss, sizeof *loss * (size_t)terms);
        loss[terms] = t->total;
    }
}

/* The same of whole batches; each is of a design, whose trainer has parts of its own. */
static int design_losses(struct train *x, double *loss)
{
    struct trainer *t = &x->t;
    int terms = t->num_loss_terms, rc = 0;
    for (int k = 0; k < source_nvalid(x->source) && !rc; k++, loss += terms + 1) {
        struct batch b;
        source_valid(x->source, k, &b);
        rc = designs_loss(x->designs, t, k, &b);
        memcpy(loss, t->loss, sizeof *loss * (size_t)terms);
        loss[terms] = t->total;
    }
    return rc;
}

/* Means over the points of batches whose loss is finite.  Weights with more finite batches are
   preferred to any loss: skipping difficult points must not be an advantage. */
static int mean_losses(struct train *x, double *row, int *bad, nami_err *err)
{
    struct trainer *t = &x->t;
    int n = source_nvalid(x->source), terms = t->num_loss_terms, used = 0;
    size_t size = (size_t)n * (size_t)(terms + 1);
    double points = 0; /* in batches */
    double *all = raw_array(double, size), *loss = all;
    if (!all) return err_nomem(err);
    int rc =
        x->designs ? design_losses(x, all) : sum_run(&t->sum, 0, size, part_losses, x, NULL, all);
    memset(row, 0, sizeof *row * (size_t)x->width);
    for (int k = 0; k < n && !rc; k++, loss += terms + 1) {
        struct batch b;
        source_valid(x->source, k, &b);
        if (!isfinite(loss[terms])) continue;
        double weight = b.count ? (double)b.count / t->batch : 1;
        used++;
        points += weight;
        row[HIST_VALID] += weight * loss[terms];
        for (int p = 0; p < terms; p++) row[HIST_PARTS + p] += weight * loss[p];
    }
    free(all);
    for (int k = HIST_VALID; k < x->width; k++) row[k] = used ? row[k] / points : NAN;
    *bad = n - used;
    return rc ? trainer_failed(rc, err) : 0;
}

static int validate(struct train *x, nami_err *err)
{
    struct trainer *t = &x->t;
    size_t at = x->history.n, width = (size_t)x->width;
    if (vec_reserve(&x->history, at + width)) return err_nomem(err);
    double *row = x->history.a + at;
    int bad, rc = mean_losses(x, row, &bad, err);
    if (rc) return rc;
    row[HIST_STEP] = (double)x->step;
    row[HIST_RATE] = train_rate(x);
    row[HIST_TRAIN] = x->nsum ? x->sum / x->nsum : NAN;
    row[HIST_NORM] = x->nsum ? x->norm / x->nsum : NAN;
    x->history.n += width;
    x->sum = x->norm = x->nsum = 0;
    int better = isfinite(row[HIST_VALID]) &&
                 (bad < x->best_bad || (bad == x->best_bad && row[HIST_VALID] < x->best));
    if (better) {
        memcpy(x->best_param, t->param, sizeof(float) * t->nparam);
        x->best = row[HIST_VALID];
        x->best_bad = bad;
    }
    schedule_validated(x, better);
    return 0;
}

/* ---- a step ------------------------------------------------------------------------- */

static double warm_now(const struct train *x)
{
    double part = ((double)x->step + 1) / (x->opt.warmup + 1);
    return part < 1 ? part : 1;
}

int train_step(struct train *x, int *checked, nami_err *err)
{
    struct trainer *t = &x->t;
    struct batch b;
    int rc = source_batch(x->source, x->step, &b, err);
    *checked = 0;
    if (rc) return rc;
    t->opt.warm = warm_now(x);
    rc = x->designs ? designs_gradient(x->designs, t, x->step, &b) : trainer_gradient(t, &b);
    t->opt.warm = 1; /* for validation */
    if (rc) return trainer_failed(rc, err);
    if (isfinite(t->total) && isfinite(t->norm)) {
        trainer_apply(t, schedule_rate(x, x->step), x->opt.clip);
        x->sum += t->total;
        x->norm += t->norm;
        x->nsum++;
        x->bad = 0;
    } else if ((rc = leave_out(x, err))) {
        return rc;
    }
    x->step++;
    schedule_step(x);
    if (x->step % (uint64_t)schedule_check(x) == 0 || x->done) {
        *checked = 1;
        rc = validate(x, err);
    }
    return rc;
}
