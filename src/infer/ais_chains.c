/* ais_chains.c: runs many chains at once.  A lane is a chain; lanes of one data set are adjacent.

   Coordinates are u = mean + sd v.  In v, log f_b = B + b A, where

       network   A = log p(x, u) + sum log sd - log N(v; 0, 1),   B = log N(v; 0, 1)
       prior     A = log p(x | z),                                B = log p(u);    mean 0, sd 1

   A move draws momenta, makes a few leapfrog steps (positions first, so that derivatives at the
   ends are not needed) and is accepted or rejected.  Step sizes do not depend on the state of a
   chain: they were tuned by separate chains (Wu, Burda, Salakhutdinov, Grosse 2017).  They are
   multiplied by random numbers, so that orbits do not close and a chain in a region where the usual
   step is unstable can escape by a small one. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/simd.h"
#include "base/workers.h"
#include "infer/ais.h"

enum { LANES = 64 };

/* The workspace of one thread.  Matrices are (n, cap), vectors (cap). */
struct chains {
    struct exec x, prior;
    int n, cap;
    double *mean, *sd, *v, *to, *p;
    double *A, *B, *A1, *B1;                       /* at v; at the proposal */
    double *logsd;                                 /* sum log sd */
    double *energy;                                /* kinetic */
    double *step, *jitter, *eps, *uniform,
        *share; /* share: acceptance probability of the last move */
    double *w_data, *w_rest;                       /* weights of gradient groups */
    double *logw, *accept;
    double *mem;
};

struct job {
    const struct ais_run *r;
    int lanes;
};

static size_t lay_out(struct chains *c, double *mem)
{
    double **const matrix[] = {&c->mean, &c->sd, &c->v, &c->to, &c->p};
    double **const vector[] = {&c->A,      &c->B,      &c->A1,     &c->B1,     &c->logsd,
                               &c->energy, &c->step,   &c->eps,    &c->jitter, &c->uniform,
                               &c->share,  &c->w_data, &c->w_rest, &c->logw,   &c->accept};
    size_t used = 0, cap = (size_t)c->cap, size = (size_t)c->n * cap;
    for (size_t i = 0; i < sizeof matrix / sizeof *matrix; i++, used += size)
        *matrix[i] = mem ? mem + used : NULL;
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++, used += cap)
        *vector[i] = mem ? mem + used : NULL;
    return used;
}

static int init(void *job, void *workspace, nami_err *err)
{
    struct chains *c = workspace;
    const struct ais *s = ((const struct job *)job)->r->s;
    const struct joint *j = &s->joint;
    int lanes = ((const struct job *)job)->lanes;
    const struct model *m = j->q->model;
    int rc = exec_init(&c->x, &j->prog, lanes, GRADIENT_GROUPS, EXEC_GRAD | EXEC_FLOAT, err);
    if (rc) return rc;
    c->x.param = s->param;
    c->n = j->num_coordinates;
    c->cap = c->x.cap;
    if (s->o.start == AIS_PRIOR) {
        if ((rc = exec_init(&c->prior, &s->prior, lanes, 0, 0, err))) return rc;
        c->prior.param = model_weights(m);
    }
    c->mem = new_array(double, lay_out(c, NULL));
    if (!c->mem) return err_nomem(err);
    lay_out(c, c->mem);
    c->x.weight[GRADIENT_DATA] = c->w_data;
    c->x.weight[GRADIENT_LATENT] = c->x.weight[GRADIENT_JACOBIAN] = c->w_rest;
    return 0;
}

static void fini(void *workspace)
{
    struct chains *c = workspace;
    exec_fini(&c->x);
    exec_fini(&c->prior);
    free(c->mem);
}

/* ---- kernels over (n, cap) ---------------------------------------------------------- */

WIDE static void place(int n, const double *mean, const double *sd, const double *v, double *u)
{
    EACH(i, n) u[i] = mean[i] + sd[i] * v[i];
}

WIDE static void drift(int cap, double part, const double *eps, const double *p, double *v)
{
    EACH(b, cap) v[b] += part * eps[b] * p[b];
}

/* pull: weight of log N(v; 0, 1) in log f */
WIDE static void kick(int cap, double pull, const double *eps, const double *sd, const double *adj,
                      const double *v, double *p)
{
    EACH(b, cap) p[b] += eps[b] * (sd[b] * adj[b] - pull * v[b]);
}

WIDE static void add_squares(int cap, const double *x, double *sum)
{
    EACH(b, cap) sum[b] += x[b] * x[b];
}

static void half_squares(const struct chains *c, const double *x, double *sum)
{
    memset(sum, 0, sizeof *sum * (size_t)c->cap);
    for (int k = 0; k < c->n; k++) add_squares(c->cap, x + (size_t)k * (size_t)c->cap, sum);
    for (int b = 0; b < c->cap; b++) sum[b] /= 2;
}

/* ---- log f -------------------------------------------------------------------------- */

static void look(const struct ais_run *r, struct chains *c, const double *v)
{
    int first = r->s->joint.coord;
    place(c->n * c->cap, c->mean, c->sd, v, c->x.row + (size_t)first * (size_t)c->cap);
}

/* A and B at v */
static void evaluate(const struct ais_run *r, struct chains *c, const double *v, double *A,
                     double *B)
{
    const double *data = c->x.by_tag + (size_t)GRADIENT_DATA * (size_t)c->cap, *total = c->x.total;
    look(r, c, v);
    c->x.no_total = 0;
    exec_run(&c->x);
    if (r->s->o.start == AIS_PRIOR) {
        for (int b = 0; b < c->cap; b++) A[b] = data[b], B[b] = total[b] - data[b];
        return;
    }
    half_squares(c, v, B);
    for (int b = 0; b < c->cap; b++) {
        B[b] = -B[b] - c->n * 0.918938533204672741780; /* log(2 pi) / 2 */
        A[b] = total[b] + c->logsd[b] - B[b];
    }
}

/* ---- a move ------------------------------------------------------------------------- */

static void random_numbers(const struct ais_run *r, struct chains *c, uint64_t lane, int t)
{
    struct stream s = {r->seed, 0, lane};
    for (int k = 0; k < c->n; k++, s.node++)
        stream_normal_part(&s, t, c->cap, c->p + (size_t)k * (size_t)c->cap);
    stream_uniform_part(&s, t, c->cap, c->uniform);
    s.node++;
    stream_uniform_part(&s, t, c->cap, c->jitter);
}

static void leapfrog(const struct ais_run *r, struct chains *c, double beta)
{
    int last = r->s->o.leapfrog, prior = r->s->o.start == AIS_PRIOR;
    size_t cap = (size_t)c->cap, first = (size_t)r->s->joint.coord * cap;
    for (int b = 0; b < c->cap; b++) c->w_data[b] = beta, c->w_rest[b] = prior ? 1 : beta;
    c->x.no_total = 1;
    for (int l = 0; l <= last; l++) {
        double part = l == 0 || l == last ? 0.5 : 1;
        for (size_t k = 0; k < (size_t)c->n * cap; k += cap)
            drift(c->cap, part, c->eps, c->p + k, c->to + k);
        if (l == last) break;
        look(r, c, c->to);
        exec_both(&c->x);
        for (size_t k = 0; k < (size_t)c->n * cap; k += cap)
            kick(c->cap, prior ? 0 : 1 - beta, c->eps, c->sd + k, c->x.adj + first + k, c->to + k,
                 c->p + k);
    }
}

static void move(const struct ais_run *r, struct chains *c, uint64_t lane, int t, double beta)
{
    size_t cap = (size_t)c->cap;
    random_numbers(r, c, lane, t);
    for (int b = 0; b < c->cap; b++) c->eps[b] = c->step[b] * (0.1 + c->jitter[b]);
    memcpy(c->to, c->v, sizeof *c->v * (size_t)c->n * cap);
    half_squares(c, c->p, c->energy);
    leapfrog(r, c, beta);
    evaluate(r, c, c->to, c->A1, c->B1);
    half_squares(c, c->p, c->share);
    for (int b = 0; b < c->cap; b++) {
        double odds = c->B1[b] - c->B[b] + beta * (c->A1[b] - c->A[b]) + c->energy[b] - c->share[b];
        c->share[b] = odds < 0 ? exp(odds) : odds >= 0; /* NaN: no */
        c->accept[b] += c->share[b];
        if (!(c->uniform[b] < c->share[b])) continue;
        c->A[b] = c->A1[b];
        c->B[b] = c->B1[b];
        for (size_t k = 0; k < (size_t)c->n; k++)
            c->v[k * cap + (size_t)b] = c->to[k * cap + (size_t)b];
    }
}

/* ---- sizes of steps ----------------------------------------------------------------- */

/* Target acceptance rate over all lanes of a set: higher than 0.65, the optimum for a fixed step
   size, since the longest steps matter most. */
#define ACCEPT 0.8

static void tune(struct chains *c)
{
    for (int b = 0; b < c->cap; b += AIS_TUNERS) {
        double mean = 0;
        for (int i = 0; i < AIS_TUNERS; i++) mean += c->share[b + i] / AIS_TUNERS;
        double step = c->step[b] * exp(0.4 * (mean - ACCEPT));
        for (int i = 0; i < AIS_TUNERS; i++) c->step[b + i] = step < 4 ? step : 4;
    }
}

/* Copies step sizes to or from the guide, at temperature t of the run. */
static void steps(const struct ais_run *r, struct chains *c, size_t i, int t)
{
    struct ais_guide *g = r->guide;
    int at = (int)(((int64_t)t * g->temps + r->temps / 2) / r->temps);
    if (at < 1) at = 1;
    if (at > g->temps - 1) at = g->temps - 1;
    for (int b = 0; b < c->x.lanes; b++) {
        double *step = &g->step[(i + (size_t)b) / r->per * (size_t)g->temps + (size_t)at];
        if (r->tune)
            *step = c->step[b];
        else
            c->step[b] = *step;
    }
}

/* ---- a chunk of chains, from lane i on ------------------------------------------------------- */

static void load(const struct ais_run *r, struct chains *c, size_t i)
{
    const struct query *q = r->q;
    const struct model *m = r->s->joint.q->model;
    const struct ais_guide *g = r->guide;
    size_t cap = (size_t)c->cap;
    for (size_t b = 0; b < cap; b++) { /* padding lanes are copies */
        size_t set = (i + (b < (size_t)c->x.lanes ? b : 0)) / r->per;
        for (size_t row = 0; row < (size_t)model_num_rows(m); row++)
            c->x.row[row * cap + b] = q->x[row * q->nset + r->first + set];
        c->logsd[b] = c->logw[b] = c->accept[b] = 0;
        c->step[b] = 1 / sqrt(sqrt(c->n > 0 ? c->n : 1));
        for (size_t k = 0; k < (size_t)c->n; k++) {
            c->mean[k * cap + b] = g->mean ? g->mean[k * g->nset + set] : 0;
            c->sd[k * cap + b] = g->sd ? g->sd[k * g->nset + set] : 1;
            c->logsd[b] += log(c->sd[k * cap + b]);
        }
    }
}

static int begin(const struct ais_run *r, struct chains *c, uint64_t lane)
{
    size_t cap = (size_t)c->cap;
    struct stream s = {r->seed, 0, lane};
    if (r->s->o.start == AIS_PRIOR) {
        size_t rows = (size_t)model_num_rows(r->s->joint.q->model);
        c->prior.lanes = c->x.lanes;
        c->prior.seed = r->seed ^ 0x7072696f72;
        c->prior.first = lane;
        memcpy(c->prior.row, c->x.row, sizeof *c->x.row * rows * cap);
        exec_run(&c->prior);
        return joint_coordinates(&r->s->joint, cap, c->prior.row, c->v);
    }
    for (int k = 0; k < c->n; k++, s.node++)
        stream_normal_part(&s, 0, c->cap, c->v + (size_t)k * cap);
    return 0;
}

static int anneal(const struct ais_run *r, struct chains *c, size_t i)
{
    enum { WARM = 10 }; /* initial moves, while step sizes are poorly tuned */
    uint64_t lane = r->first * r->per + i;
    load(r, c, i);
    if (begin(r, c, lane)) return NAMI_ENOMEM;
    evaluate(r, c, c->v, c->A, c->B);
    for (int w = 1; w <= WARM && r->tune && r->temps > 1; w++) {
        move(r, c, lane, AIS_TEMPS - w, r->beta[1]);
        tune(c);
    }
    for (int t = 1; t <= r->temps; t++) {
        for (int b = 0; b < c->cap; b++) c->logw[b] += (r->beta[t] - r->beta[t - 1]) * c->A[b];
        if (t == r->temps) break;
        if (!r->tune) steps(r, c, i, t);
        move(r, c, lane, t, r->beta[t]);
        if (r->tune) tune(c), steps(r, c, i, t);
    }
    for (int b = 0; b < c->x.lanes; b++) {
        double w = c->logw[b];
        if (r->logw) r->logw[i + (size_t)b] = w < INFINITY ? w : -INFINITY; /* NaN: no weight */
        if (r->accept) r->accept[i + (size_t)b] = c->accept[b] / (r->temps > 1 ? r->temps - 1 : 1);
    }
    return 0;
}

static int run_chunk(void *job, void *workspace, size_t i, size_t n, nami_err *err)
{
    const struct job *j = job;
    struct chains *c = workspace;
    c->x.lanes = (int)n;
    return anneal(j->r, c, i) ? err_nomem(err) : 0;
}

int ais_chains(const struct ais_run *r, int threads, nami_err *err)
{
    size_t n = r->guide->nset * r->per, each = (n + (size_t)threads - 1) / (size_t)threads;
    struct job j = {.r = r};
    struct workers w = {.job = &j, .size = sizeof(struct chains), .init = init, .fini = fini};
    j.lanes = each >= LANES ? LANES : (int)(each + 7) / 8 * 8; /* few chains: use all threads */
    return workers_once(&w, threads, n, (size_t)j.lanes, run_chunk, err);
}
