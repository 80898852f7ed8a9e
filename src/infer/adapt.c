/* adapt.c: adaptive importance sampling with mixtures of Student t distributions. */
#include "infer/adapt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/workers.h"
#include "infer/answer.h"
#include "infer/tmix.h"
#include "infer/weights.h"
#include "net/joint.h"

enum { LANES = 64, ROUNDS = 30, FEWEST = 200 };
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

struct adapt {
    struct job job;
    struct workers workers;
    int dim, threads;
    size_t n, from_net; /* the first of the draws are the network's */
    double *u, *own;    /* coordinates (dim, n); of the network's draws */
    double *logq, *logt, *logw, *weight, *work;
    struct tmix t;
};

/* Weights w^b, with the largest b <= 1 for which they are worth enough points. */
static void temper(struct adapt *s)
{
    double need = fmax(FEWEST, (double)s->n / 6), low = 0, high = 1;
    if (need > 0.5 * (double)s->n) need = 0.5 * (double)s->n;
    for (int i = 0; i < 30; i++) {
        double b = i ? (low + high) / 2 : 1;
        for (size_t k = 0; k < s->n; k++)
            s->weight[k] = s->logw[k] > -INFINITY ? b * s->logw[k] : -INFINITY;
        if (weights_ess(s->n, s->weight) >= need) {
            low = b;
            if (b == 1) break;
        } else {
            high = b;
        }
    }
    for (size_t k = 0; k < s->n; k++)
        s->weight[k] = s->logw[k] > -INFINITY ? low * s->logw[k] : -INFINITY;
    weights_normalise(s->n, s->weight);
    for (size_t k = 0; k < s->n; k++) s->weight[k] = exp(s->weight[k]);
}

/* Draws of the mixture and of the network, and their weights. */
static int weigh(struct adapt *s, const struct stream *r, nami_err *err)
{
    size_t n = s->n, m = s->from_net;
    double share = (double)m / (double)n;
    struct job *j = &s->job;
    tmix_draw(&s->t, r, n, n, s->u);
    for (int k = 0; k < s->dim; k++)
        memcpy(s->u + (size_t)k * n, s->own + (size_t)k * n, sizeof *s->u * m);
    int rc = workers_run(&s->workers, n, LANES, run, err);
    if (!rc) rc = infer_logq(j->a, n, j->z, s->threads, s->logq, err);
    if (rc) return rc;
    tmix_logp(&s->t, n, n, s->u, s->work, s->logt);
    for (size_t i = 0; i < n; i++) {
        double q = log(share) + s->logq[i] + j->jacobian[i], t = log1p(-share) + s->logt[i];
        if (isnan(q)) q = -INFINITY; /* outside of what the network can express */
        double max = fmax(q, t);
        s->logw[i] = j->total[i] - (max + log(exp(q - max) + exp(t - max)));
        if (isnan(s->logw[i])) s->logw[i] = -INFINITY;
    }
    return 0;
}

static int better(const struct diagnostics *a, const struct diagnostics *b)
{
    int bad_a = !(a->khat < 0.7), bad_b = !(b->khat < 0.7);
    return bad_a != bad_b ? bad_b : a->ess > b->ess;
}

struct result {
    double *z, *pred, *logw; /* the best so far */
    struct diagnostics *found;
    int improved;
};

static int rounds(struct adapt *s, uint64_t seed, size_t number, struct result *best,
                  nami_err *err)
{
    size_t rows = (size_t)model_num_rows(s->job.a->q->model), n = s->n;
    double *smooth = raw_array(double, n);
    int rc = smooth ? 0 : err_nomem(err);
    for (int k = 0; k < ROUNDS && !rc; k++) {
        struct diagnostics d;
        struct stream r = {seed ^ SEED, (uint32_t)k, (n + 7) / 8 * 8 * number};
        temper(s);
        tmix_free(&s->t);
        if ((rc = tmix_fit(&s->t, s->dim, n, s->u, s->weight, seed + (uint64_t)k, err))) break;
        if ((rc = weigh(s, &r, err))) break;
        memcpy(smooth, s->logw, sizeof *smooth * n);
        if ((rc = answer_smooth(n, smooth, &d, err))) break;

        if (better(&d, best->found)) {
            *best->found = d;
            best->improved = 1;
            memcpy(best->z, s->job.z, sizeof *best->z * rows * n);
            memcpy(best->logw, s->logw, sizeof *best->logw * n);
        }
        if (adapt_enough(&d, n)) break;
    }
    free(smooth);
    return rc == NAMI_EINPUT ? 0 : rc; /* no fit: what was best */
}

static int start(struct adapt *s, const double *z, const double *logw, nami_err *err)
{
    size_t n = s->n, rows = (size_t)model_num_rows(s->job.a->q->model);
    struct job *j = &s->job;
    double *data = raw_array(double, rows + 1);
    j->z = raw_array(double, rows *n);
    j->total = raw_array(double, n);
    j->jacobian = raw_array(double, n);
    s->u = raw_array(double, (size_t)s->dim *n);
    s->own = raw_array(double, (size_t)s->dim *n);
    s->logq = raw_array(double, n);
    s->logt = raw_array(double, n);
    s->logw = raw_array(double, n);
    s->weight = raw_array(double, n);
    s->work = raw_array(double, s->dim + 1);
    j->data = data;
    j->u = s->u;
    j->n = n;
    if (!data || !j->z || !j->total || !j->jacobian || !s->u || !s->own || !s->logq || !s->logt ||
        !s->logw || !s->weight || !s->work || joint_coordinates(&j->joint, n, z, s->own))
        return err_nomem(err);
    for (size_t r = 0; r < rows; r++) data[r] = z[r * n];
    memcpy(s->u, s->own, sizeof *s->u * (size_t)s->dim * n);
    memcpy(s->logw, logw, sizeof *logw * n);
    return workers_start(&s->workers, s->threads, (n + LANES - 1) / LANES, err);
}

static void stop(struct adapt *s)
{
    struct job *j = &s->job;
    workers_stop(&s->workers);
    joint_free(&j->joint);
    tmix_free(&s->t);
    free((double *)j->data), free(j->z), free(j->total), free(j->jacobian);
    free(s->u), free(s->own), free(s->logq), free(s->logt);
    free(s->logw), free(s->weight), free(s->work);
}

int adapt_set(const struct infer *a, uint64_t seed, size_t number, size_t n, int threads, double *z,
              double *pred, double *logw, struct diagnostics *found, nami_err *err)
{
    struct adapt s = {.job = {.a = a}, .threads = threads, .n = n,
                      .from_net = (size_t)(SHARE * (double)n)};
    struct result best = {z, pred, logw, found, 0};
    s.workers = (struct workers){
        .job = &s.job, .size = sizeof(struct exec), .init = init, .fini = fini};
    int rc = joint_make(&s.job.joint, a->q, err);
    if (!rc) {
        s.dim = s.job.joint.num_coordinates;
        rc = start(&s, z, logw, err);
        if (!rc) rc = rounds(&s, seed, number, &best, err);
        stop(&s);
    }
    if (!rc && best.improved)
        rc = infer_finish(a, n, z, seed ^ SEED, (n + 7) / 8 * 8 * number, threads, pred, err);
    return rc ? rc : best.improved;
}
