/* infer.c: runs a trained network on several threads: draws, log q, posterior prediction, for many
   data sets. */
#include "infer/infer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/workers.h"
#include "model/eval.h"

enum {
    LANES = 64,
    GROUP = 8
}; /* random numbers are generated in groups: chunks begin at group boundaries */

int infer_init(struct infer *a, struct qnet *q, const float *param, nami_err *err)
{
    *a = (struct infer){.q = q, .param = param};
    return sampler_make(&a->s, q, err);
}

void infer_fini(struct infer *a) { sampler_free(&a->s); }

int infer_is_exact(const struct infer *a) { return a->q->inverse->nlatent == 0; }

static const char there[] = "this network";
static const char advice[] =
    "a network belongs to the constants it was trained with: train again with these data";

int infer_refuse(const struct model *m, int e, double value, nami_err *err)
{
    return refuse_constant(m, e, value, there, advice, err);
}

int infer_data(const struct model *m, const struct dataset *d, size_t nset, size_t s, double *x,
               nami_err *err)
{
    struct given g;
    int rc = given_open(&g, m, d, err);
    if (!rc) rc = given_refuse(&g, there, advice, err);
    if (!rc) rc = point_given(&g, nset, s, 1, x, err);
    given_close(&g);
    for (int e = 0; e < model_num_elements(m) && !rc; e++) {
        if (element_row(m, e) < 0 || !element_is_observed(m, e) ||
            !isnan(x[(size_t)element_row(m, e) * nset + s]))
            continue;
        const char *array = array_name(m, element_array(m, e));
        int some = dataset_find(d, array, strlen(array)) != NULL;
        struct str name = {0};
        elem_name(m, e, &name);
        rc = err_set(err, NAMI_EINPUT,
                     "the data give no value for %s, which the network expects to be observed%s",
                     name.s ? name.s : "a variable",
                     some ? "; what is missing can be inferred by a model that does not observe it"
                          : "");
        str_free(&name);
    }
    return rc;
}

/* ---- threads over chunks of lanes -------------------------------------------------------------
 */

/* The workspaces of one thread. */
struct worker {
    struct exec draw, exact, rest, pred;
    uint64_t set; /* 1 + the data set whose units are in all lanes of `draw`; 0: none */
};

struct job {
    const struct infer *a;
    const struct query *q;   /* NULL: runs a program on given points */
    const struct prog *prog; /* that one; NULL: completes the points z */
    uint64_t seed, first;
    size_t n, lead;       /* lead: draws of its group before the first requested one */
    size_t begin, stride; /* sets with seeds of their own: set s has items s * stride ..., whole
                             chunks, of which this job has those from `begin` on */
    const double *at;
    double *z, *logq, *pred;
    size_t num_moments; /* of exact latents: the numbers of collapse->moment, and where they go */
    const size_t *which;
    double *mean, *variance;
};

/* Copies lanes skip ... of each row to i ... of n. */
static void rows_out(const struct exec *x, int nrow, size_t skip, size_t n, size_t i, double *to)
{
    for (int r = 0; r < nrow; r++)
        memcpy(to + (size_t)r * n + i, x->row + (size_t)r * (size_t)x->cap + skip,
               sizeof *to * ((size_t)x->lanes - skip));
}

/* Copies rows from one workspace to another, then runs its program. */
static void run_after(struct exec *x, const struct exec *from, int nrow)
{
    x->lanes = from->lanes;
    x->seed = from->seed;
    x->first = from->first;
    memcpy(x->row, from->row, sizeof *x->row * (size_t)nrow * (size_t)x->cap);
    exec_run(x);
}

/* From rows of draw i on, in x, to those of all variables: z, and pred. */
static void finish_chunk(const struct job *j, struct worker *w, const struct exec *x, size_t skip,
                         size_t i)
{
    int rows = model_num_rows(j->a->q->model);
    if (j->a->q->collapse) run_after(&w->exact, x, rows), x = &w->exact;
    if (j->a->s.rest.code.n) run_after(&w->rest, x, rows), x = &w->rest;
    if (j->z) rows_out(x, rows, skip, j->n, i, j->z);
    if (!j->pred) return;
    run_after(&w->pred, x, rows);
    rows_out(&w->pred, rows, skip, j->n, i, j->pred);
}

/* Lane 0 of a row of units or numbers to all. */
static void spread_lane(void *at, size_t size, int lanes)
{
    for (int b = 1; b < lanes; b++) memcpy((char *)at + (size_t)b * size, at, size);
}

/* Runs the program of draws.  What depends on the data alone is the same in all lanes of one data
   set: it is computed in a few lanes, and kept for the next chunk. */
static void run_draws(const struct job *j, struct worker *w, uint64_t draw)
{
    const struct sampler *s = &j->a->s;
    struct exec *x = &w->draw;
    uint64_t set = draw / j->q->per, last = (draw + (uint64_t)x->lanes - 1) / j->q->per;
    int lanes = x->lanes;
    size_t cap = (size_t)x->cap, size = x->is_float ? sizeof(float) : sizeof(double);
    if (set != last) {
        w->set = 0;
        exec_run(x);
        return;
    }
    if (w->set != 1 + set) {
        x->lanes = GROUP;
        exec_part(x, 0, s->num_data);
        x->lanes = lanes;
        for (size_t k = 0; k < s->unit.n; k++)
            spread_lane((char *)x->units.unit + (size_t)s->unit.a[k] * cap * size, size, x->cap);
        for (size_t k = 0; k < s->row.n; k++)
            spread_lane(x->row + (size_t)s->row.a[k] * cap, sizeof(double), x->cap);
        w->set = 1 + set;
    }
    exec_part(x, 0, 0); /* totals to 0 */
    exec_part(x, s->num_data, s->prog.code.n);
}

/* Draws `draw` ... of the query, to i ... of the answer; the first `skip` are discarded. */
static void draw_chunk(const struct job *j, struct worker *w, uint64_t draw, size_t skip, size_t i)
{
    const struct query *q = j->q;
    const struct model *m = j->a->q->model;
    struct exec *x = &w->draw;
    x->seed = query_seed(q, draw / q->per);
    x->first = q->seeds ? draw % q->per : draw;
    for (int b = 0, end; b < x->lanes; b = end) { /* data set by data set */
        uint64_t set = (draw + (uint64_t)b) / q->per, left = (set + 1) * q->per - draw;
        end = left < (uint64_t)x->lanes ? (int)left : x->lanes;
        for (int r = 0; r < model_num_rows(m); r++) {
            double *row = x->row + (size_t)r * (size_t)x->cap;
            double value = q->x[(size_t)r * q->nset + set];
            for (int k = b; k < end; k++) row[k] = value;
        }
    }
    run_draws(j, w, draw);
    finish_chunk(j, w, x, skip, i);
}

static void point_chunk(const struct job *j, struct worker *w, size_t i)
{
    struct exec *x = &w->draw;
    x->seed = j->seed;
    x->first = j->first + i;
    for (int r = 0; r < model_num_rows(j->a->q->model); r++)
        memcpy(x->row + (size_t)r * (size_t)x->cap, j->at + (size_t)r * j->n + i,
               sizeof *x->row * (size_t)x->lanes);
    if (!j->prog) { /* the first workspace only holds the rows */
        finish_chunk(j, w, x, 0, i);
        return;
    }
    exec_run(x);
    if (j->pred) rows_out(x, model_num_rows(j->a->q->model), 0, j->n, i, j->pred);
    for (size_t k = 0; k < j->num_moments; k++) {
        const struct exact_moment *m = &j->a->q->collapse->moment.a[j->which[k]];
        size_t cap = (size_t)x->cap, size = sizeof *j->mean * (size_t)x->lanes;
        memcpy(j->mean + k * j->n + i, x->row + (size_t)m->mean * cap, size);
        memcpy(j->variance + k * j->n + i, x->row + (size_t)m->variance * cap, size);
    }
}

static int run_chunk(void *job, void *workspace, size_t i, size_t n, nami_err *err)
{
    const struct job *j = job;
    struct worker *w = workspace;
    size_t skip = i ? 0 : j->lead;
    uint64_t draw = j->first - j->lead + i;
    (void)err;
    if (j->stride) { /* chunks end where their set does */
        size_t per = j->q->per, at = (j->begin + i) % j->stride;
        if (at >= per) return 0;
        if (n > per - at) n = per - at;
        draw = (j->begin + i) / j->stride * per + at;
    }
    i = (size_t)(draw + skip - j->first); /* of the answer */
    w->draw.lanes = (int)n;
    if (j->q)
        draw_chunk(j, w, draw, skip, i);
    else
        point_chunk(j, w, i);
    if (j->logq) memcpy(j->logq + i, w->draw.total + skip, sizeof *j->logq * (n - skip));
    return 0;
}

static int init_worker(void *job, void *workspace, nami_err *err)
{
    const struct job *j = job;
    struct worker *w = workspace;
    const struct infer *a = j->a;
    const struct prog *p = j->q ? &a->s.prog : j->prog ? j->prog : &a->s.rest;
    int own = p == &a->s.barren || p == &a->s.rest || p == &a->s.pred ||
              j->num_moments; /* programs of the model, whose networks use double precision */
    int rc = exec_init(&w->draw, p, LANES, 0, own ? 0 : EXEC_FLOAT, err);
    w->draw.param = own ? (const void *)model_weights(a->q->model) : a->param;
    if (rc || (!j->q && j->prog)) return rc;
    if (a->q->collapse) rc = exec_init(&w->exact, &a->q->collapse->draw, LANES, 0, 0, err);
    w->exact.param = model_weights(a->q->model);
    if (!rc) rc = exec_init(&w->rest, &a->s.rest, LANES, 0, 0, err);
    if (rc) return rc;
    w->rest.param = model_weights(a->q->model);
    if (j->pred) rc = exec_init(&w->pred, &a->s.pred, LANES, 0, 0, err);
    w->pred.param = model_weights(a->q->model);
    return rc;
}

static void fini_worker(void *workspace)
{
    struct worker *w = workspace;
    exec_fini(&w->draw);
    exec_fini(&w->exact);
    exec_fini(&w->rest);
    exec_fini(&w->pred);
}

static int run_items(struct job *j, size_t items, int threads, nami_err *err)
{
    struct workers w = {
        .job = j, .size = sizeof(struct worker), .init = init_worker, .fini = fini_worker};
    return workers_once(&w, threads, items, LANES, run_chunk, err);
}

static int run_job(struct job *j, int threads, nami_err *err)
{
    return run_items(j, j->n + j->lead, threads, err);
}

int infer_draws(const struct infer *a, const struct query *q, uint64_t first, size_t n, int threads,
                double *z, double *logq, double *pred, nami_err *err)
{
    struct job j = {.a = a, .q = q, .first = first, .n = n, .z = z, .logq = logq, .pred = pred};
    j.lead = first % GROUP;
    if (!q->seeds || !n) return run_job(&j, threads, err);
    uint64_t last = first + n - 1;
    j.lead = first % q->per % LANES;
    j.stride = (q->per + LANES - 1) / LANES * LANES;
    j.begin = first / q->per * j.stride + first % q->per - j.lead;
    return run_items(&j, last / q->per * j.stride + last % q->per + 1 - j.begin, threads, err);
}

int infer_logq(const struct infer *a, size_t n, const double *z, int threads, double *logq,
               nami_err *err)
{
    struct job j = {.a = a, .prog = &a->q->prog, .n = n, .at = z, .logq = logq};
    return run_job(&j, threads, err);
}

static int barren(const struct infer *a, size_t n, const double *z, int threads, double *logp,
                  nami_err *err)
{
    struct job j = {.a = a, .prog = &a->s.barren, .n = n, .at = z, .logq = logp};
    return run_job(&j, threads, err);
}

int infer_moments(const struct infer *a, size_t n, const double *z, size_t num, const size_t *which,
                  int threads, double *mean, double *variance, nami_err *err)
{
    struct job j = {.a = a, .prog = &a->q->collapse->moments, .n = n, .at = z};
    j.num_moments = num;
    j.which = which;
    j.mean = mean;
    j.variance = variance;
    return run_job(&j, threads, err);
}

/* log p(x, z) - log p(x, z_N); without exact latents, that is the density of the barren ones. */
int infer_others(const struct infer *a, size_t n, const double *z, const double *collapsed,
                 int threads, double *logp, nami_err *err)
{
    struct density all = {.logp = logp};
    if (!a->q->collapse) return barren(a, n, z, threads, logp, err);
    double *left = collapsed ? NULL : raw_array(double, n + 1);
    int rc = collapsed || left ? 0 : err_nomem(err);
    if (left)
        rc = program_logp(a->q->model, collapse_density(a->q->collapse), n, z, threads,
                          &(struct density){.logp = left}, err);
    if (!rc) rc = model_logp(a->q->model, n, z, threads, &all, err);
    for (size_t i = 0; i < n && !rc; i++) logp[i] -= collapsed ? collapsed[i] : left[i];
    free(left);
    return rc;
}

int infer_has_others(const struct infer *a) { return a->q->collapse || a->q->inverse->nmodel; }

int infer_predict(const struct infer *a, size_t n, const double *z, uint64_t seed, uint64_t first,
                  int threads, double *pred, nami_err *err)
{
    struct job j = {
        .a = a, .prog = &a->s.pred, .seed = seed, .first = first, .n = n, .at = z, .pred = pred};
    return run_job(&j, threads, err);
}

int infer_finish(const struct infer *a, size_t n, double *z, uint64_t seed, uint64_t first,
                 int threads, double *pred, nami_err *err)
{
    struct job j = {.a = a, .seed = seed, .first = first, .n = n, .at = z, .z = z, .pred = pred};
    return run_job(&j, threads, err);
}
