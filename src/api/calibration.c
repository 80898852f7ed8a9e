/* calibration.c: simulation-based calibration, coverage, TARP and parameter recovery of a network
   in nami.h, on data sets that its model simulates. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/err.h"
#include "base/exchange.h"
#include "base/parallel.h"
#include "infer/answer.h"
#include "infer/weights.h"
#include "model/eval.h"
#include "model/points.h"
#include "report/calibrate.h"
#include "report/figure.h"

/* Draws in memory at once, about; numbers of all draws that are judged; seeds that differ from
   those of training: truths, posterior draws. */
enum { NUMBERS = 1 << 24, MOST_NUMBERS = 1 << 28, MOST_DRAWS = 1 << 24, FEWEST_SETS = 20 };
static const uint64_t SIM_SEED = 0x63616c6962736574, DRAW_SEED = 0x63616c6962647277;

struct nami_calibration {
    struct arena mem; /* of the names */
    const nami_network *net;
    nami_calibrate_options opt; /* only while it is made */
    int threads;
    const struct infer_method *method;
    struct calibration c;
    int exact_too; /* exact latents are judged, too */
    int *elem; /* (d): of the model, one for each scalar */
    const char **name;
    double *samples; /* (rows, sets): joint draws of a file; NULL: they are simulated */
    double *x, *theta, *z, *logw, *logq, *logq0; /* x: (rows, sets); the others as in sims.h */
};

/* ---- which scalars ------------------------------------------------------------------------ */

static int is_listed(const char *names, const char *name)
{
    size_t n = strlen(name);
    for (const char *s = names; s && *s; s += strcspn(s, ","), s += *s == ',')
        if (strncmp(s, name, n) == 0 && (s[n] == ',' || !s[n])) return 1;
    return !names;
}

/* Does the network draw it?  Exact latents are drawn given the model's priors, so they cannot be
   compared with draws of training distributions. */
static int has_factor(const nami_calibration *w, int e)
{
    const struct network *n = &w->net->net;
    if (!element_is_random(n->model, e) || element_row(n->model, e) < 0) return 0;
    int v = element_node(n->model, e), at = v < 0 ? -1 : n->inverse->pos[v];
    return at >= (w->exact_too ? 0 : n->inverse->nexact) && at < n->inverse->nlatent;
}

/* Is any of the exact latents drawn from a training distribution in training? */
static int exact_trained(const struct network *n)
{
    int found = 0;
    for (int e = 0; e < model_num_elements(n->model); e++) {
        int v = element_is_random(n->model, e) ? element_node(n->model, e) : -1;
        int at = v < 0 ? -1 : n->inverse->pos[v];
        found |= at >= 0 && at < n->inverse->nexact && element_is_trained(n->model, e);
    }
    return found;
}

static int any_factor(const nami_calibration *w, int array)
{
    const struct model *m = w->net->net.model;
    int first = array_first(m, array), found = 0;
    for (int e = first; e < first + array_size(m, array); e++) found |= has_factor(w, e);
    return found;
}

/* Each of the names must have something to judge. */
static int check_names(const nami_calibration *w, nami_err *err)
{
    const struct model *m = w->net->net.model;
    struct arena mem = {0};
    struct layout l;
    int rc = w->opt.only ? model_layout(m, w->opt.only, 1, &mem, &l, err) : 0;
    for (int v = 0; w->opt.only && !rc && v < l.nvar; v++) {
        const char *name = l.var[v].name;
        if (!any_factor(w, model_find_array(m, name, strlen(name))))
            rc = err_set(err, NAMI_EINPUT, "the network does not infer %s; choose from its latents",
                         name);
    }
    arena_free(&mem);
    return rc;
}

static const char *keep_name(nami_calibration *w, int e)
{
    struct str s = {0};
    elem_name(w->net->net.model, e, &s);
    const char *name = s.oom ? NULL : arena_strndup(&w->mem, s.s, s.n);
    str_free(&s);
    return name;
}

static int choose(nami_calibration *w, nami_err *err)
{
    const struct model *m = w->net->net.model;
    int d = 0, rc = check_names(w, err);
    if (rc) return rc;
    w->elem = new_array(int, model_num_elements(m));
    w->name = new_array(const char *, model_num_elements(m));
    if (!w->elem || !w->name) return err_nomem(err);
    for (int a = 0; a < model_num_arrays(m); a++) {
        if (!is_listed(w->opt.only, array_name(m, a))) continue;
        for (int e = array_first(m, a); e < array_first(m, a) + array_size(m, a); e++) {
            if (!has_factor(w, e)) continue;
            w->elem[d] = e;
            if (!(w->name[d++] = keep_name(w, e))) return err_nomem(err);
        }
    }
    w->c.sims.d = d;
    w->c.name = w->name;
    return d ? 0 : err_set(err, NAMI_EINPUT, "the network infers no latent");
}

/* ---- truths and draws --------------------------------------------------------------------- */

static int is_finite(const struct model *m, size_t n, const double *x, nami_err *err)
{
    for (int e = 0; e < model_num_elements(m); e++) {
        if (!element_is_random(m, e) || element_row(m, e) < 0) continue;
        const double *row = x + (size_t)element_row(m, e) * n;
        for (size_t i = 0; i < n; i++) {
            if (isfinite(row[i])) continue;
            struct str s = {0};
            elem_name(m, e, &s);
            err_set(err, NAMI_EINPUT,
                    "%s is %g in a data set that the model simulated; the prior predictive check "
                    "of the model says what to change",
                    s.s ? s.s : "?", row[i]);
            str_free(&s);
            return NAMI_EINPUT;
        }
    }
    return 0;
}

/* Joint draws of a file in place of simulations: the last of them. */
static int read_samples(nami_calibration *w, nami_err *err)
{
    const struct model *m = w->net->net.model;
    const char *path = w->opt.samples;
    double *x = NULL;
    size_t all = 0, n;
    nami_err why = {0};
    int rc = points_read(m, path, &all, &x, &why);
    if (!rc && all < FEWEST_SETS)
        rc = err_set(&why, NAMI_EINPUT, "there are %zu draws, too few to judge by: give %d or more",
                     all, FEWEST_SETS);
    if (rc) {
        free(x);
        return err_in_file(err, path, &why);
    }
    n = all < (size_t)w->c.sims.n ? all : (size_t)w->c.sims.n;
    w->samples = raw_array(double, (size_t)model_num_rows(m) * n + 1);
    for (size_t r = 0; r < (size_t)model_num_rows(m) && w->samples; r++)
        memcpy(w->samples + r * n, x + r * all + (all - n), n * sizeof *x);
    free(x);
    w->c.sims.n = (int)n;
    return w->samples ? 0 : err_nomem(err);
}

/* By process 0, which sends them to the others: a simulator may give each process other draws. */
static int draw_truths(nami_calibration *w, nami_err *err)
{
    const struct model *m = w->net->net.model;
    const nami_exchange *with = w->opt.exchange;
    size_t n = (size_t)w->c.sims.n, size = sizeof *w->x * (size_t)model_num_rows(m) * n;
    int rc = 0;
    if (exchange_rank(with))
        return exchange_receive(with, 0, EXCHANGE_DRAWS, w->x, size) ? exchange_failed(err) : 0;
    rc = model_simulate_training(m, w->opt.seed ^ SIM_SEED, 0, n, w->threads, w->x, err);
    for (int k = 1; k < exchange_size(with) && !rc; k++)
        if (exchange_send(with, k, EXCHANGE_DRAWS, w->x, size)) rc = exchange_failed(err);
    if (!rc && with && exchange_wait(with)) rc = exchange_failed(err);
    return rc;
}

static int simulate(nami_calibration *w, nami_err *err)
{
    const struct model *m = w->net->net.model;
    size_t n = (size_t)w->c.sims.n;
    int rc = 0;
    if (w->samples)
        memcpy(w->x, w->samples, (size_t)model_num_rows(m) * n * sizeof *w->x);
    else
        rc = draw_truths(w, err);
    if (!rc && !w->samples) rc = is_finite(m, n, w->x, err);
    for (int k = 0; k < w->c.sims.d && !rc; k++)
        memcpy(w->theta + (size_t)k * n, w->x + (size_t)element_row(m, w->elem[k]) * n,
               sizeof *w->x * n);
    if (!rc && w->logq0) rc = infer_logq(&w->net->infer, n, w->x, w->threads, w->logq0, err);
    return rc;
}

static void take_weights(nami_calibration *w, size_t first, const struct answer *a)
{
    size_t n = (size_t)w->c.sims.n, per = a->per;
    for (size_t s = 0; s < a->nset; s++) {
        for (size_t i = 0; i < per; i++) {
            if (w->logw) w->logw[i * n + first + s] = a->logw[s * per + i];
            if (w->logq) w->logq[i * n + first + s] = a->logq[s * per + i];
        }
        if (!w->logw) continue;
        w->c.good += a->found[s].khat < khat_limit(per);
        w->c.ess += a->found[s].ess / (double)n;
    }
}

/* The draws of sets first ... into the order of sims.h. */
static int take(nami_calibration *w, size_t first, const struct answer *a, nami_err *err)
{
    const struct model *m = w->net->net.model;
    size_t n = (size_t)w->c.sims.n, per = a->per;
    for (int k = 0; k < w->c.sims.d; k++) {
        const double *from = a->z + (size_t)element_row(m, w->elem[k]) * a->n;
        double *to = w->z + (size_t)k * per * n + first;
        for (size_t s = 0; s < a->nset; s++)
            for (size_t i = 0; i < per; i++) {
                double v = to[i * n + s] = from[s * per + i];
                if (!isfinite(v))
                    return err_set(err, NAMI_EINPUT,
                                   "the network draws %g for %s of data set %zu: it is not trained "
                                   "well; train longer, or with a lower learning rate",
                                   v, w->name[k], first + s + 1);
            }
    }
    take_weights(w, first, a);
    return 0;
}

static int draw(nami_calibration *w, nami_err *err)
{
    size_t n = (size_t)w->c.sims.n, per = (size_t)w->c.sims.m;
    size_t each = NUMBERS / (((size_t)model_num_rows(w->net->net.model) + 4) * per);
    struct query q = {.x = w->x, .nset = n, .per = per, .seed = w->opt.seed ^ DRAW_SEED};
    const nami_exchange *with = w->opt.exchange;
    int rc = 0, turn = 0;
    if (each > n / 20) each = n / 20; /* to have something to say */
    if (each < 1) each = 1;
    for (size_t s = 0, k; s < n && !rc; s += k, turn = (turn + 1) % exchange_size(with)) {
        struct answer a = {0};
        k = n - s < each ? n - s : each;
        if (turn == exchange_rank(with))
            rc = answer_sets(&w->net->infer, &q, w->method, s, k, 0, w->threads, &a, err);
        else if (!exchange_rank(with))
            rc = answer_receive(&w->net->infer, with, turn, &q, w->method, s, k, 0, &a, err);
        if (!rc && !exchange_rank(with)) rc = take(w, s, &a, err);
        if (!rc && exchange_rank(with) && a.n) {
            rc = answer_send(&w->net->infer, with, &a, err);
            if (!rc && exchange_wait(with)) rc = exchange_failed(err);
        }
        answer_free(&a);
        if (!rc) rc = tell_progress(w->opt.watch, "data sets", (double)(s + k), (double)n, err);
    }
    return rc;
}

static int make_room(nami_calibration *w, nami_err *err)
{
    struct sims *s = &w->c.sims;
    size_t d = (size_t)s->d, n = (size_t)s->n, m = (size_t)s->m;
    if ((double)d * (double)n * (double)m > MOST_NUMBERS)
        return err_set(err, NAMI_EUSAGE,
                       "%zu scalars of %zu data sets with %zu draws are too many; ask for fewer "
                       "variables, data sets or draws",
                       d, n, m);
    w->x = raw_array(double, (size_t)model_num_rows(w->net->net.model) * n);
    w->theta = raw_array(double, d *n);
    w->z = raw_array(double, d *n *m);
    w->c.recovery = new_array(struct recovery, d);
    w->c.mean = raw_array(double, d *n);
    if (!w->x || !w->theta || !w->z || !w->c.recovery || !w->c.mean) return err_nomem(err);
    if (w->c.weighted) {
        if (!(w->logw = raw_array(double, n *m))) return err_nomem(err);
    } else if (!(w->logq = raw_array(double, n *m)) || !(w->logq0 = raw_array(double, n)))
        return err_nomem(err);
    s->theta = w->theta, s->z = w->z, s->logw = w->logw;
    return 0;
}

/* ---- what they say ------------------------------------------------------------------------ */

static int judge(nami_calibration *w, nami_err *err)
{
    struct calibration *c = &w->c;
    uint64_t seed = w->opt.seed;
    double share = c->alpha / CALIBRATION_TESTS;
    int rc = sbc_run(&c->sims, share, 0, seed, &c->sbc, err);
    if (!rc)
        rc = coverage_run(&c->sims, w->logq, w->logq0, share, COVERAGE_LEVELS, seed, &c->coverage,
                          err);
    if (!rc) rc = tarp_run(&c->sims, NULL, share, seed, &c->tarp, err);
    if (!rc) rc = recovery_run(&c->sims, c->recovery, c->mean, NULL, err);
    return rc;
}

static int check_options(const nami_calibrate_options *o, nami_err *err)
{
    if (o->sets < FEWEST_SETS)
        return err_set(err, NAMI_EUSAGE,
                       "%d data sets are too few to judge calibration by; ask for %d or more",
                       o->sets, FEWEST_SETS);
    if (o->draws > MOST_DRAWS)
        return err_set(err, NAMI_EUSAGE, "%d draws are too many; %d are possible", o->draws,
                       MOST_DRAWS);
    if (!(o->alpha < 1))
        return err_set(err, NAMI_EUSAGE, "alpha is a probability between 0 and 1, not %g",
                       o->alpha);
    return 0;
}

static int run(nami_calibration *w, nami_err *err)
{
    const nami_calibrate_options *o = &w->opt;
    w->method = infer_method_find(o->method);
    w->threads = parallel_threads(o->threads);
    w->c.method = w->method->name;
    w->c.weighted = w->method->weighted;
    w->c.alpha = o->alpha;
    w->c.training = model_has_train_priors(w->net->net.model);
    w->exact_too = !exact_trained(&w->net->net);
    if (w->c.training && w->c.weighted)
        return err_set(err, NAMI_EUSAGE,
                       "weighted draws are for the model's priors, but the network was trained with "
                       "training distributions, which data sets are simulated from; use the method "
                       "'direct'");
    w->c.sims.n = o->sets;
    w->c.sims.m = (o->draws + 7) / 8 * 8; /* draws are made in groups of 8 */
    int rc = choose(w, err);
    if (!rc && o->samples) rc = read_samples(w, err);
    if (rc) return rc;
    if (w->c.sims.m != o->draws)
        tell(o->watch, NAMI_NOTE, "draws are made in groups of 8: %d for each data set",
             w->c.sims.m);
    rc = make_room(w, err);
    if (!rc && !w->samples) tell_program(w->net->model, o->watch);
    if (!rc) rc = simulate(w, err);
    if (!rc) rc = draw(w, err);
    return rc || exchange_rank(o->exchange) ? rc : judge(w, err);
}

/* ---- the object --------------------------------------------------------------------------- */

int nami_calibration_new(const nami_network *net, const nami_calibrate_options *opt,
                         nami_calibration **out, nami_err *err)
{
    nami_calibrate_options o;
    err_clear(err);
    *out = NULL;
    int rc = options_complete("calibrate", opt, sizeof o, &o, err);
    if (!rc) rc = check_options(&o, err);
    if (!rc) rc = exchange_check(o.exchange, err);
    if (rc) return rc;
    nami_calibration *w = new_array(nami_calibration, 1);
    if (!w) return err_nomem(err);
    w->net = net;
    w->opt = o;
    rc = run(w, err);
    w->opt = (nami_calibrate_options){0};
    if (rc || exchange_rank(o.exchange))
        nami_calibration_free(w);
    else
        *out = w;
    return rc;
}

void nami_calibration_free(nami_calibration *w)
{
    if (!w) return;
    sbc_free(&w->c.sbc);
    coverage_free(&w->c.coverage);
    tarp_free(&w->c.tarp);
    free(w->c.recovery);
    free(w->c.mean);
    free(w->x);
    free(w->samples);
    free(w->theta);
    free(w->z);
    free(w->logw);
    free(w->logq);
    free(w->logq0);
    free(w->elem);
    free(w->name);
    arena_free(&w->mem);
    free(w);
}

int nami_calibration_verdict(const nami_calibration *w) { return calibration_verdict(&w->c); }

int nami_calibration_scalars(const nami_calibration *w) { return w->c.sims.d; }

int nami_calibration_scalar(const nami_calibration *w, int i, nami_calibrated *out, nami_err *err)
{
    const struct calibration *c = &w->c;
    err_clear(err);
    if (i < 0 || i >= c->sims.d)
        return err_set(err, NAMI_EUSAGE,
                       "there are %d scalars, numbered from 0: none has number %d", c->sims.d, i);
    const struct coverage_at *at = calibration_covered(c, i);
    const struct recovery *r = &c->recovery[i];
    *out = (nami_calibrated){.name = c->name[i],
                             .verdict = flaw_names[calibration_flaw(c, i)],
                             .inside = calibration_scalar_fine(c, i),
                             .p = calibration_scalar_p(c, i),
                             .coverage50 = at[0].share,
                             .coverage80 = at[1].share,
                             .coverage90 = at[2].share,
                             .coverage95 = at[3].share,
                             .correlation = r->corr,
                             .rmse = r->rmse,
                             .contraction = r->contraction,
                             .z_mean = r->z_mean,
                             .z_sd = r->z_sd};
    return 0;
}

int nami_calibration_describe(const nami_calibration *w, const char *as, char **text, nami_err *err)
{
    const struct figure *figure = figure_find(as);
    struct str out = {0};
    int rc = 0;
    err_clear(err);
    *text = NULL;
    if (figure && figure->needs == FIGURE_CALIBRATION)
        rc = figure->put(&(struct figure_input){.calibration = &w->c}, plot_svg, &out);
    else if (strcmp(as, "text") == 0)
        calibration_text(&w->c, &out);
    else if (strcmp(as, "json") == 0)
        calibration_json(&w->c, &out);
    else
        return no_such_form(as, "text, json, ecdf, ranks, coverage, tarp, recovery", err);
    out.oom |= rc != 0;
    return give_text(&out, text, NULL, err);
}

const struct calibration *calibration_found(const nami_calibration *w) { return &w->c; }
