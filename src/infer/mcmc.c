/* mcmc.c: adapts the chains of mcmc.h to the posterior, and runs them until they agree. */
#include "infer/mcmc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"
#include "exact/collapse.h"
#include "infer/chains.h"
#include "infer/dense.h"

enum {
    WARM = 400,    /* moves of the first adaptation */
    AGAIN = 60,    /* of step size and length, when the mass matrix has changed */
    ROUNDS = 6,    /* of draws */
    LONGEST = 256, /* leapfrog steps of a move */
    SHORT = 16,    /* so many are always allowed */
    LONGER = 8     /* times the mean of the other parameterization */
};
static const double BUDGET = 4e10; /* cost of the program times leapfrog steps times chains */
static const double APART = 1.5;   /* R-hat of chains that are in different modes */

int mcmc_can(const struct qnet *q)
{
    for (int i = 0; i < q->inverse->nlatent; i++)
        if (q->encoding[q->inverse->perm[i]].kind != ENCODING_REAL) return 0;
    return q->inverse->nlatent > 0 && !joint_known(q, "", NULL);
}

/* ---- adaptation of step size and trajectory length ------------------------------------------ */

struct tuning {
    double accept;                   /* target of the mean acceptance probability */
    double origin, bar, error;       /* dual averaging of log step */
    double length, log_mean, square; /* of trajectories, in units of time; Adam's second moment */
    int n;
};

static void tuning_start(struct tuning *t, double step)
{
    t->origin = log(10 * step);
    t->bar = log(step);
    t->error = 0;
    t->square = 0;
    t->log_mean = log(t->length);
    t->n = 0;
}

/* h in (0, 1]: van der Corput's sequence */
static double spread(uint64_t i)
{
    double h = 0, digit = 0.5;
    for (i++; i; i >>= 1, digit /= 2) h += (double)(i & 1) * digit;
    return h;
}

static void aim(struct mcmc *s, const struct tuning *t)
{
    double leaps = ceil(spread(s->move) * t->length / s->step);
    s->leapfrogs = leaps < 1 ? 1 : leaps > s->longest ? s->longest : (int)leaps;
}

/* x = L^-1 (ends - their mean) of chain c */
static void whiten(const struct mcmc *s, const double *ends, const double *mean, int c, double *x)
{
    for (int k = 0; k < s->dim; k++) x[k] = ends[k * MCMC_CHAINS + c] - mean[k];
    if (s->dense) {
        dense_lower(s->dim, s->L, x);
        return;
    }
    for (int k = 0; k < s->dim; k++) x[k] /= s->L[k];
}

static void means(const struct mcmc *s, const double *ends, double *mean)
{
    for (int k = 0; k < s->dim; k++) {
        double sum = 0, n = 0;
        for (int c = 0; c < MCMC_CHAINS; c++) {
            if (s->share[c] <= 0) continue; /* may be infinite */
            sum += ends[k * MCMC_CHAINS + c];
            n++;
        }
        mean[k] = n > 0 ? sum / n : 0;
    }
}

/* d ChEES / d log length, with respect to which it is maximized; work: (4 dim) */
static double chees(const struct mcmc *s, double *work)
{
    size_t d = (size_t)s->dim;
    double *m0 = work, *m1 = m0 + d, *x0 = m1 + d, *x1 = x0 + d, sum = 0, weight = 0;
    means(s, s->from, m0);
    means(s, s->to, m1);
    for (int c = 0; c < MCMC_CHAINS; c++) {
        if (!(s->share[c] > 0)) continue;
        double along = 0;
        whiten(s, s->from, m0, c, x0);
        whiten(s, s->to, m1, c, x1);
        for (size_t k = 0; k < d; k++) along += x1[k] * s->p[k * MCMC_CHAINS + (size_t)c];
        sum += s->share[c] * (dense_dot(d, x1, x1) - dense_dot(d, x0, x0)) * along;
        weight += s->share[c];
    }
    return weight > 0 ? sum / weight * s->step * s->leapfrogs : 0;
}

static void tune(struct mcmc *s, struct tuning *t, double *work)
{
    double mean = 0, n = ++t->n, g = chees(s, work);
    for (int c = 0; c < MCMC_CHAINS; c++) mean += s->share[c] / MCMC_CHAINS;
    t->error += (t->accept - mean - t->error) / (n + 10);
    double now = t->origin - sqrt(n) / 0.05 * t->error, keep = pow(n, -0.75);
    t->bar += keep * (now - t->bar);
    s->step = exp(now);
    if (isfinite(g)) {
        t->square += (1 - 0.95) * (g * g - t->square);
        double size = sqrt(t->square / (1 - pow(0.95, n))) + 1e-12;
        double to = log(t->length) + fmax(-0.35, fmin(0.35, 0.05 * g / size));
        t->length = exp(fmax(log(s->step), fmin(to, log(s->step * s->longest))));
    }
    t->log_mean += keep * (log(t->length) - t->log_mean);
}

static void tuning_end(struct mcmc *s, struct tuning *t)
{
    s->step = exp(t->bar);
    t->length = exp(t->log_mean);
}

/* ---- the mass matrix --------------------------------------------------------------------------
 */

/* Positions of all chains, n of them, u[k * stride + i]. */
struct positions {
    size_t n, stride;
    const double *u;
};

static double covariance(const struct positions *x, const double *mean, size_t k, size_t l)
{
    double sum = 0;
    for (size_t i = 0; i < x->n; i++)
        sum += (x->u[k * x->stride + i] - mean[k]) * (x->u[l * x->stride + i] - mean[l]);
    return sum / (double)x->n;
}

/* L L' = the covariance of positions, correlations reduced if there are few; work: (dim). */
static void set_mass(struct mcmc *s, const struct positions *x, double *mean)
{
    size_t d = (size_t)s->dim;
    double trust = (double)x->n / ((double)x->n + 10 * (double)d);
    for (size_t k = 0; k < d; k++) {
        mean[k] = 0;
        for (size_t i = 0; i < x->n; i++) mean[k] += x->u[k * x->stride + i] / (double)x->n;
    }
    for (size_t k = 0; k < d; k++) {
        double var = covariance(x, mean, k, k);
        if (!(var > 1e-20)) var = 1e-20;
        if (!s->dense) {
            s->L[k] = sqrt(var);
            continue;
        }
        s->L[k * d + k] = var;
        for (size_t l = 0; l < k; l++) s->L[k * d + l] = trust * covariance(x, mean, k, l);
    }
    if (!s->dense || !dense_chol(s->dim, s->L)) return;
    for (size_t k = 0; k < d; k++) /* singular: the diagonal alone */
        for (size_t l = 0; l <= k; l++)
            s->L[k * d + l] = l < k ? 0 : sqrt(fmax(covariance(x, mean, k, k), 1e-20));
}

/* ---- runs ---------------------------------------------------------------------------------- */

/* Chains in one parameterization. */
struct way {
    struct mcmc chains;
    struct tuning tuning;
    double *seen;    /* positions of a window: (dim + 1, all that are kept) */
    double cost;     /* operations of an evaluation */
    double leaped;   /* leapfrog steps in this window */
    size_t diverged; /* trajectories of the last round */
};

struct session {
    const struct query *query;
    struct way way[2]; /* centered; noncentered, if there is such a one */
    int num_ways;
    double *data;  /* observed rows */
    size_t each;   /* draws that are kept of each chain */
    double *kept;  /* (dim + 1, MCMC_CHAINS * each): chain by chain; the last row: log density */
    double *shown; /* the same with labels at random, if there are symmetries */
    struct symmetries same;
    double *work; /* (4 dim), mcmc_rescue_work(dim) */
    double spent;
    int rescued;  /* chains that were stuck */
    size_t moves; /* of all chains in the last round, in each parameterization */
};

static size_t kept_stride(const struct session *r) { return MCMC_CHAINS * r->each; }

static void keep(struct session *r, size_t i)
{
    const struct mcmc *s = &r->way[0].chains;
    size_t stride = kept_stride(r), d = (size_t)s->dim;
    for (size_t c = 0; c < MCMC_CHAINS; c++) {
        for (size_t k = 0; k < d; k++)
            r->kept[k * stride + c * r->each + i] = s->u[k * MCMC_CHAINS + c];
        r->kept[d * stride + c * r->each + i] = s->value[c];
    }
}

/* A trajectory of each chain in each parameterization, at the end of which all are centered. */
static int step(struct session *r, int adapts, nami_err *err)
{
    int rc = 0;
    if (r->query->cancel && r->query->cancel(r->query->user))
        return err_set(err, NAMI_ECANCEL, "canceled while Markov chains were running");
    for (int k = 0; k < r->num_ways && !rc; k++) {
        struct way *w = &r->way[k];
        if (k) rc = mcmc_noncenter(&r->way[0].chains, &w->chains, err);
        if (rc) return rc;
        aim(&w->chains, &w->tuning);
        rc = mcmc_move(&w->chains, err);
        if (adapts && !rc) tune(&w->chains, &w->tuning, r->work);
        if (k && !rc) rc = mcmc_center(&w->chains, &r->way[0].chains, err);
        r->spent += (double)w->chains.leapfrogs * MCMC_CHAINS * w->cost;
        w->leaped += w->chains.leapfrogs;
    }
    return rc;
}

static void start_window(struct session *r)
{
    for (int k = 0; k < r->num_ways; k++) {
        tuning_start(&r->way[k].tuning, r->way[k].chains.step);
        r->way[k].leaped = 0;
    }
}

/* After it, the parameterization with longer trajectories is limited by those of the other:
   where that one is good, it must not cost much.  The mean is half of the longest. */
static void end_window(struct session *r, int moves)
{
    for (int k = 0; k < r->num_ways; k++) tuning_end(&r->way[k].chains, &r->way[k].tuning);
    for (int k = 0; k < r->num_ways && r->num_ways > 1; k++) {
        double most = LONGER * r->way[1 - k].leaped / moves;
        struct mcmc *s = &r->way[k].chains;
        s->longest = most < SHORT ? SHORT : most > LONGEST ? LONGEST : (int)most;
    }
}

static int adapt_steps(struct session *r, int moves, nami_err *err)
{
    int rc = 0;
    start_window(r);
    for (int i = 0; i < moves && !rc; i++) rc = step(r, 1, err);
    end_window(r, moves);
    return rc;
}

/* Windows of moves, each twice as long as the one before; after each the mass matrix is that of its
   positions. */
static int windows(struct session *r, size_t most, nami_err *err)
{
    size_t d = (size_t)r->way[0].chains.dim;
    int rc = 0;
    for (int n = WARM / 16, done = 0; done < WARM && !rc; n *= 2) {
        if (n > WARM - done) n = WARM - done;
        start_window(r);
        for (int i = 0; i < n && !rc; i++) {
            rc = step(r, 1, err);
            for (size_t k = 0; k <= d && i < WARM / 2; k++)
                for (int j = 0; j < r->num_ways; j++) {
                    const struct mcmc *s = &r->way[j].chains;
                    memcpy(r->way[j].seen + k * most + (size_t)i * MCMC_CHAINS,
                           k < d ? s->u + k * MCMC_CHAINS : s->value, sizeof *s->u * MCMC_CHAINS);
                }
        }
        end_window(r, n);
        size_t num = (size_t)n * MCMC_CHAINS < most ? (size_t)n * MCMC_CHAINS : most;
        size_t half = num / MCMC_CHAINS / 2; /* by the second half of the window */
        int moved = rc ? 0
                       : mcmc_rescue(&r->way[0].chains, half, most, MCMC_CHAINS, 1,
                                     r->way[0].seen + num - half * MCMC_CHAINS, r->work);
        if (moved > r->rescued) r->rescued = moved;
        for (int j = 0; j < r->num_ways && !rc; j++)
            set_mass(&r->way[j].chains, &(struct positions){num, most, r->way[j].seen}, r->work);
        if (!rc) rc = mcmc_sort_labels(&r->way[0].chains, &r->same, err);
        done += n;
    }
    return rc;
}

static int warm_up(struct session *r, nami_err *err)
{
    size_t d = (size_t)r->way[0].chains.dim, most = (WARM / 2) * MCMC_CHAINS;
    int rc = 0;
    for (int k = 0; k < r->num_ways && !rc; k++)
        if (!(r->way[k].seen = raw_array(double, (d + 1) * most))) rc = err_nomem(err);
    if (!rc) rc = windows(r, most, err);
    for (int k = 0; k < r->num_ways; k++) free(r->way[k].seen), r->way[k].seen = NULL;
    return rc ? rc : adapt_steps(r, AGAIN, err);
}

/* `each` draws of every chain, one of `thin` moves. */
static int draw(struct session *r, size_t thin, nami_err *err)
{
    int rc = 0;
    r->moves = 0;
    for (int k = 0; k < r->num_ways; k++) r->way[k].diverged = 0;
    for (size_t i = 0; i < r->each && !rc; i++) {
        for (size_t t = 0; t < thin && !rc; t++) {
            rc = step(r, 0, err);
            for (int k = 0; k < r->num_ways; k++)
                for (int c = 0; c < MCMC_CHAINS; c++)
                    r->way[k].diverged += (size_t)r->way[k].chains.diverged[c];
            r->moves += MCMC_CHAINS;
        }
        keep(r, i);
    }
    return rc;
}

/* The share of trajectories that diverged, in the parameterization with fewer: where one cannot go,
   the other may. */
static double share_diverged(const struct session *r)
{
    size_t least = r->way[0].diverged;
    for (int k = 1; k < r->num_ways; k++)
        if (r->way[k].diverged < least) least = r->way[k].diverged;
    return (double)least / (double)r->moves;
}

/* What is shown: where labels may be exchanged, draws with labels at random. */
static const double *shown(const struct session *r) { return r->same.num ? r->shown : r->kept; }

static int mix_labels(struct session *r, nami_err *err)
{
    size_t stride = kept_stride(r), d = (size_t)r->way[0].chains.dim;
    if (!r->same.num) return 0;
    memcpy(r->shown, r->kept, sizeof *r->kept * (d + 1) * stride);
    return mcmc_relabel(&r->way[0].chains, &r->same, stride, r->shown, err);
}

/* The worst of all coordinates, and of the log density. */
static int look(const struct session *r, struct diagnostics *found, nami_err *err)
{
    size_t stride = kept_stride(r);
    *found = (struct diagnostics){.khat = NAN,
                                  .ess = (double)stride,
                                  .log_z = NAN,
                                  .log_se = NAN,
                                  .rhat = 1,
                                  .diverged = share_diverged(r),
                                  .rescued = r->rescued};
    for (size_t k = 0; k <= (size_t)r->way[0].chains.dim; k++) {
        struct chain_stats c;
        int rc = chain_stats(stride, shown(r) + k * stride, 1, MCMC_CHAINS, &c, err);
        if (rc) return rc;
        found->rhat = fmax(found->rhat, c.rhat);
        found->ess = fmin(found->ess, fmin(c.bulk, c.tail));
    }
    return 0;
}

/* Has a longer round brought the chains no closer? */
static int is_apart(const struct diagnostics *d, double before)
{
    return d->rhat > APART && d->rhat - 1 > 0.95 * (before - 1);
}

static int enough(const struct diagnostics *d) { return chains_agree(d) && d->diverged < 1e-3; }

/* Rounds, until the chains agree or the budget is spent: longer ones if they do not agree.  Between
   them the mass matrix is that of the last round's draws, and steps are shorter if trajectories
   have diverged. */
static int run_rounds(struct session *r, struct diagnostics *found, nami_err *err)
{
    int rc = warm_up(r, err);
    if (!rc) rc = mcmc_check_symmetries(&r->way[0].chains, &r->same, err);
    size_t thin = 1;
    double before = INFINITY;
    for (int k = 0; k < ROUNDS && !rc; k++) {
        rc = draw(r, thin, err);
        if (!rc) rc = mix_labels(r, err);
        if (!rc) rc = look(r, found, err);
        if (rc || enough(found) || 3 * r->spent > BUDGET || is_apart(found, before)) break;
        before = found->rhat;
        if (k + 1 == ROUNDS) break;
        int moved =
            mcmc_rescue(&r->way[0].chains, r->each, kept_stride(r), 1, r->each, r->kept, r->work);
        if (moved > r->rescued) r->rescued = moved;
        for (int j = 0; j < r->num_ways && found->diverged >= 1e-3; j++)
            r->way[j].tuning.accept = 1 - (1 - r->way[j].tuning.accept) / 2;
        if (!chains_agree(found)) thin *= 2;
        set_mass(&r->way[0].chains, &(struct positions){kept_stride(r), kept_stride(r), r->kept},
                 r->work);
        rc = adapt_steps(r, AGAIN, err);
    }
    return rc;
}

/* ---- one data set ------------------------------------------------------------------------------
 */

/* Memory, and random positions of chains that have no start. */
static int make_way(struct session *r, struct way *w, const double *start, nami_err *err)
{
    struct mcmc *s = &w->chains;
    size_t d = (size_t)s->dim, size = d * MCMC_CHAINS;
    int scattered[MCMC_CHAINS];
    s->dense = s->dim <= MCMC_DENSE;
    s->data = r->data;
    s->u = raw_array(double, 5 * size);
    s->L = new_array(double, s->dense ? d *d : d);
    if (!s->u || !s->L) return err_nomem(err);
    s->grad = s->u + size, s->from = s->grad + size, s->to = s->from + size, s->p = s->to + size;
    for (int c = 0; c < MCMC_CHAINS; c++) scattered[c] = !start || c % 4 == 3, s->value[c] = NAN;
    if (start) memcpy(s->u, start, sizeof *s->u * size);
    mcmc_scatter(s, scattered);
    for (size_t k = 0; k < d; k++) s->L[s->dense ? k * d + k : k] = 1;
    s->step = 0.1;
    s->longest = LONGEST;
    w->tuning = (struct tuning){.accept = 0.8, .length = 1};
    return mcmc_open(s, err);
}

static int make(struct session *r, size_t n, const double *z, const double *start, nami_err *err)
{
    size_t d = (size_t)r->way[0].chains.dim, rescue = mcmc_rescue_work((int)d);
    size_t rows = (size_t)model_num_rows(r->way[0].chains.a->q->model);
    int rc = 0;
    r->each = n / MCMC_CHAINS > 50 ? n / MCMC_CHAINS : 50;
    r->data = raw_array(double, rows + 1);
    r->kept = raw_array(double, (d + 1) * kept_stride(r));
    r->shown = raw_array(double, (d + 1) * kept_stride(r));
    r->work = raw_array(double, 4 * d > rescue ? 4 * d : rescue);
    if (!r->data || !r->kept || !r->shown || !r->work) return err_nomem(err);
    for (size_t i = 0; i < rows; i++) r->data[i] = z[i * n];
    for (int k = 0; k < r->num_ways && !rc; k++) rc = make_way(r, &r->way[k], start, err);
    return rc;
}

/* Chains climb in noncentered coordinates, if there are some: centered ones may have an infinite
   density where a scale is 0. */
static int climb(struct session *r, const double *start, nami_err *err)
{
    struct mcmc *s = &r->way[0].chains, *noncentered = &r->way[1].chains;
    int rc = 0;
    if (r->num_ways == 1) return mcmc_climb(s, err);
    if (start) {
        for (int c = 0; c < MCMC_CHAINS; c++) s->value[c] = 0;
        rc = mcmc_noncenter(s, noncentered, err);
    }
    for (int c = 0; c < MCMC_CHAINS; c++) s->value[c] = NAN;
    if (!rc) rc = mcmc_climb(noncentered, err);
    if (!rc) rc = mcmc_center(noncentered, s, err);
    return rc ? rc : mcmc_settle(s, err);
}

/* n points of the draws that were kept: of each chain, evenly spread. */
static int take(struct session *r, size_t n, double *z, nami_err *err)
{
    struct mcmc *s = &r->way[0].chains;
    size_t d = (size_t)s->dim, share = n / MCMC_CHAINS, stride = kept_stride(r);
    double *u = raw_array(double, d *n);
    if (!u) return err_nomem(err);
    for (size_t i = 0; i < n; i++) {
        size_t c = share ? i / share : MCMC_CHAINS, k = share ? i % share : 0;
        if (c >= MCMC_CHAINS) c = i % MCMC_CHAINS, k = 0; /* the remainder */
        size_t at = c * r->each + (share ? k * r->each / share : r->each - 1);
        for (size_t j = 0; j < d; j++) u[j * n + i] = shown(r)[j * stride + at];
    }
    int rc = mcmc_decode(s, n, u, z, err);
    free(u);
    return rc;
}

static int make_joints(struct session *r, const struct infer *a, nami_err *err)
{
    int rc = joint_make(&r->way[0].chains.joint, a->q, err);
    if (!rc && joint_noncenter(&r->way[1].chains.joint, &r->way[0].chains.joint))
        rc = err_nomem(err);
    r->num_ways = 1 + (r->way[0].chains.joint.num_scaled > 0);
    for (int k = 0; k < 2; k++) {
        r->way[k].chains.dim = r->way[0].chains.joint.num_coordinates;
        r->way[k].cost = prog_cost(&r->way[k].chains.joint.prog);
    }
    return rc;
}

int mcmc_set(const struct infer *a, const struct query *q, size_t set, size_t n, int threads,
             const double *start, double *z, double *pred, struct diagnostics *found, nami_err *err)
{
    uint64_t seed = query_seed(q, set), number = query_number(q, set);
    struct session r = {.query = q};
    for (int k = 0; k < 2; k++)
        r.way[k].chains =
            (struct mcmc){.a = a,
                          .threads = threads,
                          .seed = (seed ^ (uint64_t)k << 40) + number * 0x9e3779b97f4a7c15u};
    int rc = make_joints(&r, a, err);
    if (!rc) rc = make(&r, n, z, start, err);
    if (!rc) rc = mcmc_find_symmetries(&r.way[0].chains, &r.same, err);
    if (!rc) rc = climb(&r, start, err);
    if (!rc) rc = mcmc_sort_labels(&r.way[0].chains, &r.same, err);
    if (!rc) rc = run_rounds(&r, found, err);
    if (!rc) rc = take(&r, n, z, err);
    for (int k = 0; k < 2; k++) {
        mcmc_close(&r.way[k].chains);
        joint_free(&r.way[k].chains.joint);
        free(r.way[k].chains.u), free(r.way[k].chains.L);
    }
    free(r.data), free(r.kept), free(r.shown), free(r.work);
    uint64_t first = (n + 7) / 8 * 8 * number;
    return rc ? rc : infer_finish(a, n, z, seed ^ 0x6d636d63, first, threads, pred, err);
}
