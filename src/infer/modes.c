/* modes.c: modes of a posterior and their masses by Laplace's approximation. */
#include "infer/modes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "infer/dense.h"
#include "infer/mcmc.h"

enum { LANES = 64, MOST = 24 };
static const double STEP = 1e-4;  /* of differences, in coordinates that vary by about 1 */
static const double LEAST = 1e-3; /* mass of a mode, as a share of the largest */
static const double SHORT = 0.01; /* a density that covers a mode, as a share of the posterior's */
static const double WIDEN = 1.2;  /* of the scale matrices */

/* ---- ends of climbs ------------------------------------------------------------------------ */

/* From all starts: ends (dim, starts), values; NaN: none. */
static int climb(struct mcmc *s, size_t starts, size_t n, const double *u, double *ends,
                 double *value, nami_err *err)
{
    int rc = 0;
    for (size_t first = 0; first < starts && !rc; first += MCMC_CHAINS) {
        for (size_t k = 0; k < (size_t)s->dim; k++)
            for (size_t c = 0; c < MCMC_CHAINS; c++)
                s->u[k * MCMC_CHAINS + c] = u[k * n + (first + c) % starts];
        rc = mcmc_climb(s, err);
        if (rc == NAMI_EINPUT) { /* none of these is inside the support */
            for (size_t c = 0; c < MCMC_CHAINS; c++) s->value[c] = NAN;
            rc = 0;
        }
        for (size_t c = 0; c < MCMC_CHAINS && first + c < starts && !rc; c++) {
            value[first + c] = s->value[c];
            for (size_t k = 0; k < (size_t)s->dim; k++)
                ends[k * starts + first + c] = s->u[k * MCMC_CHAINS + c];
        }
    }
    return rc;
}

/* ---- curvature ------------------------------------------------------------------------------ */

struct curvature {
    struct exec x;
    const struct joint *joint;
    int dim;
    double *h, *inverse, *work, *step; /* (dim, dim) three times, (dim) */
};

/* Minus the second derivatives at u, by differences of gradients, to h; the gradient to step. */
static void differences(struct curvature *c, const double *u)
{
    struct exec *x = &c->x;
    size_t cap = (size_t)x->cap, d = (size_t)c->dim;
    double *row = x->row + (size_t)c->joint->coord * cap;
    const double *adj = x->adj + (size_t)c->joint->coord * cap;
    memset(c->step, 0, sizeof *c->step * d);
    for (size_t first = 0; first < d; first += cap / 2) {
        for (size_t k = 0; k < d; k++)
            for (size_t b = 0; b < cap; b++)
                row[k * cap + b] = u[k] + (first + b / 2 == k ? (b % 2 ? -STEP : STEP) : 0);
        exec_both(x);
        for (size_t j = first; j < d && j < first + cap / 2; j++)
            for (size_t k = 0; k < d; k++) {
                const double *g = adj + k * cap + 2 * (j - first);
                c->h[j * d + k] = (g[1] - g[0]) / (2 * STEP);
                c->step[k] += (g[0] + g[1]) / (2 * (double)d);
            }
    }
    for (size_t j = 0; j < d; j++)
        for (size_t k = 0; k < j; k++)
            c->h[j * d + k] = c->h[k * d + j] = (c->h[j * d + k] + c->h[k * d + j]) / 2;
}

/* The squared distance of v[k * stride] from u, by the scale L L'. */
static double distance(int dim, const double *u, const double *v, size_t stride, const double *chol,
                       double *work)
{
    double sum = 0;
    for (int k = 0; k < dim; k++) work[k] = v[(size_t)k * stride] - u[k];
    dense_lower(dim, chol, work);
    for (int k = 0; k < dim; k++) sum += work[k] * work[k];
    return sum;
}

/* Adds the point v[k * stride], after a Newton step, unless it is one of those that are there or
   has no maximum. */
static void add(struct modes *m, struct curvature *c, const double *v, size_t stride, double value)
{
    size_t d = (size_t)m->dim, dd = d * d;
    double *u = m->u + (size_t)m->num * d, *chol = m->t.chol + (size_t)m->num * dd;
    for (int j = 0; j < m->num; j++)
        if (distance(m->dim, m->u + (size_t)j * d, v, stride, m->t.chol + (size_t)j * dd, c->work) <
            4 + 2 * (double)d)
            return;
    for (size_t k = 0; k < d; k++) u[k] = v[k * stride];
    differences(c, u);
    for (size_t k = 0; k < dd; k++)
        if (!isfinite(c->h[k])) return;
    if (dense_chol(m->dim, c->h)) return;
    double log_det = dense_logdet(m->dim, c->h), gain = 0;
    dense_lower(m->dim, c->h, c->step);
    for (size_t k = 0; k < d; k++) gain += c->step[k] * c->step[k];
    if (!(gain < 1)) return; /* it is not near a maximum */
    dense_upper(m->dim, c->h, c->step);
    for (size_t k = 0; k < d; k++) u[k] += c->step[k];
    dense_inverse(m->dim, c->h, c->work, c->inverse);
    for (size_t k = 0; k < dd; k++) chol[k] = WIDEN * c->inverse[k];
    if (dense_chol(m->dim, chol)) return;
    m->value[m->num] = value + gain / 2;
    m->t.log_weight[m->num] = value + gain / 2 + (double)d / 2 * log(2 * M_PI) - log_det / 2;
    m->num++;
}

/* Drops modes of little mass; the weights of the others sum to 1, none is below a tenth of its
   equal share. */
static void weigh(struct modes *m)
{
    size_t d = (size_t)m->dim, dd = d * d;
    double max = -INFINITY, sum = 0;
    int num = 0;
    for (int j = 0; j < m->num; j++) max = fmax(max, m->t.log_weight[j]);
    for (int j = 0; j < m->num; j++) {
        if (!(m->t.log_weight[j] - max > log(LEAST))) continue;
        memmove(m->u + (size_t)num * d, m->u + (size_t)j * d, sizeof *m->u * d);
        memmove(m->t.chol + (size_t)num * dd, m->t.chol + (size_t)j * dd, sizeof *m->u * dd);
        m->value[num] = m->value[j];
        m->t.log_weight[num++] = m->t.log_weight[j] - max;
    }
    for (int j = 0; j < num; j++) sum += exp(m->t.log_weight[j]);
    for (int j = 0; j < num; j++)
        m->t.log_weight[j] = log(0.9 * exp(m->t.log_weight[j]) / sum + 0.1 / num);
    memcpy(m->t.mean, m->u, sizeof *m->u * d * (size_t)num);
    m->num = m->t.num_comps = num;
}

static int room(struct modes *m, struct mcmc *s, struct curvature *c, nami_err *err)
{
    size_t d = (size_t)m->dim, dd = d * d, rows = (size_t)model_num_rows(s->joint.q->model);
    m->t.dim = m->dim;
    m->u = arena_array(&m->t.mem, double, MOST *d);
    m->value = arena_array(&m->t.mem, double, MOST);
    m->t.mean = arena_array(&m->t.mem, double, MOST *d);
    m->t.chol = arena_array(&m->t.mem, double, MOST *dd);
    m->t.log_weight = arena_array(&m->t.mem, double, MOST);
    s->u = arena_array(&m->t.mem, double, d *MCMC_CHAINS);
    s->grad = arena_array(&m->t.mem, double, d *MCMC_CHAINS);
    c->h = arena_array(&m->t.mem, double, dd);
    c->inverse = arena_array(&m->t.mem, double, dd);
    c->work = arena_array(&m->t.mem, double, dd);
    c->step = arena_array(&m->t.mem, double, d);
    if (!m->u || !m->value || !m->t.mean || !m->t.chol || !m->t.log_weight || !s->u || !s->grad ||
        !c->h || !c->inverse || !c->work || !c->step)
        return err_nomem(err);
    int rc = exec_init(&c->x, &s->joint.prog, LANES, GRADIENT_GROUPS, EXEC_GRAD, err);
    c->x.param = model_weights(s->joint.q->model);
    for (size_t r = 0; r < rows && !rc; r++)
        for (size_t b = 0; b < (size_t)c->x.cap; b++)
            c->x.row[r * (size_t)c->x.cap + b] = s->data[r];
    return rc ? rc : mcmc_open(s, err);
}

int modes_find(struct modes *m, const struct infer *a, const double *data, size_t starts, size_t n,
               const double *u, uint64_t seed, int threads, nami_err *err)
{
    struct mcmc s = {.a = a, .threads = threads, .seed = seed, .data = (double *)data};
    struct curvature c = {0};
    *m = (struct modes){0};
    int rc = joint_make(&s.joint, a->q, err);
    m->dim = s.dim = c.dim = s.joint.num_coordinates;
    c.joint = &s.joint;
    double *ends = raw_array(double, (size_t)s.dim *starts + 1), *value = raw_array(double, starts);
    if (!rc && (!ends || !value)) rc = err_nomem(err);
    if (!rc) rc = room(m, &s, &c, err);
    if (!rc) rc = climb(&s, starts, n, u, ends, value, err);
    for (size_t k = 0; k < starts && m->num < MOST && !rc; k++) { /* the highest first */
        size_t best = starts;
        for (size_t i = 0; i < starts; i++)
            if (!isnan(value[i]) && (best == starts || value[i] > value[best])) best = i;
        if (best == starts) break;
        add(m, &c, ends + best, starts, value[best]);
        value[best] = NAN;
    }
    if (!rc) weigh(m);
    mcmc_close(&s);
    exec_fini(&c.x);
    joint_free(&s.joint);
    free(ends);
    free(value);
    return rc;
}

void modes_free(struct modes *m)
{
    tmix_free(&m->t);
    *m = (struct modes){0};
}

int modes_covered(const struct modes *m, const struct tmix *t, double log_z, double *work)
{
    int covered = 1;
    for (int j = 0; j < m->num && covered; j++) {
        double logt;
        tmix_logp(t, 1, 1, m->u + (size_t)j * (size_t)m->dim, work, &logt);
        covered = logt + log_z >= m->value[j] + log(SHORT);
    }
    return covered;
}
