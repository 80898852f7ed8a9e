/* smc.c: runs sequential Monte Carlo: islands of particles, weights after each sampling stage,
   tempered systematic resampling. */
#include "infer/smc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/stream.h"
#include "base/workers.h"
#include "infer/smc_plan.h"
#include "infer/weights.h"

enum {
    ISLANDS = 16,  /* minimum number of islands, if there are enough particles */
    SMALLEST = 16, /* minimum number of particles of an island */
    LARGEST = 1024,
    PILOT_LEAST = 64, /* minimum number of draws of the pilot run */
    PILOT_MOST = 256
};
static const size_t WORKSPACE = (size_t)1 << 27; /* approximate bytes per thread */

static size_t most(size_t a, size_t b) { return a > b ? a : b; }
static size_t least(size_t a, size_t b) { return a < b ? a : b; }

size_t smc_islands(const struct infer *a, size_t per)
{
    const struct prog *p = &a->s.prog;
    size_t lane = (size_t)p->nrow * sizeof(double) + (size_t)p->nunit * sizeof(float);
    size_t size = most(PILOT_LEAST, least(LARGEST, WORKSPACE / (lane + 1)));
    size_t few = least(ISLANDS, most(per / SMALLEST, 1));
    return most(few, (per + size - 1) / size);
}

/* ---- one thread ----------------------------------------------------------------------- */

struct worker {
    struct exec draw, term, exact, rest, pred; /* all but the last share the rows of the model */
    double *logp, *logq, *logw;                /* of lanes */
    double *score;
    int *count, *from, *to; /* resampling: number of copies of a lane; sources and destinations */
    double *track;          /* pilot run: log weights, [stage * lanes + lane] */
};

struct job {
    const struct infer *a;
    const struct query *q;
    const struct smc_out *out;
    struct smc_plan plan;
    size_t first, nset, islands;
    int lanes, pilot; /* maximum number of an island; number of pilot draws */
    double *slope;    /* [set * stages + stage] */
};

/* Copies lanes `from` to lanes `to`. */
static void copy_row(double *x, int n, const int *to, const int *from)
{
    for (int i = 0; i < n; i++) x[to[i]] = x[from[i]];
}

static void copy_unit(float *x, int n, const int *to, const int *from)
{
    for (int i = 0; i < n; i++) x[to[i]] = x[from[i]];
}

static void copy_lanes(struct worker *w, const struct smc_step *s, int n)
{
    size_t cap = (size_t)w->draw.cap;
    for (int i = 0; i < s->nrow; i++)
        copy_row(w->draw.row + (size_t)s->row[i] * cap, n, w->to, w->from);
    for (int i = 0; i < s->nunit; i++)
        copy_unit((float *)w->draw.units.unit + (size_t)s->unit[i] * cap, n, w->to, w->from);
    copy_row(w->logp, n, w->to, w->from);
    copy_row(w->logq, n, w->to, w->from);
    copy_row(w->logw, n, w->to, w->from);
}

/* Systematic resampling: a lane with fraction r of the scores gets floor(n r) or ceil(n r) copies,
   the first of which stays in place. Returns the number of lanes to copy. */
static int choose(struct worker *w, int n, double u)
{
    double max = -INFINITY, sum = 0, part = 0;
    int given = 0, last = 0, k = 0, free_lane = 0;
    for (int b = 0; b < n; b++) max = fmax(max, w->score[b]);
    for (int b = 0; b < n; b++) sum += exp(w->score[b] - max);
    for (int b = 0; b < n; b++) {
        double r = exp(w->score[b] - max);
        part += r / sum * n;
        w->count[b] = 0;
        if (r > 0) last = b;
        while (given < n && u + given < part) w->count[b]++, given++;
    }
    w->count[last] += n - given; /* rounding */
    for (int b = 0; b < n; b++)
        for (int c = 1; c < w->count[b]; c++) {
            while (w->count[free_lane]) free_lane++;
            w->to[k] = free_lane++;
            w->from[k++] = b;
        }
    return k;
}

/* Tempered weights after stage `wave`, w^b = w (q / p)^(1 - b), where w are the weights since the
   last resampling. Resamples by these if they are too unequal. */
static int resample(struct worker *w, const struct smc_step *s, int n, double slope,
                    const struct stream *r)
{
    double u, se;
    for (int b = 0; b < n; b++)
        w->score[b] = w->logw[b] > -INFINITY ? w->logw[b] - (1 - slope) * (w->logp[b] - w->logq[b])
                                             : -INFINITY;
    double ess = weights_ess((size_t)n, w->score);
    if (ess == 0 || ess >= 0.5 * n) return 0;
    double log_mean = weights_log_mean((size_t)n, w->score, &se);
    stream_uniform(r, 1, &u);
    int k = choose(w, n, u);
    for (int b = 0; b < n; b++) w->logw[b] += log_mean - w->score[b];
    copy_lanes(w, s, k);
    return 1;
}

/* ---- one island ------------------------------------------------------------------------- */

/* Adds a stage; is a weight +Inf afterwards? */
static int add_wave(const struct job *j, struct worker *w, int wave, int n)
{
    int infinite = 0;
    const struct smc_step *s = j->plan.step;
    size_t draw = wave ? s[wave - 1].draw : 0, term = wave ? s[wave - 1].term : 0;
    memset(w->draw.total, 0, sizeof(double) * (size_t)w->draw.cap);
    memset(w->term.total, 0, sizeof(double) * (size_t)w->term.cap);
    exec_part(&w->draw, draw, s[wave].draw);
    exec_part(&w->term, term, s[wave].term);
    for (int b = 0; b < n; b++) {
        double p = w->term.total[b], q = w->draw.total[b];
        w->logp[b] += p;
        w->logq[b] += q;
        w->logw[b] += p - q;
        if (isnan(w->logw[b])) w->logw[b] = -INFINITY; /* outside of the model's support */
        infinite |= w->logw[b] == INFINITY;
    }
    return infinite;
}

static int fail_infinite(nami_err *err)
{
    return err_set(err, NAMI_EINPUT, "the network gave a draw the density 0: its weight is +Inf");
}

/* Initializes the lanes of data set s, numbered from `number`. */
static void begin(const struct job *j, struct worker *w, size_t s, uint64_t number, int n)
{
    const struct query *q = j->q;
    struct exec *all[] = {&w->draw, &w->term, &w->exact, &w->rest, &w->pred};
    for (int i = 0; i < 5; i++) {
        all[i]->lanes = (n + 7) / 8 * 8;
        all[i]->seed = query_seed(q, s);
        all[i]->first = number;
    }
    for (int r = 0; r < model_num_rows(j->a->q->model); r++)
        for (int b = 0; b < w->draw.lanes; b++)
            w->draw.row[(size_t)r * (size_t)w->draw.cap + (size_t)b] =
                q->x[(size_t)r * q->nset + s];
    memset(w->logp, 0, sizeof(double) * (size_t)j->lanes);
    memset(w->logq, 0, sizeof(double) * (size_t)j->lanes);
    memset(w->logw, 0, sizeof(double) * (size_t)j->lanes);
}

static void rows_out(const struct exec *x, int nrow, int n, size_t stride, double *to)
{
    for (int r = 0; r < nrow; r++)
        memcpy(to + (size_t)r * stride, x->row + (size_t)r * (size_t)x->cap,
               sizeof(double) * (size_t)n);
}

static void put_lanes(const double *from, int n, size_t at, double *to)
{
    if (to) memcpy(to + at, from, sizeof(double) * (size_t)n);
}

static void end(const struct job *j, struct worker *w, size_t at, int n)
{
    const struct smc_out *out = j->out;
    size_t total = j->nset * j->q->per;
    int nrow = model_num_rows(j->a->q->model);
    put_lanes(w->logp, n, at, out->logp);
    put_lanes(w->logq, n, at, out->logq);
    put_lanes(w->logw, n, at, out->logw);
    if (!out->z && !out->pred) return;
    if (w->exact.p) exec_run(&w->exact);
    exec_run(&w->rest);
    if (out->z) rows_out(&w->draw, nrow, n, total, out->z + at);
    if (!out->pred) return;
    memcpy(w->pred.row, w->draw.row, sizeof(double) * (size_t)nrow * (size_t)w->draw.cap);
    exec_run(&w->pred);
    rows_out(&w->pred, nrow, n, total, out->pred + at);
}

/* Lanes of all islands are numbered consecutively; those of the pilot run follow those of its
   set. */
static uint64_t number_of(const struct job *j, size_t set, size_t island)
{
    size_t number = query_number(j->q, j->first + set);
    return (uint64_t)(number * (j->islands + 1) + island) * (uint64_t)j->lanes;
}

static int run_island(void *job, void *workspace, size_t task, size_t count, nami_err *err)
{
    const struct job *j = job;
    struct worker *w = workspace;
    size_t set = task / j->islands, island = task % j->islands;
    (void)count; /* 1 */
    size_t from = smc_first(j->q->per, j->islands, island);
    int n = (int)(smc_first(j->q->per, j->islands, island + 1) - from), resampled = 0;
    uint64_t number = number_of(j, set, island), seed = query_seed(j->q, j->first + set);
    double se;
    begin(j, w, j->first + set, number, n);
    for (int k = 0; k < j->plan.n; k++) {
        struct stream r = {seed, UINT32_MAX - (uint32_t)k, number}; /* beyond all rows */
        if (add_wave(j, w, k, n)) return fail_infinite(err);
        if (k + 1 < j->plan.n)
            resampled +=
                resample(w, &j->plan.step[k], n, j->slope[set * (size_t)j->plan.n + (size_t)k], &r);
    }
    size_t at = set * j->islands + island;
    if (j->out->logz) j->out->logz[at] = weights_log_mean((size_t)n, w->logw, &se);
    if (j->out->resampled) j->out->resampled[at] = resampled;
    end(j, w, set * j->q->per + from, n);
    return 0;
}

/* ---- the slopes ------------------------------------------------------------------------- */

/* Regression slope of y on x where both are finite, clamped to [0, 1]; 1 if undetermined. */
static double slope_of(int n, const double *x, const double *y)
{
    double mx = 0, my = 0, xx = 0, xy = 0;
    int k = 0;
    for (int b = 0; b < n; b++)
        if (isfinite(x[b]) && isfinite(y[b])) mx += x[b], my += y[b], k++;
    for (int b = 0; b < n; b++)
        if (isfinite(x[b]) && isfinite(y[b])) {
            double d = x[b] - mx / k;
            xx += d * d;
            xy += d * (y[b] - my / k);
        }
    if (k < 8 || !(xx > 0)) return 1;
    return fmin(fmax(xy / xx, 0), 1);
}

/* Draws without resampling. */
static int run_pilot(void *job, void *workspace, size_t set, size_t count, nami_err *err)
{
    const struct job *j = job;
    struct worker *w = workspace;
    (void)count; /* 1 */
    int n = j->pilot, last = j->plan.n - 1;
    double *slope = j->slope + set * (size_t)j->plan.n;
    begin(j, w, j->first + set, number_of(j, set, j->islands), n);
    for (int k = 0; k <= last; k++) {
        if (add_wave(j, w, k, n)) return fail_infinite(err);
        memcpy(w->track + (size_t)k * (size_t)n, w->logw, sizeof(double) * (size_t)n);
    }
    for (int k = 0; k < last; k++)
        slope[k] =
            slope_of(n, w->track + (size_t)k * (size_t)n, w->track + (size_t)last * (size_t)n);
    return 0;
}

/* ---- all -------------------------------------------------------------------------------- */

/* Initializes another program on the rows of the draws. */
static int init_on(struct exec *x, const struct prog *p, const struct worker *w,
                   const struct job *j, nami_err *err)
{
    int rc = exec_init(x, p, j->lanes, 0, 0, err);
    x->param = model_weights(j->a->q->model);
    x->node = w->draw.row;
    x->stride = (size_t)w->draw.cap;
    x->direct = model_num_rows(j->a->q->model);
    return rc;
}

static int init_worker(void *job, void *workspace, nami_err *err)
{
    const struct job *j = job;
    struct worker *w = workspace;
    const struct infer *a = j->a;
    size_t n = (size_t)j->lanes;
    int rc = exec_init(&w->draw, &j->plan.draw, j->lanes, 0, EXEC_FLOAT, err);
    w->draw.param = a->param;
    if (!rc) rc = init_on(&w->term, &j->plan.term, w, j, err);
    if (!rc && a->q->collapse) rc = init_on(&w->exact, &a->q->collapse->draw, w, j, err);
    if (!rc) rc = init_on(&w->rest, &a->s.rest, w, j, err);
    if (!rc && j->out->pred) {
        rc = exec_init(&w->pred, &a->s.pred, j->lanes, 0, 0, err);
        w->pred.param = model_weights(a->q->model);
    }
    w->logp = raw_array(double, n);
    w->logq = raw_array(double, n);
    w->logw = raw_array(double, n);
    w->score = raw_array(double, n);
    w->count = raw_array(int, n);
    w->from = raw_array(int, n);
    w->to = raw_array(int, n);
    w->track = raw_array(double, (size_t)j->pilot *(size_t)j->plan.n);
    if (!rc && (!w->logp || !w->logq || !w->logw || !w->score || !w->count || !w->from || !w->to ||
                !w->track))
        rc = err_nomem(err);
    return rc;
}

static void fini_worker(void *workspace)
{
    struct worker *w = workspace;
    exec_fini(&w->draw);
    exec_fini(&w->term);
    exec_fini(&w->exact);
    exec_fini(&w->rest);
    exec_fini(&w->pred);
    free(w->logp), free(w->logq), free(w->logw), free(w->score);
    free(w->count), free(w->from), free(w->to), free(w->track);
}

static int run_job(struct job *j, int threads, nami_err *err)
{
    size_t tasks = j->nset * j->islands;
    struct workers w = {
        .job = j, .size = sizeof(struct worker), .init = init_worker, .fini = fini_worker};
    j->slope = raw_array(double, j->nset *(size_t)j->plan.n);
    int rc = j->slope ? workers_start(&w, threads, tasks, err) : err_nomem(err);
    if (!rc && j->plan.n > 1) rc = workers_run(&w, j->nset, 1, run_pilot, err);
    if (!rc) rc = workers_run(&w, tasks, 1, run_island, err);
    workers_stop(&w);
    free(j->slope);
    return rc;
}

int smc_run(const struct infer *a, const struct query *q, size_t first, size_t nset, int threads,
            const struct smc_out *out, nami_err *err)
{
    struct job j = {.a = a, .q = q, .out = out, .first = first, .nset = nset};
    j.islands = smc_islands(a, q->per);
    j.lanes = (int)most((q->per + j.islands - 1) / j.islands, PILOT_LEAST);
    j.lanes = (j.lanes + 7) / 8 * 8;
    j.pilot = j.lanes < PILOT_MOST ? j.lanes : PILOT_MOST;
    int rc = smc_plan_make(&j.plan, &a->s, err);
    if (!rc) rc = run_job(&j, threads, err);
    smc_plan_free(&j.plan);
    return rc;
}
