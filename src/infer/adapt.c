/* adapt.c: adaptive importance sampling with mixtures of Student t distributions. */
#include "infer/adapt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/workers.h"
#include "infer/answer.h"
#include "infer/modes.h"
#include "infer/tmix.h"
#include "infer/weights.h"
#include "net/joint.h"

enum { LANES = 64, ROUNDS = 16, PATIENCE = 6, FEWEST = 200, STARTS = 64 };
static const double SHARE = 0.1; /* of the network's draws */
static const uint64_t SEED = 0x6164617074;

int adapt_can(const struct qnet *q)
{
    int n = 0;
    for (int i = 0; i < q->inverse->nlatent; i++) {
        const struct encoding *c = &q->encoding[q->inverse->perm[i]];
        if (c->kind != ENCODING_REAL) return 0;
        n += c->ncoord;
    }
    return n > 0 && n <= ADAPT_MOST && !joint_known(q, "", NULL);
}

int adapt_enough(const struct diagnostics *d, size_t n)
{
    return d->khat < 0.5 && d->ess > 0.5 * (double)n;
}

/* ---- the target, at many points -------------------------------------------------------- */

struct job {
    const struct infer *a;
    struct joint joint;
    size_t n;
    const double *u, *data; /* coordinates; the observed rows of a point */
    double *z, *total, *jacobian;
};

static int init(void *job, void *workspace, nami_err *err)
{
    const struct job *j = job;
    struct exec *x = workspace;
    int rc = exec_init(x, &j->joint.prog, LANES, GRADIENT_GROUPS, 0, err);
    x->param = model_weights(j->a->q->model);
    return rc;
}

static void fini(void *workspace) { exec_fini(workspace); }

static int run(void *job, void *workspace, size_t i, size_t n, nami_err *err)
{
    const struct job *j = job;
    struct exec *x = workspace;
    size_t cap = (size_t)x->cap;
    int rows = model_num_rows(j->a->q->model);
    (void)err;
    x->lanes = (int)n;
    for (int r = 0; r < rows; r++)
        for (size_t b = 0; b < cap; b++) x->row[(size_t)r * cap + b] = j->data[r];
    for (int k = 0; k < j->joint.num_coordinates; k++)
        memcpy(x->row + (size_t)(j->joint.coord + k) * cap, j->u + (size_t)k * j->n + i,
               sizeof *j->u * n);
    exec_run(x);
    memcpy(j->total + i, x->total, sizeof *j->total * n);
    memcpy(j->jacobian + i, x->by_tag + GRADIENT_JACOBIAN * cap, sizeof *j->total * n);
    for (int r = 0; r < rows; r++)
        memcpy(j->z + (size_t)r * j->n + i, x->row + (size_t)r * cap, sizeof *j->z * n);
    return 0;
}

/* ---- one data set ------------------------------------------------------------------------ */

/* All draws so far: those of the network, then those of each round. A draw is weighted by the
   mixture of all proposals that were used (Cornuet, Marin, Mira, Robert 2012), each by its number
   of draws. */
struct pool {
    size_t n;                   /* draws */
    double *u;                  /* (dim, ROUNDS + 1 times n draws) */
    double *total, *logq, *sum; /* log target, log q of the network, log of the sum of mixtures */
    double *weight;
};

struct adapt {
    struct job job;
    struct workers workers;
    int dim, threads;
    size_t n, from_net; /* the first of the draws are the network's */
    double *u;          /* coordinates (dim, n) */
    double *logq, *logt, *logw, *work;
    struct tmix t[ROUNDS];
    int num_mixtures;
    struct modes modes; /* of which the first mixture is made */
    struct pool pool;
};

static size_t pool_size(const struct adapt *s) { return (ROUNDS + 1) * s->n; }

static double log_add(double a, double b)
{
    double max = fmax(a, b);
    return max > -INFINITY ? max + log(exp(a - max) + exp(b - max)) : max;
}

/* Weights w^b, with the largest b <= 1 for which they are worth enough points. */
static void temper(struct adapt *s, double *logw)
{
    struct pool *p = &s->pool;
    double need = fmin(fmax(FEWEST, (double)s->n / 6), 0.5 * (double)s->n), low = 0, high = 1;
    for (int i = 0; i < 30 && low < 1; i++) {
        double b = i ? (low + high) / 2 : 1;
        for (size_t k = 0; k < p->n; k++)
            p->weight[k] = logw[k] > -INFINITY ? b * logw[k] : -INFINITY;
        if (weights_ess(p->n, p->weight) >= need)
            low = b;
        else
            high = b;
    }
    for (size_t k = 0; k < p->n; k++)
        p->weight[k] = logw[k] > -INFINITY ? low * logw[k] : -INFINITY;
    weights_normalise(p->n, p->weight);
    for (size_t k = 0; k < p->n; k++) p->weight[k] = exp(p->weight[k]);
}

/* The next mixture, fitted to all draws; the first one is that of the modes, if there are any. */
static int fit(struct adapt *s, uint64_t seed, nami_err *err)
{
    if (!s->num_mixtures && s->modes.num) {
        s->t[s->num_mixtures++] = s->modes.t;
        return 0;
    }
    struct pool *p = &s->pool;
    size_t stride = pool_size(s);
    double from_net = (double)s->n + (double)s->from_net * s->num_mixtures,
           from_mix = (double)(s->n - s->from_net);
    double *logw = raw_array(double, p->n), *u = raw_array(double, (size_t)s->dim * p->n);
    int rc = logw && u ? 0 : err_nomem(err);
    for (size_t i = 0; i < p->n && !rc; i++) {
        double q = log_add(log(from_net) + p->logq[i], log(from_mix) + p->sum[i]);
        logw[i] = p->total[i] - q;
        if (isnan(logw[i])) logw[i] = -INFINITY;
    }
    for (size_t k = 0; k < (size_t)s->dim && !rc; k++)
        memcpy(u + k * p->n, p->u + k * stride, sizeof *u * p->n);
    if (!rc) {
        temper(s, logw);
        rc = tmix_fit(&s->t[s->num_mixtures], s->dim, p->n, u, p->weight, seed, err);
        s->num_mixtures++;
    }
    free(logw);
    free(u);
    return rc;
}

/* Fresh draws of the network, the first of a round. */
static int draw_network(struct adapt *s, uint64_t seed, nami_err *err)
{
    size_t m = s->from_net, rows = (size_t)model_num_rows(s->job.a->q->model);
    struct query q = {.x = s->job.data, .nset = 1, .per = m, .seed = seed};
    double *z = raw_array(double, rows *m + 1), *u = raw_array(double, (size_t)s->dim *m + 1);
    int rc = z && u ? 0 : err_nomem(err);
    if (!rc && m) rc = infer_draws(s->job.a, &q, 0, m, s->threads, z, NULL, NULL, err);
    if (!rc && joint_coordinates(&s->job.joint, m, z, u)) rc = err_nomem(err);
    for (size_t k = 0; k < (size_t)s->dim && !rc; k++)
        memcpy(s->u + k * s->n, u + k * m, sizeof *u * m);
    free(z);
    free(u);
    return rc;
}

/* Draws of a mixture and of the network, and their weights. */
static int weigh(struct adapt *s, const struct tmix *t, const struct stream *r, nami_err *err)
{
    size_t n = s->n;
    double share = (double)s->from_net / (double)n;
    struct job *j = &s->job;
    tmix_draw(t, r, n, n, s->u);
    int rc = draw_network(s, r->seed + 0x9e3779b97f4a7c15u * (r->node + 1) + r->first, err);
    if (!rc) rc = workers_run(&s->workers, n, LANES, run, err);
    if (!rc) rc = infer_logq(j->a, n, j->z, s->threads, s->logq, err);
    if (rc) return rc;
    tmix_logp(t, n, n, s->u, s->work, s->logt);
    for (size_t i = 0; i < n; i++) {
        s->logq[i] += j->jacobian[i];
        if (isnan(s->logq[i])) s->logq[i] = -INFINITY; /* beyond what the network can express */
        s->logw[i] = j->total[i] - log_add(log(share) + s->logq[i], log1p(-share) + s->logt[i]);
        if (isnan(s->logw[i])) s->logw[i] = -INFINITY;
    }
    return 0;
}

/* Adds the draws of a round to the pool, and its mixture to the densities of all. */
static void add_round(struct adapt *s, double *logt)
{
    struct pool *p = &s->pool;
    size_t n = s->n, stride = pool_size(s);
    const struct tmix *last = &s->t[s->num_mixtures - 1];
    tmix_logp(last, p->n, stride, p->u, s->work, logt);
    for (size_t i = 0; i < p->n; i++) p->sum[i] = log_add(p->sum[i], logt[i]);
    for (size_t k = 0; k < (size_t)s->dim; k++)
        memcpy(p->u + k * stride + p->n, s->u + k * n, sizeof *s->u * n);
    memcpy(p->total + p->n, s->job.total, sizeof *p->total * n);
    memcpy(p->logq + p->n, s->logq, sizeof *p->logq * n);
    memcpy(p->sum + p->n, s->logt, sizeof *p->sum * n);
    for (int t = 0; t + 1 < s->num_mixtures; t++) {
        tmix_logp(&s->t[t], n, n, s->u, s->work, logt);
        for (size_t i = 0; i < n; i++) p->sum[p->n + i] = log_add(p->sum[p->n + i], logt[i]);
    }
    p->n += n;
}

static int better(const struct diagnostics *a, const struct diagnostics *b)
{
    int bad_a = !(a->khat < 0.7), bad_b = !(b->khat < 0.7);
    return bad_a != bad_b ? bad_b : a->ess > b->ess;
}

/* The mixture whose weights were the most even, of those that cover all modes; NULL: none was better than the network alone. */
static int search(struct adapt *s, uint64_t seed, struct stream *r, struct diagnostics *best,
                  const struct tmix **out, nami_err *err)
{
    size_t n = s->n;
    double *work = raw_array(double, pool_size(s));
    int rc = work ? 0 : err_nomem(err), since = 0;
    for (int k = 0; k < ROUNDS && since < PATIENCE && !rc; k++, since++, r->node++) {
        struct diagnostics d;
        if ((rc = fit(s, seed + (uint64_t)k, err)) || (rc = weigh(s, &s->t[k], r, err))) break;
        memcpy(work, s->logw, sizeof *work * n);
        if ((rc = answer_smooth(s->job.a, n, work, &d, err))) break;
        if (better(&d, best) && modes_covered(&s->modes, &s->t[k], d.log_z, s->work)) {
            if (d.ess > 1.2 * best->ess) since = -1;
            *best = d;
            *out = &s->t[k];
        }
        if (adapt_enough(&d, n) && *out == &s->t[k]) break;
        add_round(s, work);
    }
    free(work);
    return rc == NAMI_EINPUT ? 0 : rc; /* no fit: what was best */
}

/* The answer has draws of its own.  Those of the search have decided for the mixture: the ones that
   missed a part of the posterior look the most even. */
static int answer(struct adapt *s, const struct tmix *t, const struct stream *r, double *z,
                  double *logw, struct diagnostics *found, nami_err *err)
{
    size_t rows = (size_t)model_num_rows(s->job.a->q->model), n = s->n;
    int rc = weigh(s, t, r, err);
    if (rc) return rc;
    memcpy(z, s->job.z, sizeof *z * rows * n);
    memcpy(logw, s->logw, sizeof *logw * n);
    return answer_smooth(s->job.a, n, s->logw, found, err);
}

static int start(struct adapt *s, const double *z, nami_err *err)
{
    size_t n = s->n, all = pool_size(s), rows = (size_t)model_num_rows(s->job.a->q->model);
    struct job *j = &s->job;
    struct pool *p = &s->pool;
    double *data = raw_array(double, rows + 1);
    j->z = raw_array(double, rows *n);
    j->total = raw_array(double, n);
    j->jacobian = raw_array(double, n);
    s->u = raw_array(double, (size_t)s->dim *n);
    s->logq = raw_array(double, n);
    s->logt = raw_array(double, n);
    s->logw = raw_array(double, n);
    s->work = raw_array(double, s->dim + 1);
    p->u = raw_array(double, (size_t)s->dim *all);
    p->total = raw_array(double, all);
    p->logq = raw_array(double, all);
    p->sum = raw_array(double, all);
    p->weight = raw_array(double, all);
    j->data = data;
    j->u = s->u;
    j->n = n;
    if (!data || !j->z || !j->total || !j->jacobian || !s->u || !s->logq || !s->logt || !s->logw ||
        !s->work || !p->u || !p->total || !p->logq || !p->sum || !p->weight ||
        joint_coordinates(&j->joint, n, z, s->u))
        return err_nomem(err);
    for (size_t r = 0; r < rows; r++) data[r] = z[r * n];
    return workers_start(&s->workers, s->threads, (n + LANES - 1) / LANES, err);
}

/* The network's draws as the first of the pool. */
static int begin(struct adapt *s, nami_err *err)
{
    struct pool *p = &s->pool;
    size_t n = s->n;
    int rc = workers_run(&s->workers, n, LANES, run, err);
    if (!rc) rc = infer_logq(s->job.a, n, s->job.z, s->threads, p->logq, err);
    for (size_t i = 0; i < n && !rc; i++) {
        p->logq[i] += s->job.jacobian[i];
        p->total[i] = s->job.total[i];
        p->sum[i] = -INFINITY;
    }
    for (size_t k = 0; k < (size_t)s->dim; k++)
        memcpy(p->u + k * pool_size(s), s->u + k * n, sizeof *s->u * n);
    p->n = n;
    return rc;
}

static void stop(struct adapt *s)
{
    struct job *j = &s->job;
    struct pool *p = &s->pool;
    workers_stop(&s->workers);
    joint_free(&j->joint);
    for (int k = s->modes.num > 0; k < s->num_mixtures; k++) tmix_free(&s->t[k]);
    modes_free(&s->modes);
    free((double *)j->data), free(j->z), free(j->total), free(j->jacobian);
    free(s->u), free(s->logq), free(s->logt), free(s->logw), free(s->work);
    free(p->u), free(p->total), free(p->logq), free(p->sum), free(p->weight);
}

int adapt_set(const struct infer *a, uint64_t seed, size_t number, size_t n, int threads, double *z,
              double *pred, double *logw, struct diagnostics *found, nami_err *err)
{
    struct adapt s = {
        .job = {.a = a}, .threads = threads, .n = n, .from_net = (size_t)(SHARE * (double)n)};
    struct stream r = {seed ^ SEED, 0, (n + 7) / 8 * 8 * number};
    const struct tmix *best = NULL;
    s.workers =
        (struct workers){.job = &s.job, .size = sizeof(struct exec), .init = init, .fini = fini};
    int rc = joint_make(&s.job.joint, a->q, err);
    s.dim = s.job.joint.num_coordinates;
    if (!rc) rc = start(&s, z, err);
    if (!rc) rc = begin(&s, err);
    if (!rc)
        rc = modes_find(&s.modes, a, s.job.data, STARTS < n ? STARTS : n, n, s.u, seed, threads, err);
    if (!rc) rc = search(&s, seed, &r, found, &best, err);
    r.node = ROUNDS;
    if (!rc && best) rc = answer(&s, best, &r, z, logw, found, err);
    stop(&s);
    if (!rc && best) rc = infer_finish(a, n, z, seed ^ SEED, r.first, threads, pred, err);
    return rc ? rc : best != NULL;
}
